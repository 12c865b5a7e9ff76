//! `--slo 'response.p99<20ms'`: a promise about one figure of the result, and whether it was kept.
//!
//! A figure that is missing, not a number, or from too few samples keeps no promise.

use std::fmt;

use super::histogram::Quantile;

/// What a figure counts in. A bound must be given in the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds; bounds need a unit: `20ms`.
    Duration,
    /// Bytes; bounds may have a unit: `16KiB`.
    Bytes,
    /// A plain number; bounds may be `50k`, `1.5M`.
    Number,
    /// A share from 0 to 1; bounds may be `1%` or `0.01`.
    Share,
}

/// A figure as a promise sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    /// Its value in its unit (ns, bytes, number, share); none when the result has none. An
    /// unbounded percentile is infinite.
    pub value: Option<f64>,
    /// Samples it comes from, and how many it takes; none where that makes no sense.
    pub samples: Option<Samples>,
}

/// How many samples a figure comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Samples {
    /// Samples there were.
    pub count: u64,
    /// Samples it takes to say anything.
    pub needed: u64,
}

/// A promise as the user gave it.
#[derive(Debug, Clone, PartialEq)]
pub struct Promise {
    /// As typed.
    pub text: String,
    /// The figure's full name: `response.p99`.
    pub figure: String,
    /// How the figure must stand to the bound.
    pub comparison: Comparison,
    /// The bound, in the unit of `unit`.
    pub bound: f64,
    /// What the bound was given in.
    pub unit: Unit,
    /// From `--fail-if`: kept when the comparison does not hold.
    pub negated: bool,
}

/// How a figure must stand to its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    More,
    /// `>=`
    AtLeast,
}

/// A promise, judged.
#[derive(Debug, Clone, PartialEq)]
pub struct PromiseResult {
    /// The promise.
    pub promise: Promise,
    /// The figure it was judged by.
    pub figure: Figure,
    /// Whether it was kept.
    pub kept: bool,
    /// Why not, or with which figure; a sentence.
    pub reason: String,
}

/// Why a promise could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PromiseError {
    /// There is no `<`, `<=`, `>` or `>=`.
    #[error("'{0}' has no comparison; write it like response.p99<20ms")]
    NoComparison(String),
    /// No figure stands before the comparison.
    #[error("'{0}' names no figure; write it like response.p99<20ms")]
    NoFigure(String),
    /// The bound is no amount.
    #[error("'{bound}' in '{text}' is not an amount; write 20ms, 50k, 16KiB or 1%")]
    Bound {
        /// The whole promise.
        text: String,
        /// What should have been an amount.
        bound: String,
    },
    /// The bound counts in something else than the figure.
    #[error("{figure} is {is}, so '{bound}' can't bound it; write {example}")]
    Unit {
        /// The figure.
        figure: String,
        /// What it is.
        is: &'static str,
        /// The bound as typed.
        bound: String,
        /// How it could be written.
        example: &'static str,
    },
}

impl Promise {
    /// Reads `--slo` (`negated` false) or `--fail-if` (`negated` true). A bare percentile is one
    /// of `response`. Whether the figure exists, and counts in this unit, is for
    /// [`Promise::fits`].
    pub fn parse(text: &str, negated: bool) -> Result<Self, PromiseError> {
        let text = text.trim();
        let at = text
            .find(['<', '>'])
            .ok_or_else(|| PromiseError::NoComparison(text.to_owned()))?;
        let (figure, rest) = text.split_at(at);
        let figure = figure.trim();
        if figure.is_empty() {
            return Err(PromiseError::NoFigure(text.to_owned()));
        }
        let (comparison, rest) = Comparison::split(rest);
        let bad_bound = || PromiseError::Bound {
            text: text.to_owned(),
            bound: rest.trim().to_owned(),
        };
        let (bound, unit) = amount(rest.trim()).ok_or_else(bad_bound)?;
        let figure = match Quantile::parse(figure) {
            Some(_) => format!("response.{figure}"),
            None => figure.to_owned(),
        };
        Ok(Self {
            text: text.to_owned(),
            figure,
            comparison,
            bound,
            unit,
            negated,
        })
    }

