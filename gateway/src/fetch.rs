//! Short calls to token services and to the sidecar, over Pingora's own client: bounded in time and size, never redirected, and over a
//! connection of their own unless asked otherwise.

use std::io;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};
use pingora::http::RequestHeader;
use pingora_core::connectors::http::v1::Connector;
use pingora_core::protocols::ALPN;
use pingora_core::protocols::http::v1::client::HttpSession;
use pingora_core::upstreams::peer::HttpPeer;
use pingora_core::utils::tls::WrappedX509;

use crate::providers::Resolver;

/// The longest a call may take.
const DEADLINE: Duration = Duration::from_secs(10);
/// The longest answer that is read.
const LONGEST: usize = 256 << 10;

/// How long a connection that is kept may stay unused.
const IDLE: Duration = Duration::from_secs(30);

/// Holds the system's certificates.
static CONNECTOR: LazyLock<Connector> = LazyLock::new(|| Connector::new(None));

/// Makes calls under one provider's CA setting, or to one host over connections that are kept.
#[derive(Clone, Debug)]
pub(crate) struct Fetcher {
    ca: Option<Arc<[WrappedX509]>>,
    longest: usize,
    /// The one host whose connections are kept.
    kept: Option<Arc<Resolver>>,
}

/// One call. It holds secrets, and so has no `Debug`.
pub(crate) struct Call<'a> {
    pub(crate) method: Method,
    pub(crate) url: &'a str,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) body: Vec<u8>,
    pub(crate) deadline: Duration,
}

/// Its answer, likewise.
pub(crate) struct Fetched {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// Why there is no answer. Nothing of the call's content is in it.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The address is none.
    #[error("not an http or https URL")]
    Url,
    /// The host is not known.
    #[error("the host has no address: {0}")]
    Resolve(#[source] io::Error),
    /// The deadline has passed.
    #[error("no answer within {} ms", .0.as_millis())]
    TimedOut(Duration),
    /// The answer is too long.
    #[error("the answer is longer than {0} bytes")]
    TooLong(usize),
    /// The exchange failed.
    #[error("{0}")]
    Http(String),
}

impl<'a> Call<'a> {
    /// A GET.
    pub(crate) fn get(url: &'a str) -> Self {
        Self { method: Method::GET, url, headers: Vec::new(), body: Vec::new(), deadline: DEADLINE }
    }

    /// A POST.
    pub(crate) fn post(url: &'a str, content_type: HeaderValue, body: Vec<u8>) -> Self {
        Self { method: Method::POST, url, headers: vec![(header::CONTENT_TYPE, content_type)], body, deadline: DEADLINE }
    }

    /// A POST of a form.
    pub(crate) fn form(url: &'a str, fields: &[(&str, &str)]) -> Self {
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.extend_pairs(fields);
        Self::post(url, HeaderValue::from_static("application/x-www-form-urlencoded"), form.finish().into_bytes())
    }

    /// A POST of JSON.
    pub(crate) fn json(url: &'a str, body: Vec<u8>) -> Self {
        Self::post(url, HeaderValue::from_static("application/json"), body)
    }

    /// Adds a header.
    pub(crate) fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Shortens the deadline.
    pub(crate) fn within(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }
}

impl Fetcher {
    /// Calls made by it trust `ca`, or the system's authorities without one.
    pub(crate) fn new(ca: Option<Arc<[WrappedX509]>>) -> Self {
        // Reading the system's certificates takes a moment; it must not be a request that waits for it.
        LazyLock::force(&CONNECTOR);
        Self { ca, longest: LONGEST, kept: None }
    }

    /// Reads answers up to so many bytes.
    pub(crate) fn reading(self, longest: usize) -> Self {
        Self { longest, ..self }
    }

    /// Trusts `ca`, or the system's authorities without one.
    pub(crate) fn trusting(self, ca: Option<Arc<[WrappedX509]>>) -> Self {
        Self { ca, ..self }
    }

