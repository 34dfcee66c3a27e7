//! Writing an answer for a client, whole or in chunks.

mod choice;
mod closing;
mod frame;
mod stream;
mod whole;

#[cfg(test)]
mod tests;

use crate::canonical::Text;
use crate::shape::Shape;
use crate::translate::{ClientView, Encode};
use crate::wire::json::Writer;

/// A writer of a stream: events, or the elements of an array.
pub fn stream_encoder(view: ClientView) -> impl Encode + 'static {
    stream::Stream::new(view)
}

/// A writer of one document. It writes nothing where the provider failed, or called a function with something that is no JSON
/// object: then the answer is an error.
pub fn whole_encoder(view: ClientView) -> impl Encode + 'static {
    whole::Whole::new(view)
}

/// The highest answer that is kept apart from the others.
const LAST_CHOICE: u32 = 127;

/// Writes the members that say who answered: the model as the client knows it, and the id, which is the vendor's own or that
/// of the request.
fn identity(view: &ClientView, id: Option<&Text<'_>>, out: &mut Vec<u8>) {
    let own = id.filter(|id| view.upstream == Shape::GenerateContent && !id.is_empty());
    let mut w = Writer::new(out);
    w.str_field("modelVersion", &view.model);
    match own {
        Some(id) => w.text_field("responseId", id),
        None => w.str_field("responseId", &view.request_id),
    }
}
