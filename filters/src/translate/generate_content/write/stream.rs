//! An answer in chunks. This shape has no partial calls and no event of the beginning: text flows through, calls are told once
//! they are complete, and the last chunk says why the answer ended and what it cost.
//!
//! Clients drop a turn from their history when any chunk of it lacks a part, so every chunk has one.

use std::collections::BTreeMap;

use super::choice::{Choice, shown};
use super::closing;
use super::frame::Frame;
use crate::canonical::{Event, Failure, Signature, Text};
use crate::shape::Shape;
use crate::translate::generate_content::failure;
use crate::translate::{ClientView, Encode};
use crate::usage::Usage;
use crate::wire::json::Writer;

/// What stands before the text of a chunk of the first answer.
const TEXT: &[u8] = br#"{"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":""#;
/// And what follows it.
const TEXT_END: &[u8] = br#""}]}}],"#;
const THOUGHT_END: &[u8] = br#"","thought":true}]}}],"#;
/// What is told where the provider called a function with something that is no JSON object.
const BAD_CALL: &str = "upstream returned invalid tool arguments";

/// See [`super::stream_encoder`].
#[derive(Debug)]
pub(super) struct Stream {
    view: ClientView,
    frame: Frame,
    choices: BTreeMap<u32, Choice>,
    usage: Option<Usage>,
    closed: bool,
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
            _ => self.rare(event, out),
        }
    }
}

impl Stream {
    pub(super) fn new(view: ClientView) -> Self {
        let frame = Frame::new(&view);
        Self { view, frame, choices: BTreeMap::new(), usage: None, closed: false }
    }

    fn rare(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        match event {
            Event::Start { id, .. } => self.frame.named(&self.view, id.as_ref()),
            Event::Refusal { choice, text } => {
                self.choice(*choice).refused = true;
                self.text(*choice, text, out);
            }
            Event::ReasoningSigned { choice, signature } => self.signed(*choice, signature, false, out),
            Event::Redacted { choice, signature } => self.signed(*choice, signature, true, out),
            Event::ToolStart { choice, .. }
            | Event::ToolArguments { choice, .. }
            | Event::Citation { choice, .. }
            | Event::WebSearch { choice, .. }
            | Event::Logprobs { choice, .. } => self.hold(*choice, event),
            Event::ToolEnd { choice, .. } => {
                self.hold(*choice, event);
                // Here a call is over when its block is; elsewhere all are told together at the end.
                if self.view.upstream == Shape::Messages {
                    self.calls(*choice, out);
                }
            }
            Event::Media { choice, media_type, data } => self.media(*choice, media_type, data, out),
            Event::Finish { choice, finish } => {
                self.calls(*choice, out);
                let explanation = finish.explanation.as_ref().map(|words| words.decode().into_owned());
                self.choice(*choice).finish = Some((finish.reason, explanation));
                if self.choice(*choice).is_broken() {
                    self.fail(&Failure::broken(BAD_CALL), out);
                }
            }
            Event::Usage(usage) => self.usage = Some(*usage),
            Event::Ping => self.ping(out),
            Event::Failed(failure) => self.fail(failure, out),
            Event::End => self.end(out),
            Event::Unknown { .. } | Event::Text { .. } | Event::Reasoning { .. } => {}
        }
    }

    fn choice(&mut self, choice: u32) -> &mut Choice {
        self.choices.entry(choice.min(super::LAST_CHOICE)).or_default()
    }

    fn hold(&mut self, choice: u32, event: &Event<'_>) {
        self.choices.entry(choice.min(super::LAST_CHOICE)).or_default().hold(event, &self.view);
    }

    #[inline]
    fn text(&mut self, choice: u32, text: &Text<'_>, out: &mut Vec<u8>) {
        self.frame.open(out);
        begin(choice, out);
        let from = out.len();
        text.escape_into(out);
        if let Some(written) = out.get(from..) {
            self.choice(choice).text.extend_from_slice(written);
        }
        out.extend_from_slice(TEXT_END);
        self.frame.close(out);
    }

