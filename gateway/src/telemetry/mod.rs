//! What the gateway tells a Prometheus server: fifteen metrics, and the listener that shows them.
//!
//! [`table`] declares the metrics, [`Metrics`] holds them. The flush worker counts records into them; what is under way and who is up
//! is read when somebody asks, so that the request path knows nothing of all this.

mod labels;
mod listener;
mod metrics;
pub mod table;

pub use listener::{bind, serve};
pub use metrics::Metrics;
