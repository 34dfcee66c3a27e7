//! Bearer tokens that a service gives for something else.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use http::HeaderValue;
use serde::Deserialize;

use super::azure_openai::Entra;
use super::cache::Source;
use super::credential::CredentialError;
use super::transport::secret_value;
use super::vertex::{Metadata, ServiceAccount};
use crate::fetch::{Call, Fetched, Fetcher};

/// A token as it is sent.
pub(super) struct Token(HeaderValue);

impl Token {
    /// The value of the authorization header.
    pub(super) const fn bearer(&self) -> &HeaderValue {
        &self.0
    }
}

/// What gives tokens.
pub(super) enum Minter {
    ServiceAccount(Box<ServiceAccount>),
    Metadata(Metadata),
    Entra(Entra),
}

#[async_trait]
impl Source for Minter {
    type Value = Token;

    async fn fetch(&self) -> Result<(Token, Option<Duration>), CredentialError> {
        match self {
            Self::ServiceAccount(account) => account.fetch().await,
            Self::Metadata(metadata) => metadata.fetch().await,
            Self::Entra(entra) => entra.fetch().await,
        }
    }
}

/// The answer of a token service, RFC 6749 § 5.1. Some write the seconds as text.
#[derive(Deserialize)]
struct Granted {
    access_token: String,
    #[serde(default)]
    expires_in: Option<Seconds>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Seconds {
    Number(u64),
    Text(String),
}

/// A refusal, RFC 6749 § 5.2.
#[derive(Deserialize)]
struct Refused {
    error: String,
}

/// How long a token is kept whose service does not say.
const UNSAID: u64 = 300;

/// Makes the call that gets a token.
pub(super) async fn granted(
    fetcher: &Fetcher,
    service: &'static str,
    call: &Call<'_>,
) -> Result<(Token, Option<Duration>), CredentialError> {
    let answer = fetcher.fetch(call).await.map_err(|error| CredentialError::unreachable(service, &error))?;
    if answer.status != 200 {
        return Err(refusal(service, &answer));
    }
    let unreadable = || CredentialError::Unreadable(service);
    let granted: Granted = serde_json::from_slice(&answer.body).map_err(|_| unreadable())?;
    let token = secret_value(&format!("Bearer {}", granted.access_token)).ok_or_else(unreadable)?;
    let seconds = match granted.expires_in {
        Some(Seconds::Number(seconds)) => seconds,
        Some(Seconds::Text(text)) => text.parse().unwrap_or(UNSAID),
        None => UNSAID,
    };
    Ok((Token(token), Some(Duration::from_secs(seconds))))
}

/// The service's own word for why, where it is one word.
pub(super) fn refusal(service: &'static str, answer: &Fetched) -> CredentialError {
    let word = serde_json::from_slice::<Refused>(&answer.body).ok().map(|refused| refused.error);
    let word = word.filter(|word| word.len() <= 64 && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'));
    let reason = word.map_or_else(String::new, |word| format!(" {word}"));
    CredentialError::Refused { service, status: answer.status, reason }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}
