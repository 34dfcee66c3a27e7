//! A call of `/admin` as it arrives: its route, its bounded body, its conditions.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{Method, header};
use pingora::proxy::Session;

use super::problem::Problem;

/// The largest body.
const LARGEST: usize = 1024 * 1024;
/// How long a body may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(10);

/// What is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Route {
    Health,
    Licence,
    ExplainRouting,
    TestGuardrails,
    ListKeys,
    CreateKey,
    GetKey(String),
    UpdateKey(String),
    RevokeKey(String),
    RotateKey(String),
    ListUsers,
    CreateUser,
    GetUser(String),
    UpdateUser(String),
    DisableUser(String),
}

/// A call that was read.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) route: Route,
    pub(super) query: String,
    pub(super) if_match: Option<String>,
    pub(super) body: Bytes,
}

impl Route {
    /// Finds the route.
    pub(super) fn find(method: &Method, path: &str) -> Result<Self, Problem> {
        let parts: Vec<&str> = path.strip_prefix("/admin/").unwrap_or_default().split('/').collect();
        let method = if method == Method::HEAD { &Method::GET } else { method };
        match (parts.as_slice(), method.as_str()) {
            (["health"], "GET") => Ok(Self::Health),
            (["licence"], "GET") => Ok(Self::Licence),
            (["routing", "explain"], "POST") => Ok(Self::ExplainRouting),
            (["guardrails", "test"], "POST") => Ok(Self::TestGuardrails),
            (["keys"], "GET") => Ok(Self::ListKeys),
            (["keys"], "POST") => Ok(Self::CreateKey),
            (["users"], "GET") => Ok(Self::ListUsers),
            (["users"], "POST") => Ok(Self::CreateUser),
            (["keys", id], "GET") if is_id(id) => Ok(Self::GetKey((*id).to_owned())),
            (["keys", id], "PATCH") if is_id(id) => Ok(Self::UpdateKey((*id).to_owned())),
            (["keys", id], "DELETE") if is_id(id) => Ok(Self::RevokeKey((*id).to_owned())),
            (["keys", id, "rotate"], "POST") if is_id(id) => Ok(Self::RotateKey((*id).to_owned())),
            (["users", id], "GET") if is_id(id) => Ok(Self::GetUser((*id).to_owned())),
            (["users", id], "PATCH") if is_id(id) => Ok(Self::UpdateUser((*id).to_owned())),
            (["users", id], "DELETE") if is_id(id) => Ok(Self::DisableUser((*id).to_owned())),
            (["routing", "explain"] | ["guardrails", "test"], _) => Err(Problem::MethodNotAllowed("POST")),
            (["health" | "licence"], _) => Err(Problem::MethodNotAllowed("GET, HEAD")),
            (["keys" | "users"], _) => Err(Problem::MethodNotAllowed("GET, HEAD, POST")),
            (["keys" | "users", id], _) if is_id(id) => Err(Problem::MethodNotAllowed("GET, HEAD, PATCH, DELETE")),
            (["keys", id, "rotate"], _) if is_id(id) => Err(Problem::MethodNotAllowed("POST")),
            _ => Err(Problem::NotFound),
        }
    }

    /// Whether a body is read.
    const fn takes_body(&self) -> bool {
        matches!(
            self,
            Self::ExplainRouting
                | Self::TestGuardrails
                | Self::CreateKey
                | Self::UpdateKey(_)
                | Self::RotateKey(_)
                | Self::CreateUser
                | Self::UpdateUser(_)
        )
    }
}

