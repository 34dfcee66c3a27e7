//! JSON read where it lies: validated or walked over bytes, never turned into a tree and never written back whole.
//!
//! [`scan`] and [`outline`] check a whole document against RFC 8259. [`members`] and [`elements`] walk one level of a value
//! that is known to be valid, or of foreign bytes whose worst outcome may be that the walk ends early.

mod compact;
mod fault;
mod lexeme;
mod scan;
mod splice;
mod text;
mod value;
mod walk;
mod writer;

use std::borrow::Cow;

pub(crate) use self::compact::compact;
pub use self::fault::{Fault, Problem};
pub use self::lexeme::{Number, Raw, Text};
pub use self::scan::{DEEPEST, outline, scan};
pub use self::splice::{Edit, splice};
pub use self::text::{decode_string, encode_string, lossy, string_bytes};
pub(crate) use self::text::{string_mark, string_stop};
pub use self::value::Value;
pub use self::walk::{Elements, Members, elements, members};
pub(crate) use self::walk::{members_after, members_at, string_end};
pub use self::writer::Writer;

/// A half-open range of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset after the last byte.
    pub end: usize,
}

impl Span {
    /// The bytes of `whole` this span covers; empty when it lies outside.
    #[must_use]
    pub fn of(self, whole: &[u8]) -> &[u8] {
        whole.get(self.start..self.end).unwrap_or_default()
    }

    /// Where `part`, a part of `whole`, lies in it.
    #[must_use]
    pub(crate) fn within(whole: &[u8], part: &[u8]) -> Self {
        let start = part.as_ptr().addr().saturating_sub(whole.as_ptr().addr());
        Self { start, end: start + part.len() }
    }

    /// The same span counted from `base` bytes earlier.
    #[must_use]
    pub const fn shifted(self, base: usize) -> Self {
        Self { start: self.start + base, end: self.end + base }
    }

    /// The number of bytes covered.
    #[must_use]
    pub const fn len(self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// Whether no byte is covered.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.end <= self.start
    }
}

/// What a JSON value is, as its first byte tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `"…"`
    String,
    /// A number in any notation.
    Number,
    /// `{…}`
    Object,
    /// `[…]`
    Array,
    /// `true` or `false`
    Bool,
    /// `null`
    Null,
}

impl Kind {
    /// The kind of the value that starts with `first`, if a value can.
    #[must_use]
    pub const fn of(first: u8) -> Option<Self> {
        match first {
            b'"' => Some(Self::String),
            b'{' => Some(Self::Object),
            b'[' => Some(Self::Array),
            b't' | b'f' => Some(Self::Bool),
            b'n' => Some(Self::Null),
            b'-' | b'0'..=b'9' => Some(Self::Number),
            _ => None,
        }
    }

    /// The kind with its article, for sentences such as "must be a string".
    #[must_use]
    pub const fn described(self) -> &'static str {
        match self {
            Self::String => "a string",
            Self::Number => "a number",
            Self::Object => "an object",
            Self::Array => "an array",
            Self::Bool => "a boolean",
            Self::Null => "null",
        }
    }
}

/// One member of an object: where its key and value lie.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    raw_key: &'a [u8],
    value: &'a [u8],
    escaped: bool,
    /// Where the key lies, its quotes included.
    pub key_span: Span,
    /// Where the value lies.
    pub span: Span,
    /// What the value is.
    pub kind: Kind,
}

impl<'a> Member<'a> {
    /// The key, escapes decoded.
    #[must_use]
    pub fn key(&self) -> Cow<'a, str> {
        match text::unescaped(self.raw_key, self.escaped) {
            Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// The key as bytes, escapes decoded: what a `match` on known names wants.
    #[must_use]
    pub fn name(&self) -> Cow<'a, [u8]> {
        text::unescaped(self.raw_key, self.escaped)
    }

    /// Whether the key, decoded, is `name`.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        self.raw_key == name.as_bytes() || (self.escaped && *self.name() == *name.as_bytes())
    }

    /// The value's bytes.
    #[must_use]
    pub const fn value(&self) -> &'a [u8] {
        self.value
    }

    /// The value, to be looked into.
    #[must_use]
    pub const fn json(&self) -> Value<'a> {
        Value::known(self.value, self.kind)
    }

    /// The decoded text, when the value is a string.
    #[must_use]
    pub fn as_str(&self) -> Option<Cow<'a, str>> {
        (self.kind == Kind::String).then(|| decode_string(self.value))
    }

    /// The value, when it is a boolean.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self.value {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        }
    }
}

/// One element of an array.
#[derive(Clone, Copy, Debug)]
pub struct Element<'a> {
    /// The element's bytes.
    pub value: &'a [u8],
    /// Where it lies.
    pub span: Span,
    /// What it is.
    pub kind: Kind,
}

impl<'a> Element<'a> {
    /// The element, to be looked into.
    #[must_use]
    pub const fn json(&self) -> Value<'a> {
        Value::known(self.value, self.kind)
    }
}

/// The top level of a validated document.
#[derive(Debug)]
pub struct Document<'a> {
    members: Vec<Member<'a>>,
    /// Where the object lies, its braces included.
    pub span: Span,
}

impl<'a> Document<'a> {
    /// The members in the order of the document.
    #[must_use]
    pub fn members(&self) -> &[Member<'a>] {
        &self.members
    }

    /// The last member whose decoded key is `name`; after [`scan`] there is at most one.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Member<'a>> {
        self.members.iter().rev().find(|member| member.is(name))
    }
}

/// Whether `byte` is JSON's insignificant whitespace.
pub(crate) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// The offset of the first byte at or after `at` that is not whitespace.
#[inline]
pub(crate) fn skip_space(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at) {
        Some(byte) if is_space(*byte) => skip_space_run(bytes, at + 1),
        _ => at,
    }
}

fn skip_space_run(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| !is_space(*byte)).unwrap_or(rest.len())
}
