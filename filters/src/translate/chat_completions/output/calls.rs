//! Calls in a stream, which may be interleaved.

use super::stream::Stream;
use super::{Form, members};
use crate::canonical::Text;
use crate::wire::json::Writer;

/// One call as far as it was told.
#[derive(Debug)]
pub(super) struct Call {
    number: u32,
    form: Form,
    begun: bool,
}

impl Stream {
    pub(super) fn tool_start(&mut self, index: u32, number: u32, form: Form, out: &mut Vec<u8>, head: impl FnOnce(&mut Writer<'_>)) {
        let mut told = true;
        self.with(index, out, |choice| {
            told = form != Form::Legacy || choice.calls.is_empty();
            if told {
                choice.calls.push(Call { number, form, begun: false });
            }
        });
        if form == Form::Legacy {
            if told {
                self.frame.chunk(index, out, head);
            }
            return;
        }
        self.frame.chunk(index, out, |w| {
            w.array("tool_calls", |w| {
                w.begin_object();
                w.whole_field("index", number);
                head(w);
                w.end_object();
            });
        });
    }

    pub(super) fn tool_arguments(&mut self, index: u32, number: u32, fragment: &Text<'_>, out: &mut Vec<u8>) {
        let mut form = None;
        self.with(index, out, |choice| {
            if let Some(call) = choice.calls.iter_mut().find(|call| call.number == number) {
                call.begun = true;
                form = Some(call.form);
            }
        });
        if let Some(form) = form {
            self.frame.arguments(index, number, form, fragment, out);
        }
    }

    /// A call without arguments has an empty object for them.
    pub(super) fn tool_end(&mut self, index: u32, number: u32, out: &mut Vec<u8>) {
        let mut bare = false;
        self.with(index, out, |choice| {
            bare = choice.calls.iter().any(|call| call.number == number && !call.begun && call.form != Form::Custom);
        });
        if bare {
            self.tool_arguments(index, number, &Text::from("{}"), out);
        }
    }
}

/// Writes what the first chunk of a call tells.
pub(super) fn head(id: &Text<'_>, name: &Text<'_>, form: Form, token: Option<&str>, w: &mut Writer<'_>) {
    let (kind, argument) = match form {
        Form::Function => ("function", "arguments"),
        Form::Custom => ("custom", "input"),
        Form::Legacy => {
            return w.object("function_call", |w| {
                w.text_field("name", name);
                w.str_field("arguments", "");
            });
        }
    };
    w.text_field("id", id);
    w.str_field("type", kind);
    w.object(kind, |w| {
        w.text_field("name", name);
        w.str_field(argument, "");
    });
    if let Some(token) = token {
        members::call_token(token, w);
    }
}
