//! What can go wrong while the tree is read into types, in words that never show a value.

use std::fmt::{self, Display};

use serde::de::{self, Expected, Unexpected};

use super::error::Problem;
use super::node::{Mark, Path, Step};

/// An error that collects its place and path on the way out.
#[derive(Debug)]
pub(super) struct DeError {
    message: String,
    mark: Option<Mark>,
    /// Innermost first.
    steps: Vec<Step>,
}

impl DeError {
    pub(super) fn new(message: String) -> Self {
        Self { message, mark: None, steps: Vec::new() }
    }

    pub(super) fn expected(expected: &str, found: &str) -> Self {
        Self::new(format!("expected {expected}, found {found}"))
    }

    /// Sets the place, unless one closer to the mistake is known.
    pub(super) fn locate(mut self, mark: Mark) -> Self {
        self.mark.get_or_insert(mark);
        self
    }

    pub(super) fn in_key(mut self, key: &str) -> Self {
        self.steps.push(Step::Key(key.to_owned()));
        self
    }

    pub(super) fn in_index(mut self, index: usize) -> Self {
        self.steps.push(Step::Index(index));
        self
    }

    pub(super) fn into_problem(mut self, origin: &str, start: Mark) -> Problem {
        self.steps.reverse();
        let mark = self.mark.unwrap_or(start);
        Problem {
            origin: origin.to_owned(),
            line: mark.line,
            column: mark.column,
            path: Path(self.steps).to_string(),
            message: self.message,
        }
    }
}

impl Display for DeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for DeError {}

impl de::Error for DeError {
    fn custom<T: Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let (wanted, found) = (wanted(expected), kind_of(&found));
        let hint = if wanted == "text" && matches!(found, "a number" | "a truth value") { "; put it in quotes" } else { "" };
        Self::new(format!("expected {wanted}, found {found}{hint}"))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        match found {
            Unexpected::Unsigned(number) => Self::expected(&wanted(expected), &number.to_string()),
            Unexpected::Signed(number) => Self::expected(&wanted(expected), &number.to_string()),
            _ => Self::invalid_type(found, expected),
        }
    }

    fn unknown_field(field: &str, known: &'static [&'static str]) -> Self {
        Self::new(unknown("key", field, known))
    }

    fn unknown_variant(variant: &str, known: &'static [&'static str]) -> Self {
        Self::new(unknown("value", variant, known))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(format!("the key `{field}` is missing"))
    }
}

fn kind_of(found: &Unexpected<'_>) -> &'static str {
    match found {
        Unexpected::Bool(_) => "a truth value",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) | Unexpected::Float(_) => "a number",
        Unexpected::Char(_) | Unexpected::Str(_) => "text",
        Unexpected::Unit | Unexpected::Option => "nothing",
        Unexpected::Seq => "a list",
        Unexpected::Map => "a mapping",
        _ => "something else",
    }
}

/// Serde's names of types in an operator's words.
fn wanted(expected: &dyn Expected) -> String {
    let text = expected.to_string();
    match text.as_str() {
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" | "u64" | "usize" => "a whole number that is not negative",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a string" | "path string" => "text",
        "a sequence" => "a list",
        "a map" => "a mapping",
        _ if text.starts_with("struct ") => "a mapping",
        _ => return text,
    }
    .to_owned()
}

fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    match nearest(name, known) {
        Some(near) => format!("unknown {what} `{name}`; did you mean `{near}`?"),
        None => format!("unknown {what} `{name}`; known are {}", known.join(", ")),
    }
}

/// The known name closest to the one written, where it is close enough to be a slip.
fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let allowed = (name.chars().count() / 3).max(1);
    known.iter().map(|candidate| (distance(name, candidate), *candidate)).filter(|(far, _)| *far <= allowed).min().map(|(_, near)| near)
}

/// Levenshtein's distance, by rows.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (line, from) in left.chars().enumerate() {
        let mut best = line + 1;
        let mut next = vec![best];
        for (above, to) in row.windows(2).zip(&right) {
            if let [diagonal, up] = above {
                best = (best + 1).min(up + 1).min(diagonal + usize::from(from != *to));
                next.push(best);
            }
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_strangers_are_not() {
        let known = ["base_url", "keys", "kind", "name"];
        assert_eq!(nearest("bas_url", &known), Some("base_url"));
        assert_eq!(nearest("kinds", &known), Some("kind"));
        assert_eq!(nearest("baseurl", &known), Some("base_url"));
        assert_eq!(nearest("endpoint", &known), None);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
