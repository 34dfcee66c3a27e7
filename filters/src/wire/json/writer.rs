//! Writing JSON without building it first.

use super::{Number, Raw, Text, encode_string};

/// Appends one JSON document to a buffer. Commas are put where they belong; balance is the caller's.
#[derive(Debug)]
pub struct Writer<'o> {
    out: &'o mut Vec<u8>,
    comma: bool,
}

impl<'o> Writer<'o> {
    /// A writer that appends to `out`.
    #[must_use]
    pub const fn new(out: &'o mut Vec<u8>) -> Self {
        Self { out, comma: false }
    }

    /// The buffer, for a value written by other means: call [`Self::slot`] before.
    pub const fn buffer(&mut self) -> &mut Vec<u8> {
        self.out
    }

    /// Puts the comma, if one is due, before a value written by other means.
    pub fn slot(&mut self) {
        if self.comma {
            self.out.push(b',');
        }
        self.comma = true;
    }

    /// `{`
    pub fn begin_object(&mut self) {
        self.slot();
        self.out.push(b'{');
        self.comma = false;
    }

    /// `}`
    pub fn end_object(&mut self) {
        self.out.push(b'}');
        self.comma = true;
    }

    /// `[`
    pub fn begin_array(&mut self) {
        self.slot();
        self.out.push(b'[');
        self.comma = false;
    }

    /// `]`
    pub fn end_array(&mut self) {
        self.out.push(b']');
        self.comma = true;
    }

    /// A member's name. Names are our own constants, or plain text that may need escapes.
    pub fn key(&mut self, name: &str) {
        self.slot();
        encode_string(name, self.out);
        self.out.push(b':');
        self.comma = false;
    }

    /// A string.
    pub fn str(&mut self, text: &str) {
        self.slot();
        encode_string(text, self.out);
    }

    /// A string from a text, which is copied where it is escaped already.
    pub fn text(&mut self, text: &Text<'_>) {
        self.slot();
        self.out.push(b'"');
        text.escape_into(self.out);
        self.out.push(b'"');
    }

    /// A string of several texts put together.
    pub fn texts<'t, 'a: 't>(&mut self, parts: impl IntoIterator<Item = &'t Text<'a>>) {
        self.slot();
        self.out.push(b'"');
        for part in parts {
            part.escape_into(self.out);
        }
        self.out.push(b'"');
    }

    /// A value that is JSON already.
    pub fn raw(&mut self, json: &[u8]) {
        self.slot();
        self.out.extend_from_slice(json);
    }

    /// A whole number.
    pub fn number(&mut self, value: impl Into<i128>) {
        self.slot();
        let mut buffer = itoa::Buffer::new();
        self.out.extend_from_slice(buffer.format(value.into()).as_bytes());
    }

    /// `true` or `false`.
    pub fn bool(&mut self, value: bool) {
        self.raw(if value { b"true" } else { b"false" });
    }

    /// `null`
    pub fn null(&mut self) {
        self.raw(b"null");
    }

    /// A member that is an object; `write` writes its members.
    pub fn object(&mut self, name: &str, write: impl FnOnce(&mut Self)) {
        self.key(name);
        self.begin_object();
        write(self);
        self.end_object();
    }

    /// A member that is an array; `write` writes its elements.
    pub fn array(&mut self, name: &str, write: impl FnOnce(&mut Self)) {
        self.key(name);
        self.begin_array();
        write(self);
        self.end_array();
    }

    /// A string member.
    pub fn str_field(&mut self, name: &str, text: &str) {
        self.key(name);
        self.str(text);
    }

    /// A string member from a text.
    pub fn text_field(&mut self, name: &str, text: &Text<'_>) {
        self.key(name);
        self.text(text);
    }

    /// A member that is JSON already.
    pub fn raw_field(&mut self, name: &str, json: &Raw<'_>) {
        self.key(name);
        self.raw(&json.0);
    }

    /// A number member, written as it was read.
    pub fn number_field(&mut self, name: &str, number: Number<'_>) {
        self.key(name);
        self.raw(number.0.as_bytes());
    }

    /// A member that is a whole number.
    pub fn whole_field(&mut self, name: &str, value: impl Into<i128>) {
        self.key(name);
        self.number(value);
    }

    /// A boolean member.
    pub fn bool_field(&mut self, name: &str, value: bool) {
        self.key(name);
        self.bool(value);
    }

    /// A member that is null.
    pub fn null_field(&mut self, name: &str) {
        self.key(name);
        self.null();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_and_nesting_come_out_right() {
        let mut out = Vec::new();
        let mut w = Writer::new(&mut out);
        w.begin_object();
        w.str_field("a", "x\"");
        w.array("l", |w| {
            w.number(1_u64);
            w.begin_object();
            w.bool_field("t", true);
            w.end_object();
            w.null();
        });
        w.object("o", |_| {});
        w.text_field("e", &Text::Escaped(br"\u00e9"));
        w.end_object();
        assert_eq!(out, br#"{"a":"x\"","l":[1,{"t":true},null],"o":{},"e":"\u00e9"}"#);
    }
}