    /// Calls made by it all go to the host of `url`, trust the system's authorities, and leave their connections to the next. They may
    /// be sent twice, where a connection that was kept turns out to be gone. Answers are read up to `longest` bytes.
    ///
    /// # Errors
    /// When that is no URL of a host.
    pub(crate) fn keeping(url: &str, longest: usize) -> Result<Self, FetchError> {
        let (_, host, port) = place(&url.parse().map_err(|_| FetchError::Url)?)?;
        Ok(Self { longest, kept: Some(Arc::new(Resolver::new(host, port))), ..Self::new(None) })
    }

    /// Makes a call.
    pub(crate) async fn fetch(&self, call: &Call<'_>) -> Result<Fetched, FetchError> {
        let exchange = self.exchange(call);
        tokio::time::timeout(call.deadline, exchange).await.map_err(|_| FetchError::TimedOut(call.deadline))?
    }

    async fn exchange(&self, call: &Call<'_>) -> Result<Fetched, FetchError> {
        let url: Uri = call.url.parse().map_err(|_| FetchError::Url)?;
        let peer = self.peer(&url).await?;
        loop {
            let (mut session, reused) = CONNECTOR.get_http_session(&peer).await.map_err(|error| told(&error))?;
            match self.converse(&mut session, call, &url).await {
                // It was closed while nobody used it; there are only so many such, and the last one is new.
                Err(FetchError::Http(_)) if reused => {}
                Ok(fetched) if self.kept.is_some() => {
                    CONNECTOR.release_http_session(session, &peer, Some(IDLE)).await;
                    return Ok(fetched);
                }
                result => return result,
            }
        }
    }

    async fn converse(&self, session: &mut HttpSession, call: &Call<'_>, url: &Uri) -> Result<Fetched, FetchError> {
        let head = self.head(call, url).map_err(|error| told(&error))?;
        session.write_request_header(Box::new(head)).await.map_err(|error| told(&error))?;
        session.write_body(&call.body).await.map_err(|error| told(&error))?;
        session.finish_body().await.map_err(|error| told(&error))?;
        answer(session, self.longest).await
    }

    fn head(&self, call: &Call<'_>, url: &Uri) -> pingora::Result<RequestHeader> {
        let path = url.path_and_query().map_or("/", |path| path.as_str());
        let mut head = RequestHeader::build(call.method.clone(), path.as_bytes(), Some(call.headers.len() + 4))?;
        head.insert_header(header::HOST, url.authority().map_or("", |authority| authority.as_str()))?;
        head.insert_header(header::ACCEPT, HeaderValue::from_static("application/json"))?;
        if self.kept.is_none() {
            head.insert_header(header::CONNECTION, HeaderValue::from_static("close"))?;
        }
        if call.method != Method::GET {
            head.insert_header(header::CONTENT_LENGTH, HeaderValue::from(call.body.len()))?;
        }
        for (name, value) in &call.headers {
            head.insert_header(name.clone(), value.clone())?;
        }
        Ok(head)
    }

    async fn peer(&self, url: &Uri) -> Result<HttpPeer, FetchError> {
        let (tls, host, port) = place(url)?;
        let address = match &self.kept {
            Some(resolver) => resolver.address(0).await,
            None => Resolver::new(host.clone(), port).address(0).await,
        };
        let mut peer = HttpPeer::new(address.map_err(FetchError::Resolve)?, tls, if tls { host } else { String::new() });
        peer.options.alpn = ALPN::H1;
        peer.options.ca.clone_from(&self.ca);
        Ok(peer)
    }
}

/// Whether TLS is spoken there, the host without brackets, and the port.
fn place(url: &Uri) -> Result<(bool, String, u16), FetchError> {
    let tls = match url.scheme_str() {
        Some("https") => true,
        Some("http") => false,
        _ => return Err(FetchError::Url),
    };
    let host = url.host().ok_or(FetchError::Url)?.trim_start_matches('[').trim_end_matches(']');
    Ok((tls, host.to_owned(), url.port_u16().unwrap_or(if tls { 443 } else { 80 })))
}

async fn answer(session: &mut HttpSession, longest: usize) -> Result<Fetched, FetchError> {
    session.read_response().await.map_err(|error| told(&error))?;
    let status = session.get_status().map_or(0, |status| status.as_u16());
    let mut body = Vec::new();
    while let Some(piece) = session.read_body_bytes().await.map_err(|error| told(&error))? {
        body.extend_from_slice(&piece);
        if body.len() > longest {
            return Err(FetchError::TooLong(longest));
        }
    }
    let headers = session.resp_header().map_or_else(HeaderMap::new, |head| head.headers.clone());
    Ok(Fetched { status, headers, body })
}

/// Only the type of an error: its context could quote what was sent.
fn told(error: &pingora::Error) -> FetchError {
    FetchError::Http(error.etype().as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    /// Answers one call with these bytes and then keeps the connection, and gives what was asked.
    async fn called(answer: Vec<u8>, call: impl FnOnce(String) -> Call<'static>) -> (Result<Fetched, FetchError>, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/token?x=1", listener.local_addr().unwrap());
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut asked = vec![0; 4096];
            let count = stream.read(&mut asked).await.unwrap();
            let _ = stream.write_all(&answer).await;
            (stream, String::from_utf8_lossy(asked.get(..count).unwrap()).into_owned())
        });
        let fetched = Fetcher::new(None).fetch(&call(url)).await;
        (fetched, server.await.unwrap().1)
    }

