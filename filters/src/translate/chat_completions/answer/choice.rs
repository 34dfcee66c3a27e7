//! One choice of an answer.

use std::borrow::Cow;

use super::calls::Calls;
use super::chunk::Part;
use super::fragment::Fragment;
use super::{finish, reasoning};
use crate::canonical::{Citation, Event, Failure, Finish, FinishReason, Raw, Sink, Text};
use crate::translate::chat_completions::failure;
use crate::translate::map::media::data_url;
use crate::wire::json::{Kind, Value};

/// What is known of a choice.
#[derive(Debug)]
pub(super) struct Choice {
    pub(super) index: u32,
    calls: Calls,
    refused: bool,
    finish: Option<Ended>,
}

#[derive(Debug)]
struct Ended {
    reason: FinishReason,
    raw: String,
    stop_sequence: Option<String>,
}

impl Choice {
    pub(super) fn new(index: u32) -> Self {
        Self { index, calls: Calls::default(), refused: false, finish: None }
    }

    pub(super) const fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    /// Gives what a part tells: reasoning, content, refusal, calls, in this order whatever theirs.
    ///
    /// # Errors
    /// When it tells that the provider failed.
    #[inline]
    pub(super) fn take(&mut self, part: &Part<'_>, sink: Sink<'_>) -> Result<(), Failure<'static>> {
        if !matches!(part.error.kind(), Kind::Null | Kind::Bool) {
            return Err(failure::told(part.error));
        }
        self.reasoning(part, sink);
        self.content(part.content, sink);
        if let Some(text) = part.refusal.text().filter(|text| !text.is_empty()) {
            self.refusal(text, sink);
        }
        self.extras(part, sink);
        self.tools(part, sink);
        self.ended(part, sink)
    }

    #[inline]
    fn reasoning(&mut self, part: &Part<'_>, sink: Sink<'_>) {
        let fields = [part.reasoning_content, part.reasoning, part.reasoning_details, part.thinking_blocks];
        if fields.iter().any(|field| !field.is_null()) {
            self.calls.settle(self.index, sink);
            reasoning::give(self.index, part, sink);
        }
    }

    #[inline]
    fn content(&mut self, content: Value<'_>, sink: Sink<'_>) {
        match content.kind() {
            Kind::String => {
                if let Some(text) = content.text().filter(|text| !text.is_empty()) {
                    self.text(text, sink);
                }
            }
            // Some services send parts, as in requests; reasoning is among them.
            Kind::Array => content.elements().for_each(|part| self.content_part(part.json(), sink)),
            // Some send the object of a JSON answer as it is.
            Kind::Object => self.text(Text::Plain(String::from_utf8_lossy(content.bytes())), sink),
            Kind::Number | Kind::Bool | Kind::Null => {}
        }
    }

    #[inline]
    fn text(&mut self, text: Text<'_>, sink: Sink<'_>) {
        self.calls.settle(self.index, sink);
        sink(Event::Text { choice: self.index, text });
    }

    fn refusal(&mut self, text: Text<'_>, sink: Sink<'_>) {
        self.refused = true;
        self.calls.settle(self.index, sink);
        sink(Event::Refusal { choice: self.index, text });
    }

    fn content_part(&mut self, part: Value<'_>, sink: Sink<'_>) {
        if part.kind() == Kind::String {
            return self.content(part, sink);
        }
        match &*part.get("type").str().unwrap_or_default() {
            "text" | "output_text" => self.content(part.get("text"), sink),
            "refusal" => {
                if let Some(text) = part.get("refusal").text().filter(|text| !text.is_empty()) {
                    self.refusal(text, sink);
                }
            }
            "thinking" => self.thinking_part(part.get("thinking"), sink),
            "image_url" => self.image(part, sink),
            kind => sink(Event::Unknown { kind: Text::from(kind.to_owned()) }),
        }
    }

    fn thinking_part(&self, thinking: Value<'_>, sink: Sink<'_>) {
        let texts = thinking.elements().map(|inner| inner.json().get("text")).chain([thinking]);
        for text in texts.filter_map(Value::text).filter(|text| !text.is_empty()) {
            sink(Event::Reasoning { choice: self.index, text });
        }
    }

    /// Sources, pictures, sound and log probabilities.
    #[inline]
    fn extras(&mut self, part: &Part<'_>, sink: Sink<'_>) {
        if !part.logprobs.is_null() {
            self.logprobs(part.logprobs.get("content"), sink);
        }
        part.annotations.elements().for_each(|annotation| self.annotation(annotation.json(), sink));
        part.images.elements().for_each(|image| self.image(image.json(), sink));
        if part.audio.kind() == Kind::Object {
            self.content(part.audio.get("transcript"), sink);
            sink(Event::Unknown { kind: Text::from("audio") });
        }
    }

    fn logprobs(&self, content: Value<'_>, sink: Sink<'_>) {
        let inner = content.bytes().strip_prefix(b"[").and_then(|inner| inner.strip_suffix(b"]")).map(<[u8]>::trim_ascii);
        if let Some(inner) = inner.filter(|inner| !inner.is_empty()) {
            sink(Event::Logprobs { choice: self.index, elements: Raw(Cow::Borrowed(inner)) });
        }
    }

    fn annotation(&self, annotation: Value<'_>, sink: Sink<'_>) {
        let told = annotation.get("url_citation");
        let Some(url) = told.get("url").text().filter(|url| !url.is_empty()) else { return };
        let words = |name: &str| told.get(name).text().unwrap_or(Text::from(""));
        let span = told.get("start_index").u64().zip(told.get("end_index").u64()).filter(|(start, end)| start <= end);
        let citation = Citation { url, title: words("title"), cited: words("content"), span };
        sink(Event::Citation { choice: self.index, citation });
    }

    fn image(&self, image: Value<'_>, sink: Sink<'_>) {
        let url = image.get("image_url").get("url").text();
        match url.as_ref().and_then(data_url) {
            Some((media_type, data)) => sink(Event::Media { choice: self.index, media_type, data }),
            None => sink(Event::Unknown { kind: Text::from("image_url") }),
        }
    }

    #[inline]
    fn tools(&mut self, part: &Part<'_>, sink: Sink<'_>) {
        if part.tool_calls.kind() == Kind::Array {
            let apart = part.is_whole || part.tool_calls.elements().nth(1).is_some();
            for element in part.tool_calls.elements() {
                self.calls.take(self.index, &Fragment::read(element.json()), apart, sink);
            }
        }
        if part.function_call.kind() == Kind::Object {
            self.calls.take(self.index, &Fragment::legacy(part.function_call), false, sink);
        }
    }

    /// The first reason counts; calls end with it. It is given only at the end of the answer, so that nothing follows it.
    #[inline]
    fn ended(&mut self, part: &Part<'_>, sink: Sink<'_>) -> Result<(), Failure<'static>> {
        if part.finish_reason.is_null() {
            return Ok(());
        }
        let Some(word) = part.finish_reason.str().filter(|word| !word.is_empty()) else { return Ok(()) };
        if let Some(failure) = finish::failure(&word) {
            return Err(failure);
        }
        self.calls.end(self.index, sink);
        if self.finish.is_none() {
            let stop_sequence = part.stop_reason.str().filter(|stop| !stop.is_empty()).map(Cow::into_owned);
            self.finish = Some(Ended { reason: finish::reason(&word), raw: word.into_owned(), stop_sequence });
        }
        Ok(())
    }

    /// Gives the end of the choice.
    pub(super) fn end(&mut self, sink: Sink<'_>) {
        self.calls.end(self.index, sink);
        let ended = self.finish.take().unwrap_or(Ended { reason: FinishReason::Stop, raw: String::new(), stop_sequence: None });
        let reason = match ended.reason.with_calls(self.calls.any()) {
            FinishReason::Stop | FinishReason::Other if self.refused => FinishReason::Refusal,
            FinishReason::Stop if ended.stop_sequence.is_some() => FinishReason::StopSequence,
            reason => reason,
        };
        let (raw, stop_sequence) = (Text::from(ended.raw), ended.stop_sequence.map(Text::from));
        sink(Event::Finish { choice: self.index, finish: Finish { reason, raw, stop_sequence, explanation: None } });
    }
}
