//! The `auth` filter: who calls, and which models they may call.

use std::borrow::Cow;
use std::sync::Arc;

use http::{HeaderMap, HeaderName};

use super::{Key, Lookup};
use crate::filter::{Filter, Place, Request};
use crate::policy::Policy;
use crate::verdict::{Code, Rejection, Verdict};

/// Headers that may carry a key, beside `Authorization: Bearer`.
static KEY_HEADERS: [HeaderName; 3] =
    [HeaderName::from_static("x-api-key"), HeaderName::from_static("api-key"), HeaderName::from_static("x-goog-api-key")];

/// Resolves the presented secret to a key and checks the model against it.
#[derive(Clone, Copy, Debug)]
pub struct AuthFilter;

impl Filter for AuthFilter {
    fn name(&self) -> &'static str {
        "auth"
    }

    fn check(&self, place: &Place<'_>) -> Result<(), String> {
        if place.position == 0 { Ok(()) } else { Err("it has to be the first filter".to_owned()) }
    }

    fn on_head(&self, request: &mut Request<'_>) -> Verdict {
        let secret = match presented(request.headers, request.query) {
            Ok(Some(secret)) => secret,
            Ok(None) => {
                let message = "No API key was given. Send a key issued by this service, for example as `Authorization: Bearer <key>`.";
                return Rejection::new(Code::KeyNotFound, message).into();
            }
            Err(rejection) => return rejection.into(),
        };
        match request.policy.keys.find(&secret, request.now) {
            Lookup::Unknown => Rejection::new(Code::KeyNotFound, "The API key is not known to this service.").into(),
            Lookup::Refused(_) => Rejection::new(Code::KeyDisabled, "The API key is disabled, revoked or expired.").into(),
            Lookup::Valid(key) => {
                request.key = Some(key);
                Verdict::Continue
            }
        }
    }

    fn on_request(&self, request: &mut Request<'_>) -> Verdict {
        let allowed = request.key.as_ref().is_some_and(|key| may_call(key, request.model, request.policy));
        if allowed {
            return Verdict::Continue;
        }
        Rejection::new(Code::ModelNotAllowed, format!("This API key may not call the model `{}`.", request.model))
            .with_param("model")
            .into()
    }
}

/// Whether a key may call a model, by any of the model's names.
#[must_use]
pub fn may_call(key: &Key, model: &str, policy: &Policy) -> bool {
    let Some(allowed) = &key.allowed_models else { return true };
    if allowed.iter().any(|name| &**name == model) {
        return true;
    }
    let Some(wanted) = policy.models.find(model) else { return false };
    allowed.iter().any(|name| policy.models.find(name).is_some_and(|entry| Arc::ptr_eq(entry, wanted)))
}

/// The one secret a request presents. Empty values are ignored; two that differ are refused.
fn presented<'a>(headers: &'a HeaderMap, query: Option<&'a str>) -> Result<Option<Cow<'a, str>>, Rejection> {
    let bearer = headers.get_all(http::header::AUTHORIZATION).iter().map(|value| value.to_str().map(bearer_token));
    let others = KEY_HEADERS.iter().flat_map(|name| headers.get_all(name)).map(|value| value.to_str());
    let mut found: Option<Cow<'a, str>> = None;
    for text in bearer.chain(others) {
        let text = text.map_err(|_| Rejection::new(Code::KeyNotFound, "The API key holds characters no key has."))?;
        keep(&mut found, Cow::Borrowed(text.trim()))?;
    }
    if let Some(query) = query {
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            if name == "key" {
                keep(&mut found, value)?;
            }
        }
    }
    Ok(found)
}

fn keep<'a>(found: &mut Option<Cow<'a, str>>, text: Cow<'a, str>) -> Result<(), Rejection> {
    if text.is_empty() {
        return Ok(());
    }
    match found {
        Some(first) if *first != text => {
            Err(Rejection::new(Code::KeyNotFound, "The request carries two different API keys; send exactly one."))
        }
        _ => {
            *found = Some(text);
            Ok(())
        }
    }
}

/// The token after `Bearer`; another scheme gives a token that no key has.
fn bearer_token(value: &str) -> &str {
    match value.split_at_checked(7) {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer ") => token,
        _ if value.eq_ignore_ascii_case("bearer") => "",
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (http::HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    fn found(pairs: &[(&'static str, &'static str)], query: Option<&str>) -> Option<String> {
        presented(&headers(pairs), query).expect("one key").map(Cow::into_owned)
    }

    #[test]
    fn a_key_is_found_in_every_place_sdks_put_it() {
        assert_eq!(found(&[("authorization", "Bearer k")], None).as_deref(), Some("k"));
        assert_eq!(found(&[("authorization", "bearer k")], None).as_deref(), Some("k"));
        for name in &KEY_HEADERS {
            assert_eq!(found(&[(name.as_str(), "k")], None).as_deref(), Some("k"), "{name}");
        }
        assert_eq!(found(&[], Some("alt=sse&key=a%2Bb")).as_deref(), Some("a+b"));
    }

    #[test]
    fn an_empty_key_is_ignored_beside_a_real_one() {
        assert_eq!(found(&[("x-goog-api-key", ""), ("authorization", "Bearer k")], Some("key=")).as_deref(), Some("k"));
        assert_eq!(found(&[("authorization", "Bearer ")], None), None);
    }

    #[test]
    fn two_different_keys_are_refused_and_two_equal_ones_are_one() {
        assert!(presented(&headers(&[("x-api-key", "a"), ("authorization", "Bearer b")]), None).is_err());
        assert_eq!(found(&[("x-api-key", "a"), ("authorization", "Bearer a")], Some("key=a")).as_deref(), Some("a"));
    }
}
