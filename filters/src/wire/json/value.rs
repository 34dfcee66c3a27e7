//! A value to look into: typed access over bytes that are known to be valid JSON, or whose worst outcome may be `null`.

use std::borrow::Cow;

use super::{Elements, Kind, Members, Number, Raw, Text, decode_string, elements, members, skip_space};

/// One JSON value where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value<'a> {
    bytes: &'a [u8],
    kind: Kind,
}

impl<'a> Value<'a> {
    /// JSON's `null`.
    pub const NULL: Self = Self { bytes: b"null", kind: Kind::Null };

    /// The value that `bytes` hold, white space around it left out. `null` where they hold none.
    #[must_use]
    pub fn of(bytes: &'a [u8]) -> Self {
        let bytes = bytes.get(skip_space(bytes, 0)..).unwrap_or_default().trim_ascii_end();
        match bytes.first().and_then(|first| Kind::of(*first)) {
            Some(kind) => Self { bytes, kind },
            None => Self::NULL,
        }
    }

    pub(super) const fn known(bytes: &'a [u8], kind: Kind) -> Self {
        Self { bytes, kind }
    }

    /// What it is.
    #[must_use]
    pub const fn kind(self) -> Kind {
        self.kind
    }

    /// Its bytes.
    #[must_use]
    pub const fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// Its bytes as raw JSON.
    #[must_use]
    pub const fn raw(self) -> Raw<'a> {
        Raw(Cow::Borrowed(self.bytes))
    }

    /// Whether it is `null`.
    #[must_use]
    pub fn is_null(self) -> bool {
        self.kind == Kind::Null
    }

    /// The text of a string, escapes as written.
    #[must_use]
    pub fn text(self) -> Option<Text<'a>> {
        let inner = self.bytes.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        (self.kind == Kind::String).then_some(Text::Escaped(inner))
    }

    /// The text of a string, decoded.
    #[must_use]
    pub fn str(self) -> Option<Cow<'a, str>> {
        (self.kind == Kind::String).then(|| decode_string(self.bytes))
    }

    /// Whether it is the string `other`.
    #[must_use]
    pub fn is_str(self, other: &str) -> bool {
        self.text().is_some_and(|text| text.is(other))
    }

    /// A boolean.
    #[must_use]
    pub fn bool(self) -> Option<bool> {
        match self.bytes {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        }
    }

    /// A number as written.
    #[must_use]
    pub fn number(self) -> Option<Number<'a>> {
        let text = std::str::from_utf8(self.bytes).ok()?;
        (self.kind == Kind::Number).then_some(Number(text))
    }

    /// A whole number that is not negative. Whole numbers written as floats count.
    #[must_use]
    pub fn u64(self) -> Option<u64> {
        let number = self.number()?;
        number.0.parse().ok().or_else(|| {
            let value = number.value();
            // Below 2^53 the conversion is exact.
            (value >= 0.0 && value.fract() == 0.0 && value < 9_007_199_254_740_992.0).then_some(value as u64)
        })
    }

    /// The members of an object; none for other kinds.
    #[must_use]
    pub fn members(self) -> Members<'a> {
        members(if self.kind == Kind::Object { self.bytes } else { b"" })
    }

    /// The elements of an array; none for other kinds.
    #[must_use]
    pub fn elements(self) -> Elements<'a> {
        elements(if self.kind == Kind::Array { self.bytes } else { b"" })
    }

    /// The last member of that name; `null` where there is none.
    #[must_use]
    pub fn get(self, name: &str) -> Self {
        let [value] = self.pick([name]);
        value
    }

    /// The last member of each of these names, all found in one walk; `null` where there is none.
    #[must_use]
    pub fn pick<const N: usize>(self, names: [&str; N]) -> [Self; N] {
        let mut picked = [Self::NULL; N];
        for member in self.members() {
            let named = names.iter().zip(&mut picked).find(|(name, _)| member.is(name));
            if let Some((_, slot)) = named {
                *slot = member.json();
            }
        }
        picked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_by_kind_and_wrong_kinds_are_none() {
        let value = Value::of(br#" {"a":"x\"y","n":-1,"m":3.0,"l":[1,2],"t":true,"z":null} "#);
        assert_eq!(value.get("a").str().as_deref(), Some("x\"y"));
        assert!(value.get("a").is_str("x\"y") && value.get("n").u64().is_none() && value.get("m").u64() == Some(3));
        assert_eq!(value.get("l").elements().count(), 2);
        let twice = Value::of(br#"{"b":1,"a":2,"b":3}"#);
        assert_eq!(twice.pick(["a", "b", "c"]).map(Value::bytes), [b"2", b"3", Value::NULL.bytes()], "the last of a name counts");
        assert!(value.get("z").is_null() && value.get("missing").is_null() && value.get("t").bool() == Some(true));
        assert_eq!(value.get("t").members().count() + value.get("a").elements().count(), 0);
        assert_eq!(Value::of(b""), Value::NULL);
    }
}
