//! svc-demo as a client sees it: requests and answers byte by byte.
#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]

mod behaviour;
mod continuity;
mod kinds;
mod models;
mod refusals;
mod support;
