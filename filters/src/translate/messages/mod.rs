//! The messages dialect (`POST /v1/messages`): the messages vendor itself, and its models on Bedrock and Vertex.

mod answer;
mod decode;
mod encode;
mod failure;
mod native;
mod output;
mod schema;

pub use self::answer::decoder;
pub use self::decode::decode_request;
pub use self::encode::encode_request;
pub use self::failure::{decode_failure, encode_failure};
pub use self::native::{without_foreign_history, without_signatures};
pub use self::output::{stream_encoder, whole_encoder};
