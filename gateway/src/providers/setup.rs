//! A provider made from its configuration.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue, Uri};
use pingora_core::protocols::ALPN;
use pingora_core::upstreams::peer::PeerOptions;
use pingora_core::utils::tls::{WrappedX509, parse_x509};
use svc_filters::translate::{ProviderKind, Quirks};

use super::anthropic::Anthropic;
use super::azure_openai::{AzureOpenai, Entra};
use super::bedrock::{Bedrock, Signer};
use super::cache::Cached;
use super::credential::Credential;
use super::gemini::Gemini;
use super::keys::KeyRing;
use super::openai::Openai;
use super::resolve::Resolver;
use super::token::Minter;
use super::transport::{Transport, secret_value};
use super::vertex::{Metadata, ServiceAccount, Vertex};
use super::{Breakers, Http2, KeyLabel, KeySpec, Provider, ProviderError, ProviderSpec, Queue, Timeouts};
use crate::fetch::Fetcher;

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
        let header = |text: &str, what: &str| HeaderValue::from_str(text).map_err(|_| ProviderError::Header(name.clone(), what.to_owned()));
        let headers = spec.headers.iter().map(|(field, value)| {
            let field_name = HeaderName::from_bytes(field.as_bytes()).map_err(|_| ProviderError::Header(name.clone(), field.clone()))?;
            Ok((field_name, header(value, field)?))
        });
        let base_path = url.path().trim_end_matches('/').to_owned();
        let transport = transport(&spec, &base_path);
        let options = options(&spec)?;
        let quirks = spec.compatibility.quirks(spec.kind, &host);
        let quirks = Quirks { stream_options: quirks.stream_options && transport.takes_stream_options(), ..quirks };
        let keys = credentials(&spec, &host, &*transport, &options)?;
        Ok(Self {
            kind: spec.kind,
            transport,
            tls,
            authority: header(authority.as_str(), "the host")?,
            name_header: header(&spec.name, "its name")?,
            base_path,
            resolver: Resolver::new(host.clone(), port),
            host,
            keys: KeyRing::new(keys),
            options,
            timeouts: spec.timeouts,
            pool: pool_of(&spec.name),
            quirks,
            shows_limits: spec.shows_limits,
            region: spec.label.map(Arc::from),
            breakers: Breakers::new(spec.breaker),
            queue: spec.queue.map(|(most, patience)| Queue::new(most, patience)),
            in_flight: Arc::default(),
            headers: headers.collect::<Result<_, _>>()?,
            name: spec.name,
        })
    }

    /// Goes on with the count of tries under way of the provider whose place this one takes, whose requests still run.
    #[must_use]
    pub fn following(mut self, before: Option<&Self>) -> Self {
        if let Some(before) = before {
            self.in_flight = before.in_flight.clone();
        }
        self
    }
}

impl Timeouts {
    /// Bounds connecting, reading and writing, by the versions of HTTP that the options allow.
    pub(super) fn bound(self, options: &mut PeerOptions) {
        options.connection_timeout = Some(self.connect);
        options.total_connection_timeout = Some(self.connect);
        // The exchange itself watches for the first byte and for silence; a time-out of each read would cost a timer for each. But
        // over HTTP/2 Pingora waits for the end of a stream by it, and has one for the first and for later reads.
        let http2 = options.alpn.get_max_http_version() > 1;
        options.read_timeout = http2.then(|| self.first_byte.max(self.idle));
        options.write_timeout = Some(self.idle);
    }
}

fn transport(spec: &ProviderSpec, base_path: &str) -> Box<dyn Transport> {
    match spec.kind {
        ProviderKind::Openai => Box::new(Openai),
        ProviderKind::AzureOpenai => Box::new(AzureOpenai::new(base_path, spec.api_version.clone())),
        ProviderKind::Anthropic => Box::new(Anthropic),
        ProviderKind::Bedrock => Box::new(Bedrock),
        ProviderKind::Gemini => Box::new(Gemini),
        ProviderKind::Vertex => Box::new(Vertex::new(spec.place.clone())),
    }
}

fn credentials(
    spec: &ProviderSpec,
    host: &str,
    transport: &dyn Transport,
    options: &PeerOptions,
) -> Result<Vec<(KeyLabel, Credential)>, ProviderError> {
    let refused = |reason| ProviderError::Credential(spec.name.clone(), reason);
    let fetcher = || Fetcher::new(options.ca.clone());
    let region = || {
        let region = spec.region.clone().or_else(|| super::bedrock::region_of(host));
        region.ok_or_else(|| refused("there is no AWS region; set `aws.region`"))
    };
    let token = |minter| Credential::Token(Cached::new(minter));
    let credential = |key: &KeySpec| match key {
        KeySpec::Plain(key) => {
            let (name, value) = transport.key_header(key.reveal());
            let value = secret_value(&value).ok_or_else(|| ProviderError::Header(spec.name.clone(), "a key".to_owned()))?;
            Ok(Credential::Plain(name, value))
        }
        KeySpec::Aws(json) => Signer::fixed(json.reveal(), region()?).map(|signer| Credential::Aws(Arc::new(signer))).map_err(refused),
        KeySpec::AwsEnvironment => Ok(Credential::Aws(Arc::new(Signer::from_environment(fetcher(), region()?)))),
        KeySpec::ServiceAccount(json) => {
            let account = ServiceAccount::read(json.reveal(), fetcher()).map_err(refused)?;
            Ok(token(Minter::ServiceAccount(Box::new(account))))
        }
        KeySpec::GoogleEnvironment => Ok(token(Minter::Metadata(Metadata::new(fetcher())))),
        KeySpec::Entra(json) => Entra::read(json.reveal(), fetcher()).map(|entra| token(Minter::Entra(entra))).map_err(refused),
    };
    spec.keys.iter().map(|(label, key)| Ok((label.clone(), credential(key)?))).collect()
}

fn pool_of(name: &str) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

fn options(spec: &ProviderSpec) -> Result<PeerOptions, ProviderError> {
    let mut options = PeerOptions::new();
    options.idle_timeout = Some(Duration::from_secs(60));
    options.alpn = match (spec.http2, spec.base_url.starts_with("https")) {
        (Http2::Always, _) => ALPN::H2,
        (Http2::Auto, true) => ALPN::H2H1,
        (Http2::Auto, false) | (Http2::Never, _) => ALPN::H1,
    };
    spec.timeouts.bound(&mut options);
    if let Some(pem) = &spec.ca_pem {
        options.ca = Some(certificates(pem).ok_or_else(|| ProviderError::Ca(spec.name.clone()))?);
    }
    Ok(options)
}

/// The certificates of a PEM text; `None` where one cannot be read or there is none.
pub(crate) fn certificates(pem: &str) -> Option<Arc<[WrappedX509]>> {
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
