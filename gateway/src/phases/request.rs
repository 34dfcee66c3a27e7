//! The request's head and body: which endpoint, who calls, what they ask, and the plan to serve it.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, header};
use pingora::Result;
use pingora::http::RequestHeader;
use pingora::proxy::Session;
use svc_filters::endpoint::{Endpoint, Route, RouteError, discovery_shape, route};
use svc_filters::filter::{Notice, Request};
use svc_filters::guardrails::{self, Detour};
use svc_filters::limits::{self, Permit};
use svc_filters::passage::{BodyKind, Facts};
use svc_filters::routing::{Model, Target};
use svc_filters::verdict::{Code, Rejection, Verdict};

use super::{body, counting, judging, said};
use crate::edge::Connection;
use crate::events::{Event, Ruled};
use crate::exchange::{Client, Exchange};
use crate::store::{RequestOutcome, Snapshot};
use crate::{control, discovery, limiter, rescue};

/// Longest user agent that is kept.
const USER_AGENT_KEPT: usize = 200;

/// What the phase leaves to do.
enum Next {
    /// The request goes to a provider.
    Proxy,
    /// The answer is sent.
    Answered,
}

/// Runs the phase. `true` where the answer is already sent.
///
/// # Errors
/// When the client is gone.
pub async fn run(session: &mut Session, exchange: &mut Exchange) -> Result<bool> {
    match serve(session, exchange).await {
        Ok(Ok(Next::Proxy)) => Ok(false),
        Ok(Ok(Next::Answered)) => Ok(true),
        Ok(Err(rejection)) => {
            rescue::answer(session, exchange, &rejection).await?;
            Ok(true)
        }
        Err(error) => Err(error),
    }
}

async fn serve(session: &mut Session, exchange: &mut Exchange) -> Result<Result<Next, Rejection>> {
    note_client(session, exchange);
    let path = exchange.client.path.clone();
    if path.starts_with("/admin/") {
        control::serve(session, exchange).await?;
        return Ok(Ok(Next::Answered));
    }
    if is_landing(session.req_header(), &path) {
        discovery::landing(session, exchange).await?;
        return Ok(Ok(Next::Answered));
    }
    exchange.trace = exchange.gateway.traces.as_ref().map(|traces| traces.begin(session.req_header(), exchange.started));
    let route = match understand(session, exchange, &path) {
        Ok(route) => route,
        Err(rejection) => return Ok(Err(rejection)),
    };
    let snapshot = exchange.gateway.live.hold();
    exchange.snapshot = Some(snapshot.clone());
    if let Err(rejection) = head(session, exchange, &snapshot, &route) {
        return Ok(Err(rejection));
    }
    if matches!(route.endpoint, Endpoint::ListModels | Endpoint::GetModel) {
        return Ok(match discovery::answer(session, exchange, &snapshot, route.path_model.as_deref()).await? {
            Ok(()) => Ok(Next::Answered),
            Err(rejection) => Err(rejection),
        });
    }
    if route.endpoint == Endpoint::TranslationMatrix {
        return discovery::matrix(session, exchange).await.map(|()| Ok(Next::Answered));
    }
    if let Err(rejection) = ask(session, exchange, &snapshot, &route).await {
        return Ok(Err(rejection));
    }
    if let Some(text) = exchange.said.take() {
        said::answer(session, exchange, &text).await?;
        return Ok(Ok(Next::Answered));
    }
    if route.endpoint.counts() && exchange.attempts.first().is_some_and(|target| target.shape != exchange.shape) {
        counting::answer(session, exchange).await?;
        return Ok(Ok(Next::Answered));
    }
    Ok(Ok(Next::Proxy))
}

