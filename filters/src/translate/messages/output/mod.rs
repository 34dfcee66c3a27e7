//! Writing answers for clients of this shape.

mod blocks;
mod call;
mod events;
mod frames;
mod sources;
mod stream;
mod tail;
#[cfg(test)]
mod tests;
mod whole;

use self::stream::StreamEncoder;
use self::whole::WholeEncoder;
use crate::canonical::{SearchHit, Signature, Text};
use crate::shape::Shape;
use crate::translate::map::{ids, signature};
use crate::translate::{ClientView, Encode};
use crate::wire::json::Writer;

/// Beginning of the ids of searches that were not run by this vendor. Requests that bring them back are known by it.
pub(super) const SEARCH: &str = "srvtoolu_gw_";

/// A writer of streams.
#[must_use]
pub fn stream_encoder(view: ClientView) -> impl Encode + 'static {
    StreamEncoder::new(view)
}

/// A writer of whole answers. A call whose arguments are no JSON object leaves the answer unwritten.
#[must_use]
pub fn whole_encoder(view: ClientView) -> impl Encode + 'static {
    WholeEncoder::new(view)
}

/// Id of the answer: the vendor's own where it made the answer, else one made of the request's.
fn answer_id(view: &ClientView, told: Option<&Text<'_>>) -> String {
    match told {
        Some(id) if view.upstream == Shape::Messages => id.decode().into_owned(),
        _ => ids::made_from("msg_", &view.request_id),
    }
}

/// A token as this client keeps it: this vendor's own as it is, every other with a tag of where it comes from.
fn shown(token: &Signature<'_>, view: &ClientView) -> String {
    if token.shape == Shape::Messages && view.upstream == Shape::Messages {
        return token.value.decode().into_owned();
    }
    let origin = token.origin.or(Some(view.origin));
    signature::tag(&Signature { shape: token.shape, origin, value: token.value.as_ref() })
}

/// Id of a search as the client gets it.
fn search_id(id: &Text<'_>) -> String {
    let id = id.decode();
    if id.starts_with("srvtoolu_") { id.into_owned() } else { ids::made_from(SEARCH, &id) }
}

/// The block that holds what a search found.
fn found(id: &str, hits: &[SearchHit<'_>], w: &mut Writer<'_>) {
    w.begin_object();
    w.str_field("type", "web_search_tool_result");
    w.str_field("tool_use_id", id);
    w.array("content", |w| {
        for hit in hits {
            w.begin_object();
            w.str_field("type", "web_search_result");
            w.text_field("url", &hit.url);
            w.text_field("title", &hit.title);
            w.text_field("encrypted_content", &hit.sealed);
            w.null_field("page_age");
            w.end_object();
        }
    });
    w.end_object();
}