fn is_id(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Reads a call whose sender is known.
pub(super) async fn read(session: &mut Session) -> Result<Call, Problem> {
    let head = session.req_header();
    let route = Route::find(&head.method, head.uri.path())?;
    let query = head.uri.query().unwrap_or_default().to_owned();
    let if_match = head.headers.get(header::IF_MATCH).map(|value| value.to_str().unwrap_or_default().to_owned());
    let body = if route.takes_body() { body(session).await? } else { Bytes::new() };
    Ok(Call { route, query, if_match, body })
}

async fn body(session: &mut Session) -> Result<Bytes, Problem> {
    let headers = &session.req_header().headers;
    let text = |name| headers.get(name).and_then(|value: &http::HeaderValue| value.to_str().ok());
    if text(header::CONTENT_LENGTH).and_then(|length| length.parse().ok()).is_some_and(|length: u64| length > LARGEST as u64) {
        return Err(Problem::TooLarge);
    }
    let json = text(header::CONTENT_TYPE).is_some_and(is_json);
    let encoded = text(header::CONTENT_ENCODING).is_some_and(|encoding| !encoding.eq_ignore_ascii_case("identity"));
    let expects = text(header::EXPECT).is_some_and(|value| value.eq_ignore_ascii_case("100-continue"));
    let empty = session.as_mut().is_body_empty();
    if encoded || (!json && !empty) {
        return Err(Problem::UnsupportedMediaType);
    }
    if expects && !empty {
        session.as_mut().write_continue_response().await.map_err(|_| interrupted())?;
    }
    match tokio::time::timeout(ARRIVAL, gather(session)).await {
        Ok(body) => body,
        Err(_) => Err(Problem::Malformed("The body did not arrive in time.".to_owned())),
    }
}

fn is_json(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}

async fn gather(session: &mut Session) -> Result<Bytes, Problem> {
    let mut body = BytesMut::new();
    while let Some(piece) = session.as_mut().read_request_body().await.map_err(|_| interrupted())? {
        if body.len() + piece.len() > LARGEST {
            return Err(Problem::TooLarge);
        }
        body.extend_from_slice(&piece);
    }
    Ok(body.freeze())
}

fn interrupted() -> Problem {
    Problem::Malformed("The body ended before it was complete.".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_is_found_and_wrong_methods_are_told_the_right_ones() {
        let find = |method: &str, path: &str| Route::find(&method.parse().unwrap(), path);
        assert_eq!(find("GET", "/admin/health"), Ok(Route::Health));
        assert_eq!(find("GET", "/admin/licence"), Ok(Route::Licence));
        assert_eq!(find("PUT", "/admin/licence"), Err(Problem::MethodNotAllowed("GET, HEAD")));
        assert_eq!(find("POST", "/admin/routing/explain"), Ok(Route::ExplainRouting));
        assert_eq!(find("GET", "/admin/routing/explain"), Err(Problem::MethodNotAllowed("POST")));
        assert_eq!(find("POST", "/admin/guardrails/test"), Ok(Route::TestGuardrails));
        assert_eq!(find("PUT", "/admin/guardrails/test"), Err(Problem::MethodNotAllowed("POST")));
        assert_eq!(find("HEAD", "/admin/keys"), Ok(Route::ListKeys));
        assert_eq!(find("POST", "/admin/keys"), Ok(Route::CreateKey));
        assert_eq!(find("PATCH", "/admin/keys/0a-1"), Ok(Route::UpdateKey("0a-1".into())));
        assert_eq!(find("DELETE", "/admin/users/7"), Ok(Route::DisableUser("7".into())));
        assert_eq!(find("POST", "/admin/keys/7/rotate"), Ok(Route::RotateKey("7".into())));
        assert_eq!(find("PUT", "/admin/keys"), Err(Problem::MethodNotAllowed("GET, HEAD, POST")));
        assert_eq!(find("GET", "/admin/keys/7/rotate"), Err(Problem::MethodNotAllowed("POST")));
        assert_eq!(find("POST", "/admin/health"), Err(Problem::MethodNotAllowed("GET, HEAD")));
        for path in ["/admin/", "/admin/keys/", "/admin/keys/a%2f", "/admin/keys/7/rotate/", "/admin/users/7/rotate", "/admin/providers"] {
            assert_eq!(find("GET", path), Err(Problem::NotFound), "{path}");
        }
    }
}
