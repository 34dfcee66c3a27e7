//! The forms of names, URLs and header lines.

use http::{HeaderName, HeaderValue, Uri};

/// Header lines that carry credentials, belong to one connection, or are made for every request.
const RESERVED: [&str; 24] = [
    "accept-encoding",
    "api-key",
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "set-cookie",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "x-amz-date",
    "x-amz-security-token",
    "x-api-key",
    "x-goog-api-key",
];
/// Those that are made for every call of the gateway's own.
const OF_CALLS: [&str; 7] = ["accept", "connection", "content-encoding", "content-length", "content-type", "host", "transfer-encoding"];
const OWN_PREFIX: &str = "x-svc-";

/// Whether a text can name something.
pub(super) fn is_name(text: &str) -> bool {
    (1..=256).contains(&text.chars().count()) && text.trim() == text && !text.chars().any(char::is_control)
}

/// What is wrong with the address of an HTTP service, if anything. The text is not repeated: it may hold a password.
pub(super) fn wrong_with_url(text: &str, may_have_query: bool) -> Option<&'static str> {
    let Ok(url) = text.parse::<Uri>() else { return Some("not a URL") };
    if !matches!(url.scheme_str(), Some("http" | "https")) {
        return Some("expected a URL that starts with http:// or https://");
    }
    match url.authority() {
        Some(authority) if authority.as_str().contains('@') => return Some("a URL here must not contain a user name or password"),
        Some(authority) if authority.host().is_empty() => return Some("the URL has no host"),
        Some(authority) if authority.as_str() != authority.host() && authority.port_u16().is_none_or(|port| port == 0) => {
            return Some("the URL has no valid port");
        }
        Some(_) => {}
        None => return Some("the URL has no host"),
    }
    if text.contains('#') {
        return Some("a URL here must not contain a fragment (#)");
    }
    (!may_have_query && text.contains('?')).then_some("a URL here must not contain a query (?)")
}

/// What is wrong with an extra header line, if anything.
pub(super) fn wrong_with_header(name: &str, value: &str) -> Option<&'static str> {
    let is_reserved = |name: &str| RESERVED.contains(&name) || name.starts_with(OWN_PREFIX);
    wrong_with_line(name, value, is_reserved, "this header is set by the gateway itself; credentials belong in `keys`")
}

/// What is wrong with a header line of a call that the gateway makes for itself, if anything. It may be a credential.
pub(super) fn wrong_with_call_header(name: &str, value: &str) -> Option<&'static str> {
    wrong_with_line(name, value, |name| OF_CALLS.contains(&name), "this header is set by the gateway itself")
}

fn wrong_with_line(name: &str, value: &str, is_reserved: impl Fn(&str) -> bool, reserved: &'static str) -> Option<&'static str> {
    let Ok(name) = HeaderName::from_bytes(name.as_bytes()) else { return Some("not a valid header name") };
    if is_reserved(name.as_str()) {
        return Some(reserved);
    }
    (!is_header_value(value)).then_some("the value cannot be sent in a header; it must be printable ASCII on one line")
}

/// Whether a text can be sent as a header's value as it is.
pub(super) fn is_header_value(text: &str) -> bool {
    HeaderValue::from_str(text).is_ok() && text.is_ascii() && !text.contains('\t') && text.trim() == text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_urls_are_plain_http_addresses() {
        for url in ["https://api.openai.com/v1", "http://127.0.0.1:9100", "http://[::1]:8080/x", "https://host/a%20b"] {
            assert_eq!(wrong_with_url(url, false), None, "{url}");
        }
        for url in [
            "",
            "api.openai.com",
            "/v1",
            "ftp://host",
            "file:///etc/passwd",
            "http://",
            "http://user@host",
            "http://user:pass@host/v1",
            "http://host/v1?key=1",
            "http://host/#a",
            "http://host:99999",
            "http://host:",
            "http://host:0",
            "http://ho st/",
            "http://host/\r\nx: y",
        ] {
            assert!(wrong_with_url(url, false).is_some(), "{url}");
        }
        assert_eq!(wrong_with_url("https://host/cards.json?edition=2", true), None);
    }

    #[test]
    fn credentials_and_connection_headers_cannot_be_added() {
        assert_eq!(wrong_with_header("OpenAI-Organization", "org-1"), None);
        for name in ["Authorization", "x-API-key", "Connection", "Transfer-Encoding", "Host", "X-Svc-Request-Id", "bad name", ""] {
            assert!(wrong_with_header(name, "x").is_some(), "{name}");
        }
        assert_eq!(wrong_with_call_header("Authorization", "Bearer x"), None, "a call has no other place for it");
        for (name, value) in [("Host", "x"), ("Content-Length", "1"), ("bad name", "x"), ("x-token", "a\nb")] {
            assert!(wrong_with_call_header(name, value).is_some(), "{name}");
        }
        for value in ["a\r\nb: c", "a\nb", "\u{1}", "ä", " a"] {
            assert!(wrong_with_header("x-team", value).is_some(), "{value:?}");
        }
    }
}
