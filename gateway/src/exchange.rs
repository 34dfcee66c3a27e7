//! Everything known about one request while it is served: Pingora's context.

mod answer;
mod record;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderName, HeaderValue};
use pingora::Result;
use pingora::http::ResponseHeader;
use pingora::proxy::Session;
use svc_filters::auth::Key;
use svc_filters::endpoint::Endpoint;
use svc_filters::guardrails::RuleSet;
use svc_filters::limits::Decision;
use svc_filters::passage::Facts;
use svc_filters::routing::Model;
use svc_filters::shape::Shape;
use svc_filters::tokens::{Hearing, Prompt};
use svc_filters::verdict::Code;

pub use self::answer::{Answer, Screening, Unwritten};
use crate::attempts::Attempts;
use crate::conf::TimeoutOverrides;
use crate::edge::Connection;
use crate::events::Event;
use crate::limiter::Ticket;
use crate::phases::outgoing::Outgoing;
use crate::phases::translation::Asking;
use crate::pictures::Pictures;
use crate::providers::{Authorisation, Provider, SelectedKey, Timeouts};
use crate::request_id::RequestId;
use crate::rescue::{self, REQUEST_ID};
use crate::socket::Socket;
use crate::state::Gateway;
use crate::store::{RequestOutcome, Snapshot, Uncounted};
use crate::traces::Trace;

const MESSAGES_REQUEST_ID: HeaderName = HeaderName::from_static("request-id");
const CHAT_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The longest another try waits for the body of an error that may say more than its head.
const REASON_WAITS: Duration = Duration::from_secs(2);

/// One request, from its head to its record.
pub struct Exchange {
    /// The process's shared state.
    pub gateway: Arc<Gateway>,
    /// Unique id, also sent to the client.
    pub id: RequestId,
    /// When the head was complete.
    pub started: Instant,
    /// The same in Unix milliseconds.
    pub started_at: i64,
    /// The same on the clock that never goes back, in milliseconds.
    pub ticks: u64,
    /// Configuration this request is served under.
    pub snapshot: Option<Arc<Snapshot>>,
    /// The endpoint; `None` until the path is understood.
    pub endpoint: Option<Endpoint>,
    /// Shape of answers and errors.
    pub shape: Shape,
    /// Model the client asked for.
    pub model_asked: Option<Arc<str>>,
    /// Whose request it is.
    pub key: Option<Arc<Key>>,
    /// How the caps decided.
    pub limit: Option<Decision>,
    /// What it holds of the caps until it has ended.
    pub ticket: Option<Ticket>,
    /// The model entry behind the asked name.
    pub resolved: Option<Arc<Model>>,
    /// The routing rule that decided.
    pub rule: Option<Arc<str>>,
    /// The guardrails that concern the caller.
    pub guardrails: Option<Arc<RuleSet>>,
    /// The text that a guardrail gives for an answer.
    pub said: Option<Arc<str>>,
    /// What was read from the body.
    pub facts: Option<Box<Facts>>,
    /// The client's body, decompressed.
    pub body: Bytes,
    /// Bytes of that body.
    pub body_length: u64,
    /// What is left of that body for its tokens to be counted, once it is let go.
    pub prompt: Option<Box<Prompt>>,
    /// Memory held for the body.
    pub body_memory: Option<crate::phases::body::Reserved>,
    /// Plan and progress of the tries.
    pub attempts: Attempts,
    /// The body of the current try.
    pub upstream_body: Option<Box<Outgoing>>,
    /// How the current try asks.
    pub asking: Option<Asking>,
    /// Pictures fetched for targets that take no URLs.
    pub pictures: Pictures,
    /// What authorises the current try.
    pub authorisation: Option<Box<Authorisation>>,
    /// The connection of the current try, until the request is sent.
    pub socket: Option<Socket>,
    /// The answer's way to the client.
    pub answer: Answer,
    /// Notes of the filters.
    pub notes: Vec<(String, String)>,
    /// Whether a begin entry is in the journal.
    pub begun: bool,
    /// Whether the end entry is in the journal.
    pub settled: bool,
    /// When the provider was first asked.
    pub asked: Option<Duration>,
    /// The trace it belongs to, where traces are made.
    pub trace: Option<Box<Trace>>,
    /// The client's side of the connection.
    pub client: Client,
    deadline: Option<Instant>,
}

