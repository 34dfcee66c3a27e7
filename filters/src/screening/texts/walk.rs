//! Going through a body with a dialect that knows its members.

use super::item::{self, Field, Item};
use super::keys;
use super::scalars::{self, Scalar};
use super::{Form, Found};
use crate::guardrails::{Place, Places};
use crate::wire::json::{Kind, decode_string};

/// Values nested deeper than any that dialects have are only looked through for strings, so that time stays in proportion to the body.
const DEEP: usize = 12;

/// Whether a body is a request or an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Request,
    Answer,
}

/// Who says a text, or what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Voice {
    /// The system or the developer.
    System,
    /// The user or the model.
    Said,
    /// The model, to itself.
    Thought,
    /// The model, to a tool.
    Call,
    /// A tool.
    Result,
    /// A document or a file.
    Document,
}

impl Voice {
    /// The voice of something that would be `inner` by itself and stands in what has this voice.
    const fn around(self, inner: Self) -> Self {
        if self.is_sole() { self } else { inner }
    }

    /// Whether everything that stands in it has the same voice.
    const fn is_sole(self) -> bool {
        matches!(self, Self::System | Self::Thought | Self::Result | Self::Document)
    }

    const fn place(self, side: Side) -> Place {
        match (side, self) {
            (Side::Request, Self::System) => Place::System,
            (Side::Request, Self::Said | Self::Thought | Self::Call) => Place::Messages,
            (Side::Request, Self::Result) => Place::ToolResults,
            (Side::Request, Self::Document) => Place::Documents,
            (Side::Answer, Self::Thought) => Place::Reasoning,
            (Side::Answer, Self::Call) => Place::ToolArguments,
            (Side::Answer, Self::System | Self::Said | Self::Result | Self::Document) => Place::Answer,
        }
    }
}

/// How the value of a member is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// Nothing in it is a text.
    Skip,
    /// A text, or blocks.
    Blocks(Voice),
    /// A text, or JSON of somebody's own: every string and number in it is a text.
    Own(Voice),
    /// As before, but a string may hold such JSON.
    OwnInString(Voice),
}

/// What is peculiar to a dialect; everything else in a block has its voice.
pub(super) struct Dialect {
    /// The voice of a block of this type.
    pub(super) block: fn(block: &[Field<'_>], kind: &str) -> Option<Voice>,
    /// How the member `key` of a block of this type is read, where it is peculiar.
    pub(super) member: fn(key: &[u8], kind: &str) -> Option<Reading>,
}

/// A body being gone through.
pub(super) struct Walk<'f> {
    side: Side,
    places: Places,
    found: &'f mut dyn FnMut(Found<'_>),
}

impl<'f> Walk<'f> {
    pub(super) fn new(side: Side, places: Places, found: &'f mut dyn FnMut(Found<'_>)) -> Self {
        Self { side, places, found }
    }

    /// The texts of a string, a block, or a list of both.
    pub(super) fn texts(&mut self, dialect: &Dialect, voice: Voice, item: Item<'_>) {
        match item.kind {
            Kind::String => self.string(voice, item),
            Kind::Array | Kind::Object if voice.is_sole() && !self.looks(voice) => {}
            Kind::Array | Kind::Object if item.depth > DEEP => self.deep(voice, item),
            Kind::Array => item.elements().for_each(|element| self.texts(dialect, voice, element)),
            Kind::Object => self.block(dialect, voice, item),
            Kind::Number | Kind::Bool | Kind::Null => {}
        }
    }

    fn block(&mut self, dialect: &Dialect, voice: Voice, item: Item<'_>) {
        // In one go, since each one skips what is inside of the values.
        let members: Vec<Field<'_>> = item.members().collect();
        let kind = item::string_of(&members, "type").unwrap_or_default();
        let voice = (dialect.block)(&members, &kind).map_or(voice, |own| voice.around(own));
        for (member, value) in members {
            let key = member.name();
            match (dialect.member)(&key, &kind) {
                Some(Reading::Skip) => {}
                Some(Reading::Blocks(own)) => self.texts(dialect, voice.around(own), value),
                Some(Reading::Own(own)) => self.own(voice.around(own), value),
                Some(Reading::OwnInString(own)) => self.own_in_string(voice.around(own), value),
                None if *key == *b"data" && kind == "text" => self.texts(dialect, voice, value),
                None if keys::is_no_text(&key) => {}
                None if value.kind == Kind::String && !keys::is_text(&key) && keys::is_data_url(value.value) => {}
                None => self.texts(dialect, voice, value),
            }
        }
    }

    /// Every string and number is a text.
    fn own(&mut self, voice: Voice, item: Item<'_>) {
        if self.looks(voice) {
            scalars::scalars(item.value).for_each(|scalar| self.scalar(voice, item.start, scalar, item.value));
        }
    }

    /// Every string and number is a text, in a string that holds JSON as well. What is no JSON is one text.
    fn own_in_string(&mut self, voice: Voice, item: Item<'_>) {
        if item.kind != Kind::String {
            return self.own(voice, item);
        }
        if !self.looks(voice) {
            return;
        }
        let inner = decode_string(item.value);
        if !scalars::is_json(&inner) {
            return self.string(voice, item);
        }
        let place = voice.place(self.side);
        let (escaped, span) = item.inside();
        for inner in scalars::inner(escaped, &inner) {
            (self.found)(Found { place, span: inner.span.shifted(span.start), form: inner.form, text: inner.text });
        }
    }

    fn deep(&mut self, voice: Voice, item: Item<'_>) {
        let strings = scalars::scalars(item.value).filter(|scalar| scalar.kind == Kind::String);
        for scalar in strings.filter(|scalar| !keys::is_no_text(&scalar.name(item.value))) {
            self.scalar(voice, item.start, scalar, item.value);
        }
    }

    fn scalar(&mut self, voice: Voice, start: usize, scalar: Scalar, within: &[u8]) {
        let value = scalar.span.of(within);
        match scalar.kind {
            Kind::String => self.string(voice, Item { value, kind: Kind::String, start: start + scalar.span.start, depth: 0 }),
            _ => {
                let (place, span) = (voice.place(self.side), scalar.span.shifted(start));
                (self.found)(Found { place, span, form: Form::Number, text: String::from_utf8_lossy(value) });
            }
        }
    }

    fn string(&mut self, voice: Voice, item: Item<'_>) {
        let (inside, span) = item.inside();
        if !inside.is_empty() && self.looks(voice) {
            (self.found)(Found { place: voice.place(self.side), span, form: Form::Text, text: decode_string(item.value) });
        }
    }

    const fn looks(&self, voice: Voice) -> bool {
        self.places.contains(voice.place(self.side))
    }
}
