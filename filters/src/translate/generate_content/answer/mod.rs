//! Reading a provider's answer, whole or in chunks.

mod arguments;
mod candidate;
mod finish;
mod grounding;
mod logprobs;
mod piece;
mod plain;
mod usage;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use self::candidate::Candidate;
use self::piece::Piece;
use self::plain::Plain;
use self::usage::Told;
use super::failure;
use crate::canonical::{Event, Failure, Finish, FinishReason, Sink, Text};
use crate::translate::Decode;
use crate::wire::json::{Document, Kind, Value, elements, outline};

/// Deepest nesting of an answer.
const DEPTH: usize = 256;
/// Most candidates of an answer.
const CANDIDATES: usize = 128;

/// A reader of one answer.
pub fn decoder() -> impl Decode + 'static {
    Decoder::default()
}

#[derive(Debug, Default)]
struct Decoder {
    started: bool,
    /// Something said why the answer ends.
    ended: bool,
    /// Nothing more may be given.
    over: bool,
    /// The answer is one document.
    whole: bool,
    candidates: Vec<Candidate>,
    usage: Told,
    /// Why the prompt was blocked, and what the provider says of it.
    blocked: Option<(String, Option<String>)>,
}

impl Decode for Decoder {
    #[inline]
    fn event(&mut self, _name: &[u8], data: &[u8], sink: Sink<'_>) {
        if self.over {
            return;
        }
        match Plain::read(data) {
            Some(plain) => self.plain(&plain, sink),
            None => self.document(data, sink),
        }
    }

    fn answer(&mut self, body: &[u8], sink: Sink<'_>) {
        if self.over {
            return;
        }
        // An array holds the chunks of a stream.
        self.whole = body.trim_ascii_start().starts_with(b"{");
        self.document(body, sink);
        if self.over {
            return;
        }
        // A whole answer is complete by itself.
        self.ended = self.blocked.is_some() || !self.candidates.is_empty();
        if !self.ended {
            return self.fail(Failure::broken("upstream sent an answer without candidates"), sink);
        }
        self.finish(sink);
    }

    fn finish(&mut self, sink: Sink<'_>) {
        if self.over || !self.ended {
            return;
        }
        self.begin(None, None, sink);
        match self.blocked.take().filter(|_| self.candidates.is_empty()) {
            Some((reason, message)) => blocked(&reason, message.as_deref(), sink),
            None if self.fruitless() => return self.fail(self.malformed(), sink),
            None => self.candidates.iter_mut().for_each(|candidate| candidate.finish(sink)),
        }
        self.over = true;
        sink(Event::End);
    }
}

impl Decoder {
    /// The next piece of the first candidate's text.
    #[inline]
    fn plain(&mut self, chunk: &Plain<'_>, sink: Sink<'_>) {
        if !self.started {
            self.begin(chunk.id.as_ref(), chunk.created.as_ref(), sink);
        }
        if let (Some(candidate), Some(text)) = (self.candidate(0), &chunk.text) {
            candidate.plain(text, chunk.thought, sink);
        }
        if let Some(usage) = chunk.usage {
            self.usage(usage, sink);
        }
    }

    /// A chunk, a whole answer, or an array of chunks.
    #[inline]
    fn document(&mut self, data: &[u8], sink: Sink<'_>) {
        match outline(data, DEPTH) {
            Ok(document) => self.chunk(&document, sink),
            Err(fault) => self.odd(data, &fault.to_string(), sink),
        }
    }

    /// What is no object: an array of chunks or errors, or the end mark of another shape.
    #[cold]
    fn odd(&mut self, data: &[u8], fault: &str, sink: Sink<'_>) {
        let trimmed = data.trim_ascii();
        if trimmed == b"[DONE]" || trimmed.is_empty() {
            return;
        }
        let mut any = false;
        for element in elements(trimmed) {
            any = true;
            match outline(element.value, DEPTH) {
                Ok(document) if !self.over => self.chunk(&document, sink),
                Ok(_) => {}
                Err(_) => any = false,
            }
        }
        if !any && !self.over {
            self.fail(Failure::broken(format!("upstream sent an event that is no JSON: {fault}")), sink);
        }
    }