impl Exchange {
    /// A request whose head is about to be read.
    #[must_use]
    pub fn new(gateway: Arc<Gateway>) -> Self {
        gateway.active.enter();
        let started_at = gateway.clock.unix_ms();
        let started = Instant::now();
        Self {
            id: RequestId::generate(started_at),
            started,
            started_at,
            ticks: gateway.clock.ticks_at(started),
            gateway,
            snapshot: None,
            endpoint: None,
            shape: Shape::ChatCompletions,
            model_asked: None,
            key: None,
            limit: None,
            ticket: None,
            resolved: None,
            rule: None,
            guardrails: None,
            said: None,
            facts: None,
            body: Bytes::new(),
            body_length: 0,
            prompt: None,
            body_memory: None,
            attempts: Attempts::default(),
            upstream_body: None,
            asking: None,
            pictures: Pictures::default(),
            authorisation: None,
            socket: None,
            answer: Answer::default(),
            notes: Vec::new(),
            begun: false,
            settled: false,
            asked: None,
            trace: None,
            deadline: None,
            client: Client { path: "".into(), address: None, user_agent: None },
        }
    }

    /// The trace it belongs to, as the log names it.
    #[must_use]
    pub fn trace_id(&self) -> Option<String> {
        self.trace.as_ref().map(|trace| trace.id())
    }

    /// Notes an answer made by the gateway.
    pub fn refused(&mut self, status: u16, code: Code, bytes: usize) {
        self.answer.status = status;
        self.answer.error_code = Some(code);
        self.answer.bytes = bytes as u64;
    }

    /// Bounds the wait for the current try's first byte, within what is left of the whole exchange.
    pub fn wait_for_answer(&mut self, session: &Session) {
        let Some(timeouts) = self.timeouts() else { return };
        let whole = self.started + timeouts.total;
        if let Some(connection) = Connection::of(session) {
            connection.watch(None);
        }
        self.set_deadline(session, Some(whole.min(Instant::now() + timeouts.first_byte)));
    }

