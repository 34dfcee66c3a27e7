//! Caps on requests per minute, tokens per minute and requests at the same time: global, per role, per key.
//!
//! A request is counted once, all or nothing, when it is admitted. Its tokens are an estimate then (the prompt's length and the
//! output it asks for, at most the cap), and what the provider told in the end.

mod caps;
mod decision;
mod filter;
mod headers;
mod limiter;
mod meter;
mod permit;
mod window;

pub use caps::{Cap, Caps, Measure, Scope};
pub use decision::{Decision, Left, Refusal, Standing};
pub use filter::LimitsFilter;
pub use headers::headers;
pub use limiter::Limiter;
pub use permit::{Counted, Permit};
pub use window::{ENTRY_MS, MINUTE_MS, Window};

/// The name of the filter in the configuration.
pub const FILTER: &str = "limits";
