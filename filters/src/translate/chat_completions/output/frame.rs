//! The bytes around what a chunk says. They are the same for a whole stream and written once.

use super::{Form, answer_id};
use crate::canonical::Text;
use crate::translate::ClientView;
use crate::wire::json::Writer;

const CHOICE_END: &[u8] = b"},\"finish_reason\":null}]}\n\n";
const CHOICE_END_USAGE: &[u8] = b"},\"finish_reason\":null}],\"usage\":null}\n\n";

/// What frames the chunks of one stream.
#[derive(Debug, Default)]
pub(super) struct Frame {
    /// Everything of a chunk before the elements of `choices`.
    head: Vec<u8>,
    /// Everything of a chunk of the first choice before its text.
    text_head: Vec<u8>,
    /// As `text_head`, for reasoning.
    reasoning_head: Vec<u8>,
    include_usage: bool,
}

impl Frame {
    /// Settles id, time and model, which every chunk repeats.
    pub(super) fn settle(&mut self, view: &ClientView, id: Option<&Text<'_>>, created: Option<i64>) {
        if !self.head.is_empty() {
            return;
        }
        self.include_usage = view.include_usage;
        self.head.extend_from_slice(b"data: ");
        let mut w = Writer::new(&mut self.head);
        w.begin_object();
        w.str_field("id", &answer_id(view, id));
        w.str_field("object", "chat.completion.chunk");
        w.whole_field("created", created.filter(|created| *created > 0).unwrap_or(view.created));
        w.str_field("model", &view.model);
        w.key("choices");
        w.begin_array();
        self.text_head = [self.head.as_slice(), br#"{"index":0,"delta":{"content":""#].concat();
        self.reasoning_head = [self.head.as_slice(), br#"{"index":0,"delta":{"reasoning_content":""#].concat();
    }

    /// Begins a chunk of a choice; the members of its delta follow.
    pub(super) fn begin(&self, choice: u32, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.head);
        out.extend_from_slice(b"{\"index\":");
        out.extend_from_slice(itoa::Buffer::new().format(choice).as_bytes());
        out.extend_from_slice(b",\"delta\":{");
    }

    /// Ends what [`Self::begin`] began.
    #[inline]
    pub(super) fn end(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.include_usage { CHOICE_END_USAGE } else { CHOICE_END });
    }

    /// Writes a chunk of a choice; `write` writes the members of its delta.
    pub(super) fn chunk(&self, choice: u32, out: &mut Vec<u8>, write: impl FnOnce(&mut Writer<'_>)) {
        self.begin(choice, out);
        write(&mut Writer::new(out));
        self.end(out);
    }

    /// Writes a chunk of text.
    #[inline]
    pub(super) fn text(&self, choice: u32, text: &Text<'_>, out: &mut Vec<u8>) {
        self.growing(choice, (&self.text_head, b"\"content\":\""), text, out);
    }

    /// Writes a chunk of reasoning.
    pub(super) fn reasoning(&self, choice: u32, text: &Text<'_>, out: &mut Vec<u8>) {
        self.growing(choice, (&self.reasoning_head, b"\"reasoning_content\":\""), text, out);
    }

    #[inline]
    fn growing(&self, choice: u32, (first, other): (&[u8], &[u8]), text: &Text<'_>, out: &mut Vec<u8>) {
        if choice == 0 {
            out.extend_from_slice(first);
        } else {
            self.begin(choice, out);
            out.extend_from_slice(other);
        }
        text.escape_into(out);
        out.push(b'"');
        self.end(out);
    }

    /// Writes a piece of a call's arguments.
    pub(super) fn arguments(&self, choice: u32, call: u32, form: Form, fragment: &Text<'_>, out: &mut Vec<u8>) {
        self.begin(choice, out);
        if form == Form::Legacy {
            out.extend_from_slice(b"\"function_call\":{\"arguments\":\"");
            fragment.escape_into(out);
            out.extend_from_slice(b"\"}");
            return self.end(out);
        }
        out.extend_from_slice(b"\"tool_calls\":[{\"index\":");
        out.extend_from_slice(itoa::Buffer::new().format(call).as_bytes());
        out.extend_from_slice(if form == Form::Custom { b",\"custom\":{\"input\":\"" } else { b",\"function\":{\"arguments\":\"" });
        fragment.escape_into(out);
        out.extend_from_slice(b"\"}}]");
        self.end(out);
    }

    /// Writes log probabilities, which stand beside the delta.
    pub(super) fn logprobs(&self, choice: u32, elements: &[u8], out: &mut Vec<u8>) {
        self.begin(choice, out);
        out.extend_from_slice(b"},\"logprobs\":{\"content\":[");
        out.extend_from_slice(elements);
        out.extend_from_slice(b"],\"refusal\":null");
        self.end(out);
    }

    /// Writes the last chunk of a choice.
    pub(super) fn finish(&self, choice: u32, word: &str, out: &mut Vec<u8>) {
        self.begin(choice, out);
        out.extend_from_slice(b"},\"finish_reason\":\"");
        out.extend_from_slice(word.as_bytes());
        out.extend_from_slice(if self.include_usage { b"\"}],\"usage\":null}\n\n" } else { b"\"}]}\n\n" });
    }

    /// Writes the chunk of usage, which has no choices.
    pub(super) fn usage(&self, out: &mut Vec<u8>, write: impl FnOnce(&mut Writer<'_>)) {
        out.extend_from_slice(&self.head);
        out.extend_from_slice(b"],\"usage\":");
        write(&mut Writer::new(out));
        out.extend_from_slice(b"}\n\n");
    }
}
