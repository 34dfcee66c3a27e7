//! What is done about a match.

use std::sync::Arc;

use super::fold;

/// The longest mask template, in bytes.
const MAX_TEMPLATE: usize = 256;
const PLACEHOLDERS: [&str; 3] = ["rule", "length", "last4"];

/// What is done about a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// The request is refused, or the answer cut off.
    Block,
    /// The request goes elsewhere.
    Redirect(Detour),
    /// The match is replaced.
    Mask(Template),
    /// It is only noted.
    LogOnly,
}

impl Action {
    /// The rank of the action among others: 0 decides over all.
    #[must_use]
    pub const fn rank(&self) -> u8 {
        match self {
            Self::Block => 0,
            Self::Redirect(_) => 1,
            Self::Mask(_) => 2,
            Self::LogOnly => 3,
        }
    }

    /// The word for it in configurations and logs.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Redirect(_) => "redirect",
            Self::Mask(_) => "mask",
            Self::LogOnly => "log_only",
        }
    }
}

/// Where a request goes instead of the model it asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detour {
    /// To the model of this name or alias.
    Model(Arc<str>),
    /// Nowhere: this text is the answer, or the rest of it.
    Text(Arc<str>),
}

/// What takes the place of a match: text in which `{rule}` stands for the rule's name, `{length}` for the number of characters that
/// were replaced, and `{last4}` for the last four characters of the match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template(Arc<str>);

impl Default for Template {
    fn default() -> Self {
        Self("[{rule}]".into())
    }
}

impl Template {
    /// Reads a template. Braces around anything that is no plain word are text.
    ///
    /// # Errors
    /// A sentence, for a template above 256 bytes and for a word in braces that stands for nothing.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > MAX_TEMPLATE {
            return Err(format!("the mask template is longer than {MAX_TEMPLATE} bytes"));
        }
        match pieces(text).find_map(|piece| piece.word().filter(|word| !PLACEHOLDERS.contains(word))) {
            Some(word) => {
                Err(format!("the mask template has {{{word}}}, which stands for nothing; known are {{rule}}, {{length}} and {{last4}}"))
            }
            None => Ok(Self(text.into())),
        }
    }

    /// The template as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text for a match of the rule `rule`: `replaced` characters go, and `matched` is what it found.
    pub(super) fn fill(&self, rule: &str, replaced: usize, matched: &str) -> String {
        let mut out = String::with_capacity(self.0.len() + rule.len());
        for piece in pieces(&self.0) {
            match piece.word() {
                Some("rule") => out.push_str(rule),
                Some("length") => out.push_str(&replaced.to_string()),
                Some("last4") => out.push_str(&last_four(matched)),
                _ => out.push_str(piece.0),
            }
        }
        out
    }
}

fn last_four(matched: &str) -> String {
    let folded = fold::fold(matched);
    let start = folded.char_indices().rev().nth(3).map_or(0, |(at, _)| at);
    folded.get(start..).unwrap_or_default().to_owned()
}

/// A stretch of text, or a placeholder with its braces.
struct Piece<'a>(&'a str);

impl<'a> Piece<'a> {
    fn word(&self) -> Option<&'a str> {
        let word = self.0.strip_prefix('{')?.strip_suffix('}')?;
        (!word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')).then_some(word)
    }
}

fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let length = match rest.strip_prefix('{') {
            None => rest.find('{').unwrap_or(rest.len()),
            Some(inner) => match inner.find(['{', '}']) {
                Some(stop) if inner.get(stop..=stop) == Some("}") => stop + 2,
                Some(stop) => stop + 1,
                None => rest.len(),
            },
        };
        let (piece, after) = rest.split_at_checked(length)?;
        rest = after;
        (!piece.is_empty()).then_some(Piece(piece))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_and_other_braces_are_text() {
        let filled = |template: &str| Template::parse(template).unwrap().fill("card", 19, "4111 1111 1111 1234");
        assert_eq!(filled("[{rule}]"), "[card]");
        assert_eq!(filled("{rule}:{length}:{last4}"), "card:19:1234");
        assert_eq!(filled("{\"gone\": {length}} {{rule}} {"), "{\"gone\": 19} {card} {");
        assert_eq!(filled(""), "");
        assert_eq!(Template::default().fill("x", 1, "é"), "[x]");
        assert_eq!(Template::parse("{last4}").unwrap().fill("x", 1, "é"), "é", "a short match has fewer");
    }

    #[test]
    fn a_placeholder_that_stands_for_nothing_is_refused() {
        assert!(Template::parse("[{rulename}]").unwrap_err().contains("{rulename}"));
        assert!(Template::parse(&"x".repeat(257)).is_err());
    }
}
