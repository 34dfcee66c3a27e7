//! An answer as one document.

use std::collections::BTreeMap;

use super::choice::{Choice, shown};
use super::closing;
use crate::canonical::{Event, Signature, Text};
use crate::translate::{ClientView, Encode};
use crate::usage::Usage;
use crate::wire::json::Writer;

/// See [`super::whole_encoder`].
#[derive(Debug)]
pub(super) struct Whole {
    view: ClientView,
    id: Option<String>,
    choices: BTreeMap<u32, Written>,
    usage: Option<Usage>,
    closed: bool,
}

/// One of the answers as far as it is written.
#[derive(Debug, Default)]
struct Written {
    choice: Choice,
    /// Parts joined by commas; the last one may lack its end.
    parts: Vec<u8>,
    open: Option<Run>,
}

/// A part that grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Run {
    Text,
    Thought,
}

impl Encode for Whole {
    fn event(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        if self.closed {
            return;
        }
        match event {
            Event::Start { id, .. } => self.id = id.as_ref().map(|id| id.decode().into_owned()),
            Event::Text { choice, text } => self.written(*choice).say(text),
            Event::Refusal { choice, text } => {
                let written = self.written(*choice);
                written.choice.refused = true;
                written.say(text);
            }
            Event::Reasoning { choice, text } => {
                let shown = self.view.show_reasoning;
                let written = self.written(*choice);
                written.choice.hidden |= !shown;
                if shown {
                    written.run(Run::Thought, text);
                }
            }
            Event::ReasoningSigned { choice, signature } => self.signed(*choice, signature, false),
            Event::Redacted { choice, signature } => self.signed(*choice, signature, true),
            Event::ToolStart { choice, .. }
            | Event::ToolArguments { choice, .. }
            | Event::ToolEnd { choice, .. }
            | Event::Citation { choice, .. }
            | Event::WebSearch { choice, .. }
            | Event::Logprobs { choice, .. } => {
                self.choices.entry((*choice).min(super::LAST_CHOICE)).or_default().choice.hold(event, &self.view);
            }
            Event::Media { choice, media_type, data } => self.written(*choice).part(|w| {
                w.object("inlineData", |w| {
                    w.text_field("mimeType", media_type);
                    w.text_field("data", data);
                });
            }),
            Event::Finish { choice, finish } => {
                let explanation = finish.explanation.as_ref().map(|words| words.decode().into_owned());
                self.written(*choice).choice.finish = Some((finish.reason, explanation));
            }
            Event::Usage(usage) => self.usage = Some(*usage),
            Event::Ping | Event::Unknown { .. } => {}
            Event::Failed(_) => self.closed = true,
            Event::End => self.end(out),
        }
    }
}

impl Whole {
    pub(super) const fn new(view: ClientView) -> Self {
        Self { view, id: None, choices: BTreeMap::new(), usage: None, closed: false }
    }

    fn written(&mut self, choice: u32) -> &mut Written {
        self.choices.entry(choice.min(super::LAST_CHOICE)).or_default()
    }

    fn signed(&mut self, choice: u32, signature: &Signature<'_>, redacted: bool) {
        let value = shown(signature, &self.view, redacted);
        let written = self.written(choice);
        if std::mem::take(&mut written.choice.hidden) && !redacted {
            return;
        }
        written.part(|w| {
            w.str_field("text", "");
            w.bool_field("thought", true);
            w.str_field("thoughtSignature", &value);
        });
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        self.closed = true;
        self.written(0);
        self.choices.values_mut().for_each(Written::close);
        if self.choices.values().any(|written| written.choice.is_broken()) {
            return;
        }
        let mut w = Writer::new(out);
        w.begin_object();
        w.array("candidates", |w| {
            for (index, written) in &self.choices {
                w.begin_object();
                w.whole_field("index", *index);
                w.object("content", |w| {
                    w.str_field("role", "model");
                    let nothing = written.parts.is_empty();
                    w.array("parts", |w| w.raw(if nothing { br#"{"text":""}"# } else { &written.parts }));
                });
                closing::candidate(&written.choice, w);
                w.end_object();
            }
        });
        if let Some(usage) = &self.usage {
            closing::usage(usage, &mut w);
        }
        w.slot();
        let id = self.id.as_deref().map(Text::from);
        super::identity(&self.view, id.as_ref(), w.buffer());
        w.end_object();
    }
}

impl Written {
    fn say(&mut self, text: &Text<'_>) {
        text.escape_into(&mut self.choice.text);
        self.run(Run::Text, text);
    }

    /// Goes on with a part of text, or begins one.
    fn run(&mut self, run: Run, text: &Text<'_>) {
        if self.open != Some(run) {
            self.end_run();
            if !self.parts.is_empty() {
                self.parts.push(b',');
            }
            self.parts.extend_from_slice(br#"{"text":""#);
            self.open = Some(run);
        }
        text.escape_into(&mut self.parts);
    }

    fn end_run(&mut self) {
        match self.open.take() {
            Some(Run::Text) => self.parts.extend_from_slice(br#""}"#),
            Some(Run::Thought) => self.parts.extend_from_slice(br#"","thought":true}"#),
            None => {}
        }
    }

    fn part(&mut self, write: impl FnOnce(&mut Writer<'_>)) {
        self.end_run();
        if !self.parts.is_empty() {
            self.parts.push(b',');
        }
        let mut w = Writer::new(&mut self.parts);
        w.begin_object();
        write(&mut w);
        w.end_object();
    }

    /// Ends the last part and adds the calls.
    fn close(&mut self) {
        self.end_run();
        if let Some(calls) = self.choice.ready() {
            if !self.parts.is_empty() {
                self.parts.push(b',');
            }
            self.parts.extend_from_slice(&calls);
        }
    }
}
