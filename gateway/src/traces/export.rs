//! Sends batches of spans to the collector: OTLP over HTTP, in protocol buffers.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue, header};
use time::OffsetDateTime;
use tokio::time::Instant;

use super::Traces;
use super::names::{SERVICE_INSTANCE, SERVICE_NAME, SERVICE_VERSION};
use super::proto::Message;
use super::queue::{Batch, Queue};
use super::span::{Value, attribute};
use crate::attempts::retry_after;
use crate::conf;
use crate::fetch::{Call, FetchError, Fetcher};
use crate::providers::certificates;

const PROTOBUF: HeaderValue = HeaderValue::from_static("application/x-protobuf");
/// The longest answer that is read.
const LONGEST: usize = 64 << 10;
/// The first pause after a failure; each further one is twice as long.
const PAUSE: Duration = Duration::from_secs(1);
/// The longest pause, also where the collector asks for a longer one.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// How long a batch is tried.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often the log may tell that spans were lost.
const TELL_EVERY: Duration = Duration::from_secs(60);

/// Why traces cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum ExporterError {
    /// The address is none.
    #[error("set up telemetry.traces: {0}")]
    Endpoint(#[from] FetchError),
    /// The file of authorities cannot be read.
    #[error("set up telemetry.traces: cannot read its ca {path}")]
    Ca {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file of authorities holds none.
    #[error("set up telemetry.traces: its ca {0} holds no readable PEM certificate")]
    NoCertificate(PathBuf),
    /// A header cannot be sent.
    #[error("set up telemetry.traces: the header `{0}` cannot be sent")]
    Header(String),
}

/// Why a batch did not arrive.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("{0}")]
    Call(#[from] FetchError),
    #[error("it answers {0}")]
    Busy(u16, Option<Duration>),
    #[error("it refuses them with {0}")]
    Refused(u16),
}

/// Sends what [`Traces`] makes. It holds secrets, and so has no `Debug`.
pub struct Exporter {
    queue: Arc<Queue>,
    fetcher: Fetcher,
    url: String,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// `ResourceSpans.resource`, and the head of `ScopeSpans`.
    resource: Vec<u8>,
    scope: Vec<u8>,
    /// Spans lost that the log has not told of, and when it last did.
    lost: u64,
    told: Option<Instant>,
    /// Since when nothing arrives.
    away: Option<Instant>,
}

impl Traces {
    /// What makes traces and what sends them; `None` where the configuration wants none. `instance` is the id of this process.
    ///
    /// # Errors
    /// When the collector's address, authorities or headers are of no use.
    pub fn start(conf: &conf::Traces, instance: &str) -> Result<Option<(Self, Exporter)>, ExporterError> {
        let Some(url) = conf.url() else { return Ok(None) };
        let queue = Arc::new(Queue::default());
        let exporter = Exporter {
            queue: queue.clone(),
            fetcher: Fetcher::keeping(&url, LONGEST)?.trusting(authorities(conf)?),
            url,
            headers: headers(conf)?,
            resource: resource(&conf.service_name, instance),
            scope: scope(),
            lost: 0,
            told: None,
            away: None,
        };
        Ok(Some((Self::new(conf.sample_ratio, queue), exporter)))
    }
}

impl Exporter {
    /// Sends until nothing more is handed over, then what waits, each batch once, as long as the collector takes it.
    pub async fn run(mut self) {
        while let Some(batch) = self.queue.batch().await {
            if !self.deliver(&batch).await {
                self.lost += batch.count;
                if self.queue.is_closed() {
                    while let Some(batch) = self.queue.batch().await {
                        self.lost += batch.count;
                    }
                }
            }
            self.tell();
        }
        self.told = None;
        self.tell();
    }

    /// Sends a batch, again and again while it makes sense; whether it arrived.
    async fn deliver(&mut self, batch: &Batch) -> bool {
        let (began, mut pause) = (Instant::now(), PAUSE);
        let body = self.body(batch);
        loop {
            let failure = match self.send(body.clone()).await {
                Ok(()) => {
                    self.arrived();
                    return true;
                }
                Err(failure) => failure,
            };
            self.failed(&failure);
            let wait = match failure {
                Failure::Refused(_) => return false,
                Failure::Busy(_, Some(asked)) => asked.clamp(PAUSE, LONGEST_PAUSE),
                Failure::Busy(_, None) | Failure::Call(_) => pause,
            };
            if self.queue.is_closed() || began.elapsed() + wait > PATIENCE {
                return false;
            }
            self.queue.ended_within(wait).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn send(&self, body: Vec<u8>) -> Result<(), Failure> {
        let mut call = Call::post(&self.url, PROTOBUF, body).with_header(header::ACCEPT, PROTOBUF);
        for (name, value) in &self.headers {
            call = call.with_header(name.clone(), value.clone());
        }
        let fetched = self.fetcher.fetch(&call).await?;
        match fetched.status {
            200..=299 => Ok(()),
            429 | 502 | 503 | 504 => Err(Failure::Busy(fetched.status, retry_after(&fetched.headers, OffsetDateTime::now_utc()))),
            status => Err(Failure::Refused(status)),
        }
    }

    /// `ExportTraceServiceRequest`.
    fn body(&self, batch: &Batch) -> Vec<u8> {
        let inner = self.scope.len() + batch.spans.len();
        let scope_spans = Message::default().head(2, inner).raw(&self.scope).raw(&batch.spans).into_bytes();
        let length = self.resource.len() + scope_spans.len();
        Message::default().head(1, length).raw(&self.resource).raw(&scope_spans).into_bytes()
    }

    fn failed(&mut self, failure: &Failure) {
        if self.away.is_none() {
            self.away = Some(Instant::now());
            log::warn!("the collector of traces at {} does not take spans: {failure}", self.url);
        }
        self.tell();
    }

    fn arrived(&mut self) {
        if let Some(since) = self.away.take() {
            log::info!("the collector of traces at {} takes spans again after {} ms", self.url, since.elapsed().as_millis());
        }
    }

    /// Tells how many spans were lost, from time to time.
    fn tell(&mut self) {
        self.lost += self.queue.take_lost();
        if self.lost > 0 && self.told.is_none_or(|told| told.elapsed() >= TELL_EVERY) {
            log::warn!("{} spans were lost: the collector of traces takes them too slowly, or not at all", self.lost);
            self.lost = 0;
            self.told = Some(Instant::now());
        }
    }
}

fn authorities(conf: &conf::Traces) -> Result<Option<Arc<[pingora_core::utils::tls::WrappedX509]>>, ExporterError> {
    let Some(path) = conf.ca.clone() else { return Ok(None) };
    match fs::read_to_string(&path) {
        Ok(pem) => certificates(&pem).map(Some).ok_or(ExporterError::NoCertificate(path)),
        Err(source) => Err(ExporterError::Ca { path, source }),
    }
}

fn headers(conf: &conf::Traces) -> Result<Vec<(HeaderName, HeaderValue)>, ExporterError> {
    let header = |(name, value): (&String, &conf::Secret)| {
        let wrong = || ExporterError::Header(name.clone());
        let mut value = HeaderValue::from_str(value.reveal()).map_err(|_| wrong())?;
        value.set_sensitive(true);
        Ok((HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?, value))
    };
    conf.headers.iter().map(header).collect()
}

/// `ResourceSpans.resource`: who makes the spans.
fn resource(service: &str, instance: &str) -> Vec<u8> {
    let attributes = [(SERVICE_NAME, service), (SERVICE_VERSION, env!("CARGO_PKG_VERSION")), (SERVICE_INSTANCE, instance)];
    let resource = attributes
        .iter()
        .fold(Message::default(), |resource, (name, value)| resource.message(1, attribute(name, &Value::Text(Cow::Borrowed(value)))));
    Message::default().message(1, resource).into_bytes()
}

/// `ScopeSpans.scope`: what in it does.
fn scope() -> Vec<u8> {
    let scope = Message::default().bytes(1, env!("CARGO_PKG_NAME").as_bytes()).bytes(2, env!("CARGO_PKG_VERSION").as_bytes());
    Message::default().message(1, scope).into_bytes()
}
