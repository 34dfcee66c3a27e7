//! `multipart/form-data`, as much of it as SDKs send.

use crate::call::Call;
use crate::refusal::Refusal;

/// One part of a form.
#[derive(Debug)]
pub(crate) struct Part<'a> {
    pub(crate) name: String,
    pub(crate) file: Option<String>,
    pub(crate) mime: Option<String>,
    pub(crate) data: &'a [u8],
}

/// All parts of a form.
#[derive(Debug)]
pub(crate) struct Form<'a>(Vec<Part<'a>>);

impl<'a> Form<'a> {
    pub(crate) fn read(call: &'a Call) -> Result<Self, Refusal> {
        let kind = call.header("content-type").unwrap_or_default();
        let boundary = kind.strip_prefix("multipart/form-data").and_then(|_| parameter(kind, "boundary"));
        let boundary = boundary.ok_or_else(|| Refusal::invalid("Could not parse multipart form: no boundary in the content type."))?;
        let delimiter = format!("--{boundary}");
        let parts = pieces(&call.body, delimiter.as_bytes());
        let parts = parts.into_iter().filter_map(part).collect();
        Ok(Self(parts))
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|part| part.name == name && part.file.is_none()).and_then(|part| std::str::from_utf8(part.data).ok())
    }

    /// Files under `name` or `name[]`.
    pub(crate) fn files(&self, name: &str) -> Vec<&Part<'a>> {
        self.0.iter().filter(|part| part.file.is_some() && part.name.trim_end_matches("[]") == name).collect()
    }

    pub(crate) fn need(&self, name: &str) -> Result<&str, Refusal> {
        let missing = || Refusal::invalid(format!("Missing required parameter: '{name}'.")).param(name).code("missing_required_parameter");
        self.text(name).filter(|text| !text.is_empty()).ok_or_else(missing)
    }

    pub(crate) fn file(&self, name: &str) -> Result<&Part<'a>, Refusal> {
        let missing = || Refusal::invalid(format!("Missing required parameter: '{name}'.")).param(name).code("missing_required_parameter");
        self.files(name).first().copied().ok_or_else(missing)
    }
}

fn pieces<'a>(body: &'a [u8], delimiter: &[u8]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    let mut rest = body;
    while let Some(at) = find(rest, delimiter) {
        pieces.push(rest.get(..at).unwrap_or_default());
        rest = rest.get(at + delimiter.len()..).unwrap_or_default();
    }
    pieces.into_iter().skip(1).collect()
}

fn part(piece: &[u8]) -> Option<Part<'_>> {
    let piece = piece.strip_prefix(b"\r\n")?;
    let end = find(piece, b"\r\n\r\n")?;
    let head = std::str::from_utf8(piece.get(..end)?).ok()?;
    let data = piece.get(end + 4..)?;
    let line = |name: &str| head.lines().find(|line| line.to_ascii_lowercase().starts_with(name));
    let disposition = line("content-disposition:")?;
    let mime = line("content-type:").and_then(|line| line.split_once(':')).map(|(_, value)| value.trim().to_owned());
    let data = data.strip_suffix(b"\r\n").unwrap_or(data);
    Some(Part { name: parameter(disposition, "name")?, file: parameter(disposition, "filename"), mime, data })
}

fn parameter(header: &str, name: &str) -> Option<String> {
    let value = header.split(';').find_map(|item| item.trim().strip_prefix(name)?.strip_prefix('='))?;
    Some(value.trim_matches('"').to_owned())
}

fn find(hay: &[u8], needle: &[u8]) -> Option<usize> {
    hay.windows(needle.len()).position(|window| window == needle)
}
