//! The responses dialect (`POST /v1/responses`): a client shape, and a second way to ask providers of chat completions.

mod answer;
mod decode;
mod encode;
mod native;
mod output;

pub use self::answer::decoder;
pub use self::decode::decode_request;
pub use self::encode::encode_request;
pub use self::native::without_foreign_history;
pub use self::output::{stream_encoder, whole_encoder};
// Errors have the chat-completions envelope.
pub use super::chat_completions::{decode_failure, encode_failure};

/// Stands before the tag of reasoning only its provider can read, to tell it from shown reasoning.
const SEALED: char = '#';
/// What ids of reasoning begin with that no provider of this dialect made.
const MINTED: &str = "rs_gw_";
