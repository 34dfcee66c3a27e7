//! `svc-gateway`: the data plane. The only crate that knows Pingora.

pub mod attempts;
pub mod boot;
pub mod clock;
pub mod conf;
pub mod control;
pub mod discovery;
pub mod edge;
pub mod events;
pub mod exchange;
pub mod fetch;
pub mod guardrail_models;
pub mod licence;
pub mod limiter;
pub mod logs;
pub mod phases;
pub mod pictures;
pub mod providers;
pub mod proxy;
pub mod request_id;
pub mod rescue;
pub mod secrets;
pub mod shutdown;
pub mod state;
pub mod store;
pub mod telemetry;
pub mod traces;
