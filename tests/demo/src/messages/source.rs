//! Where pictures and documents of a messages request come from.

use serde_json::{Map, Value};

use crate::call::Call;
use crate::media::Media;
use crate::refusal::Refusal;
use crate::vendor::Vendor;

/// The media of an image or document block; platforms take no addresses.
pub(super) fn read(call: &Call, block: &Map<String, Value>, path: &str) -> Result<Media, Refusal> {
    let image = super::blocks::kind(block) == "image";
    let source = block.get("source").ok_or_else(|| Refusal::invalid(format!("{path}.source: Field required")))?;
    let text = |name: &str| source.get(name).and_then(Value::as_str).unwrap_or_default();
    match text("type") {
        "base64" => inline(text("media_type"), text("data"), image, path),
        "url" | "file" if call.vendor != Vendor::Anthropic => {
            let message =
                format!("{path}.source: Input tag '{}' found using 'type' does not match any of the expected tags: 'base64'", text("type"));
            Err(Refusal::invalid(message))
        }
        "url" => Media::url(text("url"), path),
        "file" => Ok(Media::Remote { url: text("file_id").to_owned() }),
        "text" if !image => Ok(Media::Inline { mime: "text/plain".to_owned(), bytes: text("data").len() }),
        "content" if !image => Ok(Media::Inline { mime: "text/plain".to_owned(), bytes: text("content").len() }),
        other => {
            let message = format!("{path}.source: Input tag '{other}' found using 'type' does not match any of the expected tags");
            Err(Refusal::invalid(message))
        }
    }
}

fn inline(mime: &str, data: &str, image: bool, path: &str) -> Result<Media, Refusal> {
    let known = matches!(mime, "image/jpeg" | "image/png" | "image/gif" | "image/webp") || (!image && mime == "application/pdf");
    if !known {
        return Err(Refusal::invalid(format!("{path}.source.base64.media_type: Input should be a supported media type")));
    }
    let media = Media::inline(mime, data, &format!("{path}.source.base64.data"))?;
    match crate::media::sniffed(data) {
        Some(found) if found != mime => {
            let message = format!(
                "{path}.source.base64: The image was specified using the {mime} media type, but the image appears to be a {found} image"
            );
            Err(Refusal::invalid(message))
        }
        _ => Ok(media),
    }
}