/// Reads the body, decides on it, and notes the begin in the journal.
async fn ask(session: &mut Session, exchange: &mut Exchange, snapshot: &Arc<Snapshot>, route: &Route<'_>) -> Result<(), Rejection> {
    let gateway = exchange.gateway.clone();
    if !gateway.journal.has_room() {
        let message = "The gateway cannot log further requests until its database returns.";
        return Err(Rejection::new(Code::UpstreamUnavailable, message).with_retry_after(std::time::Duration::from_secs(5)));
    }
    let kind = route.endpoint.body_kind();
    let content_type = content_type(session, kind)?;
    let received = body::receive(session, &gateway.conf, &gateway.body_memory).await?;
    exchange.body_length = received.bytes.len() as u64;
    exchange.body = received.bytes;
    exchange.body_memory = Some(received.memory);
    let facts = read_facts(exchange, kind, content_type.as_deref())?;
    let model = asked_model(route, &facts)?;
    exchange.model_asked = Some(model.clone());
    exchange.answer.stream = facts.stream || route.endpoint == Endpoint::StreamGenerateContent;
    exchange.facts = Some(facts);
    decide(session, exchange, snapshot, route.endpoint, &model).await?;
    if exchange.answer.stream {
        body::slim(session).await?;
    }
    begin(exchange)
}

/// What the chain decided so far.
#[derive(Default)]
struct Draft {
    resolved: Option<Arc<Model>>,
    plan: Vec<Arc<Target>>,
    permit: Option<Box<Permit>>,
    masked: Option<Vec<u8>>,
    detour: Option<Detour>,
    detour_priority: i32,
}

/// Runs the chain over the whole request and keeps what it decided. Where limits are shared by several gateways, their store is
/// asked right after the `limits` filter; what `guardrails` masks is masked before models look that guardrails need, and what those mask
/// before the next filter looks.
async fn decide(
    session: &mut Session,
    exchange: &mut Exchange,
    snapshot: &Snapshot,
    endpoint: Endpoint,
    model: &str,
) -> Result<(), Rejection> {
    let gateway = exchange.gateway.clone();
    let stop = |name: &str, wanted: bool| if wanted { gateway.chain.through(name) } else { 0 };
    let screened = stop(guardrails::FILTER, !snapshot.policy.guardrails.is_empty());
    let mut stops = [stop(limits::FILTER, gateway.shared.is_some()), screened, gateway.chain.names().count()];
    stops.sort_unstable();
    let mut draft = Draft::default();
    let mut verdict = Ok(());
    let mut from = 0;
    for to in stops {
        verdict = consult(session, exchange, snapshot, (endpoint, model), from..to, &mut draft);
        let judges = from < to && to == screened;
        from = to;
        if let Some(permit) = draft.permit.take().filter(|_| verdict.is_ok()) {
            verdict = limiter::confirm(exchange, permit).await;
        }
        if let Some(masked) = draft.masked.take().filter(|_| verdict.is_ok()) {
            verdict = replace_body(session, exchange, endpoint, masked);
        }
        if judges && verdict.is_ok() {
            verdict = ask_models(session, exchange, snapshot, (endpoint, model), &mut draft).await;
        }
        if verdict.is_err() {
            break;
        }
    }
    exchange.resolved = draft.resolved;
    exchange.attempts.follow(draft.plan);
    if let Some(Detour::Text(text)) = draft.detour.filter(|_| endpoint.translates()) {
        exchange.said = Some(text);
    }
    verdict
}

/// Has models look that guardrails need. Among redirects of theirs and of patterns the lower priority number decides.
async fn ask_models(
    session: &Session,
    exchange: &mut Exchange,
    snapshot: &Snapshot,
    (endpoint, model): (Endpoint, &str),
    draft: &mut Draft,
) -> Result<(), Rejection> {
    let judged = judging::judge(exchange, &snapshot.policy, endpoint, model).await?;
    if let Some((detour, priority)) = judged.detour.filter(|(_, priority)| draft.detour.is_none() || *priority < draft.detour_priority) {
        (draft.detour, draft.detour_priority) = (Some(detour), priority);
    }
    judged.masked.map_or(Ok(()), |masked| replace_body(session, exchange, endpoint, masked))
}

/// Goes on with another body that asks for the same.
fn replace_body(session: &Session, exchange: &mut Exchange, endpoint: Endpoint, body: Vec<u8>) -> Result<(), Rejection> {
    exchange.body = Bytes::from(body);
    let kind = endpoint.body_kind();
    exchange.facts = Some(read_facts(exchange, kind, content_type(session, kind)?.as_deref())?);
    Ok(())
}

/// What the body says about itself.
fn read_facts(exchange: &Exchange, kind: BodyKind, content_type: Option<&str>) -> Result<Box<Facts>, Rejection> {
    let depth = exchange.gateway.conf.server.limits.json_depth;
    let refuse = |fault| Rejection::invalid(format!("The request body is not valid: {fault}."));
    Facts::read(kind, content_type, &exchange.body, depth).map(Box::new).map_err(refuse)
}

