//! Who may call `/admin`: whoever knows the admin secret.

use std::fmt;

use http::{HeaderMap, header};
use pingora::http::RequestHeader;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::problem::Problem;
use crate::conf::Secret;

/// The admin secret's digest. Digests have one length, so that a comparison tells nothing of the secret's.
pub(super) struct Admin([u8; 32]);

impl Admin {
    pub(super) fn new(secret: &Secret) -> Self {
        Self(Sha256::digest(secret.reveal()).into())
    }

    /// Lets a request with the secret through.
    pub(super) fn check(&self, head: &RequestHeader) -> Result<(), Problem> {
        if self.is_in(&head.headers) { Ok(()) } else { Err(Problem::Unauthenticated) }
    }

    fn is_in(&self, headers: &HeaderMap) -> bool {
        let mut given = headers.get_all(header::AUTHORIZATION).iter();
        let (Some(value), None) = (given.next(), given.next()) else { return false };
        let Some((scheme, secret)) = value.to_str().ok().and_then(|value| value.split_once(' ')) else { return false };
        let digest: [u8; 32] = Sha256::digest(secret.trim()).into();
        scheme.eq_ignore_ascii_case("bearer") && bool::from(digest.ct_eq(&self.0))
    }
}

impl fmt::Debug for Admin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Admin(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lets(values: &[&str]) -> bool {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::AUTHORIZATION, value.parse().unwrap());
        }
        Admin::new(&Secret::new("the admin secret")).is_in(&headers)
    }

    #[test]
    fn only_the_admin_secret_as_bearer_is_let_in() {
        assert!(lets(&["Bearer the admin secret"]));
        assert!(lets(&["bearer the admin secret"]));
        for refused in [&[][..], &["Bearer"], &["Bearer "], &["Bearer the admin secre"], &["Basic the admin secret"], &["the admin secret"]]
        {
            assert!(!lets(refused), "{refused:?}");
        }
        assert!(!lets(&["Bearer the admin secret", "Bearer the admin secret"]), "two values are ambiguous");
    }
}
