//! The events of a stream as they stand on the wire. Blocks are numbered densely and never overlap.

use crate::canonical::{Citation, SearchHit, Text};
use crate::wire::json::Writer;

const END: &[u8] = b"\n\n";
/// End of an event whose last value is a string in the delta.
const DELTA_END: &[u8] = b"\"}}\n\n";

/// Writes events and counts blocks.
#[derive(Default)]
pub(super) struct Frames {
    /// Number of the open block, or of the next one.
    index: u32,
    /// What every delta of the open block begins with, up to its text.
    head: Vec<u8>,
}

impl Frames {
    /// An event whose data `write` writes.
    pub(super) fn event(kind: &str, out: &mut Vec<u8>, write: impl FnOnce(&mut Writer<'_>)) {
        for part in [&b"event: "[..], kind.as_bytes(), b"\ndata: "] {
            out.extend_from_slice(part);
        }
        let mut w = Writer::new(out);
        w.begin_object();
        w.str_field("type", kind);
        write(&mut w);
        w.end_object();
        out.extend_from_slice(END);
    }

    pub(super) fn ping(out: &mut Vec<u8>) {
        out.extend_from_slice(b"event: ping\ndata: {\"type\":\"ping\"}\n\n");
    }

    fn start(&self, out: &mut Vec<u8>, block: impl FnOnce(&mut Writer<'_>)) {
        Self::event("content_block_start", out, |w| {
            w.whole_field("index", self.index);
            w.key("content_block");
            block(w);
        });
    }

    /// Opens a block and readies the head of its deltas.
    fn open(&mut self, out: &mut Vec<u8>, delta: &str, field: &str, block: impl FnOnce(&mut Writer<'_>)) {
        self.start(out, block);
        self.ready(delta, field);
    }

    fn ready(&mut self, delta: &str, field: &str) {
        let mut digits = itoa::Buffer::new();
        self.head.clear();
        let parts = [
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":",
            digits.format(self.index),
            ",\"delta\":{\"type\":\"",
            delta,
            "\",\"",
            field,
            "\":\"",
        ];
        parts.iter().for_each(|part| self.head.extend_from_slice(part.as_bytes()));
    }

    pub(super) fn open_text(&mut self, out: &mut Vec<u8>) {
        self.open(out, "text_delta", "text", |w| w.raw(br#"{"type":"text","text":""}"#));
    }

    pub(super) fn open_thinking(&mut self, out: &mut Vec<u8>) {
        self.open(out, "thinking_delta", "thinking", |w| w.raw(br#"{"type":"thinking","thinking":"","signature":""}"#));
    }

    pub(super) fn open_call(&mut self, id: &Text<'_>, name: &Text<'_>, out: &mut Vec<u8>) {
        self.open(out, "input_json_delta", "partial_json", |w| {
            w.begin_object();
            w.str_field("type", "tool_use");
            w.text_field("id", id);
            w.text_field("name", name);
            w.object("input", |_| {});
            w.end_object();
        });
    }

    /// More of the open block.
    #[inline]
    pub(super) fn delta(&self, text: &Text<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.head);
        text.escape_into(out);
        out.extend_from_slice(DELTA_END);
    }

    /// The signature of the open block.
    pub(super) fn signature(&mut self, value: &str, out: &mut Vec<u8>) {
        self.ready("signature_delta", "signature");
        self.delta(&Text::from(value), out);
    }

    /// A source of the open block's text.
    pub(super) fn citation(&self, citation: &Citation<'_>, out: &mut Vec<u8>) {
        Self::event("content_block_delta", out, |w| {
            w.whole_field("index", self.index);
            w.object("delta", |w| {
                w.str_field("type", "citations_delta");
                w.key("citation");
                super::sources::write(citation, w);
            });
        });
    }

    /// Closes the open block.
    pub(super) fn close(&mut self, out: &mut Vec<u8>) {
        Self::event("content_block_stop", out, |w| w.whole_field("index", self.index));
        self.index += 1;
    }

    /// A sealed block of reasoning, whole.
    pub(super) fn redacted(&mut self, data: &str, out: &mut Vec<u8>) {
        self.start(out, |w| {
            w.begin_object();
            w.str_field("type", "redacted_thinking");
            w.str_field("data", data);
            w.end_object();
        });
        self.close(out);
    }

    /// A search and what it found: two blocks, whole.
    pub(super) fn search(&mut self, id: &Text<'_>, query: &Text<'_>, hits: &[SearchHit<'_>], out: &mut Vec<u8>) {
        let id = super::search_id(id);
        self.open(out, "input_json_delta", "partial_json", |w| {
            w.begin_object();
            w.str_field("type", "server_tool_use");
            w.str_field("id", &id);
            w.str_field("name", "web_search");
            w.object("input", |_| {});
            w.end_object();
        });
        let mut input = Vec::new();
        let mut w = Writer::new(&mut input);
        w.begin_object();
        w.text_field("query", query);
        w.end_object();
        self.delta(&Text::Plain(String::from_utf8_lossy(&input)), out);
        self.close(out);
        self.start(out, |w| super::found(&id, hits, w));
        self.close(out);
    }
}
