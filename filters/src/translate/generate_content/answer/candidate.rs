//! One candidate of an answer, in pieces.

use std::borrow::Cow;

use super::arguments::Partial;
use super::finish::{self, Reason};
use super::grounding::Grounding;
use super::logprobs;
use super::piece::{Part, Piece};
use crate::canonical::{Event, Finish, FinishReason, Signature, Sink, Text};
use crate::shape::Shape;
use crate::translate::generate_content::fence;
use crate::translate::map::ids;
use crate::wire::json::{Kind, Value, compact};

/// What is known of a candidate.
#[derive(Debug)]
pub(super) struct Candidate {
    choice: u32,
    calls: u32,
    /// Text, a call or a picture was given.
    content: bool,
    /// The provider's word for the end, and what it says of it. Held until the provider is done: calls may be told before.
    finish: Option<(String, Option<String>)>,
    /// A call that arrives in pieces.
    open: Option<Partial>,
    /// The whole text, which places of sources count in.
    text: String,
    /// Where the parts of the first chunk begin in it.
    starts: Vec<usize>,
    chunks: u32,
    grounding: Grounding,
    /// What the answer rests on is known before its text, and is to be told first.
    whole: bool,
    /// The searches were told.
    searched: bool,
}

impl Candidate {
    /// `whole` tells that the answer comes in one piece.
    pub(super) fn new(choice: u32, whole: bool) -> Self {
        let (text, starts, grounding) = (String::new(), Vec::new(), Grounding::default());
        Self { choice, calls: 0, content: false, finish: None, open: None, text, starts, chunks: 0, grounding, whole, searched: false }
    }

    /// Whether anything of use was given.
    pub(super) const fn has_content(&self) -> bool {
        self.content
    }

    /// Whether the model broke off.
    pub(super) fn is_malformed(&self) -> bool {
        self.finish.as_ref().is_some_and(|(raw, _)| finish::reason(raw) == Reason::Malformed)
    }

    /// The provider's words for the end.
    pub(super) fn reason(&self) -> String {
        match &self.finish {
            Some((raw, Some(message))) => format!("{raw}: {message}"),
            Some((raw, None)) => raw.clone(),
            None => String::new(),
        }
    }

    /// Takes the next piece; true when it says why the answer ends.
    pub(super) fn take(&mut self, piece: Piece<'_>, sink: Sink<'_>) -> bool {
        self.chunks = self.chunks.saturating_add(1);
        if let Some(grounding) = piece.grounding {
            self.grounding.merge(grounding);
        }
        if let Some(content) = piece.content {
            self.content(content, sink);
        }
        if let Some(elements) = piece.logprobs.and_then(logprobs::elements) {
            sink(Event::Logprobs { choice: self.choice, elements });
        }
        let raw = piece.raw.filter(|raw| !raw.is_empty() && raw != "FINISH_REASON_UNSPECIFIED");
        let Some(raw) = raw else { return false };
        self.finish = Some((raw.into_owned(), piece.message.map(Cow::into_owned)));
        true
    }

    /// Takes a piece that is nothing but text.
    #[inline]
    pub(super) fn plain(&mut self, text: &Text<'_>, thought: bool, sink: Sink<'_>) {
        self.chunks = self.chunks.saturating_add(1);
        if self.chunks == 1 {
            self.starts.push(0);
        }
        self.words(Some(text.as_ref()), thought, None, sink);
    }

    #[inline]
    fn content(&mut self, content: Value<'_>, sink: Sink<'_>) {
        for member in content.members().filter(|member| member.is("parts")) {
            for part in member.json().elements() {
                if self.chunks == 1 {
                    self.starts.push(self.text.len());
                }
                self.part(part.json(), sink);
            }
        }
    }

    #[inline]
    fn part(&mut self, part: Value<'_>, sink: Sink<'_>) {
        let fields = Part::read(part);
        match (fields.data, fields.text) {
            (Some((name, value)), _) => self.data(&name, value, fields.thought, fields.signature, sink),
            (None, text) => self.words(text, fields.thought, fields.signature, sink),
        }
    }

