//! What an admitted request holds, here and in the shared store, until it has ended.

use std::fmt;

use svc_filters::limits::Permit;

/// Tells a shared store, in the background, how the request it admitted has ended: with the tokens it took, or `None` where the
/// estimate stays. Dropped without being told, it lets the estimate stay.
pub struct Slip(Option<Box<dyn FnOnce(Option<u64>) + Send + Sync>>);

impl Slip {
    /// A slip that calls `tell` once.
    pub fn new(tell: impl FnOnce(Option<u64>) + Send + Sync + 'static) -> Self {
        Self(Some(Box::new(tell)))
    }

    /// A slip for a request of which the store need not hear again.
    #[must_use]
    pub const fn blank() -> Self {
        Self(None)
    }

    /// Tells the end.
    pub fn end(mut self, tokens: Option<u64>) {
        self.tell(tokens);
    }

    fn tell(&mut self, tokens: Option<u64>) {
        if let Some(tell) = self.0.take() {
            tell(tokens);
        }
    }
}

impl Drop for Slip {
    fn drop(&mut self) {
        self.tell(None);
    }
}

impl fmt::Debug for Slip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Slip").field(&self.0.is_some()).finish()
    }
}

/// The counts of one running request. However it ends, dropping the ticket lets the next one run.
#[derive(Debug)]
pub struct Ticket {
    permit: Box<Permit>,
    slip: Slip,
}

impl Ticket {
    /// Of a request counted in this process alone; `None` where nothing is left to do when it ends.
    #[must_use]
    pub fn local(permit: Box<Permit>) -> Option<Self> {
        Self::shared(permit, Slip::blank())
    }

    /// Of a request counted in a shared store too; `None` where nothing is left to do when it ends.
    #[must_use]
    pub fn shared(permit: Box<Permit>, slip: Slip) -> Option<Self> {
        permit.is_open().then_some(Self { permit, slip })
    }

    /// Ends the request at `now`, with the tokens it took or, where nobody knows, with its estimate.
    pub fn end(mut self, tokens: Option<u64>, now: u64) {
        if let Some(tokens) = tokens {
            self.permit.settle(tokens, now);
        }
        self.slip.end(tokens);
    }
}