    #[inline]
    fn reasoning(&mut self, choice: u32, text: &Text<'_>, out: &mut Vec<u8>) {
        if !self.view.show_reasoning {
            self.choice(choice).hidden = true;
            return;
        }
        self.frame.open(out);
        begin(choice, out);
        text.escape_into(out);
        out.extend_from_slice(THOUGHT_END);
        self.frame.close(out);
    }

    /// A token, in a part that comes back with the turn.
    fn signed(&mut self, choice: u32, signature: &Signature<'_>, redacted: bool, out: &mut Vec<u8>) {
        if std::mem::take(&mut self.choice(choice).hidden) && !redacted {
            return;
        }
        let value = shown(signature, &self.view, redacted);
        self.chunk(choice, out, |w| {
            w.begin_object();
            w.str_field("text", "");
            w.bool_field("thought", true);
            w.str_field("thoughtSignature", &value);
            w.end_object();
        });
    }

    fn media(&mut self, choice: u32, media_type: &Text<'_>, data: &Text<'_>, out: &mut Vec<u8>) {
        self.chunk(choice, out, |w| {
            w.begin_object();
            w.object("inlineData", |w| {
                w.text_field("mimeType", media_type);
                w.text_field("data", data);
            });
            w.end_object();
        });
    }

    /// Tells the calls that are complete, all in one chunk.
    fn calls(&mut self, choice: u32, out: &mut Vec<u8>) {
        if let Some(parts) = self.choice(choice).ready() {
            self.chunk(choice, out, |w| w.raw(&parts));
        }
    }

    /// A sign of life: white space between the elements of an array, else an empty text.
    fn ping(&mut self, out: &mut Vec<u8>) {
        if !self.view.array {
            return self.text(0, &Text::from(""), out);
        }
        self.frame.space(out);
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        self.choice(0);
        for choice in self.choices.keys().copied().collect::<Vec<u32>>() {
            self.calls(choice, out);
        }
        if self.choices.values().any(Choice::is_broken) {
            return self.fail(&Failure::broken(BAD_CALL), out);
        }
        self.frame.open(out);
        let mut w = Writer::new(out);
        w.begin_object();
        w.array("candidates", |w| {
            for (index, choice) in &self.choices {
                w.begin_object();
                w.whole_field("index", *index);
                w.object("content", |w| {
                    w.str_field("role", "model");
                    w.array("parts", |w| w.raw(br#"{"text":""}"#));
                });
                closing::candidate(choice, w);
                w.end_object();
            }
        });
        if let Some(usage) = &self.usage {
            closing::usage(usage, &mut w);
        }
        w.slot();
        self.frame.close(out);
        self.shut(out);
    }

    fn fail(&mut self, failure: &Failure<'_>, out: &mut Vec<u8>) {
        self.frame.open(out);
        failure::write(failure, out);
        self.frame.end(out);
        self.shut(out);
    }

    fn shut(&mut self, out: &mut Vec<u8>) {
        self.frame.shut(out);
        self.closed = true;
    }

    fn chunk(&mut self, choice: u32, out: &mut Vec<u8>, parts: impl FnOnce(&mut Writer<'_>)) {
        self.frame.open(out);
        let mut w = Writer::new(out);
        w.begin_object();
        w.array("candidates", |w| {
            w.begin_object();
            w.whole_field("index", choice);
            w.object("content", |w| {
                w.str_field("role", "model");
                w.array("parts", parts);
            });
            w.end_object();
        });
        w.slot();
        self.frame.close(out);
    }
}

/// A chunk of text up to the text.
#[inline]
fn begin(choice: u32, out: &mut Vec<u8>) {
    if choice == 0 {
        return out.extend_from_slice(TEXT);
    }
    out.extend_from_slice(br#"{"candidates":[{"index":"#);
    out.extend_from_slice(itoa::Buffer::new().format(choice).as_bytes());
    out.extend_from_slice(br#","content":{"role":"model","parts":[{"text":""#);
}
