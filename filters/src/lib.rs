//! Policy and translation: everything the proxy decides about a request, as plain function calls.
//!
//! No network, no proxy framework and no database is known here.

pub mod auth;
pub mod passage;
pub mod routing;
pub mod shape;
pub mod usage;
pub mod wire;
