//! The end of chunks of chat completions and legacy completions.

use super::super::sight::index;
use super::super::stop::{Closing, Stop};
use super::{Chunks, copied, copy};
use crate::wire::json::{Kind, Writer, elements, members};

/// What all chunks begin with, and which choices are open.
pub(super) struct Chat {
    legacy: bool,
    /// The members that all chunks share.
    head: Vec<u8>,
    /// Choices that were seen, and whether they are open.
    choices: Vec<(u32, bool)>,
}

impl Chat {
    pub(super) const fn new(legacy: bool) -> Self {
        Self { legacy, head: Vec::new(), choices: Vec::new() }
    }

    #[inline]
    pub(super) fn note(&mut self, data: &[u8]) {
        if self.head.is_empty() && data.first() == Some(&b'{') {
            self.note_head(data);
        }
        for member in members(data).filter(|member| member.is("choices")) {
            elements(member.value()).enumerate().for_each(|(at, choice)| self.note_choice(at, choice.value));
        }
    }

    fn note_head(&mut self, data: &[u8]) {
        for member in members(data) {
            match &*member.name() {
                b"id" | b"object" | b"created" | b"model" | b"service_tier" | b"system_fingerprint" => copy(&member, data, &mut self.head),
                // Who asked for usage finds it in every chunk.
                b"usage" if member.kind == Kind::Null => copy(&member, data, &mut self.head),
                _ => {}
            }
        }
    }

    fn note_choice(&mut self, at: usize, choice: &[u8]) {
        let number = index(choice, "index", at);
        let ends = || members(choice).any(|member| member.is("finish_reason") && member.kind == Kind::String);
        match self.choices.iter_mut().find(|(seen, _)| *seen == number) {
            Some((_, open)) => *open = *open && !ends(),
            None => self.choices.push((number, !ends())),
        }
    }

    pub(super) fn close(&self, stop: &Stop, closing: &Closing, out: &mut Vec<u8>) {
        let mut open: Vec<u32> = self.choices.iter().filter(|(_, open)| *open).map(|(number, _)| *number).collect();
        if self.choices.is_empty() {
            open.push(0);
        }
        let mut chunks = Chunks { array: false, elements: 0, out };
        for choice in open {
            if let Stop::Say(text) = stop {
                self.chunk(choice, Some(text), None, closing, &mut chunks);
            }
            let reason = if *stop == Stop::Refuse { "content_filter" } else { "stop" };
            self.chunk(choice, None, Some(reason), closing, &mut chunks);
        }
        out.extend_from_slice(b"data: [DONE]\n\n");
    }

    fn chunk(&self, choice: u32, text: Option<&str>, reason: Option<&str>, closing: &Closing, chunks: &mut Chunks<'_>) {
        chunks.chunk(|w| {
            self.write_head(closing, w);
            w.array("choices", |w| {
                w.begin_object();
                w.whole_field("index", choice);
                if self.legacy {
                    w.str_field("text", text.unwrap_or_default());
                } else {
                    w.object("delta", |w| text.into_iter().for_each(|text| w.str_field("content", text)));
                }
                match reason {
                    Some(reason) => w.str_field("finish_reason", reason),
                    None => w.null_field("finish_reason"),
                }
                w.end_object();
            });
        });
    }

    fn write_head(&self, closing: &Closing, w: &mut Writer<'_>) {
        if !self.head.is_empty() {
            w.slot();
            return w.buffer().extend_from_slice(copied(&self.head));
        }
        w.str_field("id", &closing.request_id);
        w.str_field("object", if self.legacy { "text_completion" } else { "chat.completion.chunk" });
        w.whole_field("created", 0);
        w.str_field("model", &closing.model);
    }
}
