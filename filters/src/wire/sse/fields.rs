//! The fields of one event.

use std::borrow::Cow;

use memchr::memchr2;

use crate::wire::json::Span;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Where the fields of one event lie in its raw bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Fields {
    name: Span,
    first_data: Span,
    data_lines: usize,
    comments: bool,
}

impl Fields {
    /// Reads the fields of `raw`, the bytes of one event.
    #[must_use]
    #[inline]
    pub fn read(raw: &[u8]) -> Self {
        if let Some(fields) = Self::only_data(raw) {
            return fields;
        }
        let mut fields = Self::default();
        for line in lines(raw) {
            fields.line(raw, line);
        }
        fields
    }

    /// The fields of the commonest event: one data line and the blank line.
    #[inline]
    fn only_data(raw: &[u8]) -> Option<Self> {
        let value = raw.strip_prefix(b"data: ")?.strip_suffix(b"\n\n")?;
        if memchr2(b'\n', b'\r', value).is_some() {
            return None;
        }
        let first_data = Span { start: 6, end: 6 + value.len() };
        Some(Self { first_data, data_lines: 1, ..Self::default() })
    }

    #[inline]
    fn line(&mut self, raw: &[u8], line: Line) {
        let text = line.text.of(raw);
        if let Some(value) = field_value(text, b"data") {
            if self.data_lines == 0 {
                self.first_data = Span { start: line.text.end - value, end: line.text.end };
            }
            self.data_lines += 1;
        } else if let Some(value) = field_value(text, b"event") {
            self.name = Span { start: line.text.end - value, end: line.text.end };
        } else if text.first() == Some(&b':') {
            self.comments = true;
        }
    }

    /// The value of the last `event` field, or empty.
    #[must_use]
    pub fn name(self, raw: &[u8]) -> &[u8] {
        self.name.of(raw)
    }

    /// The data: borrowed for one data line, several joined by LF, empty for none.
    #[must_use]
    pub fn data(self, raw: &[u8]) -> Cow<'_, [u8]> {
        if self.data_lines < 2 {
            return Cow::Borrowed(self.first_data.of(raw));
        }
        let values = lines(raw).filter_map(|line| {
            let text = line.text.of(raw);
            field_value(text, b"data").and_then(|length| text.get(text.len() - length..))
        });
        Cow::Owned(values.collect::<Vec<_>>().join(&b'\n'))
    }

    /// Where the data lies, when it is one line.
    #[must_use]
    pub const fn data_span(self) -> Option<Span> {
        if self.data_lines == 1 { Some(self.first_data) } else { None }
    }

    /// Whether there is a data line at all.
    #[must_use]
    pub const fn has_data(self) -> bool {
        self.data_lines > 0
    }

    /// Whether there are comment lines.
    #[must_use]
    pub const fn has_comments(self) -> bool {
        self.comments
    }
}

/// One line of an event: its text, and its text with the line end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub(crate) text: Span,
    pub(crate) whole: Span,
}

impl Line {
    pub(crate) fn is_comment(self, raw: &[u8]) -> bool {
        self.text.of(raw).first() == Some(&b':')
    }

    pub(crate) fn is_data(self, raw: &[u8]) -> bool {
        field_value(self.text.of(raw), b"data").is_some()
    }
}

/// The lines of an event, a leading byte order mark left out of the first one's text.
pub(crate) fn lines(raw: &[u8]) -> impl Iterator<Item = Line> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = raw.get(at..).filter(|rest| !rest.is_empty())?;
        let length = memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        let end_length = match rest.get(length..) {
            Some([b'\r', b'\n', ..]) => 2,
            Some([_, ..]) => 1,
            _ => 0,
        };
        let mark = if at == 0 && rest.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        let line = Line { text: Span { start: at + mark, end: at + length }, whole: Span { start: at, end: at + length + end_length } };
        at = line.whole.end;
        Some(line)
    })
}

/// The length of the value of field `name`, if `line` is that field. A line that is only the name has an empty value.
#[inline]
fn field_value(line: &[u8], name: &[u8]) -> Option<usize> {
    match line.strip_prefix(name)? {
        [] => Some(0),
        [b':', b' ', value @ ..] | [b':', value @ ..] => Some(value.len()),
        _ => None,
    }
}