/// Runs one part of the chain.
fn consult(
    session: &Session,
    exchange: &mut Exchange,
    snapshot: &Snapshot,
    (endpoint, model): (Endpoint, &str),
    part: Range<usize>,
    draft: &mut Draft,
) -> Result<(), Rejection> {
    if part.is_empty() {
        return Ok(());
    }
    let gateway = exchange.gateway.clone();
    let (body, facts) = (exchange.body.clone(), exchange.facts.take());
    let mut request = view(session, exchange, snapshot, endpoint);
    (request.resolved, request.plan) = (draft.resolved.take(), std::mem::take(&mut draft.plan));
    (request.detour, request.detour_priority) = (draft.detour.take(), draft.detour_priority);
    request.model = model;
    request.body = &body;
    request.facts = facts.as_deref();
    // The body may have taken long to come, and caps hold for when a request is admitted.
    request.ticks = gateway.clock.ticks();
    let verdict = gateway.chain.on_request_part(part, &mut request);
    let Request { plan, resolved, rule, limit, permit, guardrails, masked, detour, detour_priority, notes, notices, .. } = request;
    exchange.facts = facts;
    tell(exchange, model, &notices);
    exchange.rule = rule.or(exchange.rule.take());
    *draft = Draft { resolved, plan, permit, masked, detour, detour_priority };
    exchange.limit = limit;
    exchange.guardrails = guardrails.or(exchange.guardrails.take());
    exchange.notes.extend(notes.into_iter().map(|(name, value)| (name.into_owned(), value)));
    match verdict {
        Verdict::Continue => Ok(()),
        Verdict::Reject(rejection) => Err(*rejection),
    }
}

/// Tells operators what the filters want them to know.
fn tell(exchange: &Exchange, model: &str, notices: &[Notice]) {
    for notice in notices {
        let ruled = |rule| Ruled::of(exchange, rule, model);
        exchange.gateway.tell(&match notice {
            Notice::RoutingDenied { rule } => Event::RoutingDenied(ruled(rule)),
            Notice::SpendCircuitTripped { rule } => Event::SpendCircuitTripped(ruled(rule)),
            Notice::GuardrailBlocked { guardrail, place } => Event::GuardrailBlocked(ruled(guardrail), *place),
        });
    }
}

/// Runs the chain over the head: who calls.
fn head(session: &Session, exchange: &mut Exchange, snapshot: &Snapshot, route: &Route<'_>) -> Result<(), Rejection> {
    let gateway = exchange.gateway.clone();
    let mut request = view(session, exchange, snapshot, route.endpoint);
    request.model = route.path_model.as_deref().unwrap_or_default();
    let verdict = gateway.chain.on_head(&mut request);
    let Request { key, notes, .. } = request;
    exchange.key = key;
    exchange.notes.extend(notes.into_iter().map(|(name, value)| (name.into_owned(), value)));
    match verdict {
        Verdict::Continue => Ok(()),
        Verdict::Reject(rejection) => Err(*rejection),
    }
}

fn view<'a>(session: &'a Session, exchange: &Exchange, snapshot: &'a Snapshot, endpoint: Endpoint) -> Request<'a> {
    let head = session.req_header();
    Request {
        query: head.uri.query(),
        now: exchange.started_at,
        ticks: exchange.ticks,
        random: crate::request_id::random_bits(),
        key: exchange.key.clone(),
        limit: exchange.limit,
        ..Request::new(endpoint, exchange.shape, &head.headers, &snapshot.policy)
    }
}

fn begin(exchange: &mut Exchange) -> Result<(), Rejection> {
    exchange.asked = Some(exchange.started.elapsed());
    let begun = exchange.gateway.journal.begin(&exchange.record(RequestOutcome::Interrupted));
    match begun {
        Ok(()) => {
            exchange.begun = true;
            Ok(())
        }
        Err(error) => {
            log::error!(request_id = exchange.id.as_str(), trace_id = exchange.trace_id(); "failed to {error}");
            let message = "The gateway cannot log further requests at present.";
            Err(Rejection::new(Code::UpstreamUnavailable, message).with_retry_after(std::time::Duration::from_secs(5)))
        }
    }
}

