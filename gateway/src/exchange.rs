//! Everything known about one request while it is served: Pingora's context.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderName, HeaderValue};
use pingora::Result;
use pingora::http::ResponseHeader;
use pingora::proxy::Session;
use svc_filters::auth::{Key, Owner};
use svc_filters::canonical::Failure;
use svc_filters::endpoint::Endpoint;
use svc_filters::guardrails::RuleSet;
use svc_filters::limits::Decision;
use svc_filters::passage::Facts;
use svc_filters::routing::Model;
use svc_filters::screening::Screen;
use svc_filters::shape::Shape;
use svc_filters::tokens::{Hearing, Prompt};
use svc_filters::usage::Usage;
use svc_filters::verdict::{Code, Rejection};

use crate::attempts::Attempts;
use crate::conf::TimeoutOverrides;
use crate::edge::Connection;
use crate::events::Event;
use crate::limiter::Ticket;
use crate::phases::translation::Asking;
use crate::phases::way::Way;
use crate::pictures::Pictures;
use crate::providers::{Authorisation, Provider, SelectedKey, Socket, Timeouts, Unwrapping};
use crate::request_id::RequestId;
use crate::rescue::{self, REQUEST_ID};
use crate::state::Gateway;
use crate::store::{RecordView, RequestOutcome, Snapshot, Uncounted};

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
    pub facts: Option<Facts>,
    /// The client's body, decompressed.
    pub body: Bytes,
    /// Bytes of that body.
    pub body_length: u64,
    /// What is left of that body for its tokens to be counted, once it is let go.
    pub prompt: Option<Prompt>,
    /// Memory held for the body.
    pub body_memory: Option<crate::phases::body::Reserved>,
    /// Plan and progress of the tries.
    pub attempts: Attempts,
    /// The body of the current try.
    pub upstream_body: Bytes,
    /// How the current try asks.
    pub asking: Option<Asking>,
    /// Pictures fetched for targets that take no URLs.
    pub pictures: Pictures,
    /// What authorises the current try.
    pub authorisation: Option<Authorisation>,
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
    /// Time spent in the queues of providers.
    pub queued: Duration,
    /// When the provider was first asked.
    pub asked: Option<Duration>,
    /// The client's side of the connection.
    pub client: Client,
    deadline: Option<Instant>,
}

/// What is known of the answer.
#[derive(Default)]
pub struct Answer {
    /// Status sent to the client.
    pub status: u16,
    /// `x-svc-error-code` sent to the client.
    pub error_code: Option<Code>,
    /// Makes the provider's bytes those of its dialect, before the passage.
    pub unwrapping: Option<Box<Unwrapping>>,
    /// Reads and edits, or translates, the body.
    pub way: Option<Way>,
    /// Looks at what is about to leave, where guardrails do.
    pub screen: Option<Box<Screen>>,
    /// What was handed to Pingora and not written yet, where a guardrail may end the answer: Pingora forgets it then.
    pub unwritten: Unwritten,
    /// How a guardrail ends the answer, in place of what the provider would have gone on with.
    pub farewell: Option<Bytes>,
    /// Whether the answer is one, so that no other try is made.
    pub released: bool,
    /// Whether a first piece of a stream has left.
    pub begun: bool,
    /// Whether an error has taken the answer's place.
    pub replaced: bool,
    /// Whether it is a stream.
    pub stream: bool,
    /// Time to the provider's first byte.
    pub first_byte: Option<Duration>,
    /// Body bytes sent to the client.
    pub bytes: u64,
    /// Usage that the provider reported.
    pub usage: Option<Usage>,
    /// Finish reason in the provider's words.
    pub finish_reason: Option<String>,
    /// The provider's own request id.
    pub upstream_request_id: Option<HeaderValue>,
    /// The provider's `retry-after`.
    pub retry_after: Option<HeaderValue>,
    /// Until when the credential rests, where only the body can tell how long the provider wants it to.
    pub guess: Option<u64>,
    /// Whether it is not to be delivered: its body is read, and another candidate tried.
    pub passed_over: bool,
    /// The provider's failure that the client gets in place of an answer.
    pub failure: Option<Failure<'static>>,
    /// Whether an error was sent inside a started answer.
    pub failed_inside: bool,
    /// Why a filter ended the answer.
    pub stopped: Option<Box<Rejection>>,
}

/// Pieces of an answer on their way through Pingora.
#[derive(Default)]
pub struct Unwritten {
    writes: u64,
    pieces: Vec<Bytes>,
}

impl Unwritten {
    /// Adds a piece, after so many writes; whatever came before the last write is gone.
    pub fn add(&mut self, writes: u64, piece: Bytes) {
        self.forget(writes);
        self.pieces.push(piece);
    }

