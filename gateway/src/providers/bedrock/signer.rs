//! Who signs: the keys, where they come from, the region, and how far the vendor's clock is from ours.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use pingora::{ErrorType, OkOrErr, OrErr, Result};
use serde::Deserialize;
use svc_filters::wire::pieces::Pieces;
use time::format_description::well_known::Rfc2822;
use time::{Duration, OffsetDateTime};

use super::environment::Environment;
use super::sign::{AwsKeys, Request, Scope, authorization, hash, stamp};
use crate::conf::Secret;
use crate::fetch::Fetcher;
use crate::providers::cache::Cached;
use crate::providers::credential::CredentialError;
use crate::providers::transport::secret_value;

const SERVICE: &str = "bedrock";
const X_AMZ_DATE: HeaderName = HeaderName::from_static("x-amz-date");
const X_AMZ_SECURITY_TOKEN: HeaderName = HeaderName::from_static("x-amz-security-token");
pub(super) const ERROR_TYPE: HeaderName = HeaderName::from_static("x-amzn-errortype");
/// A difference of clocks that is not put right: signatures are good for five minutes.
const TOLERATED_SECONDS: i64 = 60;
/// Errors that speak of the time or of the signature that depends on it.
const TIME_ERRORS: [&str; 4] = ["InvalidSignatureException", "SignatureDoesNotMatch", "RequestExpired", "RequestTimeTooSkewed"];
/// Errors that speak of keys that are over.
const KEY_ERRORS: [&str; 3] = ["ExpiredTokenException", "ExpiredToken", "UnrecognizedClientException"];

/// Signs the requests of one credential.
pub(in crate::providers) struct Signer {
    keys: Keys,
    region: String,
    skew_seconds: AtomicI64,
}

enum Keys {
    Fixed(Arc<AwsKeys>),
    Fetched(Arc<Cached<Environment>>),
}

/// What one signature is made of.
pub(in crate::providers) struct Signing<'a> {
    pub(in crate::providers) keys: &'a AwsKeys,
    /// As on the wire.
    pub(in crate::providers) path: &'a str,
    pub(in crate::providers) body: &'a Pieces,
}

/// Keys as they are stored.
#[derive(Deserialize)]
struct Stored {
    access_key_id: String,
    secret_access_key: String,
    #[serde(default)]
    session_token: Option<String>,
}