    /// Takes a bound without unit for what the figure counts in, or says why it doesn't fit.
    pub fn fits(mut self, unit: Unit) -> Result<Self, PromiseError> {
        let plain = self.unit == Unit::Number;
        if self.unit == unit || plain && unit != Unit::Duration {
            self.unit = unit;
            return Ok(self);
        }
        let (is, example) = match unit {
            Unit::Duration => ("a duration", "20ms or 1.5s"),
            Unit::Bytes => ("an amount of bytes", "16KiB or 50MB"),
            Unit::Number => ("a plain number", "50000 or 50k"),
            Unit::Share => ("a share", "1% or 0.01"),
        };
        let bound = self.text.rsplit(['<', '>', '=']).next().unwrap_or_default();
        Err(PromiseError::Unit {
            bound: bound.trim().to_owned(),
            figure: self.figure,
            is,
            example,
        })
    }

    /// Judges it by its figure; none: the result has no such figure.
    pub fn judge(&self, figure: Option<Figure>) -> PromiseResult {
        let figure = figure.unwrap_or(Figure {
            value: None,
            samples: None,
        });
        let (kept, reason) = self.verdict(&figure);
        PromiseResult {
            promise: self.clone(),
            figure,
            kept,
            reason,
        }
    }

    fn verdict(&self, figure: &Figure) -> (bool, String) {
        let name = &self.figure;
        let Some(value) = figure.value else {
            return (false, format!("{name} is not in this result"));
        };
        if value.is_nan() {
            return (false, format!("{name} is not a number"));
        }
        if let Some(samples) = figure.samples
            && samples.count < samples.needed
        {
            let Samples { count, needed } = samples;
            return (
                false,
                format!("{name} needs {needed} samples, there were {count}"),
            );
        }
        let holds = self.comparison.holds(value, self.bound);
        let shown = Amount(value, self.unit);
        (holds != self.negated, format!("{name} was {shown}"))
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let option = if self.negated { "--fail-if" } else { "--slo" };
        write!(f, "{option} {}", self.text)
    }
}

impl Comparison {
    fn split(text: &str) -> (Self, &str) {
        let signs = [
            ("<=", Self::AtMost),
            (">=", Self::AtLeast),
            ("<", Self::Less),
            (">", Self::More),
        ];
        let found = signs
            .iter()
            .find_map(|(sign, is)| Some((*is, text.strip_prefix(sign)?)));
        found.unwrap_or((Self::Less, text))
    }

    fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Self::Less => value < bound,
            Self::AtMost => value <= bound,
            Self::More => value > bound,
            Self::AtLeast => value >= bound,
        }
    }
}

/// An amount with its unit, for messages.
struct Amount(f64, Unit);

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(value, unit) = *self;
        if value.is_infinite() {
            return f.write_str("unbounded: too many records have no answer");
        }
        match unit {
            Unit::Duration => write!(f, "{} ms", value / 1e6),
            Unit::Bytes => write!(f, "{value} bytes"),
            Unit::Number => write!(f, "{value}"),
            Unit::Share => write!(f, "{} %", value * 100.0),
        }
    }
}

