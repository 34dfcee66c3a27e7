//! Generate content: the dialect of `…/models/<model>:generateContent` and `:streamGenerateContent`.

mod base64_text;
mod decode;
mod encode;
mod fence;
mod fields;
mod schema;
mod token;

pub use self::decode::decode_request;
pub use self::encode::encode_request;