impl Signer {
    /// Signs with stored keys.
    pub(in crate::providers) fn fixed(json: &str, region: String) -> std::result::Result<Self, &'static str> {
        let stored: Stored = serde_json::from_str(json).map_err(|_| "its stored AWS keys cannot be read")?;
        let keys = AwsKeys {
            access_key_id: stored.access_key_id,
            secret_access_key: Secret::new(stored.secret_access_key),
            session_token: stored.session_token.map(Secret::new),
        };
        Ok(Self { keys: Keys::Fixed(Arc::new(keys)), region, skew_seconds: AtomicI64::new(0) })
    }

    /// Signs with the keys the environment gives.
    pub(in crate::providers) fn from_environment(fetcher: Fetcher, region: String) -> Self {
        let environment = Environment::new(fetcher, region.clone());
        Self { keys: Keys::Fetched(Cached::new(environment)), region, skew_seconds: AtomicI64::new(0) }
    }

    /// The keys of now.
    pub(in crate::providers) async fn keys(&self) -> std::result::Result<Arc<AwsKeys>, CredentialError> {
        match &self.keys {
            Keys::Fixed(keys) => Ok(keys.clone()),
            Keys::Fetched(cached) => cached.get().await,
        }
    }

    /// Judges a refusal: `true` when the clock was put right or stale keys were dropped.
    pub(in crate::providers) fn reconsider(&self, used: &Arc<AwsKeys>, headers: &HeaderMap) -> bool {
        let kind = error_type(headers).unwrap_or_default();
        if KEY_ERRORS.contains(&kind)
            && let Keys::Fetched(cached) = &self.keys
        {
            cached.drop_used(used);
            return true;
        }
        TIME_ERRORS.contains(&kind) && self.set_clock(headers, OffsetDateTime::now_utc())
    }

    /// Takes over the vendor's clock where it is far from the one in use.
    fn set_clock(&self, headers: &HeaderMap, now: OffsetDateTime) -> bool {
        let date = headers.get(header::DATE).and_then(|value| value.to_str().ok());
        let Some(theirs) = date.and_then(|text| OffsetDateTime::parse(&text.replace("GMT", "+0000"), &Rfc2822).ok()) else { return false };
        let skew = (theirs - now).whole_seconds();
        let before = self.skew_seconds.load(Ordering::Relaxed);
        if (skew - before).abs() < TOLERATED_SECONDS {
            return false;
        }
        log::warn!("the clock here is {} seconds from that of AWS; requests are signed by theirs", -skew);
        self.skew_seconds.store(skew, Ordering::Relaxed);
        true
    }

    /// Puts the signature on headers that are otherwise complete.
    pub(in crate::providers) fn sign(&self, headers: &mut HeaderMap, signing: &Signing<'_>) -> Result<()> {
        let moment = OffsetDateTime::now_utc() + Duration::seconds(self.skew_seconds.load(Ordering::Relaxed));
        let time = stamp(moment);
        headers.insert(X_AMZ_DATE, HeaderValue::from_str(&time).or_err(ErrorType::InternalError, "time")?);
        if let Some(token) = &signing.keys.session_token {
            let token = secret_value(token.reveal()).or_err(ErrorType::InternalError, "session token")?;
            headers.insert(X_AMZ_SECURITY_TOKEN, token);
        }
        let signed = |name: &str| name == "host" || name == "content-type" || name.starts_with("x-amz-");
        let named = headers.iter().filter(|(name, _)| signed(name.as_str()));
        let named = named.filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?))).collect();
        let (path, query) = signing.path.split_once('?').unwrap_or((signing.path, ""));
        let mut request = Request { method: Method::POST.as_str(), path, query, headers: named, body_hash: hash(signing.body.both()) };
        let scope = Scope { region: &self.region, service: SERVICE, time: &time };
        let value = authorization(signing.keys, &mut request, &scope);
        let mut value = HeaderValue::from_str(&value).or_err(ErrorType::InternalError, "signature")?;
        value.set_sensitive(true);
        headers.insert(header::AUTHORIZATION, value);
        Ok(())
    }
}

/// The vendor's name of an error, without what may follow a colon.
pub(super) fn error_type(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(&ERROR_TYPE)?.to_str().ok()?;
    Some(value.split(':').next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signer() -> Signer {
        Signer::fixed(r#"{"access_key_id":"AKID","secret_access_key":"s"}"#, "us-east-1".to_owned()).unwrap()
    }

    fn refusal(kind: &str, date: &str) -> HeaderMap {
        HeaderMap::from_iter([(ERROR_TYPE, HeaderValue::from_str(kind).unwrap()), (header::DATE, HeaderValue::from_str(date).unwrap())])
    }

    #[test]
    fn a_clock_that_is_far_off_is_put_right_once() {
        let (signer, now) = (signer(), OffsetDateTime::from_unix_timestamp(1_440_938_160).unwrap());
        let refused = refusal("InvalidSignatureException:http://internal", "Sun, 30 Aug 2015 13:36:00 GMT");
        assert!(signer.set_clock(&refused, now));
        assert_eq!(signer.skew_seconds.load(Ordering::Relaxed), 3600);
        assert!(!signer.set_clock(&refused, now), "the time was not what it failed by");
    }

    #[test]
    fn other_refusals_are_final() {
        let signer = signer();
        let keys = match &signer.keys {
            Keys::Fixed(keys) => keys.clone(),
            Keys::Fetched(_) => unreachable!("they are fixed"),
        };
        assert!(!signer.reconsider(&keys, &refusal("AccessDeniedException", "Sun, 30 Aug 2015 13:36:00 GMT")));
        assert!(!signer.reconsider(&keys, &refusal("ExpiredTokenException", "Sun, 30 Aug 2015 13:36:00 GMT")));
    }
}
