//! The configured filters in order.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::filter::{Event, Filter, Outcome, Place, Request};
use crate::registry::{Registered, Registry};
use crate::verdict::{Code, Rejection, Verdict};

/// What happens to a request when a filter panics on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// The request is refused.
    #[default]
    Closed,
    /// The request goes on as if the filter had said `Continue`.
    Open,
}

/// Why a chain cannot be built.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ChainError {
    /// No filter is registered under the name.
    #[error("build the filter chain: no filter is called `{name}`; known are {known}")]
    Unknown {
        /// The configured name.
        name: String,
        /// All registered names.
        known: String,
    },
    /// A filter is listed twice.
    #[error("build the filter chain: `{0}` is listed twice")]
    Duplicate(String),
    /// A filter without which requests would be served unchecked is not listed.
    #[error("build the filter chain: `{0}` is missing; without it requests would be served unchecked")]
    Missing(&'static str),
    /// A filter found something wrong with its place.
    #[error("build the filter chain: `{name}` refuses its place: {reason}")]
    Refused {
        /// The filter.
        name: String,
        /// Its own words.
        reason: String,
    },
}

/// The filters every chain needs.
const REQUIRED: [&str; 3] = ["auth", "routing", "translation"];

/// An ordered chain that has checked itself.
pub struct Chain {
    filters: Vec<Registered>,
}

impl std::fmt::Debug for Chain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

impl Chain {
    /// Builds the chain the configuration lists, and lets each filter check its place.
    ///
    /// # Errors
    /// When a name is unknown, listed twice or missing, or a filter refuses its place.
    pub fn build<S: AsRef<str>>(names: &[S], registry: &Registry) -> Result<Self, ChainError> {
        let mut filters: Vec<Registered> = Vec::with_capacity(names.len());
        for name in names.iter().map(AsRef::as_ref) {
            if filters.iter().any(|listed| listed.filter.name() == name) {
                return Err(ChainError::Duplicate(name.to_owned()));
            }
            let made = registry.make(name).ok_or_else(|| ChainError::Unknown { name: name.to_owned(), known: registry.names() })?;
            filters.push(made);
        }
        let chain = Self { filters };
        chain.check()?;
        Ok(chain)
    }

    /// Names of the filters, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.filters.iter().map(|entry| entry.filter.name())
    }

    /// Runs the hooks that need only the head.
    pub fn on_head(&self, request: &mut Request<'_>) -> Verdict {
        forwards(&self.filters, request, |filter, request| filter.on_head(request))
    }

    /// Runs the hooks that need the body.
    pub fn on_request(&self, request: &mut Request<'_>) -> Verdict {
        self.on_request_part(0..self.filters.len(), request)
    }

    /// Runs the hooks that need the body of some of the filters, by position.
    pub fn on_request_part(&self, part: Range<usize>, request: &mut Request<'_>) -> Verdict {
        forwards(self.filters.get(part).unwrap_or_default(), request, |filter, request| filter.on_request(request))
    }

    /// How many filters there are up to and with the one of that name; none where it is not listed.
    #[must_use]
    pub fn through(&self, name: &str) -> usize {
        self.names().position(|listed| listed == name).map_or(0, |position| position + 1)
    }

    /// Shows a piece of the answer to the filters, last first.
    pub fn on_event(&self, event: &mut Event<'_>) -> Verdict {
        for entry in self.filters.iter().rev() {
            let verdict = guarded(entry, || entry.filter.on_event(event));
            if verdict != Verdict::Continue {
                return verdict;
            }
        }
        Verdict::Continue
    }

    /// Tells the filters, last first, how the request ended.
    pub fn on_complete(&self, outcome: &Outcome<'_>) {
        for entry in self.filters.iter().rev() {
            let _ = guarded(entry, || {
                entry.filter.on_complete(outcome);
                Verdict::Continue
            });
        }
    }

    fn check(&self) -> Result<(), ChainError> {
        let names: Vec<&str> = self.names().collect();
        for required in REQUIRED {
            if !names.contains(&required) {
                return Err(ChainError::Missing(required));
            }
        }
        for (position, entry) in self.filters.iter().enumerate() {
            entry
                .filter
                .check(&Place { names: &names, position })
                .map_err(|reason| ChainError::Refused { name: entry.filter.name().to_owned(), reason })?;
        }
        Ok(())
    }
}

fn forwards(filters: &[Registered], request: &mut Request<'_>, hook: impl Fn(&Arc<dyn Filter>, &mut Request<'_>) -> Verdict) -> Verdict {
    for entry in filters {
        let verdict = guarded(entry, || hook(&entry.filter, request));
        if verdict != Verdict::Continue {
            return verdict;
        }
    }
    Verdict::Continue
}

/// Runs one hook; a panic in it is logged and decides only this request.
fn guarded(entry: &Registered, hook: impl FnOnce() -> Verdict) -> Verdict {
    match catch_unwind(AssertUnwindSafe(hook)) {
        Ok(verdict) => verdict,
        Err(_) => {
            log::error!("the filter `{}` panicked", entry.filter.name());
            match entry.on_failure {
                OnFailure::Open => Verdict::Continue,
                OnFailure::Closed => {
                    Rejection::new(Code::UpstreamUnavailable, "The gateway failed to process this request.").with_status(500).into()
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULT: [&str; 6] = ["auth", "limits", "guardrails", "routing", "translation", "cost"];

    fn build(names: &[&str]) -> Result<Chain, String> {
        Chain::build(names, &Registry::builtin()).map_err(|error| error.to_string())
    }

    #[test]
    fn the_default_chain_is_sound() {
        let chain = build(&DEFAULT).expect("the documented default");
        assert_eq!(chain.names().collect::<Vec<_>>(), DEFAULT);
    }

    #[test]
    fn an_unknown_filter_is_named_beside_the_known_ones() {
        let error = build(&["auth", "routng"]).expect_err("a typing error");
        assert!(error.contains("`routng`") && error.contains("routing"), "{error}");
    }

    #[test]
    fn a_chain_without_auth_is_refused() {
        let error = build(&["routing", "translation"]).expect_err("nobody would check keys");
        assert!(error.contains("`auth` is missing"), "{error}");
    }

    #[test]
    fn limits_before_auth_are_refused() {
        let error = build(&["limits", "auth", "routing", "translation"]).expect_err("limits need the key");
        assert!(error.contains("after `auth`"), "{error}");
    }

    #[test]
    fn a_chain_can_be_run_in_parts() {
        let chain = build(&DEFAULT).expect("the documented default");
        assert_eq!((chain.through("limits"), chain.through("cost"), chain.through("no-such")), (2, 6, 0));
    }

    #[test]
    fn a_filter_listed_twice_is_refused() {
        assert!(build(&["auth", "auth"]).is_err());
    }
}
