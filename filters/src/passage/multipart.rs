//! Multipart forms (RFC 2046, RFC 7578), read strictly: where two readers could disagree about a part, the body is refused.

use memchr::memmem;
use thiserror::Error;

use crate::wire::json::Span;

/// Longest boundary RFC 2046 allows.
const BOUNDARY_LIMIT: usize = 70;
/// Most parts read.
const PARTS_LIMIT: usize = 1024;
/// Longest header block of one part, in bytes.
const HEAD_LIMIT: usize = 16 << 10;

/// Why a form was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MultipartError {
    /// The content type names no usable boundary.
    #[error("the content type has no valid boundary")]
    Boundary,
    /// The content type or a part of the form says that texts are written in something else than UTF-8.
    #[error("the form is not in UTF-8")]
    Charset,
    /// The body does not follow its boundary.
    #[error("malformed multipart body at byte {0}")]
    Malformed(usize),
    /// A part whose headers name it in no way, or in an ambiguous one.
    #[error("a part without a plain name at byte {0}")]
    PartName(usize),
    /// Too many parts.
    #[error("more than {PARTS_LIMIT} parts")]
    TooManyParts,
    /// A field that may come once came again.
    #[error("duplicate part `{0}`")]
    Duplicate(&'static str),
    /// A field whose value cannot be read as text.
    #[error("part `{0}` is not plain text")]
    NotText(&'static str),
}

/// One part: its name and where its content lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    pub(super) name: &'a str,
    pub(super) content: Span,
    /// It is a file, or encoded in some way that is not plain UTF-8.
    pub(super) special: bool,
}

impl Part<'_> {
    /// The value of a plain field.
    pub(super) fn text<'b>(&self, body: &'b [u8]) -> Option<&'b str> {
        std::str::from_utf8(self.content.of(body)).ok().filter(|_| !self.special)
    }
}

/// The boundary named by a `multipart/form-data` content type; none for other types.
pub(super) fn boundary(content_type: &str) -> Option<Result<&str, MultipartError>> {
    let (essence, parameters) = content_type.split_once(';').unwrap_or((content_type, ""));
    if !essence.trim().eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let found = parameter(parameters, "boundary").and_then(|value| value.ok_or(()));
    let valid = |value: &&str| {
        (1..=BOUNDARY_LIMIT).contains(&value.len()) && value.bytes().all(|byte| (0x20..0x7f).contains(&byte)) && !value.ends_with(' ')
    };
    let boundary = found.ok().filter(valid).ok_or(MultipartError::Boundary);
    Some(boundary.and_then(|boundary| if is_utf8(parameters) { Ok(boundary) } else { Err(MultipartError::Charset) }))
}

/// The parts of `body` in order.
pub(super) fn parts<'a>(body: &'a [u8], boundary: &str) -> Result<Vec<Part<'a>>, MultipartError> {
    let delimiter = [b"\r\n--", boundary.as_bytes()].concat();
    let finder = memmem::Finder::new(&delimiter);
    let lead = if body.starts_with(b"\r\n") { 2 } else { 0 };
    let opening = delimiter.get(2..).unwrap_or_default();
    if !body.get(lead..).unwrap_or_default().starts_with(opening) {
        return Err(MultipartError::Malformed(0));
    }
    let mut at = lead + opening.len();
    let mut parts = Vec::new();
    loop {
        let rest = body.get(at..).unwrap_or_default();
        if let Some(epilogue) = rest.strip_prefix(b"--") {
            return if epilogue.trim_ascii().is_empty() { Ok(parts) } else { Err(MultipartError::Malformed(at)) };
        }
        let padding = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let head = at + padding + 2;
        if rest.get(padding..padding + 2) != Some(b"\r\n") {
            return Err(MultipartError::Malformed(at));
        }
        let part = part(body, head, &finder)?;
        at = part.content.end + delimiter.len();
        parts.push(part);
        if parts.len() > PARTS_LIMIT {
            return Err(MultipartError::TooManyParts);
        }
    }
}

