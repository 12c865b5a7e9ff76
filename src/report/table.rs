//! Rows of the dial: the table of percentiles, and parts as an equation that adds up.

use super::words::latency;
use crate::measure::histogram::Quantile;
use crate::measure::parts::{Part, PartMeans};
use crate::measure::stats::round_to_sum;
use crate::measure::summary::{Clock, Reading};

/// A row: its label, and what stands behind it. Rows without text are written as they are.
pub(super) type Row = (String, String);

/// A row.
pub(super) fn row(label: &str, text: String) -> Row {
    (label.to_owned(), text)
}

/// The table of percentiles; columns grow with what stands in them.
pub(super) fn table(
    clocks: &[(&str, &Clock, String)],
    samples: impl Fn(&Clock) -> String,
) -> Vec<Row> {
    let heads = Quantile::DIAL.iter().map(Quantile::to_string);
    let heads: Vec<String> = heads.chain(["max".to_owned()]).collect();
    let cells: Vec<Vec<String>> = clocks.iter().map(|(_, clock, _)| readings(clock)).collect();
    let width = |column: usize| {
        let widest = cells
            .iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count());
        widest.max().unwrap_or(0).max(7) + 2
    };
    let line = |cells: &[String]| -> String {
        let pad = |(column, cell): (usize, &String)| format!("{cell:<w$}", w = width(column));
        cells.iter().enumerate().map(pad).collect()
    };
    let mut rows = vec![row("latency", line(&heads))];
    for ((label, clock, meaning), cells) in clocks.iter().zip(&cells) {
        rows.push(row(
            label,
            format!("{}{meaning}{}", line(cells), samples(clock)),
        ));
    }
    rows
}

/// The cells of one clock: its percentiles and its maximum.
fn readings(clock: &Clock) -> Vec<String> {
    let percentiles = clock.percentiles.iter().map(|(_, reading)| *reading);
    let mut cells: Vec<String> = percentiles
        .chain(clock.max)
        .map(|reading| cell(&reading))
        .collect();
    cells.resize(Quantile::DIAL.len() + 1, "–".to_owned());
    cells
}

/// One reading: the figure, `> low` where records without an answer leave it open, in brackets
/// where the samples are too few.
fn cell(reading: &Reading) -> String {
    let figure = match reading.settled() {
        Some(ns) => latency(ns),
        None => format!("> {}", latency(reading.low_ns)),
    };
    match reading.enough {
        true => figure,
        false => format!("({figure})"),
    }
}

/// `1.60 = lag 0.20 + … ms (buffer 0)`: rounded so that the printed parts add up to the printed sum.
pub(super) fn equation(means: &PartMeans, decimals: usize) -> String {
    let scale = 10f64.powi(decimals as i32);
    let ms: Vec<f64> = means.ns.iter().map(|ns| ns / 1e6).collect();
    let (rounded, total) = round_to_sum(&ms, scale);
    let show = |value: u64| format!("{:.decimals$}", value as f64 / scale);
    let (mut terms, mut zeros) = (Vec::new(), Vec::new());
    for (part, value) in Part::ALL.into_iter().zip(rounded) {
        match value {
            0 => zeros.push(part.name()),
            value => terms.push(format!("{} {}", part.name(), show(value))),
        }
    }
    let zeros = match zeros.is_empty() {
        true => String::new(),
        false => format!(" ({} 0)", zeros.join(", ")),
    };
    format!("{} = {} ms{zeros}", show(total), terms.join(" + "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_parts_add_up_to_the_printed_sum_to_the_last_digit() {
        let mut means = PartMeans::default();
        means.ns[Part::Lag as usize] = 203_000.0;
        means.ns[Part::Batch as usize] = 385_000.0;
        means.ns[Part::Request as usize] = 909_000.0;
        let text = equation(&means, 2);
        let zeros = "(buffer, queue, throttle, earlier attempts, write, reply 0)";
        assert_eq!(
            text,
            format!("1.50 = lag 0.20 + batch 0.39 + request 0.91 ms {zeros}")
        );
    }

    #[test]
    fn an_open_percentile_says_more_than_and_a_poor_one_stands_in_brackets() {
        let reading = Reading {
            low_ns: 5_000_000_000,
            high_ns: None,
            enough: true,
        };
        assert_eq!(cell(&reading), "> 5000 ms");
        let poor = Reading {
            low_ns: 1_500_000,
            high_ns: Some(1_500_000),
            enough: false,
        };
        assert_eq!(cell(&poor), "(1.500 ms)");
    }
}
