//! What authorises a request: a key that is sent as it is, a token that is fetched, or keys that sign.

use std::fmt;
use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue, header};
use pingora::Result;
use svc_filters::wire::pieces::Pieces;

use super::bedrock::{AwsKeys, Signer, Signing};
use super::cache::Cached;
use super::token::{Minter, Token};
use crate::fetch::FetchError;

/// Why a credential cannot be had. No part of a secret is in it.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CredentialError {
    /// The service that gives it is out of reach.
    #[error("get a credential from {service}: {reason}")]
    Unreachable {
        /// Which service.
        service: &'static str,
        /// Why.
        reason: String,
    },
    /// The service refused.
    #[error("get a credential from {service}: it answered {status}{reason}")]
    Refused {
        /// Which service.
        service: &'static str,
        /// Its status.
        status: u16,
        /// Its own word for the reason, after a space.
        reason: String,
    },
    /// The answer is not understood.
    #[error("get a credential from {0}: its answer is not understood")]
    Unreadable(&'static str),
    /// There is no place to get it from.
    #[error("find {0}")]
    Missing(&'static str),
    /// A file with a part of it cannot be read.
    #[error("read {0}: {1}")]
    File(&'static str, String),
}

impl CredentialError {
    /// Whether the service refused for good, as opposed to being out of reach.
    #[must_use]
    pub const fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused { status: 400..=499, .. })
    }

    pub(super) fn unreachable(service: &'static str, error: &FetchError) -> Self {
        Self::Unreachable { service, reason: error.to_string() }
    }
}

/// One credential of a provider.
pub(super) enum Credential {
    /// Sent as it is.
    Plain(HeaderName, HeaderValue),
    /// A bearer token, fetched.
    Token(Arc<Cached<Minter>>),
    /// Signs each request.
    Aws(Arc<Signer>),
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain(..) => "Plain",
            Self::Token(_) => "Token",
            Self::Aws(_) => "Aws",
        })
    }
}

/// The authorisation of one try.
#[derive(Clone)]
pub struct Authorisation(Form);

#[derive(Clone)]
enum Form {
    Plain(HeaderName, HeaderValue),
    Token(Arc<Token>),
    Aws(Arc<Signer>, Arc<AwsKeys>),
}

impl fmt::Debug for Authorisation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Authorisation")
    }
}

impl Credential {
    pub(super) async fn authorise(&self) -> Result<Authorisation, CredentialError> {
        Ok(Authorisation(match self {
            Self::Plain(name, value) => Form::Plain(name.clone(), value.clone()),
            Self::Token(cached) => Form::Token(cached.get().await?),
            Self::Aws(signer) => Form::Aws(signer.clone(), signer.keys().await?),
        }))
    }

    /// Judges a refusal: whether the same credential is worth one more try, now that a stale token is dropped or the clock
    /// is put right.
    pub(super) fn renew(&self, used: &Authorisation, status: u16, headers: &HeaderMap) -> bool {
        match (self, &used.0) {
            (Self::Token(cached), Form::Token(token)) if status == 401 => {
                cached.drop_used(token);
                true
            }
            (Self::Aws(signer), Form::Aws(_, keys)) if matches!(status, 400 | 401 | 403) => signer.reconsider(keys, headers),
            _ => false,
        }
    }
}

impl Authorisation {
    /// Puts it on headers that are otherwise complete.
    pub(super) fn apply(&self, headers: &mut HeaderMap, path: &str, body: &Pieces) -> Result<()> {
        match &self.0 {
            Form::Plain(name, value) => headers.insert(name.clone(), value.clone()),
            Form::Token(token) => headers.insert(header::AUTHORIZATION, token.bearer().clone()),
            Form::Aws(signer, keys) => return signer.sign(headers, &Signing { keys, path, body }),
        };
        Ok(())
    }
}
