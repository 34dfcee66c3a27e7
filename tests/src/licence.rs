//! Licences for tests, signed with the key in `tests/licence/`, which builds with debug assertions trust.
//!
//! They are made by this code and not by the gateway's own, so that each checks the other, and forged ones can be made as well.

use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::Ed25519KeyPair;
use serde_json::{Value, json};

/// The variable gateways read their licence from.
pub const VARIABLE: &str = "SVC_LICENSE_KEY";
/// Seconds of a day.
pub const DAY: i64 = 86_400;
/// The head of a licence.
pub const HEAD: &str = r#"{"alg":"EdDSA","typ":"JWT"}"#;

/// An Enterprise licence good for a year.
#[must_use]
pub fn enterprise() -> String {
    static LICENCE: OnceLock<String> = OnceLock::new();
    LICENCE.get_or_init(|| expiring("enterprise", now() + 365 * DAY)).clone()
}

/// A licence for an edition that expires, or expired, at a moment in Unix seconds.
#[must_use]
pub fn expiring(edition: &str, expires_at: i64) -> String {
    let mut claims = claims();
    claims["edition"] = json!(edition);
    claims["expires_at"] = json!(expires_at);
    signed(HEAD, &claims.to_string())
}

/// The claims of a good licence.
#[must_use]
pub fn claims() -> Value {
    let now = now();
    json!({"iss": "svc", "sub": "Tests", "edition": "enterprise", "issued_at": now - 400 * DAY, "expires_at": now + 365 * DAY})
}

/// Whatever head and claims, with a signature that holds.
///
/// # Panics
/// When the key of the tests is none.
#[must_use]
pub fn signed(head: &str, claims: &str) -> String {
    let message = format!("{}.{}", URL_SAFE_NO_PAD.encode(head), URL_SAFE_NO_PAD.encode(claims));
    let signature = key().sign(message.as_bytes());
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
}

/// Unix seconds.
///
/// # Panics
/// When the clock stands before 1970.
#[must_use]
pub fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is later than 1970");
    i64::try_from(now.as_secs()).expect("it is not that late")
}

fn key() -> Ed25519KeyPair {
    let pem = include_str!("../licence/private.pem");
    let body: String = pem.lines().filter(|line| !line.starts_with("-----")).collect();
    let der = base64::engine::general_purpose::STANDARD.decode(body).expect("the file is PEM");
    Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der).expect("the file holds an Ed25519 key")
}
