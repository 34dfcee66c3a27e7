//! Between the client's shape and the provider's, through the one [canonical](crate::canonical) form. Pairs of one shape pass
//! unchanged (see [`crate::passage`]).
//!
//! Each shape has one room with the same four doors: `decode_request`, `encode_request`, a [`Decode`] for answers and two
//! [`Encode`]s for them (streamed and whole), and `decode_error` / `encode_error`.

pub mod chat_completions;
pub mod generate_content;
pub mod map;
pub mod messages;
pub mod responses;

mod answer;
mod encoding;
mod errors;
mod filter;
mod matrix;
mod object;
mod prepare;
mod restore;
mod target;

pub use answer::{Answer, said};
pub use encoding::{Adaptations, ClientView, Encoding};
pub use errors::{failure_for, fit_to_tell, is_failure, read_failure, write_failure, write_failure_as};
pub use filter::{TranslationFilter, keep_carried};
pub use matrix::{Cell, Feature, Support, matrix};
pub use prepare::{Picture, Policy, Prepared, Viewer, passes, pictures_to_fetch, prepare, without_foreign_history, without_signatures};
pub use target::{Capabilities, ProviderKind, Quirks, Target, ThinkingStyle};

use crate::canonical::{Event, Sink};

/// Reads a provider's answer.
pub trait Decode: Send + Sync {
    /// Takes one event of a stream: the name of the server-sent event (empty where it has none) and its data. Data that is not
    /// the JSON it should be gives [`Event::Failed`].
    fn event(&mut self, name: &[u8], data: &[u8], sink: Sink<'_>);

    /// Takes a whole answer: the same events as a stream of it would give.
    fn answer(&mut self, body: &[u8], sink: Sink<'_>);

    /// The provider's body ended. Gives what is still owed when the answer was complete, nothing when it was cut off: then the
    /// last event given is neither [`Event::End`] nor [`Event::Failed`].
    fn finish(&mut self, sink: Sink<'_>);
}

/// Writes an answer for a client.
pub trait Encode: Send + Sync {
    /// Appends what the client gets for one event, framing included; perhaps nothing. After [`Event::End`] or
    /// [`Event::Failed`] the answer is closed and further events give nothing. An encoder of whole answers writes all at the end.
    fn event(&mut self, event: &Event<'_>, out: &mut Vec<u8>);
}
