//! Pure tables and small conversions that several shapes share, each citing its source.

pub mod capability;
pub(in crate::translate) mod choice;
pub(in crate::translate) mod context;
pub mod conversation;
pub(in crate::translate) mod free_text;
pub mod ids;
pub mod media;
pub mod names;
pub(in crate::translate) mod schema;
pub(in crate::translate) mod search;
pub mod signature;
mod thinking;
pub mod tools;

pub use self::conversation::Conversation;
pub use self::thinking::{Effort, Wanted, budget, effort, wanted};
