//! Providers: where a target's requests go, and how they are addressed, authorised and framed there.
//!
//! Each kind has a file; [`transport::Transport`] is what they have in common. The phases use five calls, in this order:
//!
//! 1. [`Provider::prepare`] makes a body in the provider's dialect into the one its API takes.
//! 2. [`Provider::authorise`] gets what authorises the try, which may take a call to a token service.
//! 3. [`request_header`] builds the head, signature included.
//! 4. [`Provider::renew`] says whether a refused credential is worth one more try.
//! 5. [`Provider::unwrapping`] and [`Unwrapping::push`] make the answer's head and body those of the dialect, before anything
//!    else reads them.

mod answer;
mod anthropic;
mod azure_openai;
mod bedrock;
mod betas;
mod breaker;
mod cache;
mod circuit;
mod credential;
mod edit;
mod gemini;
mod in_flight;
mod keys;
mod openai;
mod queue;
mod request;
mod resolve;
mod setup;
mod spec;
mod token;
mod transport;
mod vertex;

pub use answer::Unwrapping;
pub use breaker::{Breaker, Breakers, Pass, Position, Turn};
pub use circuit::{Circuit, Standing};
pub use credential::{Authorisation, CredentialError};
pub use in_flight::InFlight;
pub(crate) use keys::bit;
pub use keys::{KeyLabel, KeyRing, SelectedKey};
pub use queue::{Queue, Slot};
pub use request::{Dispatch, header as request_header};
pub(crate) use resolve::Resolver;
pub(crate) use setup::certificates;
pub use spec::{Http2, KeySpec, Place, ProviderError, ProviderSpec, Timeouts};
pub use transport::{Draft, Prepared};

use std::fmt;
use std::sync::Arc;

use http::HeaderMap;
use pingora::Result;
use pingora::http::ResponseHeader;
use pingora_core::upstreams::peer::{HttpPeer, PeerOptions};
use svc_filters::endpoint::Endpoint;
use svc_filters::shape::Shape;
use svc_filters::translate::{ProviderKind, Quirks};
use svc_filters::verdict::Rejection;

use transport::Transport;

/// A provider ready for use.
pub struct Provider {
    name: Arc<str>,
    name_header: http::HeaderValue,
    kind: ProviderKind,
    transport: Box<dyn Transport>,
    tls: bool,
    host: String,
    authority: http::HeaderValue,
    base_path: String,
    resolver: Resolver,
    keys: KeyRing,
    options: PeerOptions,
    timeouts: Timeouts,
    pool: u64,
    quirks: Quirks,
    shows_limits: bool,
    region: Option<Arc<str>>,
    breakers: Breakers,
    queue: Option<Queue>,
    in_flight: Arc<InFlight>,
    headers: Vec<(http::HeaderName, http::HeaderValue)>,
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider").field("name", &self.name).field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl Provider {
    /// Unique name.
    #[must_use]
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Kind.
    #[must_use]
    pub const fn kind(&self) -> ProviderKind {
        self.kind
    }

    /// Its host and port.
    #[must_use]
    pub fn server(&self) -> (&str, u16) {
        (&self.host, self.resolver.port())
    }

    /// The name as a header value.
    #[must_use]
    pub const fn name_header(&self) -> &http::HeaderValue {
        &self.name_header
    }

    /// Shape it speaks for a model. A provider may serve models of several shapes.
    #[must_use]
    pub fn shape(&self, model: &str) -> Shape {
        self.transport.shape(model)
    }

    /// What it takes otherwise than the vendor of the chat-completions API.
    #[must_use]
    pub const fn quirks(&self) -> Quirks {
        self.quirks
    }

    /// Whether a chat-completions stream may be asked for usage by `stream_options`.
    #[must_use]
    pub const fn takes_stream_options(&self) -> bool {
        self.quirks.stream_options
    }

    /// Its label for region pins.
    #[must_use]
    pub const fn region(&self) -> Option<&Arc<str>> {
        self.region.as_ref()
    }

    /// Whether clients see what it says of its rate limits.
    #[must_use]
    pub const fn shows_limits(&self) -> bool {
        self.shows_limits
    }

    /// How long it may take.
    #[must_use]
    pub const fn timeouts(&self) -> Timeouts {
        self.timeouts
    }

    /// Its credentials.
    #[must_use]
    pub fn keys(&self) -> &KeyRing {
        &self.keys
    }

    /// The breaker of one of its models.
    #[must_use]
    pub fn breaker(&self, model: &Arc<str>) -> Arc<Breaker> {
        self.breakers.of(model)
    }

    /// Whether it needs no credential, or has one that is not in `tried` (bits by position) and does not rest.
    #[must_use]
    pub fn is_rested(&self, tried: u64, now_ms: u64) -> bool {
        self.keys.is_empty() || self.keys.has_rested(tried, now_ms)
    }

    /// The queue before it, where it takes only so many requests at the same time.
    #[must_use]
    pub const fn queue(&self) -> Option<&Queue> {
        self.queue.as_ref()
    }

    /// How many tries it has under way, those that wait in its queue not counted.
    #[must_use]
    pub fn in_flight(&self) -> &InFlight {
        &self.in_flight
    }

    /// Makes a body in the provider's dialect into the one its API takes. Cheap where the two are the same.
    ///
    /// # Errors
    /// A refusal for the client, when nothing sensible can be sent there.
    pub fn prepare(&self, draft: &Draft<'_>) -> Result<Prepared, Rejection> {
        self.transport.prepare(draft)
    }

    /// Gets what authorises a try with `key`. Mostly at once; a token that is not held yet, or no longer, is fetched first,
    /// within ten seconds, once for all who wait.
    ///
    /// # Errors
    /// When the token cannot be had. The next candidate is then to be tried.
    pub async fn authorise(&self, key: &SelectedKey) -> Result<Authorisation, CredentialError> {
        key.credential.authorise().await
    }

    /// Judges an answer with a refusing status: whether the same credential is worth one more try on this request, because a
    /// stale token was dropped or a wrong clock put right. Must be asked before the credential is rested.
    #[must_use]
    pub fn renew(&self, key: &SelectedKey, used: &Authorisation, status: u16, headers: &HeaderMap) -> bool {
        key.credential.renew(used, status, headers)
    }

    /// What makes the bytes of an answer those of the provider's dialect, where they are not; `endpoint` is the one of
    /// [`Dispatch`]. It changes status, content type and length in `head` along, so that the head, too, is one of the dialect.
    ///
    /// # Errors
    /// When a header cannot be set.
    pub fn unwrapping(&self, endpoint: Endpoint, head: &mut ResponseHeader) -> Result<Option<Unwrapping>> {
        self.transport.unwrapping(endpoint, head)
    }

    /// Where Pingora should connect for the `attempt`-th try (0-based; later tries move to the host's next address), with
    /// `timeouts` in place of the provider's.
    ///
    /// # Errors
    /// When the host name cannot be resolved.
    pub async fn peer(&self, attempt: usize, timeouts: Option<Timeouts>) -> Result<HttpPeer, ProviderError> {
        let address = self.resolver.address(attempt).await.map_err(|error| ProviderError::Resolve(self.name.clone(), error))?;
        let mut peer = HttpPeer::new(address, self.tls, if self.tls { self.host.clone() } else { String::new() });
        peer.options = self.options.clone();
        if let Some(timeouts) = timeouts {
            timeouts.bound(&mut peer.options);
        }
        // Connections are pooled by address; certificates and HTTP versions are a provider's own.
        peer.group_key = self.pool;
        Ok(peer)
    }
}
