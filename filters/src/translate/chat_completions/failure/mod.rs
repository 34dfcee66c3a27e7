//! Errors of providers of this shape, and errors for clients of it.

mod class;
mod clean;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use self::read::decode_failure;
pub(super) use self::read::told;
pub use self::write::encode_failure;
pub(super) use self::write::in_band;
