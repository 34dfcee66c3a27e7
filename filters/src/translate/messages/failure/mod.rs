//! Errors of providers of this shape, and errors for clients of it.

mod class;
#[cfg(test)]
mod tests;
mod told;
mod words;

pub use self::told::decode_failure;
pub(super) use self::told::told;
pub use self::words::encode_failure;
pub(super) use self::words::object;
