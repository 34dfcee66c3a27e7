//! An answer of server-sent events.

use bytes::Bytes;

use super::BodyKind;
use super::output::Output;
use super::reading::{Fate, Reader};
use crate::wire::framing::{FRAME_LIMIT, Frame, FrameTooLarge, Framer};
use crate::wire::json::{DEEPEST, outline};
use crate::wire::sse::{BlankLine, Fields, lines};

/// Events on their way to the client.
#[derive(Debug)]
pub(super) struct EventStream {
    framer: Framer<BlankLine>,
    /// The last event was sent on although its blank line never came.
    open_line: bool,
}

impl Default for EventStream {
    fn default() -> Self {
        Self { framer: Framer::new(BlankLine::new(), FRAME_LIMIT), open_line: false }
    }
}

impl EventStream {
    /// Takes the next piece; returns what to send on and what went wrong after it.
    pub(super) fn push(&mut self, reader: &mut Reader, piece: Bytes, end: bool) -> (Bytes, Option<FrameTooLarge>) {
        self.framer.push(piece);
        let mut out = Output::default();
        let failed = loop {
            match self.framer.next_frame() {
                Ok(Some(frame)) => pass(reader, self.framer.piece(), frame, &mut out),
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
        };
        if end && failed.is_none() {
            self.end(reader, &mut out);
        }
        let sent = out.finish(self.framer.piece());
        // Much may pass until the next piece, for many a stream at once.
        self.framer.release();
        (sent, failed)
    }

    /// Settles the stream's end: a last event without its blank line is sent on if its data is whole.
    fn end(&mut self, reader: &mut Reader, out: &mut Output) {
        let complete = self.framer.complete();
        if complete || is_whole(self.framer.pending()) || (reader.facts.terminal && !self.framer.pending().is_empty()) {
            let frame = Frame::Carried { raw: self.framer.take_pending(), end: 0 };
            self.open_line = !complete;
            pass_last(reader, self.framer.piece(), frame, out);
        }
        let finishes = matches!(reader.body, BodyKind::ChatCompletions | BodyKind::Completions);
        reader.facts.terminal |= finishes && reader.facts.finish_reason.is_some();
    }

    /// The bytes that end the stream with `error`.
    pub(super) fn close(&mut self, error: Vec<u8>) -> Bytes {
        self.framer.take_pending();
        if std::mem::take(&mut self.open_line) { Bytes::from([b"\n\n", &*error].concat()) } else { Bytes::from(error) }
    }

    pub(super) const fn held_back(&self) -> usize {
        self.framer.carry_capacity()
    }
}

/// Whether an event that lacks its blank line has all of its data.
fn is_whole(raw: &[u8]) -> bool {
    let fields = Fields::read(raw);
    let data = fields.data(raw);
    fields.has_data() && (data.trim_ascii_start().starts_with(b"[DONE]") || outline(&data, DEEPEST).is_ok())
}

/// As [`pass`], for a frame that follows all others of the piece.
fn pass_last(reader: &mut Reader, piece: &Bytes, frame: Frame, out: &mut Output) {
    let mut last = Output::default();
    pass(reader, piece, frame, &mut last);
    out.append(piece, last.finish(&Bytes::new()));
}

#[inline]
fn pass(reader: &mut Reader, piece: &Bytes, frame: Frame, out: &mut Output) {
    let raw: &[u8] = match &frame {
        Frame::Within(range) => piece.get(range.clone()).unwrap_or_default(),
        Frame::Carried { raw, .. } => raw,
    };
    let fields = Fields::read(raw);
    let data = fields.data(raw);
    let fate = match data.is_empty() {
        true if reader.wants_only_data() => Fate::Drop,
        true => return out.keep(frame),
        false => reader.event(fields.name(raw), &data),
    };
    let stripped = fields.has_comments() && reader.wants_only_data();
    if fate == Fate::Drop {
        out.omit(piece, &frame);
    } else if !stripped && !reader.is_patched() {
        out.keep(frame);
    } else if let (Some(span), false) = (fields.data_span(), stripped) {
        let edited = out.edit(piece, &frame);
        edited.extend_from_slice(raw.get(..span.start).unwrap_or_default());
        reader.write(&data, edited);
        edited.extend_from_slice(raw.get(span.end..).unwrap_or_default());
    } else {
        rewrite(reader, raw, &data, stripped, out.edit(piece, &frame));
    }
}

/// Writes an event whose data is spread over lines, or whose comments go.
fn rewrite(reader: &Reader, raw: &[u8], data: &[u8], stripped: bool, out: &mut Vec<u8>) {
    let mut patched = Vec::with_capacity(data.len());
    reader.write(data, &mut patched);
    let mut values = Some(patched);
    for line in lines(raw) {
        let whole = line.whole.of(raw);
        if line.is_data(raw) {
            let end = whole.get(line.text.end - line.whole.start..).unwrap_or_default();
            for value in values.take().iter().flat_map(|data| data.split(|byte| *byte == b'\n')) {
                out.extend_from_slice(b"data: ");
                out.extend_from_slice(value);
                out.extend_from_slice(end);
            }
        } else if !(stripped && line.is_comment(raw)) {
            out.extend_from_slice(whole);
        }
    }
}
