//! The `/admin` endpoints: keys, users, dry runs of routing, licence and health, for the admin service and for operators with the admin secret.
//!
//! Pingora's threads read the call and send the answer; the database is spoken with on the store's own runtime, to which
//! its connections belong. Every call has a deadline.

mod access;
mod audited;
mod call;
mod fields;
mod guardrails;
mod health;
mod keys;
mod licence;
mod list;
mod problem;
mod references;
mod routing;
mod users;

use std::time::{Duration, Instant};

use http::{HeaderValue, header};
use pingora::Result;
use pingora::http::ResponseHeader;
use pingora::proxy::Session;
use sea_orm::DatabaseConnection;
use svc_filters::auth::Pepper;
use svc_filters::routing::RoutingFilter;
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use crate::clock::Clock;
use crate::conf::Secret;
use crate::exchange::Exchange;
use crate::licence::Licence;
use crate::rescue::{self, REQUEST_ID};
use call::{Call, Route};
use problem::{Answer, Problem};

/// How long a call may take once it is read.
const DEADLINE: Duration = Duration::from_secs(10);

/// What the `/admin` endpoints need.
#[derive(Debug)]
pub struct Control {
    store: Store,
    handle: Handle,
    admin: access::Admin,
    routing: RoutingFilter,
    started: Instant,
}

/// What the handlers need of it.
#[derive(Clone, Debug)]
struct Store {
    db: DatabaseConnection,
    pepper: Pepper,
    clock: Clock,
    licence: Licence,
}

impl Control {
    /// The endpoints over a database whose connections belong to the runtime of `handle`.
    #[must_use]
    pub fn new(database: DatabaseConnection, handle: Handle, pepper: Pepper, admin: &Secret, licence: Licence) -> Self {
        let store = Store { db: database, pepper, clock: Clock::default(), licence };
        Self { store, handle, admin: access::Admin::new(admin), routing: RoutingFilter::default(), started: Instant::now() }
    }

    /// Runs a handler on the store's runtime, within the deadline. One that is late is cancelled, and its transaction undone.
    async fn run(&self, work: impl Future<Output = std::result::Result<Answer, Problem>> + Send + 'static) -> Answer {
        let mut task = JoinSet::new();
        task.spawn_on(work, &self.handle);
        match tokio::time::timeout(DEADLINE, task.join_next()).await {
            Ok(Some(Ok(result))) => result.unwrap_or_else(Answer::from),
            Ok(_) => {
                log::error!("an admin call ended without an answer");
                Problem::Internal.into()
            }
            Err(_) => Problem::Unavailable.into(),
        }
    }
}

/// Serves a request under `/admin/`.
///
/// # Errors
/// When the client is gone.
pub async fn serve(session: &mut Session, exchange: &mut Exchange) -> Result<()> {
    // These calls are in the audit and not in the request log.
    exchange.settled = true;
    let answer = match read(session, exchange).await {
        Ok(call) => dispatch(exchange, call).await,
        Err(problem) => problem.into(),
    };
    send(session, exchange, answer).await
}

async fn read(session: &mut Session, exchange: &Exchange) -> std::result::Result<Call, Problem> {
    exchange.gateway.control.admin.check(session.req_header())?;
    call::read(session).await
}

async fn dispatch(exchange: &Exchange, call: Call) -> Answer {
    let control = &exchange.gateway.control;
    let store = control.store.clone();
    match call.route.clone() {
        Route::ExplainRouting => {
            let trial = trial(exchange, control);
            control.run(async move { routing::explain(&store, trial, &call.body).await }).await
        }
        Route::TestGuardrails => {
            let gateway = exchange.gateway.clone();
            control.run(async move { guardrails::test(gateway, &call.body).await }).await
        }
        Route::Licence => control.run(async move { licence::answer(&store).await }).await,
        Route::Health => health::answer(exchange, control).await,
        Route::ListKeys => control.run(async move { keys::list(&store, &call.query).await }).await,
        Route::CreateKey => control.run(async move { keys::create(&store, &call.body).await }).await,
        Route::GetKey(id) => control.run(async move { keys::get(&store, &id).await }).await,
        Route::UpdateKey(id) => control.run(async move { keys::update(&store, &id, &call).await }).await,
        Route::RevokeKey(id) => control.run(async move { keys::revoke(&store, &id, &call).await }).await,
        Route::RotateKey(id) => control.run(async move { keys::rotate(&store, &id, &call).await }).await,
        Route::ListUsers => control.run(async move { users::list(&store, &call.query).await }).await,
        Route::CreateUser => control.run(async move { users::create(&store, &call.body).await }).await,
        Route::GetUser(id) => control.run(async move { users::get(&store, &id).await }).await,
        Route::UpdateUser(id) => control.run(async move { users::update(&store, &id, &call).await }).await,
        Route::DisableUser(id) => control.run(async move { users::disable(&store, &id, &call).await }).await,
    }
}

/// What a request is tried under: what one that came now would be served under.
fn trial(exchange: &Exchange, control: &Control) -> routing::Trial {
    routing::Trial {
        snapshot: exchange.gateway.live.hold(),
        routing: control.routing.clone(),
        json_depth: exchange.gateway.conf.server.limits.json_depth,
        unix_ms: exchange.started_at,
        ticks: exchange.now(),
        now: Instant::now(),
    }
}

async fn send(session: &mut Session, exchange: &mut Exchange, answer: Answer) -> Result<()> {
    let body = answer.bytes();
    exchange.answer.status = answer.status.as_u16();
    exchange.answer.bytes = body.len() as u64;
    let mut head = ResponseHeader::build(answer.status, Some(6 + answer.headers.len()))?;
    if answer.body.is_some() {
        head.insert_header(header::CONTENT_TYPE, answer.content_type())?;
        head.insert_header(header::CONTENT_LENGTH, HeaderValue::from(body.len()))?;
    }
    head.insert_header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))?;
    head.insert_header(REQUEST_ID, exchange.id.header_value())?;
    for (name, value) in answer.headers {
        head.insert_header(name, value)?;
    }
    rescue::respond(session, head, body).await
}

#[cfg(test)]
mod tests;
