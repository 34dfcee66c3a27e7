//! One choice of a whole answer. Texts and lists are held as they will be written.

use super::place::Place;
use super::{finish_word, members};
use crate::canonical::{FinishReason, Text};
use crate::wire::json::Writer;

/// One choice as far as it came.
#[derive(Debug, Default)]
pub(super) struct Choice {
    pub(super) index: u32,
    pub(super) text: Vec<u8>,
    pub(super) refusal: Vec<u8>,
    pub(super) reasoning: Vec<u8>,
    /// Where in `reasoning` the block begins that has no token yet.
    pub(super) unsigned: usize,
    pub(super) thinking_blocks: Vec<u8>,
    pub(super) annotations: Vec<u8>,
    pub(super) images: Vec<u8>,
    pub(super) image_count: u32,
    pub(super) logprobs: Vec<u8>,
    pub(super) calls: Vec<Call>,
    pub(super) place: Place,
    pub(super) finish: Option<FinishReason>,
}

/// One of its calls.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) number: u32,
    pub(super) id: String,
    pub(super) name: String,
    pub(super) custom: bool,
    pub(super) token: Option<String>,
    pub(super) arguments: Vec<u8>,
}

/// Appends an element to a list that has no brackets yet.
pub(super) fn element(list: &mut Vec<u8>, write: impl FnOnce(&mut Writer<'_>)) {
    if !list.is_empty() {
        list.push(b',');
    }
    write(&mut Writer::new(list));
}

impl Choice {
    pub(super) fn write(&self, legacy: bool, w: &mut Writer<'_>) {
        w.begin_object();
        w.whole_field("index", self.index);
        w.object("message", |w| self.message(legacy, w));
        w.key("logprobs");
        if self.logprobs.is_empty() {
            w.null();
        } else {
            w.begin_object();
            list("content", &self.logprobs, w);
            w.null_field("refusal");
            w.end_object();
        }
        w.str_field("finish_reason", finish_word(self.finish.unwrap_or(FinishReason::Stop), !self.calls.is_empty(), legacy));
        w.end_object();
    }

    fn message(&self, legacy: bool, w: &mut Writer<'_>) {
        w.str_field("role", "assistant");
        let silent = self.text.is_empty() && !(self.refusal.is_empty() && self.calls.is_empty());
        if silent {
            w.null_field("content")
        } else {
            w.text_field("content", &Text::Escaped(&self.text))
        }
        if self.refusal.is_empty() {
            w.null_field("refusal")
        } else {
            w.text_field("refusal", &Text::Escaped(&self.refusal))
        }
        if !self.reasoning.is_empty() {
            w.text_field("reasoning_content", &Text::Escaped(&self.reasoning));
        }
        for (name, elements) in [("thinking_blocks", &self.thinking_blocks), ("annotations", &self.annotations), ("images", &self.images)] {
            if !elements.is_empty() {
                list(name, elements, w);
            }
        }
        match self.calls.first() {
            None => {}
            Some(call) if legacy => w.object("function_call", |w| call.function(w)),
            Some(_) => w.array("tool_calls", |w| self.calls.iter().for_each(|call| call.write(w))),
        }
    }
}

fn list(name: &str, elements: &[u8], w: &mut Writer<'_>) {
    w.array(name, |w| w.raw(elements));
}

impl Call {
    fn write(&self, w: &mut Writer<'_>) {
        let kind = if self.custom { "custom" } else { "function" };
        w.begin_object();
        w.str_field("id", &self.id);
        w.str_field("type", kind);
        w.object(kind, |w| self.function(w));
        if let Some(token) = &self.token {
            members::call_token(token, w);
        }
        w.end_object();
    }

    /// Name and arguments.
    fn function(&self, w: &mut Writer<'_>) {
        w.str_field("name", &self.name);
        let bare = self.arguments.is_empty() && !self.custom;
        let argument = if self.custom { "input" } else { "arguments" };
        w.text_field(argument, &Text::Escaped(if bare { b"{}" } else { &self.arguments }));
    }
}
