//! Policy and translation: everything the proxy decides about a request, as plain function calls.
//!
//! No network, no proxy framework and no database is known here.

pub mod auth;
pub mod canonical;
pub mod chain;
pub mod cost;
pub mod endpoint;
pub mod filter;
pub mod guardrails;
pub mod limits;
pub mod passage;
pub mod period;
pub mod policy;
pub mod registry;
pub mod routing;
pub mod screening;
pub mod shape;
pub mod tokens;
pub mod translate;
pub mod usage;
pub mod verdict;
pub mod wire;
