//! An answer that is one JSON document: held back until it is whole, then edited.

use bytes::{Bytes, BytesMut};

use super::ANSWER_LIMIT;
use super::reading::Reader;
use crate::wire::json::{DEEPEST, elements, outline};

/// A document on its way to the client.
#[derive(Debug, Default)]
pub(super) struct JsonAnswer {
    first: Bytes,
    more: BytesMut,
    /// It was too long to be held back.
    gone: bool,
}

impl JsonAnswer {
    /// Takes the next piece; returns nothing until the end, or from the moment the document is too long to be edited.
    pub(super) fn push(&mut self, reader: &mut Reader, piece: Bytes, end: bool) -> Bytes {
        if self.gone {
            reader.facts.terminal |= end;
            return piece;
        }
        self.hold(piece);
        if self.first.len() + self.more.len() > ANSWER_LIMIT {
            self.gone = true;
            reader.facts.content_started = true;
            reader.facts.terminal |= end;
            return self.take();
        }
        if end { finish(reader, self.take()) } else { Bytes::new() }
    }

    fn hold(&mut self, piece: Bytes) {
        if self.first.is_empty() && self.more.is_empty() {
            self.first = piece;
            return;
        }
        if !self.first.is_empty() && !piece.is_empty() {
            self.more.extend_from_slice(&std::mem::take(&mut self.first));
        }
        self.more.extend_from_slice(&piece);
    }

    fn take(&mut self) -> Bytes {
        if self.more.is_empty() { std::mem::take(&mut self.first) } else { std::mem::take(&mut self.more).freeze() }
    }

    pub(super) fn held_back(&self) -> usize {
        self.first.len() + self.more.capacity()
    }
}

fn finish(reader: &mut Reader, body: Bytes) -> Bytes {
    let Ok(document) = outline(&body, DEEPEST) else {
        wrapped_error(reader, &body);
        return body;
    };
    reader.document(&body, &document);
    reader.facts.terminal = true;
    reader.facts.content_started |= reader.facts.error.is_none();
    if !reader.is_patched() {
        return body;
    }
    let mut edited = Vec::with_capacity(body.len() + 256);
    reader.write(&body, &mut edited);
    Bytes::from(edited)
}

/// Some endpoints of the generate-content vendor wrap their error in an array.
fn wrapped_error(reader: &mut Reader, body: &[u8]) {
    if let Some(element) = elements(body).next()
        && let Ok(document) = outline(element.value, DEEPEST)
    {
        reader.document(element.value, &document);
        reader.facts.terminal = body.trim_ascii_end().ends_with(b"]");
    }
}
