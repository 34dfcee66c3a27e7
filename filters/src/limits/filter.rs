//! The `limits` filter: requests per minute, before any work is done for the request.

use std::time::Duration;

use super::{Decision, Limiter, Scope};
use crate::filter::{Filter, Place, Request};
use crate::verdict::{Code, Rejection, Verdict};

/// Counts each request once, after authentication.
#[derive(Debug, Default)]
pub struct LimitsFilter {
    limiter: Limiter,
}

impl Filter for LimitsFilter {
    fn name(&self) -> &'static str {
        "limits"
    }

    fn check(&self, place: &Place<'_>) -> Result<(), String> {
        place.after("auth")
    }

    fn on_request(&self, request: &mut Request<'_>) -> Verdict {
        let Some(key) = &request.key else { return Verdict::Continue };
        let decision = self.limiter.admit(&request.policy.caps, key, request.ticks);
        request.limit = Some(decision);
        match decision {
            Decision::Unlimited | Decision::Admitted { .. } => Verdict::Continue,
            Decision::Refused { limit, retry_after, scope } => refusal(limit, retry_after, scope).into(),
        }
    }
}

fn refusal(limit: u32, retry_after: Duration, scope: Scope) -> Rejection {
    let whose = match scope {
        Scope::Global => "of this service",
        Scope::Role => "of the API key's role",
        Scope::Key => "of this API key",
    };
    let message = format!("The limit {whose} of {limit} requests per minute is reached.");
    Rejection::new(Code::RateLimited, message)
        .with_retry_after(retry_after)
        .with_header("x-ratelimit-limit-requests", limit.to_string())
        .with_header("x-ratelimit-remaining-requests", "0")
        .with_header("x-ratelimit-reset-requests", format!("{}s", retry_after.as_secs_f32().ceil()))
}
