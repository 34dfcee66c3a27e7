//! The `limits` filter: caps on requests and tokens, before any work is done for the request.

use super::{Decision, Limiter, headers};
use crate::filter::{Filter, Place, Request};
use crate::tokens;
use crate::verdict::Verdict;

/// Counts each request once, after authentication.
#[derive(Debug, Default)]
pub struct LimitsFilter {
    limiter: Limiter,
}

impl Filter for LimitsFilter {
    fn name(&self) -> &'static str {
        super::FILTER
    }

    fn check(&self, place: &Place<'_>) -> Result<(), String> {
        place.after("auth")
    }

    fn on_request(&self, request: &mut Request<'_>) -> Verdict {
        let Some(key) = request.key.clone() else { return Verdict::Continue };
        let (decision, permit) = self.limiter.admit(&request.policy.caps, &key, || estimate(request), request.ticks);
        request.limit = Some(decision);
        request.permit = permit;
        match decision {
            Decision::Unlimited | Decision::Admitted(_) => Verdict::Continue,
            Decision::Refused(refusal) => refusal.rejection(headers(request.shape, &refusal.standing, request.now)).into(),
        }
    }
}

/// Tokens the request may take: its prompt, and the output it asks for. Counting tokens takes none.
fn estimate(request: &Request<'_>) -> u64 {
    if request.endpoint.counts() {
        return 0;
    }
    let output = request.facts.and_then(|facts| facts.max_output).unwrap_or(0);
    tokens::estimate(request.body).saturating_add(output).max(1)
}
