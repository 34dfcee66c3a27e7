//! A value of the body, and where it lies there.

use std::borrow::Cow;

use crate::wire::json::{Kind, Member, Span, Value, elements, members, skip_space};

/// A member of an object and its value.
pub(super) type Field<'b> = (Member<'b>, Item<'b>);

/// The string that the last member called `name` is.
pub(super) fn string_of<'b>(members: &[Field<'b>], name: &str) -> Option<Cow<'b, str>> {
    last(members, name)?.as_str()
}

/// The last member called `name`.
pub(super) fn last<'m, 'b>(members: &'m [Field<'b>], name: &str) -> Option<&'m Member<'b>> {
    members.iter().rev().map(|(member, _)| member).find(|member| member.is(name))
}

/// A value of the body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item<'b> {
    pub(super) value: &'b [u8],
    pub(super) kind: Kind,
    /// Where it begins in the body.
    pub(super) start: usize,
    /// How many values it stands in.
    pub(super) depth: usize,
}

impl<'b> Item<'b> {
    /// The value that the body is.
    pub(super) fn document(body: &'b [u8]) -> Option<Self> {
        let start = skip_space(body, 0);
        let value = body.get(start..)?.trim_ascii_end();
        Some(Self { value, kind: Kind::of(*value.first()?)?, start, depth: 0 })
    }

    /// The members of an object with their values; none for other kinds.
    pub(super) fn members(self) -> impl Iterator<Item = Field<'b>> {
        members(self.value).map(move |member| (member, self.child(member.value(), member.kind, member.span)))
    }

    /// The elements of an array; none for other kinds.
    pub(super) fn elements(self) -> impl Iterator<Item = Self> {
        elements(self.value).map(move |element| self.child(element.value, element.kind, element.span))
    }

    /// The member of that name.
    pub(super) fn get(self, name: &str) -> Value<'b> {
        Value::of(self.value).get(name)
    }

    /// The inside of a string, and where it lies in the body.
    pub(super) fn inside(self) -> (&'b [u8], Span) {
        let inside = self.value.get(1..self.value.len().saturating_sub(1)).unwrap_or_default();
        (inside, Span { start: self.start + 1, end: self.start + 1 + inside.len() })
    }

    const fn child(self, value: &'b [u8], kind: Kind, span: Span) -> Self {
        Self { value, kind, start: self.start + span.start, depth: self.depth + 1 }
    }
}
