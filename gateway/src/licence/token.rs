//! The licence itself: a JWT signed with Ed25519.
//!
//! Whether it has expired is not decided here but by the state machine, so `exp` and `nbf` mean nothing.

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::crypto;
use super::keys::{SigningKey, VerifyingKey};
use super::{DAY, Edition};

/// Who issues licences.
const ISSUER: &str = "svc";
/// Bytes of the longest token that is looked at.
pub(super) const LONGEST: usize = 8 * 1024;
/// Characters of the longest name of a customer.
const LONGEST_CUSTOMER: usize = 200;
/// Moments in which a licence may have been issued or expire: the years 2000 to 9999.
const MOMENTS: std::ops::RangeInclusive<i64> = 946_684_800..=253_402_300_799;
/// How far ahead the issuer's clock may be, in seconds.
const SKEW: i64 = DAY;

/// What a licence says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claims {
    /// Whom it was issued to.
    pub customer: String,
    /// What it is for.
    pub edition: Edition,
    /// Unix seconds.
    pub issued_at: i64,
    /// Unix seconds.
    pub expires_at: i64,
}

/// A licence whose signature holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// What it says.
    pub claims: Claims,
    /// The key that verified it.
    pub key: String,
}

/// Why a text is no licence. Never holds any of the text but the name of a claim.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// Too long to be one.
    #[error("it is longer than {LONGEST} bytes")]
    TooLong,
    /// Not three parts of base64 with JSON in them.
    #[error("it is no JWT; part of it may be missing")]
    Malformed,
    /// The head says something that licences do not say.
    #[error("its head is not a licence's: only `alg`, `typ` and `kid` may be there, each once, and `alg` must be EdDSA")]
    Head,
    /// No trusted key made the signature.
    #[error("none of the keys that this build trusts ({0}) has signed it, or it was changed since")]
    Signature(usize),
    /// A claim is not what it should be.
    #[error("its claim `{claim}` {wrong}")]
    Claim {
        /// Its name.
        claim: &'static str,
        /// What is wrong with it.
        wrong: &'static str,
    },
    /// A claim is there twice.
    #[error("its claims are no JSON object that says each thing once")]
    Claims,
}

/// Reads a licence; `now` is Unix seconds.
///
/// # Errors
/// When it is none, or none of `keys` signed it.
pub fn verify(token: &str, keys: &[VerifyingKey], now: i64) -> Result<Verified, Unusable> {
    if token.len() > LONGEST {
        return Err(Unusable::TooLong);
    }
    crypto::install();
    let head = jsonwebtoken::decode_header(token).map_err(|error| bad_head(&error))?;
    check_head(&head)?;
    let (message, signature) = token.rsplit_once('.').ok_or(Unusable::Malformed)?;
    let signed_by = |key: &&VerifyingKey| {
        let key = DecodingKey::from_ed_der(key.bytes());
        jsonwebtoken::crypto::verify(signature, message.as_bytes(), &key, Algorithm::EdDSA).unwrap_or(false)
    };
    let key = keys.iter().find(signed_by).ok_or(Unusable::Signature(keys.len()))?;
    Ok(Verified { claims: Claims::read(&payload(message)?, now)?, key: key.name.clone() })
}

/// Signs a licence.
///
/// # Errors
/// When one of its claims would be refused, with the reason.
pub fn sign(claims: &Claims, key: &SigningKey, now: i64) -> Result<String, Unusable> {
    crypto::install();
    let object = claims.object();
    Claims::read(&object, now)?;
    let key = EncodingKey::from_ed_der(key.pkcs8());
    jsonwebtoken::encode(&Header::new(Algorithm::EdDSA), &object, &key).map_err(|_| Unusable::Malformed)
}

fn bad_head(error: &Error) -> Unusable {
    match error.kind() {
        ErrorKind::Json(cause) if !cause.is_eof() => Unusable::Head,
        _ => Unusable::Malformed,
    }
}

/// The claims of a message whose signature holds.
fn payload(message: &str) -> Result<Map<String, Value>, Unusable> {
    let (_, payload) = message.split_once('.').ok_or(Unusable::Malformed)?;
    let json = URL_SAFE_NO_PAD.decode(payload).map_err(|_| Unusable::Malformed)?;
    serde_json::from_slice(&json).map(|Once(claims)| claims).map_err(|_| Unusable::Claims)
}

/// Refuses heads that ask for more than a signature: keys of their own, extensions, encryption.
fn check_head(head: &Header) -> Result<(), Unusable> {
    let plain = Header { typ: head.typ.clone(), kid: head.kid.clone(), ..Header::new(Algorithm::EdDSA) };
    let is_jwt = head.typ.as_ref().is_none_or(|typ| typ.eq_ignore_ascii_case("jwt"));
    if *head == plain && is_jwt { Ok(()) } else { Err(Unusable::Head) }
}

impl Claims {
    fn read(object: &Map<String, Value>, now: i64) -> Result<Self, Unusable> {
        let wrong = |claim, wrong| Unusable::Claim { claim, wrong };
        let text = |claim| object.get(claim).and_then(Value::as_str).ok_or_else(|| wrong(claim, "is missing or no text"));
        if text("iss")? != ISSUER {
            return Err(wrong("iss", "is another issuer's"));
        }
        let customer = text("sub")?;
        let is_name = !customer.trim().is_empty() && customer.chars().count() <= LONGEST_CUSTOMER && !customer.contains(char::is_control);
        if !is_name {
            return Err(wrong("sub", "is not the name of a customer: 1 to 200 printable characters"));
        }
        let edition = Edition::called(text("edition")?).ok_or_else(|| wrong("edition", "is neither community nor enterprise"))?;
        let moment = |claim| match object.get(claim).and_then(Value::as_i64) {
            Some(seconds) if MOMENTS.contains(&seconds) => Ok(seconds),
            _ => Err(wrong(claim, "is missing or no moment in whole Unix seconds")),
        };
        let (expires_at, issued_at) = (moment("expires_at")?, moment("issued_at")?);
        if issued_at > now.saturating_add(SKEW) {
            return Err(wrong("issued_at", "lies in the future; is this machine's clock right?"));
        }
        Ok(Self { customer: customer.to_owned(), edition, issued_at, expires_at })
    }

    fn object(&self) -> Map<String, Value> {
        let claims = BTreeMap::from([
            ("iss", ISSUER.into()),
            ("sub", self.customer.as_str().into()),
            ("edition", self.edition.as_str().into()),
            ("issued_at", self.issued_at.into()),
            ("expires_at", self.expires_at.into()),
        ]);
        claims.into_iter().map(|(name, value): (_, Value)| (name.to_owned(), value)).collect()
    }
}

/// A JSON object that says each thing once: readers that differ in which of two values they take would read two licences.
struct Once(Map<String, Value>);

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Once;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Once, A::Error> {
                let mut object = Map::new();
                while let Some((name, value)) = members.next_entry::<String, Value>()? {
                    if object.insert(name, value).is_some() {
                        return Err(A::Error::custom("a claim twice"));
                    }
                }
                Ok(Once(object))
            }
        }

        deserializer.deserialize_map(Members)
    }
}

#[cfg(test)]
mod tests;
