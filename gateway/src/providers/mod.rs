//! Providers: where a target's requests go, and how they are addressed and authorised there.

mod keys;
mod request;
mod resolve;

pub(crate) use keys::bit;
pub use keys::{KeyRing, SelectedKey};
pub use request::{Dispatch, header as request_header};

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::Uri;
use pingora_core::protocols::ALPN;
use pingora_core::upstreams::peer::{HttpPeer, PeerOptions};
use pingora_core::utils::tls::{WrappedX509, parse_x509};
use svc_filters::shape::Shape;

use resolve::Resolver;

/// Kinds of provider that are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The chat-completions vendor and its compatibles.
    Openai,
    /// The messages vendor.
    Anthropic,
    /// The generate-content vendor's developer API.
    Gemini,
}

impl Kind {
    /// Reads the configuration's name of the kind; `None` for kinds that are not served.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "openai" => Some(Self::Openai),
            "anthropic" => Some(Self::Anthropic),
            "gemini" => Some(Self::Gemini),
            _ => None,
        }
    }

    /// The configuration's name of the kind.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }

    /// Shape the provider speaks.
    #[must_use]
    pub const fn shape(self) -> Shape {
        match self {
            Self::Openai => Shape::ChatCompletions,
            Self::Anthropic => Shape::Messages,
            Self::Gemini => Shape::GenerateContent,
        }
    }
}

/// Which HTTP versions are spoken with a provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Http2 {
    /// HTTP/2 where TLS negotiates it.
    #[default]
    Auto,
    /// HTTP/1.1 only.
    Never,
    /// HTTP/2 only, also in clear text.
    Always,
}

/// Time-outs towards a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// To a usable connection.
    pub connect: Duration,
    /// To the first byte of the answer.
    pub first_byte: Duration,
    /// Between two pieces of the answer.
    pub idle: Duration,
    /// For the whole exchange.
    pub total: Duration,
}

/// A provider as configured.
pub struct ProviderSpec {
    /// Unique name.
    pub name: Arc<str>,
    /// Kind.
    pub kind: Kind,
    /// `http` or `https` URL without query; a path is kept as prefix.
    pub base_url: String,
    /// Credentials in clear, in order of preference.
    pub keys: Vec<String>,
    /// Time-outs.
    pub timeouts: Timeouts,
    /// HTTP versions.
    pub http2: Http2,
    /// PEM certificates to trust in place of the system's.
    pub ca_pem: Option<String>,
    /// Headers added to every request, lower-case names.
    pub headers: Vec<(String, String)>,
}

/// Why a provider cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// The base URL is malformed.
    #[error("set up the provider `{0}`: its base_url is not an http or https URL")]
    BaseUrl(Arc<str>),
    /// A credential or extra header cannot be sent.
    #[error("set up the provider `{0}`: {1} holds characters that no HTTP header can carry")]
    Header(Arc<str>, String),
    /// The certificates cannot be read.
    #[error("set up the provider `{0}`: its ca holds no readable PEM certificate")]
    Ca(Arc<str>),
    /// The host name has no address.
    #[error("resolve the host of the provider `{0}`: {1}")]
    Resolve(Arc<str>, std::io::Error),
}

