//! A piece of a tool call as one event tells it.

use std::borrow::Cow;

use crate::canonical::Text;
use crate::wire::json::{Kind, Value};

/// What one element of `tool_calls` tells.
#[derive(Debug)]
pub(super) struct Fragment<'a> {
    pub(super) index: Option<u64>,
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) name: Option<Cow<'a, str>>,
    /// A piece of the arguments; an object is taken for its JSON.
    pub(super) arguments: Option<Text<'a>>,
    pub(super) custom: bool,
    pub(super) signature: Option<Text<'a>>,
}

impl<'a> Fragment<'a> {
    pub(super) fn read(value: Value<'a>) -> Self {
        let mut fragment = Self { index: None, id: None, name: None, arguments: None, custom: false, signature: None };
        for member in value.members() {
            let inner = member.json();
            match &*member.name() {
                b"index" => fragment.index = inner.u64(),
                b"id" => fragment.id = filled(inner),
                b"function" => fragment.function(inner, "arguments"),
                b"custom" if inner.kind() == Kind::Object => {
                    fragment.custom = true;
                    fragment.function(inner, "input");
                }
                b"extra_content" => {
                    let token = inner.get("google").get("thought_signature");
                    fragment.signature = token.text().filter(|token| !token.is_empty());
                }
                _ => {}
            }
        }
        fragment
    }

    /// The old form: one call, without index and id.
    pub(super) fn legacy(value: Value<'a>) -> Self {
        let mut fragment = Self { index: Some(0), id: None, name: None, arguments: None, custom: false, signature: None };
        fragment.function(value, "arguments");
        fragment
    }

    fn function(&mut self, function: Value<'a>, argument: &str) {
        self.name = filled(function.get("name"));
        let arguments = function.get(argument);
        self.arguments = match arguments.kind() {
            Kind::Null => None,
            Kind::String => arguments.text().filter(|text| !text.is_empty()),
            _ => Some(Text::Plain(String::from_utf8_lossy(arguments.bytes()))),
        };
    }
}

fn filled(value: Value<'_>) -> Option<Cow<'_, str>> {
    value.str().filter(|text| !text.is_empty())
}
