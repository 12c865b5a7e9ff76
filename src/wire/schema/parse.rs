//! `messages.txt` → layouts. It is part of the program, so a line that can't be read is a bug.

use super::{Direction, Field, Kind, Layout};
use crate::wire::api::{ApiKey, Range};

/// Reads the whole file.
///
/// # Panics
/// When a line is not as the head of the file says.
pub fn layouts(text: &'static str) -> Vec<Layout> {
    let mut lines = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .peekable();
    let mut layouts = Vec::new();
    let mut head = None;
    while let Some(line) = lines.next() {
        let words: Vec<&'static str> = line.split(' ').collect();
        match words[0] {
            "api" | "data" => head = Some(words),
            side => {
                let head = head.as_ref().expect("a message begins with its name");
                let fields = fields(&mut lines, 1);
                layouts.push(layout(head, side, fields));
            }
        }
    }
    layouts
}

fn layout(head: &[&'static str], side: &str, fields: Vec<Field>) -> Layout {
    let direction = match side {
        "request" => Some(Direction::Request),
        "response" => Some(Direction::Response),
        _ => None,
    };
    Layout {
        name: head[1],
        message: direction.map(|direction| (ApiKey(number(head[2])), direction)),
        versions: range(head[3]).expect("a message has versions"),
        flexible: range(head[4]),
        fields,
    }
}

type Lines<I> = std::iter::Peekable<I>;

/// The fields at `depth` that follow, each with the deeper ones below it.
fn fields<I: Iterator<Item = &'static str>>(lines: &mut Lines<I>, depth: usize) -> Vec<Field> {
    let mut fields = Vec::new();
    while let Some(line) = lines.next_if(|line| indentation(line) == 2 * depth) {
        let words: Vec<&'static str> = line.trim_start().split(' ').collect();
        let (kind, array) = match words[1].strip_prefix('[') {
            Some(element) => (kind(element.trim_end_matches(']')), true),
            None => (kind(words[1]), false),
        };
        fields.push(Field {
            name: words[0],
            kind,
            array,
            versions: range(words[2]).expect("a field has versions"),
            nullable: range(words[3]),
            tag: (words[4] != "-").then(|| number(words[4]) as u32),
            default: words[5],
            fields: self::fields(lines, depth + 1),
        });
    }
    fields
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn kind(word: &str) -> Kind {
    match word {
        "bool" => Kind::Bool,
        "int8" => Kind::Int8,
        "int16" => Kind::Int16,
        "uint16" => Kind::Uint16,
        "int32" => Kind::Int32,
        "int64" => Kind::Int64,
        "float64" => Kind::Float64,
        "uuid" => Kind::Uuid,
        "string" => Kind::String,
        "bytes" => Kind::Bytes,
        "records" => Kind::Records,
        _ => Kind::Struct,
    }
}

fn number(word: &str) -> i16 {
    word.parse().expect("a number stands here")
}

fn range(word: &str) -> Option<Range> {
    let (min, max) = word.split_once('-')?;
    (!min.is_empty()).then(|| Range {
        min: number(min),
        max: number(max),
    })
}