/// A provider ready for use.
pub struct Provider {
    name: Arc<str>,
    name_header: http::HeaderValue,
    kind: Kind,
    tls: bool,
    host: String,
    authority: http::HeaderValue,
    base_path: String,
    resolver: Resolver,
    keys: KeyRing,
    options: PeerOptions,
    timeouts: Timeouts,
    pool: u64,
    headers: Vec<(http::HeaderName, http::HeaderValue)>,
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider").field("name", &self.name).field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl Provider {
    /// Prepares a provider.
    ///
    /// # Errors
    /// When the URL, a credential, an extra header or the certificates are malformed.
    pub fn new(spec: ProviderSpec) -> Result<Self, ProviderError> {
        let name = spec.name.clone();
        let bad_url = || ProviderError::BaseUrl(name.clone());
        let url: Uri = spec.base_url.parse().map_err(|_| bad_url())?;
        let tls = match url.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(bad_url()),
        };
        let authority = url.authority().ok_or_else(bad_url)?;
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = authority.port_u16().unwrap_or(if tls { 443 } else { 80 });
        let header =
            |text: &str, what: &str| http::HeaderValue::from_str(text).map_err(|_| ProviderError::Header(name.clone(), what.to_owned()));
        let keys = spec.keys.iter().map(|key| header(&request::credential(spec.kind, key), "a key")).collect::<Result<_, _>>()?;
        let headers = spec.headers.iter().map(|(field, value)| {
            let field_name =
                http::HeaderName::from_bytes(field.as_bytes()).map_err(|_| ProviderError::Header(name.clone(), field.clone()))?;
            Ok((field_name, header(value, field)?))
        });
        Ok(Self {
            kind: spec.kind,
            tls,
            authority: header(authority.as_str(), "the host")?,
            name_header: header(&spec.name, "its name")?,
            base_path: url.path().trim_end_matches('/').to_owned(),
            resolver: Resolver::new(host.clone(), port),
            host,
            keys: KeyRing::new(keys),
            options: options(&spec)?,
            timeouts: spec.timeouts,
            pool: pool_of(&spec.name),
            headers: headers.collect::<Result<_, _>>()?,
            name: spec.name,
        })
    }

    /// Unique name.
    #[must_use]
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Kind.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// The name as a header value.
    #[must_use]
    pub const fn name_header(&self) -> &http::HeaderValue {
        &self.name_header
    }

    /// Shape it speaks.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.kind.shape()
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

    /// Where Pingora should connect for the `attempt`-th try (0-based; later tries move to the host's next address).
    ///
    /// # Errors
    /// When the host name cannot be resolved.
    pub async fn peer(&self, attempt: usize) -> Result<HttpPeer, ProviderError> {
        let address = self.resolver.address(attempt).await.map_err(|error| ProviderError::Resolve(self.name.clone(), error))?;
        let mut peer = HttpPeer::new(address, self.tls, if self.tls { self.host.clone() } else { String::new() });
        peer.options = self.options.clone();
        // Connections are pooled by address; certificates and HTTP versions are a provider's own.
        peer.group_key = self.pool;
        Ok(peer)
    }
}

fn pool_of(name: &str) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

fn options(spec: &ProviderSpec) -> Result<PeerOptions, ProviderError> {
    let mut options = PeerOptions::new();
    options.connection_timeout = Some(spec.timeouts.connect);
    options.total_connection_timeout = Some(spec.timeouts.connect);
    // Pingora has one read time-out for the first and for later reads, so the longer of the two bounds both here; the exchange
    // bounds the first byte and the whole.
    options.read_timeout = Some(spec.timeouts.first_byte.max(spec.timeouts.idle));
    options.write_timeout = Some(spec.timeouts.idle);
    options.idle_timeout = Some(Duration::from_secs(60));
    options.alpn = match (spec.http2, spec.base_url.starts_with("https")) {
        (Http2::Always, _) => ALPN::H2,
        (Http2::Auto, true) => ALPN::H2H1,
        (Http2::Auto, false) | (Http2::Never, _) => ALPN::H1,
    };
    if let Some(pem) = &spec.ca_pem {
        options.ca = Some(certificates(pem).ok_or_else(|| ProviderError::Ca(spec.name.clone()))?);
    }
    Ok(options)
}

fn certificates(pem: &str) -> Option<Arc<[WrappedX509]>> {
    use rustls_pki_types::CertificateDer;
    use rustls_pki_types::pem::PemObject;
    let parsed: Vec<WrappedX509> = CertificateDer::pem_slice_iter(pem.as_bytes())
        .map(|certificate| {
            let certificate = certificate.ok()?.to_vec();
            x509_parser::parse_x509_certificate(&certificate).ok()?;
            Some(WrappedX509::new(certificate, parse_x509))
        })
        .collect::<Option<_>>()?;
    (!parsed.is_empty()).then(|| parsed.into())
}
