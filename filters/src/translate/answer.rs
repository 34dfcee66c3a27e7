//! A provider's answer on its way to a client of another shape.

use bytes::{Bytes, BytesMut};

use super::prepare::{Prepared, Viewer};
use super::restore::Restore;
use super::{ClientView, Decode, Encode, chat_completions, generate_content, messages, responses};
use crate::canonical::{Event, Failure, FailureClass, Finish, FinishReason, Sink, Text};
use crate::passage::{ANSWER_LIMIT, BodyKind, Cutoff, Framing, PassageError, PassageKind};
use crate::shape::Shape;
use crate::tokens::{Heard, Hearing};
use crate::usage::Usage;
use crate::wire::framing::{FRAME_LIMIT, Frame, FrameTooLarge, Framer};
use crate::wire::json_array::{ElementEnd, element_span};
use crate::wire::sse::{BlankLine, Fields};

/// An answer that is read in one dialect and written in another.
pub struct Answer {
    kind: PassageKind,
    cut: Cut,
    decoder: Box<dyn Decode>,
    restore: Restore,
    encoder: Box<dyn Encode>,
    seen: Seen,
    /// The client gets one document at the end.
    whole: bool,
}

/// What was seen of an answer.
#[derive(Debug, Default)]
struct Seen {
    usage: Option<Usage>,
    finish_reason: Option<String>,
    content: bool,
    ended: bool,
    failure: Option<Failure<'static>>,
    hearing: Hearing,
    heard: Option<Box<Heard>>,
    /// The provider's dialect tells usage only once it is final.
    tells_last: bool,
}

enum Cut {
    /// Holds the bytes that do not tell the framing yet.
    Undecided(BytesMut),
    /// Holds a whole document.
    Json(BytesMut),
    Sse(Framer<BlankLine>),
    Array(Framer<ElementEnd>, bool),
}

impl Cut {
    fn new(framing: Framing) -> Self {
        match framing {
            Framing::Unknown => Self::Undecided(BytesMut::new()),
            // Whatever calls itself something else is read as the document it should be, and fails if it is none.
            Framing::Json | Framing::Opaque => Self::Json(BytesMut::new()),
            Framing::Sse => Self::Sse(Framer::new(BlankLine::new(), FRAME_LIMIT)),
            Framing::JsonArray => Self::Array(Framer::new(ElementEnd::new(), FRAME_LIMIT), true),
        }
    }
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answer").field("kind", &self.kind).field("seen", &self.seen).finish_non_exhaustive()
    }
}

impl Answer {
    /// An answer to `prepared` with the provider's `content_type`.
    #[must_use]
    pub fn new(prepared: &Prepared, content_type: Option<&str>, viewer: Viewer) -> Self {
        let body = match prepared.shape {
            Shape::ChatCompletions => BodyKind::ChatCompletions,
            Shape::Messages => BodyKind::Messages,
            Shape::GenerateContent => BodyKind::GenerateContent,
            Shape::Responses => BodyKind::Responses,
        };
        let kind = PassageKind::of(body, content_type, prepared.stream);
        let view = prepared.view(viewer);
        Self {
            kind,
            cut: Cut::new(kind.framing),
            decoder: decoder(prepared.shape),
            restore: Restore::new(prepared.adaptations().clone()),
            encoder: encoder(view, prepared),
            seen: Seen { tells_last: matches!(body, BodyKind::ChatCompletions | BodyKind::Responses), ..Seen::default() },
            whole: !prepared.stream,
        }
    }

    /// Keeps the answer's text from now on, so that it can be counted.
    pub fn listen(&mut self, hearing: Hearing) {
        self.seen.hearing = hearing;
    }

    /// Whether, and how, it still listens.
    #[must_use]
    pub const fn hearing(&self) -> Hearing {
        self.seen.hearing
    }

    /// What was heard; none where nothing is to be counted.
    pub fn take_heard(&mut self) -> Option<Heard> {
        let hearing = std::mem::take(&mut self.seen.hearing);
        let heard = self.seen.heard.take();
        (hearing != Hearing::Nothing).then(|| heard.map_or_else(|| Heard::new(hearing), |heard| *heard))
    }

    /// Takes the next piece and returns what to send on now. `end` tells that the upstream ended cleanly after it.
    ///
    /// # Errors
    /// When an event or document exceeds its bound; the caller then sends [`Self::truncated`].
    pub fn push(&mut self, piece: Bytes, end: bool) -> Result<Bytes, PassageError> {
        let mut out = Vec::new();
        self.take(piece, end, &mut out)?;
        if end && !self.is_over() {
            let Self { decoder, restore, encoder, seen, .. } = self;
            decoder.finish(&mut |event| deliver(event, restore, &mut **encoder, seen, &mut out));
        }
        if self.whole && self.seen.ended && end && out.is_empty() {
            // The encoder of whole answers has found nothing it could give: arguments that are no JSON.
            self.seen.ended = false;
            self.seen.failure = Some(Failure::broken("the provider's answer calls a tool with arguments that are no JSON object"));
        }
        Ok(Bytes::from(out))
    }

