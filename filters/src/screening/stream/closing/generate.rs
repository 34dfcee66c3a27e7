//! The end of chunks of generate content.

use super::super::sight::index;
use super::super::stop::Stop;
use super::{Chunks, copied, copy};
use crate::wire::json::{Kind, Writer, elements, members};

/// What was sent of an answer.
#[derive(Default)]
pub(super) struct Generate {
    /// The members that say which answer a chunk is of, of the first chunk.
    head: Vec<u8>,
    /// The last usage.
    usage: Vec<u8>,
    /// Candidates that were seen, and whether they are open.
    candidates: Vec<(u32, bool)>,
}

impl Generate {
    pub(super) fn note(&mut self, data: &[u8], goes_on: bool) {
        let first = self.head.is_empty();
        for member in members(data) {
            match &*member.name() {
                b"candidates" if goes_on => {}
                b"candidates" => elements(member.value()).enumerate().for_each(|(at, one)| self.candidate(at, one.value)),
                b"modelVersion" | b"responseId" | b"createTime" if first => copy(&member, data, &mut self.head),
                b"usageMetadata" => {
                    self.usage.clear();
                    copy(&member, data, &mut self.usage);
                }
                _ => {}
            }
        }
    }

    fn candidate(&mut self, at: usize, candidate: &[u8]) {
        let number = index(candidate, "index", at);
        let ends = members(candidate).any(|member| member.is("finishReason") && member.kind == Kind::String);
        match self.candidates.iter_mut().find(|(seen, _)| *seen == number) {
            Some((_, open)) => *open = *open && !ends,
            None => self.candidates.push((number, !ends)),
        }
    }

    pub(super) fn close(&self, stop: &Stop, chunks: &mut Chunks<'_>) {
        let mut open: Vec<u32> = self.candidates.iter().filter(|(_, open)| *open).map(|(number, _)| *number).collect();
        if self.candidates.is_empty() {
            open.push(0);
        }
        let reason = if *stop == Stop::Refuse { "SAFETY" } else { "STOP" };
        for candidate in open {
            if let Stop::Say(text) = stop {
                self.chunk(candidate, text, None, chunks);
            }
            self.chunk(candidate, "", Some(reason), chunks);
        }
        chunks.end();
    }

    /// Every chunk has a part: clients drop turns of which any chunk has none.
    fn chunk(&self, candidate: u32, text: &str, reason: Option<&str>, chunks: &mut Chunks<'_>) {
        chunks.chunk(|w| {
            w.array("candidates", |w| {
                w.begin_object();
                w.whole_field("index", candidate);
                w.object("content", |w| {
                    w.str_field("role", "model");
                    w.array("parts", |w| {
                        w.begin_object();
                        w.str_field("text", text);
                        w.end_object();
                    });
                });
                reason.into_iter().for_each(|reason| w.str_field("finishReason", reason));
                w.end_object();
            });
            if reason.is_some() {
                paste(&self.usage, w);
            }
            paste(&self.head, w);
        });
    }
}

fn paste(members: &[u8], w: &mut Writer<'_>) {
    if !members.is_empty() {
        w.slot();
        w.buffer().extend_from_slice(copied(members));
    }
}
