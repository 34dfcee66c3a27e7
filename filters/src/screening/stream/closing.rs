//! The end of an answer that is cut off, in the words of the client's shape: what was seen of the answer for it, and how it is written.

mod chat;
mod generate;
mod messages;
mod responses;

use self::chat::Chat;
use self::generate::Generate;
use self::messages::Messages;
use self::responses::Responses;
use super::stop::{Closing, Stop};
use crate::passage::BodyKind;
use crate::wire::json::{Member, Writer};

/// What was seen of an answer that its end needs.
pub(super) struct Memory {
    shape: Shape,
    array: bool,
    /// Elements of the array that were sent.
    elements: u64,
}

enum Shape {
    Chat(Chat),
    Messages(Messages),
    Generate(Generate),
    Responses(Box<Responses>),
    None,
}

impl Memory {
    pub(super) fn new(kind: BodyKind, array: bool) -> Self {
        let shape = match kind {
            BodyKind::ChatCompletions => Shape::Chat(Chat::new(false)),
            BodyKind::Completions => Shape::Chat(Chat::new(true)),
            BodyKind::Messages => Shape::Messages(Messages::default()),
            BodyKind::GenerateContent => Shape::Generate(Generate::default()),
            BodyKind::Responses => Shape::Responses(Box::default()),
            BodyKind::CountTokens | BodyKind::Embeddings | BodyKind::Images | BodyKind::Audio | BodyKind::Moderations => Shape::None,
        };
        Self { shape, array, elements: 0 }
    }

    /// Notes the data of an event that was sent. `goes_on` tells that it has nothing but more of a choice that was noted before.
    #[inline]
    pub(super) fn note(&mut self, data: &[u8], goes_on: bool) {
        if data.is_empty() {
            return;
        }
        self.elements += 1;
        match &mut self.shape {
            Shape::Chat(_) if goes_on => {}
            Shape::Chat(chat) => chat.note(data),
            Shape::Messages(messages) => messages.note(data),
            Shape::Generate(generate) => generate.note(data, goes_on),
            Shape::Responses(responses) => responses.note(data),
            Shape::None => {}
        }
    }

    /// Writes the end.
    pub(super) fn close(&mut self, stop: &Stop, closing: &Closing, out: &mut Vec<u8>) {
        match &mut self.shape {
            Shape::Chat(chat) => chat.close(stop, closing, out),
            Shape::Messages(messages) => messages.close(stop, closing, out),
            Shape::Generate(generate) => generate.close(stop, &mut Chunks { array: self.array, elements: self.elements, out }),
            Shape::Responses(responses) => responses.close(stop, closing, out),
            Shape::None => {}
        }
    }
}

/// Writes chunks without names, as events or as elements of an array.
struct Chunks<'o> {
    array: bool,
    elements: u64,
    out: &'o mut Vec<u8>,
}

impl Chunks<'_> {
    /// Writes a chunk; `write` writes the members of its object.
    fn chunk(&mut self, write: impl FnOnce(&mut Writer<'_>)) {
        let before: &[u8] = match (self.array, self.elements) {
            (false, _) => b"data: ",
            (true, 0) => b"[",
            (true, _) => b",\n",
        };
        self.out.extend_from_slice(before);
        self.elements += 1;
        object(self.out, write);
        if !self.array {
            self.out.extend_from_slice(b"\n\n");
        }
    }

    /// Ends the array.
    fn end(&mut self) {
        match (self.array, self.elements) {
            (false, _) => {}
            (true, 0) => self.out.extend_from_slice(b"[]"),
            (true, _) => self.out.push(b']'),
        }
    }
}

/// Writes an event with its name, which is also its `type`; `write` writes the other members.
fn event(kind: &str, out: &mut Vec<u8>, write: impl FnOnce(&mut Writer<'_>)) {
    for part in [&b"event: "[..], kind.as_bytes(), b"\ndata: "] {
        out.extend_from_slice(part);
    }
    object(out, |w| {
        w.str_field("type", kind);
        write(w);
    });
    out.extend_from_slice(b"\n\n");
}

fn object(out: &mut Vec<u8>, write: impl FnOnce(&mut Writer<'_>)) {
    let mut w = Writer::new(out);
    w.begin_object();
    write(&mut w);
    w.end_object();
}

/// Appends a member as it stands, with a comma after it.
fn copy(member: &Member<'_>, data: &[u8], out: &mut Vec<u8>) {
    for part in [member.key_span.of(data), b":", member.value(), b","] {
        out.extend_from_slice(part);
    }
}

/// The members that were copied, without the comma after the last.
fn copied(members: &[u8]) -> &[u8] {
    members.strip_suffix(b",").unwrap_or(members)
}
