//! A stream of chunks.
//!
//! What the vendor's SDKs demand of it: the role in the first chunk of a choice; id, type, name and arguments in the first chunk
//! of a call; one finish reason per choice; usage in the last chunk before `[DONE]`; one id, time and model throughout.

use super::calls::{self, Call};
use super::frame::Frame;
use super::place::Place;
use super::{Form, finish_word, members};
use crate::canonical::{Citation, Event, Failure, Finish, FinishReason, Signature, Text};
use crate::translate::chat_completions::failure;
use crate::translate::{ClientView, Encode};
use crate::usage::Usage;

/// See [`super::stream_encoder`].
#[derive(Debug)]
pub(super) struct Stream {
    view: ClientView,
    pub(super) frame: Frame,
    choices: Vec<Choice>,
    usage: Option<Usage>,
    closed: bool,
    /// The client knows one call, in the old form.
    legacy: bool,
}

/// What was written for one choice.
#[derive(Debug, Default)]
pub(super) struct Choice {
    index: u32,
    pub(super) calls: Vec<Call>,
    finish: Option<FinishReason>,
    refused: bool,
    place: Place,
    /// The reasoning since the last token, escaped.
    reasoning: Vec<u8>,
    images: u32,
}

impl Stream {
    pub(super) fn new(view: ClientView, legacy: bool) -> Self {
        Self { view, frame: Frame::default(), choices: Vec::new(), usage: None, closed: false, legacy }
    }

    /// The choice's place in the list; its first chunk is written where it is new.
    #[inline]
    fn choice(&mut self, index: u32, out: &mut Vec<u8>) -> usize {
        match self.choices.iter().position(|choice| choice.index == index) {
            Some(at) => at,
            None => self.begin_choice(index, out),
        }
    }

    #[cold]
    fn begin_choice(&mut self, index: u32, out: &mut Vec<u8>) -> usize {
        self.frame.settle(&self.view, None, None);
        self.frame.chunk(index, out, |w| {
            w.str_field("role", "assistant");
            w.str_field("content", "");
        });
        self.choices.push(Choice { index, ..Choice::default() });
        self.choices.len() - 1
    }

    pub(super) fn with(&mut self, index: u32, out: &mut Vec<u8>, change: impl FnOnce(&mut Choice)) {
        let at = self.choice(index, out);
        if let Some(choice) = self.choices.get_mut(at) {
            change(choice);
        }
    }

    #[inline]
    fn text(&mut self, index: u32, text: &Text<'_>, out: &mut Vec<u8>) {
        self.with(index, out, |choice| choice.place.advance(text));
        self.frame.text(index, text, out);
    }

    fn reasoning(&mut self, index: u32, text: &Text<'_>, out: &mut Vec<u8>) {
        if self.view.show_reasoning {
            self.with(index, out, |choice| text.escape_into(&mut choice.reasoning));
            self.frame.reasoning(index, text, out);
        }
    }

    fn refusal(&mut self, index: u32, text: &Text<'_>, out: &mut Vec<u8>) {
        self.with(index, out, |choice| choice.refused = true);
        self.frame.chunk(index, out, |w| w.text_field("refusal", text));
    }

    fn signed(&mut self, index: u32, signature: &Signature<'_>, redacted: bool, out: &mut Vec<u8>) {
        if !self.view.show_reasoning {
            return;
        }
        let token = members::tagged(signature, &self.view);
        let mut text = Vec::new();
        self.with(index, out, |choice| {
            if !redacted {
                text = std::mem::take(&mut choice.reasoning);
            }
        });
        self.frame.chunk(index, out, |w| {
            w.array("thinking_blocks", |w| {
                if redacted { members::redacted_block(&token, w) } else { members::thinking_block(&text, &token, w) }
            });
        });
    }

