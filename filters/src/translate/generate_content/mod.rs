//! Generate content: the dialect of `…/models/<model>:generateContent` and `:streamGenerateContent`.

mod answer;
mod base64_text;
mod decode;
mod encode;
mod failure;
mod fence;
mod fields;
mod native;
mod schema;
mod token;
mod write;

pub use self::answer::decoder;
pub use self::decode::decode_request;
pub use self::encode::encode_request;
pub use self::failure::{decode_failure, encode_failure, encode_failure_as};
pub use self::native::{without_foreign_history, without_signatures};
pub use self::write::{stream_encoder, whole_encoder};
