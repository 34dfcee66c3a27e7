//! Tools for free text where a provider knows functions only.

use crate::canonical::{FunctionTool, Raw, Text};
use crate::wire::json::Value;

/// Schema of the one argument.
const SCHEMA: &[u8] = br#"{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}"#;

/// A function with the free text as its one argument `input`; a grammar is told in words.
pub(in crate::translate) fn function<'a>(name: Text<'a>, description: Option<Text<'a>>, format: Option<&Raw<'a>>) -> FunctionTool<'a> {
    let description = match (description, format.map(Raw::value).and_then(grammar)) {
        (Some(description), Some(grammar)) => Some(Text::from(format!("{}\n{grammar}", description.decode()))),
        (description, grammar) => description.or(grammar.map(Text::from)),
    };
    FunctionTool { name, description, parameters: Some(Raw::from(SCHEMA)), vendor_schema: false, strict: None }
}

fn grammar(format: Value<'_>) -> Option<String> {
    if !format.get("type").is_str("grammar") {
        return None;
    }
    // Chat completions nest what responses write flat.
    let nested = format.get("grammar");
    let grammar = if nested.is_null() { format } else { nested };
    let text = |name: &str| grammar.get(name).str().unwrap_or_default();
    Some(format!("The input must match this {} grammar:\n{}", text("syntax"), text("definition")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grammar_is_told_in_words_however_it_is_nested() {
        let described = |description: Option<&'static str>, format: &'static str| {
            let format = Raw::from(format.as_bytes());
            let tool = function(Text::from("f"), description.map(Text::from), Some(&format));
            tool.description.map(|text| text.decode().into_owned())
        };
        let words = "The input must match this lark grammar:\nstart: \"a\"";
        let flat = r#"{"type":"grammar","syntax":"lark","definition":"start: \"a\""}"#;
        let nested = r#"{"type":"grammar","grammar":{"syntax":"lark","definition":"start: \"a\""}}"#;
        assert_eq!(described(None, flat).as_deref(), Some(words));
        assert_eq!(described(Some("d"), nested), Some(format!("d\n{words}")));
        assert_eq!(described(Some("d"), r#"{"type":"text"}"#).as_deref(), Some("d"));
        assert_eq!(described(None, r#"{"type":"text"}"#), None);
    }
}
