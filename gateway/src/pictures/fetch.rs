//! One picture from a stranger's server: bounded in time and size, and only from addresses that may be reached.

use std::net::SocketAddr;
use std::sync::LazyLock;
use std::time::Duration;

use http::{HeaderValue, Method, StatusCode, Uri, header};
use pingora::http::RequestHeader;
use pingora_core::connectors::http::v1::Connector;
use pingora_core::protocols::ALPN;
use pingora_core::protocols::http::v1::client::HttpSession;
use pingora_core::upstreams::peer::HttpPeer;

use super::guard::may_reach;
use crate::conf::Cidr;

/// The longest a picture may take, redirects included.
const DEADLINE: Duration = Duration::from_secs(10);
/// The largest picture.
const LARGEST: usize = 20 << 20;
/// The most redirects that are followed.
const REDIRECTS: usize = 3;
const USER_AGENT: HeaderValue = HeaderValue::from_static(concat!("svc/", env!("CARGO_PKG_VERSION")));

/// Holds the system's certificates.
static CONNECTOR: LazyLock<Connector> = LazyLock::new(|| Connector::new(None));

/// Why there is no picture. It tells the client nothing of the network the gateway is in.
#[derive(Debug, thiserror::Error)]
pub(super) enum FetchError {
    #[error("its URL is not an http or https URL without credentials")]
    Url,
    #[error("its host cannot be reached")]
    Unreachable,
    #[error("its address is not on the public internet")]
    Closed,
    #[error("its server answered with status {0}")]
    Status(u16),
    #[error("it is redirected more than {REDIRECTS} times")]
    Redirects,
    #[error("it did not arrive within {} s", DEADLINE.as_secs())]
    TimedOut,
    #[error("it is larger than {} MiB", LARGEST >> 20)]
    TooLarge,
}

/// Fetches a picture.
pub(super) async fn fetch(url: &str, allow: &[Cidr]) -> Result<Vec<u8>, FetchError> {
    tokio::time::timeout(DEADLINE, follow(url, allow)).await.map_err(|_| FetchError::TimedOut)?
}

async fn follow(url: &str, allow: &[Cidr]) -> Result<Vec<u8>, FetchError> {
    let mut url = parsed(url)?;
    for _ in 0..=REDIRECTS {
        let mut session = ask(&url, allow).await?;
        let status = session.get_status().unwrap_or_default();
        if status.is_redirection() && status != StatusCode::NOT_MODIFIED {
            let target =
                session.get_header(header::LOCATION).and_then(|value| value.to_str().ok()).ok_or(FetchError::Status(status.as_u16()))?;
            url = joined(&url, target)?;
            continue;
        }
        if status != StatusCode::OK {
            return Err(FetchError::Status(status.as_u16()));
        }
        return body(&mut session).await;
    }
    Err(FetchError::Redirects)
}

fn parsed(text: &str) -> Result<Uri, FetchError> {
    let text = text.trim().split('#').next().unwrap_or_default();
    let url: Uri = text.parse().map_err(|_| FetchError::Url)?;
    let web = matches!(url.scheme_str(), Some("http" | "https"));
    let plain = url.authority().is_some_and(|authority| !authority.as_str().contains('@') && !authority.host().is_empty());
    if web && plain { Ok(url) } else { Err(FetchError::Url) }
}

/// Where a redirect leads.
fn joined(base: &Uri, target: &str) -> Result<Uri, FetchError> {
    let (scheme, authority) = (base.scheme_str().unwrap_or("https"), base.authority().map_or("", |authority| authority.as_str()));
    let absolute = target.split_once("://").is_some_and(|(scheme, _)| scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    let folder = base.path().rsplit_once('/').map_or("", |(folder, _)| folder);
    match target {
        _ if absolute => parsed(target),
        _ if target.starts_with("//") => parsed(&format!("{scheme}:{target}")),
        _ if target.starts_with('/') => parsed(&format!("{scheme}://{authority}{target}")),
        _ => parsed(&format!("{scheme}://{authority}{folder}/{target}")),
    }
}

async fn ask(url: &Uri, allow: &[Cidr]) -> Result<HttpSession, FetchError> {
    let tls = url.scheme_str() == Some("https");
    let host = url.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let address = address(host, url.port_u16().unwrap_or(if tls { 443 } else { 80 }), allow).await?;
    // The connection is made to the address that was checked, whatever the name says a moment later.
    let mut peer = HttpPeer::new(address, tls, if tls { host.to_owned() } else { String::new() });
    peer.options.alpn = ALPN::H1;
    let unreachable = |_| FetchError::Unreachable;
    let (mut session, _) = CONNECTOR.get_http_session(&peer).await.map_err(unreachable)?;
    session.read_timeout = Some(DEADLINE);
    session.write_timeout = Some(DEADLINE);
    session.write_request_header(Box::new(head(url).map_err(unreachable)?)).await.map_err(unreachable)?;
    session.finish_body().await.map_err(unreachable)?;
    session.read_response().await.map_err(unreachable)?;
    Ok(session)
}

/// An address of the host. A name that leads to closed addresses as well as to open ones is not trusted.
async fn address(host: &str, port: u16, allow: &[Cidr]) -> Result<SocketAddr, FetchError> {
    let found = tokio::net::lookup_host((host, port)).await.map_err(|_| FetchError::Unreachable)?;
    let mut addresses: Vec<SocketAddr> = found.collect();
    if !addresses.iter().all(|address| may_reach(*address, allow)) {
        return Err(FetchError::Closed);
    }
    addresses.sort_by_key(SocketAddr::is_ipv6);
    addresses.first().copied().ok_or(FetchError::Unreachable)
}

fn head(url: &Uri) -> pingora::Result<RequestHeader> {
    let path = url.path_and_query().map_or("/", |path| path.as_str());
    let mut head = RequestHeader::build(Method::GET, path.as_bytes(), Some(5))?;
    head.insert_header(header::HOST, url.authority().map_or("", |authority| authority.as_str()))?;
    head.insert_header(header::USER_AGENT, USER_AGENT)?;
    head.insert_header(header::ACCEPT, HeaderValue::from_static("image/*, application/pdf"))?;
    head.insert_header(header::CONNECTION, HeaderValue::from_static("close"))?;
    Ok(head)
}

async fn body(session: &mut HttpSession) -> Result<Vec<u8>, FetchError> {
    let mut body = Vec::new();
    while let Some(piece) = session.read_body_bytes().await.map_err(|_| FetchError::Unreachable)? {
        if body.len() + piece.len() > LARGEST {
            return Err(FetchError::TooLarge);
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_urls_without_credentials_are_fetched() {
        for url in ["https://example.com/a.png", "http://example.com:8080/a?b#c", " https://example.com "] {
            assert!(parsed(url).is_ok(), "{url}");
        }
        for url in
            ["ftp://example.com/a", "file:///etc/passwd", "https://user@example.com/", "//example.com/a", "gs://bucket/a", "", "data:,x"]
        {
            assert!(parsed(url).is_err(), "{url}");
        }
    }

    #[test]
    fn redirects_are_resolved_against_where_they_came_from() {
        let base = parsed("https://a.example:8443/x/y.png?q").unwrap();
        for (target, expected) in [
            ("http://b.example/z", "http://b.example/z"),
            ("//b.example/z", "https://b.example/z"),
            ("/z?u=http://c", "https://a.example:8443/z?u=http://c"),
            ("z", "https://a.example:8443/x/z"),
        ] {
            assert_eq!(joined(&base, target).unwrap().to_string(), expected);
        }
        assert!(joined(&base, "file:///etc/passwd").is_err());
    }
}
