//! Limits that several gateways share.
//!
//! Every request is counted in this process first, by the `limits` filter. With a shared store it is counted there too, and both
//! have to admit it: the process alone refuses what it knows to be too much without asking, and goes on counting when the store
//! is away or has forgotten. What a refusal by the store leaves in this process is taken back.

mod redis;
mod scripts;
mod ticket;

use async_trait::async_trait;
use svc_filters::limits::{Decision, Permit, Refusal, Standing, headers};
use svc_filters::verdict::{Code, Rejection};

pub use self::redis::{BadUrl, Redis, parse};
pub use self::ticket::{Slip, Ticket};
use crate::conf::OnLimiterError;
use crate::exchange::Exchange;

/// How soon a client may come again that was refused because nobody could count it.
const UNCOUNTED_RETRY: std::time::Duration = std::time::Duration::from_secs(1);

/// A store of counters that several gateways share.
#[async_trait]
pub trait Store: Send + Sync {
    /// Counts a request in every scope of its permit, all or nothing, in their order. Answers within a bounded time.
    ///
    /// # Errors
    /// When the store cannot be reached; the request may or may not be counted there.
    async fn admit(&self, permit: &Permit) -> Result<Admission, Unreachable>;

    /// Waits a short while for what is still to be told to the store. Called once, when nothing runs any more.
    fn close(&self);
}

/// What the store decided.
#[derive(Debug)]
pub enum Admission {
    /// The request is counted.
    Admitted(Standing, Slip),
    /// It is counted nowhere.
    Refused(Refusal),
}

/// The store did not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("reach the shared limits")]
pub struct Unreachable;

/// Asks the shared store, if there is one, about a request that this process admitted under `permit`.
///
/// # Errors
/// The error for the client, where the store refuses the request, or cannot be asked and the configuration says so.
pub async fn confirm(exchange: &mut Exchange, permit: Box<Permit>) -> Result<(), Rejection> {
    let gateway = exchange.gateway.clone();
    let Some(shared) = &gateway.shared else {
        exchange.ticket = Ticket::local(permit);
        return Ok(());
    };
    match shared.admit(&permit).await {
        Ok(Admission::Admitted(standing, slip)) => {
            exchange.limit = Some(Decision::Admitted(standing));
            exchange.ticket = Ticket::shared(permit, slip);
            Ok(())
        }
        Ok(Admission::Refused(refusal)) => {
            permit.withdraw();
            exchange.limit = Some(Decision::Refused(refusal));
            Err(refusal.rejection(headers(exchange.shape, &refusal.standing, exchange.started_at)))
        }
        Err(Unreachable) => match gateway.conf.limits.on_limiter_error {
            OnLimiterError::Local => {
                exchange.notes.push(("limits".to_owned(), "local".to_owned()));
                exchange.ticket = Ticket::local(permit);
                Ok(())
            }
            OnLimiterError::Deny => {
                permit.withdraw();
                let message = "The limits of this API key cannot be checked at present.";
                Err(Rejection::new(Code::RateLimited, message).with_retry_after(UNCOUNTED_RETRY))
            }
        },
    }
}
