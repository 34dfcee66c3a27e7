//! Pieces of candidates and their parts as they came.

use std::borrow::Cow;

use crate::canonical::Text;
use crate::wire::json::{Kind, Value};

/// A piece of a candidate as it came.
#[derive(Debug, Default)]
pub(super) struct Piece<'a> {
    /// Which candidate, where told.
    pub(super) index: Option<usize>,
    pub(super) content: Option<Value<'a>>,
    pub(super) raw: Option<Cow<'a, str>>,
    pub(super) message: Option<Cow<'a, str>>,
    pub(super) grounding: Option<Value<'a>>,
    pub(super) logprobs: Option<Value<'a>>,
}

impl<'a> Piece<'a> {
    pub(super) fn read(candidate: Value<'a>) -> Self {
        let mut piece = Self::default();
        for member in candidate.members() {
            match &*member.name() {
                b"index" => piece.index = member.json().u64().and_then(|index| usize::try_from(index).ok()),
                b"content" => piece.content = Some(member.json()),
                b"finishReason" => piece.raw = member.as_str(),
                b"finishMessage" => piece.message = member.as_str().filter(|text| !text.is_empty()),
                b"groundingMetadata" => piece.grounding = Some(member.json()),
                b"logprobsResult" => piece.logprobs = Some(member.json()),
                _ => {}
            }
        }
        piece
    }
}

/// A part's fields.
#[derive(Default)]
pub(super) struct Part<'a> {
    pub(super) text: Option<Text<'a>>,
    pub(super) thought: bool,
    pub(super) signature: Option<Text<'a>>,
    pub(super) data: Option<(Cow<'a, [u8]>, Value<'a>)>,
}

impl<'a> Part<'a> {
    #[inline]
    pub(super) fn read(part: Value<'a>) -> Self {
        let mut fields = Self::default();
        for member in part.members() {
            match &*member.name() {
                b"text" => fields.text = member.json().text(),
                b"thought" => fields.thought = member.as_bool() == Some(true),
                b"thoughtSignature" => fields.signature = member.json().text().filter(|text| !text.is_empty()),
                b"videoMetadata" | b"partMetadata" | b"mediaResolution" => {}
                _ if member.kind == Kind::Object => fields.data = Some((member.name(), member.json())),
                _ => {}
            }
        }
        fields
    }
}
