//! `svc-gateway`: the data plane. The only crate that knows Pingora.

pub mod conf;
pub mod secrets;