fn note_client(session: &Session, exchange: &mut Exchange) {
    let head = session.req_header();
    let agent = head.headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok());
    exchange.client = Client {
        path: head.uri.path().into(),
        address: Connection::of(session).and_then(Connection::address),
        user_agent: agent.map(|agent| shortened(agent).to_owned()),
    };
}

fn shortened(agent: &str) -> &str {
    // No text has more characters than bytes.
    match agent.len() > USER_AGENT_KEPT {
        true => agent.char_indices().nth(USER_AGENT_KEPT).map_or(agent, |(end, _)| agent.get(..end).unwrap_or(agent)),
        false => agent,
    }
}

fn is_landing(head: &RequestHeader, path: &str) -> bool {
    // A target without a path, such as `host:443`, is no request for the landing page.
    let has_path = head.raw_path().contains(&b'/');
    has_path && matches!(head.method, Method::GET | Method::HEAD) && matches!(path, "/" | "/api/hello")
}

/// Finds the endpoint, and with it the shape every later error has.
fn understand<'a>(session: &Session, exchange: &mut Exchange, path: &'a str) -> Result<Route<'a>, Rejection> {
    let head = session.req_header();
    let route = route(head.method.as_str(), path);
    exchange.shape = match &route {
        Ok(route) => route.shape,
        Err(
            RouteError::UnknownPath(shape)
            | RouteError::WrongMethod(shape, _)
            | RouteError::InvalidModel(shape)
            | RouteError::NotServed(shape, _),
        ) => *shape,
    };
    let undecided = match &route {
        Ok(route) => matches!(route.endpoint, Endpoint::ListModels | Endpoint::GetModel),
        Err(_) => true,
    };
    if undecided {
        exchange.shape = discovery_shape(exchange.shape, &head.headers);
    }
    exchange.endpoint = route.as_ref().ok().map(|route| route.endpoint);
    crate::edge::check_head(session, &exchange.gateway.conf.server.limits)?;
    route.map_err(|error| match error {
        RouteError::UnknownPath(_) => Rejection::invalid("There is no such endpoint.").with_status(404),
        RouteError::NotServed(_, why) => Rejection::invalid(why).with_status(404),
        RouteError::WrongMethod(_, allowed) => {
            Rejection::invalid(format!("This endpoint takes {allowed} requests.")).with_status(405).with_header(header::ALLOW, allowed)
        }
        RouteError::InvalidModel(_) => Rejection::invalid("The path does not hold a valid model name.").with_param("model"),
    })
}

/// The content type, where it is one the endpoint takes. A missing one is taken for JSON.
fn content_type(session: &Session, kind: BodyKind) -> Result<Option<Cow<'static, str>>, Rejection> {
    let Some(value) = session.get_header(header::CONTENT_TYPE) else { return Ok(None) };
    if value == "application/json" {
        return Ok(Some(Cow::Borrowed("application/json")));
    }
    let text = value.to_str().unwrap_or_default();
    let essence = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let json = essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"));
    let form = essence == "multipart/form-data" && matches!(kind, BodyKind::Images | BodyKind::Audio);
    if json || form {
        return Ok(Some(Cow::Owned(text.to_owned())));
    }
    let wanted =
        if matches!(kind, BodyKind::Images | BodyKind::Audio) { "application/json or multipart/form-data" } else { "application/json" };
    Err(Rejection::invalid(format!("The Content-Type must be {wanted}.")).with_status(415))
}

/// The model the request is for. One named in the path may not be contradicted by the body.
pub(crate) fn asked_model(route: &Route<'_>, facts: &Facts) -> Result<Arc<str>, Rejection> {
    let of_body = facts.model.as_deref().map(|name| name.strip_prefix("models/").filter(|_| route.path_model.is_some()).unwrap_or(name));
    match (route.path_model.as_deref(), of_body) {
        (Some(path), Some(body)) if path != body => {
            let message = format!("The path names the model `{path}`, the body `{body}`.");
            Err(Rejection::invalid(message).with_param("model"))
        }
        (Some(name), _) | (None, Some(name)) if !name.is_empty() => Ok(name.into()),
        _ => Err(Rejection::invalid("The request names no model; `model` is required.").with_param("model")),
    }
}
