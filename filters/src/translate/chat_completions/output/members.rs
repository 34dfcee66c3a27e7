//! Members that chunks and whole answers have in common.

use crate::canonical::{Citation, Signature, Text};
use crate::translate::ClientView;
use crate::translate::map::signature::tag;
use crate::usage::Usage;
use crate::wire::json::Writer;

/// Writes the `usage` object: cached and reasoning tokens count inside the totals.
pub(super) fn usage(usage: &Usage, w: &mut Writer<'_>) {
    w.begin_object();
    w.whole_field("prompt_tokens", usage.input());
    w.whole_field("completion_tokens", usage.output);
    w.whole_field("total_tokens", usage.total());
    w.object("prompt_tokens_details", |w| {
        w.whole_field("cached_tokens", usage.cache_read);
        if usage.cache_write() > 0 {
            w.whole_field("cache_write_tokens", usage.cache_write());
        }
    });
    if let Some(reasoning) = usage.reasoning {
        w.object("completion_tokens_details", |w| w.whole_field("reasoning_tokens", reasoning));
    }
    w.end_object();
}

/// Writes an element of `annotations`.
pub(super) fn annotation(citation: &Citation<'_>, (start, end): (u64, u64), w: &mut Writer<'_>) {
    w.begin_object();
    w.str_field("type", "url_citation");
    w.object("url_citation", |w| {
        w.whole_field("start_index", start);
        w.whole_field("end_index", end);
        w.text_field("title", &citation.title);
        w.text_field("url", &citation.url);
    });
    w.end_object();
}

/// Writes an element of `images`, a field of some services.
pub(super) fn image(media_type: &Text<'_>, data: &Text<'_>, index: u32, w: &mut Writer<'_>) {
    w.begin_object();
    w.str_field("type", "image_url");
    w.object("image_url", |w| {
        w.key("url");
        w.texts([&Text::from("data:"), media_type, &Text::from(";base64,"), data]);
    });
    w.whole_field("index", index);
    w.end_object();
}

/// The continuity token as a client keeps it: with a tag that says who minted it.
pub(super) fn tagged(signature: &Signature<'_>, view: &ClientView) -> String {
    let origin = Some(signature.origin.unwrap_or(view.origin));
    tag(&Signature { origin, shape: signature.shape, value: signature.value.as_ref() })
}

/// Writes an element of `thinking_blocks`, a field of some gateways: reasoning with its token. `text` is escaped.
pub(super) fn thinking_block(text: &[u8], token: &str, w: &mut Writer<'_>) {
    w.begin_object();
    w.str_field("type", "thinking");
    w.text_field("thinking", &Text::Escaped(text));
    w.str_field("signature", token);
    w.end_object();
}

/// As [`thinking_block`], for reasoning that only its provider can read.
pub(super) fn redacted_block(token: &str, w: &mut Writer<'_>) {
    w.begin_object();
    w.str_field("type", "redacted_thinking");
    w.str_field("data", token);
    w.end_object();
}

/// Writes the member of a call that carries its token, where services look for it.
pub(super) fn call_token(token: &str, w: &mut Writer<'_>) {
    w.object("extra_content", |w| w.object("google", |w| w.str_field("thought_signature", token)));
}
