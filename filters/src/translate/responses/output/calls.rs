//! Calls of the client's tools. Several may be open at once, each an item of its own.

use super::items::{Items, TAIL, delta, head, place_number};
use crate::canonical::Text;
use crate::wire::json::Writer;

/// An open call.
pub(super) struct Call {
    pub(super) call: u32,
    place: usize,
    id: String,
    call_id: String,
    name: String,
    custom: bool,
    /// Escaped.
    arguments: Vec<u8>,
    /// What every delta begins with.
    head: Vec<u8>,
}

impl Items {
    pub(super) fn call(&mut self, call: u32, call_id: &Text<'_>, name: &Text<'_>, custom: bool, out: &mut Vec<u8>) {
        let (place, id) = self.next(if custom { "ctc_" } else { "fc_" });
        let kind = if custom { "response.custom_tool_call_input.delta" } else { "response.function_call_arguments.delta" };
        let head = head(kind, &id, place, "");
        let (call_id, name) = (call_id.decode().into_owned(), name.decode().into_owned());
        let open = Call { call, place, id, call_id, name, custom, arguments: Vec::new(), head };
        self.added(place, out, |w| open.write("in_progress", w));
        self.calls.push(open);
    }

    pub(super) fn arguments(&mut self, call: u32, fragment: &Text<'_>, out: &mut Vec<u8>) {
        let Some(open) = self.calls.iter_mut().find(|open| open.call == call) else { return };
        let from = open.arguments.len();
        fragment.escape_into(&mut open.arguments);
        if self.stream {
            delta(&open.head, open.arguments.get(from..).unwrap_or_default(), TAIL, &mut self.sequence, out);
        }
    }

    pub(super) fn end_call(&mut self, call: u32, out: &mut Vec<u8>) {
        let Some(at) = self.calls.iter().position(|open| open.call == call) else { return };
        let mut open = self.calls.remove(at);
        if open.arguments.is_empty() && !open.custom {
            open.arguments.extend_from_slice(b"{}");
        }
        let (kind, field) = if open.custom {
            ("response.custom_tool_call_input.done", "input")
        } else {
            ("response.function_call_arguments.done", "arguments")
        };
        self.event(kind, out, |_, w| {
            w.str_field("item_id", &open.id);
            w.whole_field("output_index", place_number(open.place));
            if !open.custom {
                w.str_field("name", &open.name);
            }
            w.text_field(field, &Text::Escaped(&open.arguments));
        });
        self.finish(open.place, out, |w| open.write("completed", w));
    }
}

impl Call {
    fn write(&self, status: &str, w: &mut Writer<'_>) {
        w.str_field("id", &self.id);
        w.str_field("type", if self.custom { "custom_tool_call" } else { "function_call" });
        w.str_field("status", status);
        w.str_field("call_id", &self.call_id);
        w.str_field("name", &self.name);
        w.text_field(if self.custom { "input" } else { "arguments" }, &Text::Escaped(&self.arguments));
    }
}