/// Reads an amount: a decimal number and an optional unit.
fn amount(text: &str) -> Option<(f64, Unit)> {
    let is_number = |c: char| c.is_ascii_digit() || c == '.' || c == '_';
    let end = text.find(|c| !is_number(c)).unwrap_or(text.len());
    let (digits, suffix) = text.split_at(end);
    let number: f64 = digits.replace('_', "").parse().ok()?;
    let (factor, unit) = match suffix.trim() {
        "" => (1.0, Unit::Number),
        "k" => (1e3, Unit::Number),
        "M" => (1e6, Unit::Number),
        "G" => (1e9, Unit::Number),
        "ns" => (1.0, Unit::Duration),
        "us" | "µs" => (1e3, Unit::Duration),
        "ms" => (1e6, Unit::Duration),
        "s" => (1e9, Unit::Duration),
        "m" => (60e9, Unit::Duration),
        "h" => (3_600e9, Unit::Duration),
        "B" => (1.0, Unit::Bytes),
        "kB" | "KB" => (1e3, Unit::Bytes),
        "MB" => (1e6, Unit::Bytes),
        "GB" => (1e9, Unit::Bytes),
        "KiB" => (1024.0, Unit::Bytes),
        "MiB" => (1024.0 * 1024.0, Unit::Bytes),
        "GiB" => (1024.0 * 1024.0 * 1024.0, Unit::Bytes),
        "%" => (0.01, Unit::Share),
        _ => return None,
    };
    Some((number * factor, unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn promise(text: &str) -> Promise {
        Promise::parse(text, false).expect("a good promise")
    }

    fn figure(value: f64) -> Option<Figure> {
        Some(Figure {
            value: Some(value),
            samples: None,
        })
    }

    #[test]
    fn a_bare_percentile_is_one_of_response() {
        let bare = promise("p99<20ms");
        assert_eq!((bare.figure.as_str(), bare.bound), ("response.p99", 20e6));
        assert_eq!(
            promise(" response.p99 <= 1.5s ").comparison,
            Comparison::AtMost
        );
        assert_eq!(promise("throughput.records_per_s>50k").bound, 50_000.0);
    }

    #[test]
    fn a_promise_is_kept_exactly_when_its_comparison_holds() {
        for (text, value, kept) in [
            ("p99<20ms", 19_999_999.0, true),
            ("p99<20ms", 20e6, false),
            ("p99<=20ms", 20e6, true),
            ("throughput.records_per_s>50k", 50_000.0, false),
            ("throughput.records_per_s>=50k", 50_000.0, true),
        ] {
            assert_eq!(
                promise(text).judge(figure(value)).kept,
                kept,
                "{text} {value}"
            );
        }
        let fail_if = Promise::parse("p99>20ms", true).expect("good");
        assert!(fail_if.judge(figure(1e6)).kept);
        assert!(!fail_if.judge(figure(21e6)).kept);
    }

    #[test]
    fn what_is_missing_not_a_number_unbounded_or_from_too_few_samples_keeps_no_promise() {
        for negated in [false, true] {
            let promise = Promise::parse("p99.9<20ms", negated).expect("good");
            let few = Figure {
                value: Some(1e6),
                samples: Some(Samples {
                    count: 9_999,
                    needed: 10_000,
                }),
            };
            assert!(!promise.judge(None).kept);
            assert!(!promise.judge(figure(f64::NAN)).kept);
            assert!(!promise.judge(Some(few)).kept);
            assert!(
                !promise
                    .judge(Some(Figure {
                        value: None,
                        samples: None
                    }))
                    .kept
            );
        }
        assert!(!promise("p99<20ms").judge(figure(f64::INFINITY)).kept);
    }

    #[test]
    fn a_bound_must_count_in_what_the_figure_counts_in() {
        assert!(promise("p99<20").fits(Unit::Duration).is_err());
        assert!(promise("p99<20ms").fits(Unit::Duration).is_ok());
        assert!(promise("records.failed<1").fits(Unit::Number).is_ok());
        assert!(promise("records.failed<1ms").fits(Unit::Number).is_err());
        assert_eq!(
            promise("rate.off<1%").fits(Unit::Share).map(|p| p.bound),
            Ok(0.01)
        );
        let error = promise("p99<20").fits(Unit::Duration).expect_err("no unit");
        assert!(error.to_string().contains("20ms"), "{error}");
    }

    #[test]
    fn what_cannot_be_read_is_said_with_a_way_to_write_it() {
        for text in [
            "p99",
            "<20ms",
            "p99<",
            "p99<fast",
            "p99<20 parsecs",
            "p99=20ms",
        ] {
            let error = Promise::parse(text, false).expect_err(text);
            let shown = error.to_string();
            assert!(shown.contains("20ms"), "{shown}");
        }
    }
}
