//! The chat-completions dialect (`POST /v1/chat/completions`): the vendor itself, Azure, and the many services that copy it.

mod answer;
mod decode;
mod encode;
mod failure;
mod native;
mod output;

pub use self::answer::decoder;
pub use self::decode::decode_request;
pub use self::encode::encode_request;
pub(in crate::translate) use self::encode::kin;
pub use self::failure::{decode_failure, encode_failure};
pub use self::native::without_foreign_history;
pub use self::output::{legacy_stream_encoder, legacy_whole_encoder, stream_encoder, whole_encoder};
