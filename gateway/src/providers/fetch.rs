//! Short calls to token services, over Pingora's own client: bounded in time and size, never redirected, never pooled.

use std::io;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use http::{HeaderName, HeaderValue, Method, Uri, header};
use pingora::http::RequestHeader;
use pingora_core::connectors::http::v1::Connector;
use pingora_core::protocols::ALPN;
use pingora_core::protocols::http::v1::client::HttpSession;
use pingora_core::upstreams::peer::HttpPeer;
use pingora_core::utils::tls::WrappedX509;

/// The longest a call may take.
const DEADLINE: Duration = Duration::from_secs(10);
/// The longest answer that is read.
const LONGEST: usize = 256 << 10;

/// Holds the system's certificates.
static CONNECTOR: LazyLock<Connector> = LazyLock::new(|| Connector::new(None));

/// Makes calls under one provider's CA setting.
#[derive(Clone, Debug)]
pub(super) struct Fetcher {
    ca: Option<Arc<[WrappedX509]>>,
}

/// One call. It holds secrets, and so has no `Debug`.
pub(super) struct Call<'a> {
    pub(super) method: Method,
    pub(super) url: &'a str,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) body: Vec<u8>,
    pub(super) deadline: Duration,
}

/// Its answer, likewise.
pub(super) struct Fetched {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
}

/// Why there is no answer. Nothing of the call's content is in it.
#[derive(Debug, thiserror::Error)]
pub(super) enum FetchError {
    #[error("not an http or https URL")]
    Url,
    #[error("the host has no address: {0}")]
    Resolve(#[source] io::Error),
    #[error("no answer within {} ms", .0.as_millis())]
    TimedOut(Duration),
    #[error("the answer is longer than {LONGEST} bytes")]
    TooLong,
    #[error("{0}")]
    Http(String),
}

impl<'a> Call<'a> {
    /// A GET.
    pub(super) fn get(url: &'a str) -> Self {
        Self { method: Method::GET, url, headers: Vec::new(), body: Vec::new(), deadline: DEADLINE }
    }

    /// A POST of a form.
    pub(super) fn form(url: &'a str, fields: &[(&str, &str)]) -> Self {
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.extend_pairs(fields);
        let content_type = HeaderValue::from_static("application/x-www-form-urlencoded");
        let headers = vec![(header::CONTENT_TYPE, content_type)];
        Self { method: Method::POST, url, headers, body: form.finish().into_bytes(), deadline: DEADLINE }
    }

    /// Adds a header.
    pub(super) fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Shortens the deadline.
    pub(super) fn within(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }
}

impl Fetcher {
    /// Calls made by it trust `ca`, or the system's authorities without one.
    pub(super) fn new(ca: Option<Arc<[WrappedX509]>>) -> Self {
        // Reading the system's certificates takes a moment; it must not be a request that waits for it.
        LazyLock::force(&CONNECTOR);
        Self { ca }
    }

    /// Makes a call.
    pub(super) async fn fetch(&self, call: &Call<'_>) -> Result<Fetched, FetchError> {
        let exchange = self.exchange(call);
        tokio::time::timeout(call.deadline, exchange).await.map_err(|_| FetchError::TimedOut(call.deadline))?
    }

    async fn exchange(&self, call: &Call<'_>) -> Result<Fetched, FetchError> {
        let url: Uri = call.url.parse().map_err(|_| FetchError::Url)?;
        let peer = self.peer(&url).await?;
        let (mut session, _) = CONNECTOR.get_http_session(&peer).await.map_err(|error| told(&error))?;
        session.write_request_header(Box::new(head(call, &url).map_err(|error| told(&error))?)).await.map_err(|error| told(&error))?;
        session.write_body(&call.body).await.map_err(|error| told(&error))?;
        session.finish_body().await.map_err(|error| told(&error))?;
        answer(&mut session).await
    }

    async fn peer(&self, url: &Uri) -> Result<HttpPeer, FetchError> {
        let tls = match url.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(FetchError::Url),
        };
        let host = url.host().ok_or(FetchError::Url)?.trim_start_matches('[').trim_end_matches(']');
        let port = url.port_u16().unwrap_or(if tls { 443 } else { 80 });
        let mut addresses: Vec<_> = tokio::net::lookup_host((host, port)).await.map_err(FetchError::Resolve)?.collect();
        addresses.sort_by_key(std::net::SocketAddr::is_ipv6);
        let nowhere = || FetchError::Resolve(io::Error::from(io::ErrorKind::NotFound));
        let address = addresses.first().ok_or_else(nowhere)?;
        let mut peer = HttpPeer::new(*address, tls, if tls { host.to_owned() } else { String::new() });
        peer.options.alpn = ALPN::H1;
        peer.options.ca.clone_from(&self.ca);
        Ok(peer)
    }
}

fn head(call: &Call<'_>, url: &Uri) -> pingora::Result<RequestHeader> {
    let path = url.path_and_query().map_or("/", |path| path.as_str());
    let mut head = RequestHeader::build(call.method.clone(), path.as_bytes(), Some(call.headers.len() + 4))?;
    head.insert_header(header::HOST, url.authority().map_or("", |authority| authority.as_str()))?;
    head.insert_header(header::ACCEPT, HeaderValue::from_static("application/json"))?;
    head.insert_header(header::CONNECTION, HeaderValue::from_static("close"))?;
    if call.method != Method::GET {
        head.insert_header(header::CONTENT_LENGTH, HeaderValue::from(call.body.len()))?;
    }
    for (name, value) in &call.headers {
        head.insert_header(name.clone(), value.clone())?;
    }
    Ok(head)
}

async fn answer(session: &mut HttpSession) -> Result<Fetched, FetchError> {
    session.read_response().await.map_err(|error| told(&error))?;
    let status = session.get_status().map_or(0, |status| status.as_u16());
    let mut body = Vec::new();
    while let Some(piece) = session.read_body_bytes().await.map_err(|error| told(&error))? {
        body.extend_from_slice(&piece);
        if body.len() > LONGEST {
            return Err(FetchError::TooLong);
        }
    }
    Ok(Fetched { status, body })
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
        assert!(matches!(flooded, Err(FetchError::TooLong)));
    }

    #[tokio::test]
    async fn an_address_nobody_listens_on_is_told_without_the_call() {
        let error = Fetcher::new(None).fetch(&Call::get("http://127.0.0.1:1/secret")).await.err().unwrap().to_string();
        assert!(!error.contains("secret"), "{error}");
        assert!(matches!(Fetcher::new(None).fetch(&Call::get("ftp://x/")).await, Err(FetchError::Url)));
    }
}