    fn take(&mut self, piece: Bytes, end: bool, out: &mut Vec<u8>) -> Result<(), PassageError> {
        let Some(piece) = self.decide(piece, end) else { return Ok(()) };
        let Self { cut, decoder, restore, encoder, seen, .. } = self;
        let sink: Sink<'_> = &mut |event| deliver(event, restore, &mut **encoder, seen, out);
        match cut {
            Cut::Undecided(_) => Ok(()),
            Cut::Json(held) => {
                if held.len() + piece.len() > ANSWER_LIMIT {
                    return Err(PassageError::TooLarge(FrameTooLarge { limit: ANSWER_LIMIT }));
                }
                held.extend_from_slice(&piece);
                if end {
                    decoder.answer(&std::mem::take(held), sink);
                }
                Ok(())
            }
            Cut::Sse(framer) => Ok(events(framer, piece, end, &mut **decoder, sink)?),
            Cut::Array(framer, first) => Ok(elements(framer, first, piece, end, &mut **decoder, sink)?),
        }
    }

    /// Settles the framing once the bytes tell it, and returns those to go on with.
    fn decide(&mut self, piece: Bytes, end: bool) -> Option<Bytes> {
        let Cut::Undecided(held) = &mut self.cut else { return Some(piece) };
        held.extend_from_slice(&piece);
        let framing = self.kind.sniffed(held, end)?;
        let whole = std::mem::take(held).freeze();
        self.cut = Cut::new(framing);
        Some(whole)
    }

    /// What to send when the upstream failed, or ended before its answer did: the client's in-band error. Empty when the client
    /// already has a complete answer or an error, or gets one document, see [`Self::failure`].
    pub fn truncated(&mut self, cutoff: Cutoff, message: &str) -> Bytes {
        let mut out = Vec::new();
        if !self.is_over() {
            let (class, status) = match cutoff {
                Cutoff::Failed => (FailureClass::Overloaded, 503),
                Cutoff::TimedOut => (FailureClass::Timeout, 504),
            };
            let code = if cutoff == Cutoff::TimedOut { "upstream_timeout" } else { "upstream_error" };
            let message = Text::from(message.to_owned());
            let failure = Failure { class, status, message, code: Text::from(code), param: None, retry_after: None };
            deliver(Event::Failed(failure), &mut self.restore, &mut *self.encoder, &mut self.seen, &mut out);
        }
        Bytes::from(out)
    }

    fn is_over(&self) -> bool {
        self.seen.ended || self.seen.failure.is_some()
    }

    /// Whether the provider's answer came to its proper end.
    #[must_use]
    pub const fn terminal_seen(&self) -> bool {
        self.seen.ended
    }

    /// Whether a part of the answer proper was seen, as opposed to its frame.
    #[must_use]
    pub const fn content_started(&self) -> bool {
        self.seen.content
    }

    /// The usage told so far.
    #[must_use]
    pub const fn usage(&self) -> Option<Usage> {
        self.seen.usage
    }

    /// The finish reason, as the provider spells it.
    #[must_use]
    pub fn finish_reason(&self) -> Option<&str> {
        self.seen.finish_reason.as_deref()
    }

    /// The failure the provider put into its answer, or that cut it off. A client that gets one document has seen nothing of it.
    #[must_use]
    pub const fn failure(&self) -> Option<&Failure<'static>> {
        self.seen.failure.as_ref()
    }

    /// Whether the client gets one document rather than a stream.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.whole
    }
}

fn decoder(upstream: Shape) -> Box<dyn Decode> {
    match upstream {
        Shape::ChatCompletions => Box::new(chat_completions::decoder()),
        Shape::Messages => Box::new(messages::decoder()),
        Shape::GenerateContent => Box::new(generate_content::decoder()),
        Shape::Responses => Box::new(responses::decoder()),
    }
}

fn encoder(view: ClientView, prepared: &Prepared) -> Box<dyn Encode> {
    match (view.shape, prepared.stream) {
        (Shape::ChatCompletions, true) if prepared.adaptations().legacy_calls => Box::new(chat_completions::legacy_stream_encoder(view)),
        (Shape::ChatCompletions, false) if prepared.adaptations().legacy_calls => Box::new(chat_completions::legacy_whole_encoder(view)),
        (_, stream) => plain_encoder(view, stream),
    }
}

fn plain_encoder(view: ClientView, stream: bool) -> Box<dyn Encode> {
    match (view.shape, stream) {
        (Shape::ChatCompletions, true) => Box::new(chat_completions::stream_encoder(view)),
        (Shape::ChatCompletions, false) => Box::new(chat_completions::whole_encoder(view)),
        (Shape::Messages, true) => Box::new(messages::stream_encoder(view)),
        (Shape::Messages, false) => Box::new(messages::whole_encoder(view)),
        (Shape::GenerateContent, true) => Box::new(generate_content::stream_encoder(view)),
        (Shape::GenerateContent, false) => Box::new(generate_content::whole_encoder(view)),
        (Shape::Responses, true) => Box::new(responses::stream_encoder(view)),
        (Shape::Responses, false) => Box::new(responses::whole_encoder(view)),
    }
}

