//! Where the texts of a body are.

mod chat;
mod generate;
mod item;
mod keys;
mod messages;
mod plain;
mod responses;
mod scalars;
mod walk;

use std::borrow::Cow;

use self::item::Item;
use self::walk::{Side, Walk};
use crate::guardrails::{Place, Places};
use crate::passage::{BodyKind, Facts};
use crate::wire::json::Span;

/// A text of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found<'a> {
    /// What it is to the conversation.
    pub place: Place,
    /// Where it lies in the body: the inside of a string, without its quotes, or a whole number.
    pub span: Span,
    /// How it is written there.
    pub form: Form,
    /// The text, escapes replaced.
    pub text: Cow<'a, str>,
}

/// How a text is written in a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A string.
    Text,
    /// A number.
    Number,
    /// A string in JSON that is itself the text of a string, as arguments of tools are: escaped twice.
    InnerText,
    /// A number in such JSON.
    InnerNumber,
    /// As it is, without any escapes.
    Plain,
}

/// A request's body, as its texts are found.
#[derive(Clone, Copy, Debug)]
pub enum Body<'b> {
    /// JSON with the fields of a kind.
    Json(BodyKind, &'b [u8]),
    /// A form, whose texts lie there.
    Form(&'b [Span], &'b [u8]),
}

impl<'b> Body<'b> {
    /// The body `bytes` of a request to an endpoint with bodies of `kind`, of which `facts` were read.
    #[must_use]
    pub fn of(kind: BodyKind, facts: &'b Facts, bytes: &'b [u8]) -> Self {
        facts.form_texts().map_or(Self::Json(kind, bytes), |texts| Self::Form(texts, bytes))
    }

    /// The bytes.
    #[must_use]
    pub const fn bytes(&self) -> &'b [u8] {
        match self {
            Self::Json(_, bytes) | Self::Form(_, bytes) => bytes,
        }
    }
}

/// Gives the texts of a request, each once, in the order of the body, which is valid JSON or the form its facts were read from.
///
/// In a form, a text is the value of a field that a model reads. In JSON it is the content of one string. Arguments of tools, and results
/// that are objects, are taken apart: each string and each number in them is a text, also where they are JSON in a string. Keys, ids, names
/// of tools and models, URLs, signatures and media are none. Members that are not known count as texts of what they stand in.
pub fn request_texts(body: Body<'_>, found: &mut dyn FnMut(Found<'_>)) {
    request_texts_at(body, Places::ALL, found);
}

/// Gives those texts of a request that stand at `places`.
pub(super) fn request_texts_at(body: Body<'_>, places: Places, found: &mut dyn FnMut(Found<'_>)) {
    match body {
        Body::Json(kind, bytes) => texts_at(Side::Request, kind, bytes, places, found),
        Body::Form(texts, bytes) if places.contains(Place::Messages) => texts.iter().for_each(|span| {
            let text = String::from_utf8_lossy(span.of(bytes));
            found(Found { place: Place::Messages, span: *span, form: Form::Plain, text });
        }),
        Body::Form(..) => {}
    }
}

/// Gives the texts of a whole answer as [`request_texts`] does.
pub fn answer_texts(kind: BodyKind, body: &[u8], found: &mut dyn FnMut(Found<'_>)) {
    answer_texts_at(kind, body, Places::ALL, found);
}

/// Gives those texts of a whole answer that stand at `places`.
pub(super) fn answer_texts_at(kind: BodyKind, body: &[u8], places: Places, found: &mut dyn FnMut(Found<'_>)) {
    texts_at(Side::Answer, kind, body, places, found);
}

fn texts_at(side: Side, kind: BodyKind, body: &[u8], places: Places, found: &mut dyn FnMut(Found<'_>)) {
    let Some(document) = Item::document(body) else { return };
    let read = match (side, kind) {
        (Side::Request, BodyKind::ChatCompletions) => chat::request,
        (Side::Answer, BodyKind::ChatCompletions | BodyKind::Completions) => chat::answer,
        (Side::Request, BodyKind::Messages | BodyKind::CountTokens) => messages::request,
        (Side::Answer, BodyKind::Messages) => messages::answer,
        (Side::Request, BodyKind::GenerateContent) => generate::request,
        (Side::Answer, BodyKind::GenerateContent) => generate::answer,
        (Side::Request, BodyKind::Responses) => responses::request,
        (Side::Answer, BodyKind::Responses) => responses::answer,
        (Side::Request, BodyKind::Completions | BodyKind::Embeddings | BodyKind::Images | BodyKind::Audio | BodyKind::Moderations) => {
            plain::request
        }
        (Side::Answer, BodyKind::Images) => plain::pictures,
        (Side::Answer, BodyKind::Audio) => plain::transcription,
        (Side::Answer, BodyKind::CountTokens | BodyKind::Embeddings | BodyKind::Moderations) => return,
    };
    read(&mut Walk::new(side, places, found), document);
}
