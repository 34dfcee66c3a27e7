//! The end of events of messages.

use super::super::sight::number;
use super::super::stop::{Closing, Stop};
use super::event;
use crate::wire::json::{Value, Writer, members};

/// What was sent of a message.
#[derive(Default)]
pub(super) struct Messages {
    started: bool,
    /// The block that is open, and whether it is one of text.
    open: Option<(u32, bool)>,
    next: u32,
    /// The usage the message began with.
    usage: Vec<u8>,
}

impl Messages {
    #[inline]
    pub(super) fn note(&mut self, data: &[u8]) {
        if data.starts_with(br#"{"type":"content_block_delta","#) {
            return;
        }
        let value = Value::of(data);
        let kind = value.get("type");
        if kind.is_str("content_block_delta") {
            return;
        }
        let index = || number(value.get("index")).unwrap_or_default();
        if kind.is_str("content_block_start") {
            self.open = Some((index(), value.get("content_block").get("type").is_str("text")));
            self.next = index().saturating_add(1);
        } else if kind.is_str("content_block_stop") {
            self.open = None;
        } else if kind.is_str("message_start") {
            self.started = true;
            self.usage = value.get("message").get("usage").bytes().to_vec();
        }
    }

    pub(super) fn close(&mut self, stop: &Stop, closing: &Closing, out: &mut Vec<u8>) {
        if !self.started {
            self.start(closing, out);
        }
        if let Stop::Say(text) = stop {
            self.say(text, out);
        }
        self.close_block(out);
        let refused = *stop == Stop::Refuse;
        event("message_delta", out, |w| {
            w.object("delta", |w| {
                w.str_field("stop_reason", if refused { "refusal" } else { "end_turn" });
                w.null_field("stop_sequence");
                if refused {
                    w.key("stop_details");
                    w.raw(br#"{"type":"refusal","category":null,"explanation":null}"#);
                }
            });
            w.key("usage");
            self.write_usage(w);
        });
        event("message_stop", out, |_| {});
    }

    fn start(&self, closing: &Closing, out: &mut Vec<u8>) {
        event("message_start", out, |w| {
            w.object("message", |w| {
                w.str_field("id", &format!("msg_{}", closing.request_id));
                w.str_field("type", "message");
                w.str_field("role", "assistant");
                w.str_field("model", &closing.model);
                w.array("content", |_| {});
                w.null_field("stop_reason");
                w.null_field("stop_sequence");
                w.key("usage");
                self.write_usage(w);
            });
        });
    }

    fn say(&mut self, text: &str, out: &mut Vec<u8>) {
        let block = match self.open {
            Some((block, true)) => block,
            _ => {
                self.close_block(out);
                self.open = Some((self.next, true));
                event("content_block_start", out, |w| {
                    w.whole_field("index", self.next);
                    w.key("content_block");
                    w.raw(br#"{"type":"text","text":""}"#);
                });
                self.next
            }
        };
        event("content_block_delta", out, |w| {
            w.whole_field("index", block);
            w.object("delta", |w| {
                w.str_field("type", "text_delta");
                w.str_field("text", text);
            });
        });
    }

    fn close_block(&mut self, out: &mut Vec<u8>) {
        if let Some((block, _)) = self.open.take() {
            event("content_block_stop", out, |w| w.whole_field("index", block));
        }
    }

    /// What is known of the usage. The count of the output has to be there.
    fn write_usage(&self, w: &mut Writer<'_>) {
        let known = members(&self.usage).any(|member| member.is("output_tokens"));
        w.raw(if known { &self.usage } else { br#"{"input_tokens":0,"output_tokens":0}"# });
    }
}