    fn leaked(url: String) -> &'static str {
        Box::leak(url.into_boxed_str())
    }

    #[tokio::test]
    async fn a_call_is_made_and_its_answer_read_to_the_end() {
        let answer = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n".to_vec();
        let (fetched, asked) = called(answer, |url| Call::form(leaked(url), &[("a", "b c"), ("d", "&")])).await;
        let fetched = fetched.unwrap();
        assert_eq!((fetched.status, &fetched.body[..]), (200, &b"hello"[..]));
        assert!(asked.starts_with("POST /token?x=1 HTTP/1.1\r\n"), "{asked}");
        assert!(asked.to_ascii_lowercase().contains("\r\ncontent-length: 11\r\n"), "{asked}");
    }

    #[tokio::test]
    async fn a_redirection_is_an_answer_like_any_other() {
        let answer = b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n".to_vec();
        let (fetched, _) = called(answer, |url| Call::get(leaked(url))).await;
        assert_eq!(fetched.unwrap().status, 302);
    }

    #[tokio::test]
    async fn silence_and_floods_are_bounded() {
        let (silent, _) = called(Vec::new(), |url| Call::get(leaked(url)).within(Duration::from_millis(100))).await;
        assert!(matches!(silent, Err(FetchError::TimedOut(_))));
        let mut flood = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", 2 * LONGEST).into_bytes();
        flood.resize(flood.len() + 2 * LONGEST, b'x');
        let (flooded, _) = called(flood, |url| Call::get(leaked(url))).await;
        assert!(matches!(flooded, Err(FetchError::TooLong(_))));
    }

    #[tokio::test]
    async fn connections_are_kept_where_asked_and_one_that_is_gone_is_replaced() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let server = tokio::spawn(async move {
            // Two calls over the first connection, which then ends, and one over the second.
            let mut served = Vec::new();
            for calls in [2, 1] {
                let (mut stream, _) = listener.accept().await.unwrap();
                for _ in 0..calls {
                    let mut asked = vec![0; 4096];
                    let count = stream.read(&mut asked).await.unwrap();
                    served.push(String::from_utf8_lossy(asked.get(..count).unwrap()).to_ascii_lowercase());
                    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await.unwrap();
                }
            }
            served
        });
        let fetcher = Fetcher::keeping(&url, 64).unwrap();
        for _ in 0..3 {
            assert_eq!(fetcher.fetch(&Call::get(&url)).await.unwrap().body, b"ok");
        }
        assert!(server.await.unwrap().iter().all(|head| !head.contains("connection: close")));
    }

    #[tokio::test]
    async fn an_address_nobody_listens_on_is_told_without_the_call() {
        let error = Fetcher::new(None).fetch(&Call::get("http://127.0.0.1:1/secret")).await.err().unwrap().to_string();
        assert!(!error.contains("secret"), "{error}");
        assert!(matches!(Fetcher::new(None).fetch(&Call::get("ftp://x/")).await, Err(FetchError::Url)));
    }
}