    fn citation(&mut self, index: u32, citation: &Citation<'_>, out: &mut Vec<u8>) {
        let mut span = (0, 0);
        self.with(index, out, |choice| span = choice.place.of(citation));
        self.frame.chunk(index, out, |w| w.array("annotations", |w| members::annotation(citation, span, w)));
    }

    fn media(&mut self, index: u32, media_type: &Text<'_>, data: &Text<'_>, out: &mut Vec<u8>) {
        if !media_type.decode().starts_with("image/") {
            return;
        }
        let mut number = 0;
        self.with(index, out, |choice| {
            number = choice.images;
            choice.images += 1;
        });
        self.frame.chunk(index, out, |w| w.array("images", |w| members::image(media_type, data, number, w)));
    }

    fn logprobs(&mut self, index: u32, elements: &[u8], out: &mut Vec<u8>) {
        self.with(index, out, |_| {});
        self.frame.logprobs(index, elements, out);
    }

    /// The finish chunk waits for the end: nothing of a choice may follow it, and an answer that breaks off has none.
    fn finish(&mut self, index: u32, finish: &Finish<'_>, out: &mut Vec<u8>) {
        let mut told = false;
        self.with(index, out, |choice| {
            told = choice.refused;
            choice.finish = Some(finish.reason);
        });
        let explanation = finish.explanation.as_ref().filter(|text| !told && !text.is_empty() && finish.reason == FinishReason::Refusal);
        if let Some(explanation) = explanation {
            self.refusal(index, explanation, out);
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        self.choice(0, out);
        self.choices.sort_by_key(|choice| choice.index);
        for choice in &self.choices {
            let word = finish_word(choice.finish.unwrap_or(FinishReason::Stop), !choice.calls.is_empty(), self.legacy);
            self.frame.finish(choice.index, word, out);
        }
        if self.view.include_usage {
            let usage = self.usage.unwrap_or_default();
            self.frame.usage(out, |w| members::usage(&usage, w));
        }
        out.extend_from_slice(b"data: [DONE]\n\n");
        self.closed = true;
    }

    fn fail(&mut self, failure: &Failure<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(b"data: ");
        failure::in_band(failure, out);
        out.extend_from_slice(b"\n\n");
        self.closed = true;
    }
}

impl Encode for Stream {
    #[inline]
    fn event(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        if self.closed {
            return;
        }
        match event {
            Event::Text { choice, text } => self.text(*choice, text, out),
            Event::Reasoning { choice, text } => self.reasoning(*choice, text, out),
            Event::ToolArguments { choice, call, fragment } => self.tool_arguments(*choice, *call, fragment, out),
            Event::Start { id, created } => {
                self.frame.settle(&self.view, id.as_ref(), *created);
                self.choice(0, out);
            }
            Event::Refusal { choice, text } => self.refusal(*choice, text, out),
            Event::ReasoningSigned { choice, signature } => self.signed(*choice, signature, false, out),
            Event::Redacted { choice, signature } => self.signed(*choice, signature, true, out),
            Event::ToolStart { choice, call, id, name, custom, signature } => {
                let token = signature.as_ref().map(|signature| members::tagged(signature, &self.view));
                let form = Form::of(*custom, self.legacy);
                self.tool_start(*choice, *call, form, out, |w| calls::head(id, name, form, token.as_deref(), w));
            }
            Event::ToolEnd { choice, call } => self.tool_end(*choice, *call, out),
            Event::Citation { choice, citation } => self.citation(*choice, citation, out),
            Event::Media { choice, media_type, data } => self.media(*choice, media_type, data, out),
            Event::Logprobs { choice, elements } => self.logprobs(*choice, &elements.0, out),
            Event::WebSearch { .. } | Event::Unknown { .. } | Event::Ping => {}
            Event::Finish { choice, finish } => self.finish(*choice, finish, out),
            Event::Usage(usage) => self.usage = Some(*usage),
            Event::Failed(failure) => self.fail(failure, out),
            Event::End => self.end(out),
        }
    }
}
