//! What the black-box tests share.

pub mod admin;
pub mod certificates;
pub mod faulty;
pub mod gateway;
pub mod h2c;
pub mod licence;
pub mod otlp;
pub mod ports;
pub mod postgres;
pub mod prometheus;
pub mod raw;
pub mod redis;
pub mod request_log;
pub mod shapes;
pub mod sidecar;
pub mod stub;
pub mod traffic;
pub mod upstream;
pub mod wait;
mod watchdog;
