//! An example of a filter of one's own: it asks every request for a tenant, keeps it in the request log, and refuses answers
//! that carry a forbidden word.
//!
//! A plugin is a crate with a [`Filter`] and a program that registers it before it starts the gateway; the configuration then
//! lists the filter's name in `filters`.

use std::sync::atomic::{AtomicU64, Ordering};

use svc_filters::filter::{Event, Filter, Outcome, Place, Request};
use svc_filters::registry::Registry;
use svc_filters::verdict::{Code, Rejection, Verdict};

/// The name the configuration uses.
pub const NAME: &str = "tenant";
/// The word no answer may carry.
pub const FORBIDDEN: &[u8] = b"forbidden-word";

/// Asks for `x-tenant` and keeps it.
#[derive(Debug, Default)]
pub struct TenantFilter {
    pieces: AtomicU64,
}

impl Filter for TenantFilter {
    fn name(&self) -> &'static str {
        NAME
    }

    fn check(&self, place: &Place<'_>) -> Result<(), String> {
        place.after("auth")
    }

    fn on_request(&self, request: &mut Request<'_>) -> Verdict {
        match request.headers.get("x-tenant").and_then(|value| value.to_str().ok()) {
            Some("panic") => mistaken(),
            Some(tenant) if !tenant.is_empty() => {
                request.notes.push(("tenant".into(), tenant.to_owned()));
                Verdict::Continue
            }
            _ => Rejection::invalid("The header `x-tenant` is required.").with_param("x-tenant").into(),
        }
    }

    fn on_event(&self, event: &mut Event<'_>) -> Verdict {
        self.pieces.fetch_add(1, Ordering::Relaxed);
        if event.bytes.windows(FORBIDDEN.len()).any(|window| window == FORBIDDEN) {
            return Rejection::new(Code::ContentGuardrailBlocked, "The answer carries a forbidden word.").into();
        }
        Verdict::Continue
    }

    fn on_complete(&self, outcome: &Outcome<'_>) {
        log::info!(
            "tenant: {} ended with {} after {} pieces in all",
            outcome.endpoint.as_str(),
            outcome.status,
            self.pieces.load(Ordering::Relaxed)
        );
    }
}

/// The built-in filters and this one.
#[must_use]
pub fn registry() -> Registry {
    let mut registry = Registry::builtin();
    registry.add(NAME, TenantFilter::default);
    registry
}

/// Stands for a mistake in a plugin: the gateway has to outlive it.
#[expect(clippy::panic, reason = "the example shows what a panic does")]
fn mistaken() -> Verdict {
    panic!("a filter may have a mistake")
}
