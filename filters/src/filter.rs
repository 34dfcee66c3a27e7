//! The interface every filter of the chain implements.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use http::HeaderMap;

use crate::auth::Key;
use crate::endpoint::Endpoint;
use crate::guardrails::{self, Detour, RuleSet};
use crate::limits::{Decision, Permit};
use crate::passage::Facts;
use crate::policy::Policy;
use crate::routing::{Model, Target};
use crate::shape::Shape;
use crate::usage::Usage;
use crate::verdict::Verdict;

/// One room of the chain. A filter overrides the hooks it needs; requests pass the chain forwards, answers backwards.
///
/// Hooks are plain functions: they must not block, and a panic in one ends only the request it happened in.
pub trait Filter: Send + Sync {
    /// The name under which the configuration lists the filter.
    fn name(&self) -> &str;

    /// Checks at start-up that the filter can work at its place in the chain.
    ///
    /// # Errors
    /// A sentence saying what is wrong, for the operator.
    fn check(&self, chain: &Place<'_>) -> Result<(), String> {
        let _ = chain;
        Ok(())
    }

    /// Called before the body is read: only the head is known, and the model where the path names it.
    fn on_head(&self, request: &mut Request<'_>) -> Verdict {
        let _ = request;
        Verdict::Continue
    }

    /// Called with the whole body.
    fn on_request(&self, request: &mut Request<'_>) -> Verdict {
        let _ = request;
        Verdict::Continue
    }

    /// Called for each piece of the answer, before it leaves. A rejection ends the answer with an error in the client's shape.
    fn on_event(&self, event: &mut Event<'_>) -> Verdict {
        let _ = event;
        Verdict::Continue
    }

    /// Called once when the request has ended, however it ended.
    fn on_complete(&self, outcome: &Outcome<'_>) {
        let _ = outcome;
    }
}

/// Where a filter stands in the chain.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// Names of all filters, in order.
    pub names: &'a [&'a str],
    /// The filter's own position.
    pub position: usize,
}

impl Place<'_> {
    /// Checks that `name` stands somewhere before this filter.
    ///
    /// # Errors
    /// A sentence for the operator.
    pub fn after(&self, name: &str) -> Result<(), String> {
        if self.names.iter().take(self.position).any(|earlier| *earlier == name) {
            return Ok(());
        }
        Err(format!("it has to come after `{name}`"))
    }
}

/// Something about a request that operators are to be told of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A routing rule refused it.
    RoutingDenied {
        /// The rule.
        rule: Arc<str>,
    },
    /// A guardrail refused it, or cut its answer off.
    GuardrailBlocked {
        /// The guardrail.
        guardrail: Arc<str>,
        /// Where it found something.
        place: guardrails::Place,
    },
    /// A spend circuit decided about it: more was spent than it allows.
    SpendCircuitTripped {
        /// The rule.
        rule: Arc<str>,
    },
}

/// What the chain knows and decides about one request.
pub struct Request<'a> {
    /// The endpoint asked for.
    pub endpoint: Endpoint,
    /// Shape of the caller.
    pub shape: Shape,
    /// Request headers as received.
    pub headers: &'a HeaderMap,
    /// Query without the question mark.
    pub query: Option<&'a str>,
    /// The policy in force.
    pub policy: &'a Policy,
    /// Unix milliseconds.
    pub now: i64,
    /// Milliseconds of a clock that never goes back.
    pub ticks: u64,
    /// Uniform random number, drawn for this request.
    pub random: u64,
    /// Model name the client asked for; empty until it is known.
    pub model: &'a str,
    /// The body; empty in `on_head`.
    pub body: &'a [u8],
    /// What was read from the body; `None` in `on_head`.
    pub facts: Option<&'a Facts>,
    /// Set by `auth`: whose request it is.
    pub key: Option<Arc<Key>>,
    /// Set by `limits`: how the caps decided.
    pub limit: Option<Decision>,
    /// Set by `limits`: what the request holds until it has ended; `None` where no cap applies.
    pub permit: Option<Box<Permit>>,
    /// Set by `guardrails`: the guardrails that concern the caller, for the answer too.
    pub guardrails: Option<Arc<RuleSet>>,
    /// Set by `guardrails`: the body as it is to go on, where something in it was masked.
    pub masked: Option<Vec<u8>>,
    /// Set by `guardrails`: where the request goes instead of the model it asks for.
    pub detour: Option<Detour>,
    /// Set by `guardrails`: the priority of the one that gave `detour`.
    pub detour_priority: i32,
    /// Set by `routing`: the model entry.
    pub resolved: Option<Arc<Model>>,
    /// Set by `routing`, pruned by `translation`: the targets to try, in order.
    pub plan: Vec<Arc<Target>>,
    /// Set by `routing`: the rule that decided.
    pub rule: Option<Arc<str>>,
    /// Notes for the request log, as (name, value).
    pub notes: Vec<(Cow<'static, str>, String)>,
    /// What operators are to be told of.
    pub notices: Vec<Notice>,
}

impl<'a> Request<'a> {
    /// A request of which nothing else is known and nothing decided.
    #[must_use]
    pub const fn new(endpoint: Endpoint, shape: Shape, headers: &'a HeaderMap, policy: &'a Policy) -> Self {
        Self {
            endpoint,
            shape,
            headers,
            query: None,
            policy,
            now: 0,
            ticks: 0,
            random: 0,
            model: "",
            body: &[],
            facts: None,
            key: None,
            limit: None,
            permit: None,
            guardrails: None,
            masked: None,
            detour: None,
            detour_priority: 0,
            resolved: None,
            plan: Vec::new(),
            rule: None,
            notes: Vec::new(),
            notices: Vec::new(),
        }
    }
}

impl Request<'_> {
    /// The model to go to: the one asked for, unless a guardrail sends the request to another.
    #[must_use]
    pub fn wanted(&self) -> &str {
        match &self.detour {
            Some(Detour::Model(model)) => model,
            Some(Detour::Text(_)) | None => self.model,
        }
    }
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("endpoint", &self.endpoint)
            .field("shape", &self.shape)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

/// A piece of an answer.
#[derive(Debug)]
pub struct Event<'a> {
    /// Shape of the caller.
    pub shape: Shape,
    /// Whose request it is.
    pub key: Option<&'a Key>,
    /// The bytes about to be sent: whole events of a stream, or the whole answer.
    pub bytes: &'a [u8],
}

/// How a request ended.
#[derive(Debug)]
pub struct Outcome<'a> {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// Whose request it was.
    pub key: Option<&'a Key>,
    /// HTTP status sent.
    pub status: u16,
    /// Whether the answer is complete.
    pub complete: bool,
    /// Usage the provider reported.
    pub usage: Option<&'a Usage>,
}
