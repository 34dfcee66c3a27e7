//! Images, documents and sounds inside a prompt: their type and size are what the answer speaks of.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::refusal::Refusal;

/// One attached thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Media {
    Inline { mime: String, bytes: usize },
    Remote { url: String },
}

impl Media {
    /// Base64 with its type beside it.
    pub(crate) fn inline(mime: &str, data: &str, path: &str) -> Result<Self, Refusal> {
        let bytes = STANDARD.decode(data).map_err(|_| Refusal::invalid(format!("{path}: Invalid base64 data")).param(path))?;
        Ok(Self::Inline { mime: mime.to_owned(), bytes: bytes.len() })
    }

    /// A `data:` URL or an address on the web.
    pub(crate) fn url(url: &str, path: &str) -> Result<Self, Refusal> {
        if let Some(rest) = url.strip_prefix("data:") {
            let (mime, data) = rest.split_once(";base64,").ok_or_else(|| bad_url(path))?;
            return Self::inline(mime, data, path);
        }
        let remote = url.starts_with("https://") || url.starts_with("http://") || url.starts_with("gs://");
        if remote { Ok(Self::Remote { url: url.to_owned() }) } else { Err(bad_url(path)) }
    }

    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Inline { mime, bytes } => format!("I see {mime} of {bytes} bytes."),
            Self::Remote { url } => format!("I see {url}."),
        }
    }
}

fn bad_url(path: &str) -> Refusal {
    Refusal::invalid(format!("Invalid value at {path}: expected a base64-encoded data URL or an http(s) URL"))
        .param(path)
        .code("invalid_image_url")
}

/// The type of a picture by its first bytes, from its base64.
pub(crate) fn sniffed(data: &str) -> Option<&'static str> {
    let head = STANDARD.decode(data.get(..16)?).ok()?;
    let starts = |bytes: &[u8]| head.starts_with(bytes);
    if starts(b"\x89PNG") {
        Some("image/png")
    } else if starts(b"\xff\xd8\xff") {
        Some("image/jpeg")
    } else if starts(b"GIF8") {
        Some("image/gif")
    } else {
        (starts(b"RIFF") && head.get(8..12) == Some(b"WEBP")).then_some("image/webp")
    }
}