    #[inline]
    fn words(&mut self, text: Option<Text<'_>>, thought: bool, signature: Option<Text<'_>>, sink: Sink<'_>) {
        let choice = self.choice;
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            if thought {
                sink(Event::Reasoning { choice, text });
            } else {
                self.begin(sink);
                self.text.push_str(&text.decode());
                sink(Event::Text { choice, text });
            }
        }
        if let Some(signature) = signature {
            sink(Event::ReasoningSigned { choice, signature: own(signature) });
        }
    }

    fn data(&mut self, name: &[u8], value: Value<'_>, thought: bool, signature: Option<Text<'_>>, sink: Sink<'_>) {
        let choice = self.choice;
        match name {
            b"functionCall" => self.call(value, signature, sink),
            b"inlineData" if !thought => {
                self.begin(sink);
                let (media_type, data) = (value.get("mimeType").text(), value.get("data").text());
                let empty = || Text::from("");
                let (media_type, data) = (media_type.unwrap_or_else(empty), data.unwrap_or_else(empty));
                sink(Event::Media { choice, media_type, data });
            }
            b"executableCode" => self.say(&fence::code(value), sink),
            b"codeExecutionResult" => self.say(&fence::outcome(value), sink),
            kind => sink(Event::Unknown { kind: Text::from(String::from_utf8_lossy(kind)) }),
        }
    }

    fn say(&mut self, words: &str, sink: Sink<'_>) {
        self.begin(sink);
        self.text.push_str(words);
        sink(Event::Text { choice: self.choice, text: Text::from(words) });
    }

    /// Something of use follows.
    #[inline]
    fn begin(&mut self, sink: Sink<'_>) {
        self.content = true;
        if self.whole {
            self.search(sink);
        }
    }

    fn search(&mut self, sink: Sink<'_>) {
        if !std::mem::replace(&mut self.searched, true) {
            self.grounding.searches(self.choice, sink);
        }
    }

    /// A call, which comes whole or in pieces.
    fn call(&mut self, value: Value<'_>, signature: Option<Text<'_>>, sink: Sink<'_>) {
        let (id, name) = (value.get("id").text(), value.get("name").text().filter(|name| !name.is_empty()));
        let pieces = value.get("partialArgs");
        let goes_on = value.get("willContinue").bool() == Some(true);
        let another = match (&self.open, &name) {
            (Some(open), Some(name)) => open.name != name.decode() || id.as_ref().is_some_and(|id| open.id != id.decode()),
            _ => false,
        };
        if another {
            self.close(sink);
        }
        if self.open.is_none() && !goes_on && pieces.is_null() {
            // A call without a name cannot be answered; the end of one that never began is nothing.
            let Some(name) = name else { return };
            return self.whole(id, name, value.get("args"), signature.map(own), sink);
        }
        if self.open.is_none()
            && let Some(name) = name
        {
            let id = id.filter(|id| !id.is_empty()).map_or_else(|| ids::minted("call_"), |id| id.decode().into_owned());
            self.open = Some(Partial::new(id, name.decode().into_owned()));
        }
        if let Some(open) = &mut self.open {
            open.add(value.get("args"), pieces, signature.as_ref());
        }
        if !goes_on {
            self.close(sink);
        }
    }

    fn close(&mut self, sink: Sink<'_>) {
        let Some(open) = self.open.take() else { return };
        let arguments = open.arguments();
        let signature = open.signature.as_deref().map(|value| own(Text::from(value)));
        self.whole(Some(Text::from(open.id.as_str())), Text::from(open.name.as_str()), Value::of(&arguments), signature, sink);
    }

    fn whole(&mut self, id: Option<Text<'_>>, name: Text<'_>, arguments: Value<'_>, signature: Option<Signature<'_>>, sink: Sink<'_>) {
        let (choice, call) = (self.choice, self.calls);
        self.calls += 1;
        self.begin(sink);
        let id = id.filter(|id| !id.is_empty()).unwrap_or_else(|| Text::from(ids::minted("call_")));
        sink(Event::ToolStart { choice, call, id, name, custom: false, signature });
        if arguments.kind() == Kind::Object && arguments.members().next().is_some() {
            let json = compact(arguments.bytes());
            sink(Event::ToolArguments { choice, call, fragment: Text::from(String::from_utf8_lossy(&json)) });
        }
        sink(Event::ToolEnd { choice, call });
    }

    /// Tells what was held back.
    pub(super) fn finish(&mut self, sink: Sink<'_>) {
        let (raw, message) = self.finish.take().unwrap_or_default();
        let reason = finish::reason(&raw);
        if reason == Reason::Length {
            // A call cut off by the limit is of no use.
            self.open = None;
        }
        self.close(sink);
        // What supports the text belongs to it; a search that a stream tells after its text stands behind it.
        self.grounding.citations(self.choice, &self.text, &self.starts, sink);
        self.search(sink);
        let finish = Finish {
            reason: self.unified(reason).with_calls(self.calls > 0),
            raw: Text::from(raw),
            stop_sequence: None,
            explanation: message.map(Text::from),
        };
        sink(Event::Finish { choice: self.choice, finish });
    }

    const fn unified(&self, reason: Reason) -> FinishReason {
        match reason {
            Reason::Stop => FinishReason::Stop,
            Reason::Length => FinishReason::Length,
            Reason::Refusal => FinishReason::Refusal,
            Reason::Other if !self.content => FinishReason::Refusal,
            Reason::Malformed | Reason::Other => FinishReason::Stop,
        }
    }
}

/// A token of this vendor.
const fn own(value: Text<'_>) -> Signature<'_> {
    Signature { shape: Shape::GenerateContent, origin: None, value }
}
