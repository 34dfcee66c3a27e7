//! What a reader sees in one event of an answer.

use crate::guardrails::Place;
use crate::wire::json::{Kind, Member, Value, members};

/// Names one text of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    /// The choice, block or item.
    pub(super) group: u32,
    /// The part of it, or the call.
    pub(super) part: u32,
    pub(super) field: Field,
}

/// Which of the texts at one spot is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Field {
    Text,
    Refusal,
    Transcript,
    Reasoning,
    /// Reasoning under its second name.
    Twin,
    Summary,
    Details,
    Arguments,
    Input,
    Other,
}

impl Field {
    pub(super) const fn place(self) -> Place {
        match self {
            Self::Text | Self::Refusal | Self::Transcript | Self::Other => Place::Answer,
            Self::Reasoning | Self::Twin | Self::Summary | Self::Details => Place::Reasoning,
            Self::Arguments | Self::Input => Place::ToolArguments,
        }
    }
}

impl Key {
    /// Whether a text of this name goes on while one of `other` does, in a dialect that does not say when texts end. What nobody knows
    /// may stand beside any text.
    pub(super) fn goes_along(&self, other: &Self) -> bool {
        let reasons = |key: &Self| key.field.place() == Place::Reasoning;
        self.group != other.group
            || self == other
            || (reasons(self) && reasons(other))
            || self.field == Field::Other
            || other.field == Field::Other
    }
}

/// How a text is written in the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Between the quotes of a string.
    Text,
    /// Between the quotes of a string, and JSON itself: its scalars are the texts.
    Json,
    /// JSON as it stands: its scalars are the texts.
    Raw,
    /// JSON of which little is known: strings are texts unless their key says otherwise.
    Foreign,
}

/// Texts that end with an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    One(Key),
    Group(u32),
    All,
}

/// A part of an event.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sight<'d> {
    /// More of a text. `quiet` ones repeat another, and what is found in them is not told.
    Piece {
        key: Key,
        form: Form,
        text: &'d [u8],
        quiet: bool,
    },
    /// A whole text, which may have come in pieces before.
    Whole {
        key: Key,
        form: Form,
        text: &'d [u8],
        quiet: bool,
    },
    /// What has to go when the text beside it is changed, and what stands there then.
    Shadow {
        value: &'d [u8],
        with: &'static [u8],
    },
    /// The value that says why a choice ended.
    Reason(&'d [u8]),
    /// Something the client shows that is no text.
    Content,
    Ends(Ends),
}

/// Takes the parts one by one, in the order in which they stand in the event.
pub(super) type See<'s, 'd> = &'s mut dyn FnMut(Sight<'d>);

/// Gives a member that is a string as more of a text.
pub(super) fn piece<'d>(member: &Member<'d>, key: Key, form: Form, see: See<'_, 'd>) {
    if let Some(text) = inner(member) {
        see(Sight::Piece { key, form, text, quiet: false });
    }
}

/// Gives a member that is a string as a whole text.
pub(super) fn whole<'d>(member: &Member<'d>, key: Key, form: Form, see: See<'_, 'd>) {
    if let Some(text) = inner(member) {
        see(Sight::Whole { key, form, text, quiet: false });
    }
}

/// Gives a member that nobody knows: a string is a text, of which more may come where it `grows`, and others may have texts in them.
pub(super) fn unknown<'d>(group: u32, member: &Member<'d>, grows: bool, see: See<'_, 'd>) {
    let key = Key { group, part: hash(&member.name()), field: Field::Other };
    match member.kind {
        Kind::String if grows => piece(member, key, Form::Text, see),
        Kind::String => whole(member, key, Form::Text, see),
        Kind::Object | Kind::Array => foreign(key, member.value(), false, see),
        Kind::Number | Kind::Bool | Kind::Null => {}
    }
}

/// Gives JSON of which little is known.
pub(super) fn foreign<'d>(key: Key, text: &'d [u8], quiet: bool, see: See<'_, 'd>) {
    if !matches!(text, b"{}" | b"[]" | b"null" | b"\"\"") {
        see(Sight::Whole { key, form: Form::Foreign, text, quiet });
    }
}

/// What stands between the quotes of a member that is a string.
pub(super) fn inner<'d>(member: &Member<'d>) -> Option<&'d [u8]> {
    match (member.kind, member.value()) {
        (Kind::String, [b'"', inner @ .., b'"']) => Some(inner),
        _ => None,
    }
}

/// The number of the member `name`, or `other`.
pub(super) fn index(object: &[u8], name: &str, other: usize) -> u32 {
    let told = members(object).find(|member| member.is(name)).and_then(|member| number(member.json()));
    told.unwrap_or_else(|| u32::try_from(other).unwrap_or(u32::MAX))
}

pub(super) fn number(value: Value<'_>) -> Option<u32> {
    value.u64().and_then(|number| u32::try_from(number).ok())
}

/// A number for a name (FNV-1a).
pub(super) fn hash(name: &[u8]) -> u32 {
    name.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}