    /// Takes what no write has taken along, and `last` after it.
    pub fn take(&mut self, writes: u64, last: Bytes) -> Bytes {
        self.forget(writes);
        let mut pieces = std::mem::take(&mut self.pieces);
        if pieces.is_empty() {
            return last;
        }
        pieces.push(last);
        Bytes::from(pieces.concat())
    }

    fn forget(&mut self, writes: u64) {
        if self.writes != writes {
            self.writes = writes;
            self.pieces.clear();
        }
    }
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
            upstream_body: Bytes::new(),
            asking: None,
            pictures: Pictures::default(),
            authorisation: None,
            socket: None,
            answer: Answer::default(),
            notes: Vec::new(),
            begun: false,
            settled: false,
            queued: Duration::ZERO,
            asked: None,
            deadline: None,
            client: Client { path: "".into(), address: None, user_agent: None },
        }
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
        spoken.then(|| Uncounted { id: self.id, model, prompt: self.prompt.take(), answer })
    }

    /// Keeps of the body what counting it takes, unless the provider has told already.
    fn keep_prompt(&mut self) {
        let Some(way) = self.answer.way.as_ref().filter(|_| !self.body.is_empty()) else { return };
        self.prompt = match way.hearing() {
            Hearing::Nothing => None,
            Hearing::Missing if way.usage().is_some() => None,
            Hearing::Missing | Hearing::All if self.answer.stream => Some(Prompt::compact(&self.body)),
            Hearing::Missing | Hearing::All => Some(Prompt::Whole(self.body.clone())),
        };
    }

    /// Lets go of what only another try would need: an answer may stream for long.
    pub fn commit(&mut self) {
        self.keep_prompt();
        self.body = Bytes::new();
        self.upstream_body = Bytes::new();
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

    /// Adds the headers every answer carries.
    ///
    /// # Errors
    /// Never for a well-formed id.
    pub fn identify(&self, head: &mut ResponseHeader) -> Result<()> {
        let id = self.id.header_value();
        match self.shape {
            Shape::ChatCompletions | Shape::Responses => head.insert_header(CHAT_REQUEST_ID, id.clone())?,
            Shape::Messages => head.insert_header(MESSAGES_REQUEST_ID, id.clone())?,
            Shape::GenerateContent => {}
        }
        head.insert_header(REQUEST_ID, id)
    }

    /// The record as of now.
    #[must_use]
    pub fn record(&self, outcome: RequestOutcome) -> RecordView<'_> {
        let (owner_kind, owner_id) = match self.key.as_ref().map(|key| &key.owner) {
            Some(Owner::User(id)) => (Some("user"), Some(&**id)),
            Some(Owner::Agent(id)) => (Some("agent"), Some(&**id)),
            None => (None, None),
        };
        let key = self.key.as_deref();
        let target = self.attempts.current();
        RecordView {
            request_id: self.id.as_str(),
            started_at: self.started_at,
            key_id: key.map(|key| &*key.id),
            owner_kind,
            owner_id,
            team_id: key.and_then(|key| key.team.as_deref()),
            application_id: key.and_then(|key| key.application.as_deref()),
            client_shape: self.shape.as_str(),
            endpoint: self.endpoint.map_or("unknown", Endpoint::as_str),
            path: &self.client.path,
            provider: target.map(|target| &*target.provider),
            provider_shape: target.map(|target| self.asking.as_ref().map_or(target.shape, |asking| asking.dialect).as_str()),
            model_asked: self.model_asked.as_deref(),
            model_resolved: self.resolved.as_ref().map(|model| &*model.name),
            rule: self.rule.as_deref(),
            model_upstream: target.map(|target| &*target.upstream_model),
            status: self.answer.status,
            error_code: self.answer.error_code.map(Code::as_str),
            outcome,
            stream: self.answer.stream,
            total_us: micros(self.started.elapsed()),
            first_byte_us: self.answer.first_byte.map(micros),
            queue_us: micros(self.queued),
            overhead_us: micros(self.asked.unwrap_or_else(|| self.started.elapsed())),
            usage: self.answer.usage,
            request_bytes: self.body_length,
            response_bytes: self.answer.bytes,
            client_address: self.client.address.as_deref(),
            user_agent: self.client.user_agent.as_deref(),
            tags: key.and_then(|key| key.tags.as_deref()),
            attempts: self.attempts.records(),
            notes: &self.notes,
            upstream_request_id: self.answer.upstream_request_id.as_ref().and_then(|id| id.to_str().ok()),
            finish_reason: self.answer.finish_reason.as_deref(),
        }
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
    pub address: Option<String>,
    /// User agent, shortened.
    pub user_agent: Option<String>,
}

/// Whole microseconds.
#[must_use]
pub fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
