//! What is held back of one answer until it can be told.

use crate::canonical::{Citation, Event, FinishReason, SearchHit, Signature, Text};
use crate::shape::Shape;
use crate::translate::ClientView;
use crate::translate::generate_content::token;
use crate::wire::json::{Writer, outline};

/// Deepest nesting of arguments.
const DEPTH: usize = 128;

/// A call that is being put together.
#[derive(Debug)]
pub(super) struct Call {
    number: u32,
    id: String,
    name: String,
    custom: bool,
    signature: Option<String>,
    arguments: String,
    complete: bool,
}

/// A source and the characters it supports.
#[derive(Debug)]
pub(super) struct Cited {
    pub(super) url: String,
    pub(super) title: String,
    pub(super) span: Option<(u64, u64)>,
}

/// One of the answers.
#[derive(Debug, Default)]
pub(super) struct Choice {
    calls: Vec<Call>,
    /// Some call was told.
    pub(super) called: bool,
    /// The model refused in words.
    pub(super) refused: bool,
    /// Reasoning the client does not see went by; its signature would belong to nothing.
    pub(super) hidden: bool,
    pub(super) finish: Option<(FinishReason, Option<String>)>,
    /// The text so far as it stands in JSON.
    pub(super) text: Vec<u8>,
    pub(super) queries: Vec<String>,
    pub(super) sources: Vec<Cited>,
    /// Elements in the form of chat completions, joined by commas.
    pub(super) logprobs: Vec<u8>,
}

impl Choice {
    /// Takes what is told only later; true when the event was of that kind.
    pub(super) fn hold(&mut self, event: &Event<'_>, view: &ClientView) -> bool {
        match event {
            Event::ToolStart { call, id, name, custom, signature, .. } => self.calls.push(Call {
                number: *call,
                id: id.decode().into_owned(),
                name: name.decode().into_owned(),
                custom: *custom,
                signature: signature.as_ref().map(|signature| shown(signature, view, false)),
                arguments: String::new(),
                complete: false,
            }),
            Event::ToolArguments { call, fragment, .. } => {
                if let Some(known) = self.calls.iter_mut().find(|known| known.number == *call) {
                    known.arguments.push_str(&fragment.decode());
                }
            }
            Event::ToolEnd { call, .. } => {
                if let Some(known) = self.calls.iter_mut().find(|known| known.number == *call) {
                    known.complete = true;
                }
            }
            Event::Citation { citation, .. } => self.cite(citation),
            Event::WebSearch { query, hits, .. } => self.searched(query, hits),
            Event::Logprobs { elements, .. } => {
                if !self.logprobs.is_empty() {
                    self.logprobs.push(b',');
                }
                self.logprobs.extend_from_slice(&elements.0);
            }
            _ => return false,
        }
        true
    }

    fn cite(&mut self, citation: &Citation<'_>) {
        let (url, title) = (citation.url.decode().into_owned(), citation.title.decode().into_owned());
        self.sources.push(Cited { url, title, span: citation.span });
    }

    fn searched(&mut self, query: &Text<'_>, hits: &[SearchHit<'_>]) {
        if !query.is_empty() {
            self.queries.push(query.decode().into_owned());
        }
        for hit in hits {
            self.sources.push(Cited { url: hit.url.decode().into_owned(), title: hit.title.decode().into_owned(), span: None });
        }
    }

    /// Takes the complete calls whose arguments are objects, as parts joined by commas.
    pub(super) fn ready(&mut self) -> Option<Vec<u8>> {
        let mut parts = Vec::new();
        let mut w = Writer::new(&mut parts);
        self.calls.sort_by_key(|call| call.number);
        self.calls.retain(|call| match call.object().filter(|_| call.complete) {
            Some(arguments) => {
                call.write(&arguments, &mut w);
                false
            }
            None => true,
        });
        self.called |= !parts.is_empty();
        (!parts.is_empty()).then_some(parts)
    }

    /// Whether a call is left whose arguments are of no use. One that the limit cut off is left out.
    pub(super) fn is_broken(&self) -> bool {
        let cut = matches!(self.finish, Some((FinishReason::Length, _)));
        !cut && !self.calls.is_empty()
    }
}

impl Call {
    /// The arguments as an object; none where they are no such thing.
    fn object(&self) -> Option<Vec<u8>> {
        if self.custom {
            let mut out = Vec::new();
            let mut w = Writer::new(&mut out);
            w.begin_object();
            w.str_field("input", &self.arguments);
            w.end_object();
            return Some(out);
        }
        let arguments = self.arguments.trim();
        if arguments.is_empty() {
            return Some(b"{}".to_vec());
        }
        outline(arguments.as_bytes(), DEPTH).ok().map(|_| arguments.as_bytes().to_vec())
    }

    fn write(&self, arguments: &[u8], w: &mut Writer<'_>) {
        w.begin_object();
        w.object("functionCall", |w| {
            w.str_field("id", &self.id);
            w.str_field("name", &self.name);
            w.key("args");
            w.raw(arguments);
        });
        if let Some(signature) = &self.signature {
            w.str_field("thoughtSignature", signature);
        }
        w.end_object();
    }
}

/// The field's value for a token: the vendor's own as it is, that of another shape with its origin.
pub(super) fn shown(signature: &Signature<'_>, view: &ClientView, redacted: bool) -> String {
    if signature.shape == Shape::GenerateContent && view.upstream == Shape::GenerateContent {
        return signature.value.decode().into_owned();
    }
    let origin = Some(signature.origin.unwrap_or(view.origin));
    token::write(&Signature { shape: signature.shape, origin, value: signature.value.as_ref() }, redacted)
}
