//! Tokens of a Google Cloud service account, for an assertion signed with its key (RFC 7523).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject;
use serde::Deserialize;
use serde_json::json;

use crate::fetch::{Call, Fetcher};
use crate::providers::credential::CredentialError;
use crate::providers::token::{Token, granted};

const SERVICE: &str = "the Google Cloud token service";
const GRANT: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";
const TOKEN_URI: &str = "https://oauth2.googleapis.com/token";
/// How long an assertion is good for, the most the service takes.
const LIFETIME: u64 = 3600;
/// How far an assertion is dated back, for a clock that is ahead.
const DATED_BACK: u64 = 10;

/// A service account with its key.
pub(in crate::providers) struct ServiceAccount {
    email: String,
    key_id: Option<String>,
    key: RsaKeyPair,
    token_uri: String,
    fetcher: Fetcher,
}

/// The vendor's key file; the rest of it is not used.
#[derive(Deserialize)]
struct KeyFile {
    client_email: String,
    private_key: String,
    #[serde(default)]
    private_key_id: Option<String>,
    #[serde(default)]
    token_uri: Option<String>,
}

impl ServiceAccount {
    /// Reads the key file. The key may be in either of the forms RSA keys come in.
    pub(in crate::providers) fn read(json: &str, fetcher: Fetcher) -> Result<Self, &'static str> {
        let file: KeyFile =
            serde_json::from_str(json).map_err(|_| "its service account file is not the JSON key file of a service account")?;
        Ok(Self {
            email: file.client_email,
            key_id: file.private_key_id,
            key: key(&file.private_key).ok_or("the private key of its service account cannot be read")?,
            token_uri: file.token_uri.unwrap_or_else(|| TOKEN_URI.to_owned()),
            fetcher,
        })
    }

    pub(in crate::providers) async fn fetch(&self) -> Result<(Token, Option<Duration>), CredentialError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let assertion = self.assertion(now.saturating_sub(DATED_BACK)).ok_or(CredentialError::Missing("randomness to sign with"))?;
        let fields = [("grant_type", GRANT), ("assertion", assertion.as_str())];
        granted(&self.fetcher, SERVICE, &Call::form(&self.token_uri, &fields)).await
    }

    fn assertion(&self, issued: u64) -> Option<String> {
        let mut head = json!({"alg": "RS256", "typ": "JWT"});
        if let (Some(id), Some(head)) = (&self.key_id, head.as_object_mut()) {
            head.insert("kid".to_owned(), json!(id));
        }
        let claims = json!({
            "iss": self.email,
            "scope": SCOPE,
            "aud": self.token_uri,
            "iat": issued,
            "exp": issued + LIFETIME,
        });
        let mut text = format!("{}.{}", URL_SAFE_NO_PAD.encode(head.to_string()), URL_SAFE_NO_PAD.encode(claims.to_string()));
        let mut signature = vec![0; self.key.public().modulus_len()];
        self.key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), text.as_bytes(), &mut signature).ok()?;
        text.push('.');
        URL_SAFE_NO_PAD.encode_string(&signature, &mut text);
        Some(text)
    }
}

fn key(pem: &str) -> Option<RsaKeyPair> {
    // Some ways of passing the file on leave the line ends escaped.
    let pem = pem.replace("\\n", "\n");
    match PrivateKeyDer::from_pem_slice(pem.as_bytes()).ok()? {
        PrivateKeyDer::Pkcs8(key) => RsaKeyPair::from_pkcs8(key.secret_pkcs8_der()).ok(),
        PrivateKeyDer::Pkcs1(key) => RsaKeyPair::from_der(key.secret_pkcs1_der()).ok(),
        _ => None,
    }
}
