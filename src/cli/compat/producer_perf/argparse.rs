//! The command-line grammar of the producer tools: that of Python's argparse, with its complaints.

use crate::cli::compat::java_number::parse_double;

/// How many values an option takes, and of which kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// None.
    Flag,
    /// One, any text.
    Text,
    /// One whole number of 64 bits.
    Long,
    /// One whole number of 32 bits.
    Int,
    /// One number.
    Double,
    /// One of these.
    Choice(&'static [&'static str]),
    /// One or more texts.
    Many,
}

/// An option of a tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opt {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// Whether it is one of those of which exactly one is needed.
    pub(super) exclusive: bool,
}

/// What was given, in order, each with its values; `-h` is `--help`.
#[derive(Debug, Default)]
pub(super) struct Given(Vec<(&'static str, Vec<String>)>);

impl Given {
    /// The values of the last time `name` was given.
    pub(super) fn last(&self, name: &str) -> Option<&[String]> {
        let mut given = self.0.iter().rev();
        given
            .find(|(given, _)| *given == name)
            .map(|(_, values)| &values[..])
    }

    /// The value of the last time the single-valued `name` was given.
    pub(super) fn one(&self, name: &str) -> Option<&str> {
        self.last(name)?.first().map(String::as_str)
    }

    /// Whether `name` was given.
    pub(super) fn has(&self, name: &str) -> bool {
        self.last(name).is_some()
    }

    /// All values of `name`, over all times it was given.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a String> {
        let given = self.0.iter().filter(move |(given, _)| *given == name);
        given.flat_map(|(_, values)| values)
    }
}

/// Reads `args` by `options`; reading ends at `--help` and `--version`.
///
/// # Errors
/// A complaint in argparse's words.
pub(super) fn read(options: &[Opt], args: &[String]) -> Result<Given, String> {
    let mut given = Given::default();
    let mut at = 0;
    while let Some(word) = args.get(at) {
        if word == "--" || !is_flag(word) {
            let rest = &args[at + usize::from(word == "--")..];
            if rest.is_empty() {
                break;
            }
            return Err(unrecognized(&rest.join(" ")));
        }
        if word.starts_with("-h") {
            given.0.push(("--help", Vec::new()));
            break;
        }
        let (name, inline) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (&word[..], None),
        };
        let option = find(options, name)?.ok_or_else(|| unrecognized(word))?;
        at += 1;
        let values = match (option.kind, inline) {
            (Kind::Flag, Some(value)) => {
                let said = format!("ignore implicit argument '{value}'");
                return Err(complaint(option, &said));
            }
            (Kind::Flag, None) => Vec::new(),
            (_, Some(value)) => vec![value.to_owned()],
            (kind, None) => {
                let most = if kind == Kind::Many { usize::MAX } else { 1 };
                let values = args[at..].iter().take(most);
                values.take_while(|word| !is_flag(word)).cloned().collect()
            }
        };
        at += if inline.is_none() { values.len() } else { 0 };
        check_values(option, &values)?;
        check_exclusive(options, &given, option)?;
        given.0.push((option.name, values));
        if option.name == "--help" || option.name == "--version" {
            break;
        }
    }
    Ok(given)
}

/// Whether a word begins an option: a negative number doesn't.
fn is_flag(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-') && parse_double(word).is_none()
}

/// The option meant by `name`, in full or by a beginning that only one has.
fn find<'a>(options: &'a [Opt], name: &str) -> Result<Option<&'a Opt>, String> {
    if let Some(option) = options.iter().find(|option| option.name == name) {
        return Ok(Some(option));
    }
    if !name.starts_with("--") {
        return Ok(None);
    }
    let mut matching: Vec<&Opt> = options
        .iter()
        .filter(|option| option.name.starts_with(name))
        .collect();
    if matching.len() > 1 {
        matching.sort_by_key(|option| option.name);
        let names: Vec<_> = matching.iter().map(|option| option.name).collect();
        let names = names.join(", ");
        return Err(format!("ambiguous option: {name} could match {names}"));
    }
    Ok(matching.pop())
}

fn check_values(option: &Opt, values: &[String]) -> Result<(), String> {
    let Some(value) = values.first() else {
        return match option.kind {
            Kind::Flag => Ok(()),
            Kind::Many => Err(complaint(option, "expected 1 argument(s)")),
            _ => Err(complaint(option, "expected one argument")),
        };
    };
    let class = match option.kind {
        Kind::Long if value.parse::<i64>().is_err() => "Long",
        Kind::Int if value.parse::<i32>().is_err() => "Integer",
        Kind::Double if parse_double(value).is_none() => "Double",
        Kind::Choice(choices) if !choices.contains(&value.as_str()) => {
            let choices = choices.join(",");
            let said = format!("invalid choice: '{value}' (choose from {{{choices}}})");
            return Err(complaint(option, &said));
        }
        _ => return Ok(()),
    };
    let said = format!("could not convert '{value}' to {class} (For input string: \"{value}\")");
    Err(complaint(option, &said))
}

fn check_exclusive(options: &[Opt], given: &Given, option: &Opt) -> Result<(), String> {
    let other = options.iter().find(|other| {
        option.exclusive && other.exclusive && other.name != option.name && given.has(other.name)
    });
    match other {
        Some(other) => {
            let said = format!("not allowed with argument {}", other.name);
            Err(complaint(option, &said))
        }
        None => Ok(()),
    }
}

fn complaint(option: &Opt, said: &str) -> String {
    format!("argument {}: {said}", option.name)
}

fn unrecognized(words: &str) -> String {
    format!("unrecognized arguments: '{words}'")
}