    /// Milliseconds of the clock that never goes back.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.gateway.clock.ticks_at(Instant::now())
    }

    /// Whether another candidate is left to be tried.
    #[must_use]
    pub fn has_next(&self) -> bool {
        self.snapshot.as_ref().is_some_and(|snapshot| self.attempts.has_next(snapshot, self.now()))
    }

    /// Takes back what is known of an answer that turned out to be none, so that another candidate can give one. `false` when
    /// the client may have seen a part of it, or nobody is left to ask.
    pub fn start_over(&mut self, session: &Session) -> bool {
        let possible = !self.answer.released && !self.settled && rescue::can_replace(session) && self.has_next();
        if possible {
            rescue::forget_head(session);
            self.answer = Answer { stream: self.asks_stream(), ..Answer::default() };
        }
        possible
    }

    /// Whether the client asked for a stream.
    #[must_use]
    pub fn asks_stream(&self) -> bool {
        self.endpoint == Some(Endpoint::StreamGenerateContent) || self.facts.as_ref().is_some_and(|facts| facts.stream)
    }

    /// How the answer is listened to.
    #[must_use]
    pub fn hearing(&self) -> Hearing {
        self.endpoint.map_or(Hearing::Nothing, |endpoint| self.gateway.counting.hearing(endpoint))
    }

    /// What is to be counted, now that the request ends in that way; none of an answer that failed before its first word.
    pub fn uncounted(&mut self, outcome: RequestOutcome) -> Option<Uncounted> {
        self.keep_prompt();
        let answer = self.answer.way.as_mut()?.take_heard()?;
        let spoken = !answer.is_empty() || matches!(outcome, RequestOutcome::Complete | RequestOutcome::ClientGone);
        let model = self.attempts.current()?.upstream_model.clone();
        spoken.then(|| Uncounted { id: self.id, model, prompt: self.prompt.take().map(|prompt| *prompt), answer })
    }

    /// Keeps of the body what counting it takes, unless the provider has told already.
    fn keep_prompt(&mut self) {
        let Some(way) = self.answer.way.as_ref().filter(|_| !self.body.is_empty()) else { return };
        let prompt = match way.hearing() {
            Hearing::Nothing => None,
            Hearing::Missing if way.usage().is_some() => None,
            Hearing::Missing | Hearing::All if self.answer.stream => Some(Prompt::compact(&self.body)),
            Hearing::Missing | Hearing::All => Some(Prompt::Whole(self.body.clone())),
        };
        self.prompt = prompt.map(Box::new);
    }

    /// Lets go of what only another try would need: an answer may stream for long.
    pub fn commit(&mut self) {
        self.keep_prompt();
        self.body = Bytes::new();
        self.facts = None;
        // What Pingora does not have yet is still to be sent.
        self.upstream_body = self.upstream_body.take().filter(|body| !body.is_given());
        self.pictures = Pictures::default();
        self.authorisation = None;
        self.body_memory = None;
    }

    /// How long the provider of the current try may take, for this model.
    #[must_use]
    pub fn timeouts(&self) -> Option<Timeouts> {
        let timeouts = self.attempts.provider()?.timeouts();
        Some(self.own_timeouts().map_or(timeouts, |own| timeouts.with(own)))
    }

    /// Time-outs of the model's own.
    #[must_use]
    pub fn own_timeouts(&self) -> Option<&TimeoutOverrides> {
        let own = &self.snapshot.as_ref()?.timeouts;
        if own.is_empty() { None } else { own.get(&self.resolved.as_ref()?.name) }
    }

    /// Bounds the rest of the exchange, and the silence between pieces, now that the answer is here.
    pub fn answered(&mut self, session: &Session) {
        let timeouts = self.timeouts();
        self.set_deadline(session, timeouts.map(|timeouts| self.started + timeouts.total));
        if let Some(connection) = Connection::of(session) {
            connection.watch(timeouts.map(|timeouts| timeouts.idle));
        }
    }

    /// Bounds the wait for the body of an error that another try follows.
    pub fn wait_for_reason(&mut self, session: &Session) {
        let Some(timeouts) = self.timeouts() else { return };
        let whole = self.started + timeouts.total;
        self.set_deadline(session, Some(whole.min(Instant::now() + timeouts.idle.min(REASON_WAITS))));
    }

    /// Takes the bounds off the connection, for what comes after this exchange.
    pub fn over(&mut self, session: &Session) {
        if let Some(connection) = Connection::of(session) {
            connection.be_silent();
            connection.watch(None);
        }
        self.set_deadline(session, None);
    }

    /// Whether the time set for the current wait is over.
    #[must_use]
    pub fn deadline_struck(&self, session: &Session) -> bool {
        let idle = || Connection::of(session).is_some_and(Connection::was_idle);
        self.deadline.is_some_and(|at| Instant::now() >= at) || idle()
    }

    fn set_deadline(&mut self, session: &Session, at: Option<Instant>) {
        self.deadline = at;
        if let Some(connection) = Connection::of(session) {
            connection.set_deadline(at.map(Into::into));
        }
    }

    /// Rests a credential that its provider refused, and tells operators of it.
    pub fn quarantine(&self, provider: &Provider, key: &SelectedKey) {
        if let Some(label) = provider.keys().refuse(key.index, self.now()) {
            self.gateway.tell(&Event::ProviderKeyQuarantined { provider: provider.name(), key: label });
        }
    }

    /// The headers that name the request: ours, and the one that clients of the shape know.
    pub fn identity(&self) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
        let id = self.id.header_value();
        let known = match self.shape {
            Shape::ChatCompletions | Shape::Responses => Some((CHAT_REQUEST_ID, id.clone())),
            Shape::Messages => Some((MESSAGES_REQUEST_ID, id.clone())),
            Shape::GenerateContent => None,
        };
        known.into_iter().chain([(REQUEST_ID, id)])
    }

    /// Adds them to a head that is Pingora's.
    ///
    /// # Errors
    /// Never for a well-formed id.
    pub fn identify(&self, head: &mut ResponseHeader) -> Result<()> {
        self.identity().try_for_each(|(name, value)| head.insert_header(name, value))
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.gateway.active.leave();
    }
}

/// What the record says about the client's side of the connection.
#[derive(Clone, Debug)]
pub struct Client {
    /// Path without query.
    pub path: Arc<str>,
    /// Address.
    pub address: Option<Arc<str>>,
    /// User agent, shortened.
    pub user_agent: Option<String>,
}

/// Whole microseconds.
#[must_use]
pub fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::Exchange;

    #[test]
    fn an_exchange_is_small_since_every_stream_has_one() {
        assert!(size_of::<Exchange>() <= 768, "{} bytes", size_of::<Exchange>());
    }
}