fn part<'a>(body: &'a [u8], head: usize, finder: &memmem::Finder<'_>) -> Result<Part<'a>, MultipartError> {
    let rest = body.get(head..).unwrap_or_default();
    let window = rest.get(..rest.len().min(HEAD_LIMIT)).unwrap_or_default();
    let length = memmem::find(window, b"\r\n\r\n").ok_or(MultipartError::Malformed(head))?;
    let headers = std::str::from_utf8(window.get(..length).unwrap_or_default()).map_err(|_| MultipartError::Malformed(head))?;
    let start = head + length + 4;
    // The blank line's own CRLF may begin the delimiter of an empty part.
    let from = start - 2;
    let found = body.get(from..).and_then(|content| finder.find(content)).ok_or(MultipartError::Malformed(start))?;
    let end = from + found;
    let (name, special) = headed(headers).ok_or(MultipartError::PartName(head))?;
    if end < start {
        return Err(MultipartError::Malformed(start));
    }
    Ok(Part { name, content: Span { start, end }, special })
}

/// The name in a part's headers, and whether the part is more than a plain field.
fn headed(headers: &str) -> Option<(&str, bool)> {
    let mut name = None;
    let mut special = false;
    for line in headers.split("\r\n") {
        let (header, value) = line.split_once(':')?;
        if header.is_empty() || line.bytes().any(|byte| byte < 0x20 && byte != b'\t') || !header.bytes().all(|byte| byte.is_ascii_graphic())
        {
            return None;
        }
        if header.eq_ignore_ascii_case("content-disposition") {
            let (kind, parameters) = value.split_once(';')?;
            if name.is_some() || !kind.trim().eq_ignore_ascii_case("form-data") || parameter(parameters, "name*").ok()?.is_some() {
                return None;
            }
            name = Some(parameter(parameters, "name").ok()??);
            special |= parameter(parameters, "filename").ok()?.is_some();
        } else if header.eq_ignore_ascii_case("content-transfer-encoding") {
            let plain = ["7bit", "8bit", "binary"].iter().any(|encoding| value.trim().eq_ignore_ascii_case(encoding));
            special |= !plain;
        } else if header.eq_ignore_ascii_case("content-type") {
            special |= !value.split_once(';').is_none_or(|(_, parameters)| is_utf8(parameters));
        }
    }
    Some((name?, special))
}

/// Whether the parameters of a content type leave its texts in UTF-8. Malformed ones do not.
fn is_utf8(parameters: &str) -> bool {
    parameter(parameters, "charset").is_ok_and(|charset| charset.is_none_or(names_utf8))
}

/// Whether text in that charset is UTF-8.
pub(super) fn names_utf8(charset: &str) -> bool {
    ["utf-8", "utf8", "us-ascii"].iter().any(|known| charset.eq_ignore_ascii_case(known))
}

/// The value of the parameter `wanted`, none when there is none.
///
/// # Errors
/// When the parameters are malformed, quote with backslashes, or name `wanted` twice.
fn parameter<'a>(parameters: &'a str, wanted: &str) -> Result<Option<&'a str>, ()> {
    let mut found = None;
    let mut rest = parameters.trim_matches([' ', '\t', ';']);
    while !rest.is_empty() {
        let (name, after) = rest.split_once('=').ok_or(())?;
        let (value, next) = match after.trim_start_matches([' ', '\t']).strip_prefix('"') {
            Some(quoted) => {
                let (value, next) = quoted.split_once('"').ok_or(())?;
                let next = next.trim_start_matches([' ', '\t']);
                if value.contains('\\') || !(next.is_empty() || next.starts_with(';')) {
                    return Err(());
                }
                (value, next)
            }
            None => {
                let (value, next) = after.split_at(after.find(';').unwrap_or(after.len()));
                (value.trim_matches([' ', '\t']), next)
            }
        };
        if name.trim_matches([' ', '\t']).eq_ignore_ascii_case(wanted) && found.replace(value).is_some() {
            return Err(());
        }
        rest = next.trim_start_matches([' ', '\t', ';']);
    }
    Ok(found)
}