    #[inline]
    fn chunk(&mut self, chunk: &Document<'_>, sink: Sink<'_>) {
        if let Some(error) = chunk.get("error").map(|member| member.json()).filter(|error| told(*error)) {
            return self.fail(failure::of_error(None, error), sink);
        }
        let text = |name: &str| chunk.get(name).and_then(|member| member.json().text());
        self.begin(text("responseId").as_ref(), text("createTime").as_ref(), sink);
        for member in chunk.members() {
            match &*member.name() {
                b"candidates" => self.candidates(member.json(), sink),
                b"usageMetadata" => self.usage(member.json(), sink),
                b"promptFeedback" => self.feedback(member.json()),
                _ => {}
            }
        }
        if self.fruitless() {
            self.fail(self.malformed(), sink);
        }
    }

    /// Tells once that the provider began.
    fn begin(&mut self, id: Option<&Text<'_>>, created: Option<&Text<'_>>, sink: Sink<'_>) {
        if std::mem::replace(&mut self.started, true) {
            return;
        }
        let id = id.filter(|id| !id.is_empty()).cloned();
        let created = created.and_then(|time| OffsetDateTime::parse(&time.decode(), &Rfc3339).ok());
        sink(Event::Start { id, created: created.map(OffsetDateTime::unix_timestamp) });
    }

    fn usage(&mut self, told: Value<'_>, sink: Sink<'_>) {
        if let Some(usage) = self.usage.merge(told) {
            sink(Event::Usage(usage));
        }
    }

    fn candidates(&mut self, value: Value<'_>, sink: Sink<'_>) {
        for (place, element) in value.elements().enumerate() {
            let piece = Piece::read(element.json());
            let index = piece.index.unwrap_or(place);
            if let Some(candidate) = self.candidate(index) {
                let ends = candidate.take(piece, sink);
                self.ended |= ends;
            }
        }
    }

    /// The candidate of that number; none where there cannot be so many.
    #[inline]
    fn candidate(&mut self, index: usize) -> Option<&mut Candidate> {
        if index >= CANDIDATES {
            return None;
        }
        while self.candidates.len() <= index {
            self.candidates.push(Candidate::new(u32::try_from(self.candidates.len()).unwrap_or(u32::MAX), self.whole));
        }
        self.candidates.get_mut(index)
    }

    fn feedback(&mut self, feedback: Value<'_>) {
        let reason = feedback.get("blockReason").str().filter(|reason| !reason.is_empty() && !reason.ends_with("_UNSPECIFIED"));
        if let Some(reason) = reason {
            let message = feedback.get("blockReasonMessage").str().filter(|message| !message.is_empty());
            self.blocked = Some((reason.into_owned(), message.map(Cow::into_owned)));
            self.ended = true;
        }
    }

    /// Whether the model broke off without anything of use.
    fn fruitless(&self) -> bool {
        self.candidates.iter().any(Candidate::is_malformed) && !self.candidates.iter().any(Candidate::has_content)
    }

    fn malformed(&self) -> Failure<'static> {
        let broken_off = self.candidates.iter().find(|candidate| candidate.is_malformed());
        Failure::broken(format!("upstream broke off: {}", broken_off.map(Candidate::reason).unwrap_or_default()))
    }

    fn fail(&mut self, failure: Failure<'_>, sink: Sink<'_>) {
        self.over = true;
        sink(Event::Failed(failure));
    }
}

/// Whether an `error` member tells of an error.
fn told(error: Value<'_>) -> bool {
    match error.kind() {
        Kind::Null => false,
        Kind::Bool => error.bool() == Some(true),
        Kind::String => !error.is_str(""),
        Kind::Object | Kind::Array | Kind::Number => true,
    }
}

/// The provider's filter refused the prompt: an answer that is a refusal.
fn blocked(reason: &str, message: Option<&str>, sink: Sink<'_>) {
    let words = format!("Prompt blocked: {reason}");
    sink(Event::Refusal { choice: 0, text: Text::from(words.as_str()) });
    let finish = Finish {
        reason: FinishReason::Refusal,
        raw: Text::from(reason),
        stop_sequence: None,
        explanation: Some(Text::from(message.unwrap_or(&words))),
    };
    sink(Event::Finish { choice: 0, finish });
}
