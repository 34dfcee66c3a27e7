//! An answer in one document.

use super::message::{Call, Choice, element};
use super::{answer_id, members};
use crate::canonical::{Event, Finish, FinishReason, Signature, Text};
use crate::translate::{ClientView, Encode};
use crate::usage::Usage;
use crate::wire::json::Writer;

/// See [`super::whole_encoder`].
#[derive(Debug)]
pub(super) struct Whole {
    view: ClientView,
    id: String,
    created: i64,
    choices: Vec<Choice>,
    usage: Usage,
    closed: bool,
    /// The client knows one call, in the old form.
    legacy: bool,
}

impl Whole {
    pub(super) fn new(view: ClientView, legacy: bool) -> Self {
        let (id, created) = (answer_id(&view, None), view.created);
        Self { view, id, created, choices: Vec::new(), usage: Usage::default(), closed: false, legacy }
    }

    fn choice(&mut self, index: u32) -> Option<&mut Choice> {
        let at = self.choices.iter().position(|choice| choice.index == index);
        let at = at.unwrap_or_else(|| {
            self.choices.push(Choice { index, ..Choice::default() });
            self.choices.len() - 1
        });
        self.choices.get_mut(at)
    }

    fn signed(&mut self, index: u32, signature: &Signature<'_>, redacted: bool) {
        let token = members::tagged(signature, &self.view);
        let shown = self.view.show_reasoning;
        let Some(choice) = self.choice(index).filter(|_| shown) else { return };
        if redacted {
            return element(&mut choice.thinking_blocks, |w| members::redacted_block(&token, w));
        }
        let text = choice.reasoning.get(choice.unsigned..).unwrap_or_default();
        element(&mut choice.thinking_blocks, |w| members::thinking_block(text, &token, w));
        choice.unsigned = choice.reasoning.len();
    }

    fn growing(&mut self, event: &Event<'_>) {
        let shown = self.view.show_reasoning;
        match event {
            Event::Text { choice, text } => {
                if let Some(choice) = self.choice(*choice) {
                    choice.place.advance(text);
                    text.escape_into(&mut choice.text);
                }
            }
            Event::Refusal { choice, text } => {
                if let Some(choice) = self.choice(*choice) {
                    text.escape_into(&mut choice.refusal);
                }
            }
            Event::Reasoning { choice, text } if shown => {
                if let Some(choice) = self.choice(*choice) {
                    text.escape_into(&mut choice.reasoning);
                }
            }
            Event::ToolArguments { choice, call, fragment } => {
                if let Some(call) = self.choice(*choice).and_then(|choice| choice.calls.iter_mut().find(|known| known.number == *call)) {
                    fragment.escape_into(&mut call.arguments);
                }
            }
            _ => {}
        }
    }

    fn added(&mut self, event: &Event<'_>) {
        match event {
            Event::Citation { choice, citation } => {
                if let Some(choice) = self.choice(*choice) {
                    let span = choice.place.of(citation);
                    element(&mut choice.annotations, |w| members::annotation(citation, span, w));
                }
            }
            Event::Media { choice, media_type, data } if media_type.decode().starts_with("image/") => {
                if let Some(choice) = self.choice(*choice) {
                    let number = choice.image_count;
                    choice.image_count += 1;
                    element(&mut choice.images, |w| members::image(media_type, data, number, w));
                }
            }
            Event::Logprobs { choice, elements } => {
                if let Some(choice) = self.choice(*choice) {
                    element(&mut choice.logprobs, |w| w.raw(&elements.0));
                }
            }
            _ => {}
        }
    }

    fn tool(&mut self, index: u32, number: u32, (id, name): (&Text<'_>, &Text<'_>), custom: bool, signature: Option<&Signature<'_>>) {
        let token = signature.map(|signature| members::tagged(signature, &self.view));
        let (id, name) = (id.decode().into_owned(), name.decode().into_owned());
        if let Some(choice) = self.choice(index) {
            choice.calls.push(Call { number, id, name, custom, token, arguments: Vec::new() });
        }
    }

    fn finish(&mut self, index: u32, finish: &Finish<'_>) {
        let Some(choice) = self.choice(index) else { return };
        choice.finish = Some(finish.reason);
        if finish.reason == FinishReason::Refusal
            && choice.refusal.is_empty()
            && let Some(explanation) = &finish.explanation
        {
            explanation.escape_into(&mut choice.refusal);
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        self.choice(0);
        self.choices.sort_by_key(|choice| choice.index);
        let mut w = Writer::new(out);
        w.begin_object();
        w.str_field("id", &self.id);
        w.str_field("object", "chat.completion");
        w.whole_field("created", self.created);
        w.str_field("model", &self.view.model);
        w.array("choices", |w| self.choices.iter().for_each(|choice| choice.write(self.legacy, w)));
        w.key("usage");
        members::usage(&self.usage, &mut w);
        w.end_object();
        self.closed = true;
    }
}

impl Encode for Whole {
    fn event(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        if self.closed {
            return;
        }
        match event {
            Event::Start { id, created } => {
                self.id = answer_id(&self.view, id.as_ref());
                self.created = created.filter(|created| *created > 0).unwrap_or(self.view.created);
            }
            Event::Text { .. } | Event::Refusal { .. } | Event::Reasoning { .. } | Event::ToolArguments { .. } => self.growing(event),
            Event::ReasoningSigned { choice, signature } => self.signed(*choice, signature, false),
            Event::Redacted { choice, signature } => self.signed(*choice, signature, true),
            Event::ToolStart { choice, call, id, name, custom, signature } => {
                self.tool(*choice, *call, (id, name), *custom, signature.as_ref());
            }
            Event::Citation { .. } | Event::Media { .. } | Event::Logprobs { .. } => self.added(event),
            Event::ToolEnd { .. } | Event::WebSearch { .. } | Event::Unknown { .. } | Event::Ping => {}
            Event::Finish { choice, finish } => self.finish(*choice, finish),
            Event::Usage(usage) => self.usage = *usage,
            Event::Failed(_) => self.closed = true,
            Event::End => self.end(out),
        }
    }
}