/// An answer that consists of `text` and used no tokens, as the client would get it of a model: one document, or a whole stream.
#[must_use]
pub fn said(viewer: Viewer, stream: bool, include_usage: bool, text: &str) -> Bytes {
    let view = ClientView {
        shape: viewer.shape,
        upstream: viewer.shape,
        origin: 0,
        model: viewer.model,
        request_id: viewer.request_id,
        created: viewer.created,
        include_usage,
        show_reasoning: false,
        array: viewer.array,
    };
    let mut encoder = plain_encoder(view, stream);
    let mut out = Vec::new();
    let finish = Finish { reason: FinishReason::Stop, raw: Text::from(String::new()), stop_sequence: None, explanation: None };
    let events = [
        Event::Start { id: None, created: None },
        Event::Text { choice: 0, text: Text::from(text.to_owned()) },
        Event::Finish { choice: 0, finish },
        Event::Usage(Usage::default()),
        Event::End,
    ];
    for event in &events {
        encoder.event(event, &mut out);
    }
    Bytes::from(out)
}

#[inline]
fn deliver(event: Event<'_>, restore: &mut Restore, encoder: &mut dyn Encode, seen: &mut Seen, out: &mut Vec<u8>) {
    if restore.is_idle() {
        seen.note(&event);
        encoder.event(&event, out);
    } else {
        restore.event(event, &mut |event| {
            seen.note(&event);
            encoder.event(&event, out);
        });
    }
}

impl Seen {
    #[inline]
    fn note(&mut self, event: &Event<'_>) {
        if self.hearing != Hearing::Nothing {
            self.hear(event);
        }
        match event {
            Event::Usage(usage) => self.usage = Some(*usage),
            Event::Finish { finish, .. } => {
                self.content = true;
                self.finish_reason = Some(finish.raw.decode().into_owned());
            }
            Event::Failed(failure) => self.failure = Some(failure.clone().into_owned()),
            Event::End => self.ended = true,
            Event::Start { .. } | Event::Ping | Event::Unknown { .. } => {}
            _ => self.content = true,
        }
        if self.hearing == Hearing::Missing && matches!(event, Event::Usage(_) | Event::Finish { .. } | Event::End) {
            self.hear_on();
        }
    }

    /// Keeps what the model has written.
    #[inline]
    fn hear(&mut self, event: &Event<'_>) {
        let text = match event {
            Event::Text { text, .. } | Event::Refusal { text, .. } | Event::Reasoning { text, .. } => text,
            Event::ToolStart { name, .. } => name,
            Event::ToolArguments { fragment, .. } => fragment,
            _ => return,
        };
        self.heard.get_or_insert_with(|| Box::new(Heard::new(self.hearing))).text(text);
    }

    /// Stops listening where what was used is told.
    fn hear_on(&mut self) {
        if self.usage.is_some() && (self.tells_last || self.finish_reason.is_some() || self.ended) {
            self.hearing = Hearing::Nothing;
            self.heard = None;
        }
    }
}

fn raw_of<'f>(frame: &'f Frame, piece: &'f Bytes) -> &'f [u8] {
    match frame {
        Frame::Within(range) => piece.get(range.clone()).unwrap_or_default(),
        Frame::Carried { raw, .. } => raw,
    }
}

fn events(framer: &mut Framer<BlankLine>, piece: Bytes, end: bool, decoder: &mut dyn Decode, sink: Sink<'_>) -> Result<(), FrameTooLarge> {
    framer.push(piece);
    while let Some(frame) = framer.next_frame()? {
        event(raw_of(&frame, framer.piece()), decoder, sink);
    }
    if end && !framer.pending().is_empty() {
        // The last event lacks its blank line; the decoder tells whether it is whole.
        event(&framer.take_pending(), decoder, sink);
    }
    Ok(())
}

#[inline]
fn event(raw: &[u8], decoder: &mut dyn Decode, sink: Sink<'_>) {
    let fields = Fields::read(raw);
    let data = fields.data(raw);
    if data.is_empty() {
        return;
    }
    match std::str::from_utf8(&data) {
        Ok(_) => decoder.event(fields.name(raw), &data, sink),
        Err(_) => decoder.event(fields.name(raw), String::from_utf8_lossy(&data).as_bytes(), sink),
    }
}

fn elements(
    framer: &mut Framer<ElementEnd>,
    first: &mut bool,
    piece: Bytes,
    end: bool,
    decoder: &mut dyn Decode,
    sink: Sink<'_>,
) -> Result<(), FrameTooLarge> {
    framer.push(piece);
    let mut one = |raw: &[u8], first: &mut bool| {
        if let Some(span) = element_span(raw, std::mem::take(first)) {
            decoder.event(b"", String::from_utf8_lossy(span.of(raw)).as_bytes(), sink);
        }
    };
    while let Some(frame) = framer.next_frame()? {
        one(raw_of(&frame, framer.piece()), first);
    }
    if end && !framer.pending().iter().all(u8::is_ascii_whitespace) {
        one(&framer.take_pending(), first);
    }
    Ok(())
}
