//! Access tokens for Vertex: the exchange of a signed assertion for a token, and the project the token is good for.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parking_lot::Mutex;
use ring::rsa;
use ring::signature::{self, RsaKeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use serde_json::{Value, json};

use crate::call::Call;
use crate::options::Options;
use crate::refusal::Refusal;

const GRANT: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";
/// The service itself also takes its public address, whatever the file says; its own library relies on that.
const PUBLIC_AUDIENCE: &str = "https://oauth2.googleapis.com/token";
const LONGEST_SECONDS: u64 = 3600;
const SKEW_SECONDS: u64 = 60;

/// Why a service account's file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum GoogleError {
    /// It cannot be read.
    #[error("read the service account's file")]
    Read(#[from] std::io::Error),
    /// It is not the JSON it should be.
    #[error("parse the service account's file")]
    Parse(#[from] serde_json::Error),
    /// It has no usable private key.
    #[error("use the service account's private key")]
    Key,
}

/// One service account: the key whose signatures hold and the tokens given out.
#[derive(Debug, Clone)]
pub(crate) struct Google(Arc<Account>);

#[derive(Debug)]
struct Account {
    email: String,
    key_id: String,
    project: String,
    location: Option<String>,
    token_uri: String,
    public: rsa::PublicKeyComponents<Vec<u8>>,
    lifetime: Duration,
    granted: AtomicU64,
    tokens: Mutex<HashMap<String, Instant>>,
}

impl Google {
    pub(crate) fn read(file: &Path, options: &Options) -> Result<Self, GoogleError> {
        let account: Value = serde_json::from_slice(&std::fs::read(file)?)?;
        let text = |name: &str| account.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let public = public(&text("private_key")).ok_or(GoogleError::Key)?;
        Ok(Self(Arc::new(Account {
            email: text("client_email"),
            key_id: text("private_key_id"),
            project: text("project_id"),
            location: options.vertex_location.clone(),
            token_uri: text("token_uri"),
            public,
            lifetime: Duration::from_secs(options.token_seconds),
            granted: AtomicU64::new(0),
            tokens: Mutex::default(),
        })))
    }

    pub(super) fn issued(&self, token: &str) -> bool {
        self.0.tokens.lock().get(token).is_some_and(|until| *until > Instant::now())
    }

    /// How many tokens were given out, and how many of them are valid.
    pub(crate) fn counts(&self) -> Value {
        let valid = self.0.tokens.lock().values().filter(|until| **until > Instant::now()).count();
        json!({"granted": self.0.granted.load(Ordering::Relaxed), "valid": valid})
    }

    /// Makes every token given out so far invalid.
    pub(crate) fn revoke(&self) {
        self.0.tokens.lock().clear();
    }

    /// Refuses another project than the account's and another location than the one served.
    pub(super) fn place(&self, call: &Call) -> Result<(), Refusal> {
        let mut segments = call.uri.path().split('/').skip_while(|segment| *segment != "projects").skip(1);
        let (project, location) = (segments.next().unwrap_or_default(), segments.nth(1).unwrap_or_default());
        if project != self.0.project {
            let message =
                format!("Permission 'aiplatform.endpoints.predict' denied on resource '//aiplatform.googleapis.com/projects/{project}'.");
            return Err(Refusal::new(403, message));
        }
        if self.0.location.as_deref().is_some_and(|served| served != location) {
            let message = format!(
                "Publisher Model `projects/{project}/locations/{location}` was not found or your project does not have access to it."
            );
            return Err(Refusal::new(404, message));
        }
        Ok(())
    }

    /// Answers `POST /token`.
    pub(crate) fn grant(&self, call: &Call) -> Response {
        match self.assertion(call) {
            Ok(()) => {
                let number = self.0.granted.fetch_add(1, Ordering::Relaxed) + 1;
                let token = format!("ya29.demo-{number}-{}", call.exchange.number);
                self.0.tokens.lock().insert(token.clone(), Instant::now() + self.0.lifetime);
                axum::Json(json!({"access_token": token, "expires_in": self.0.lifetime.as_secs(), "token_type": "Bearer"})).into_response()
            }
            Err((error, description)) => {
                let body = axum::Json(json!({"error": error, "error_description": description}));
                (StatusCode::BAD_REQUEST, body).into_response()
            }
        }
    }

    fn assertion(&self, call: &Call) -> Result<(), (&'static str, &'static str)> {
        let form: HashMap<String, String> = form_urlencoded::parse(&call.body).into_owned().collect();
        let kind = call.header("content-type").unwrap_or_default();
        if !kind.starts_with("application/x-www-form-urlencoded") || form.get("grant_type").is_none_or(|grant| grant != GRANT) {
            return Err(("unsupported_grant_type", "Invalid grant_type: "));
        }
        let assertion = form.get("assertion").ok_or(("invalid_grant", "Missing assertion"))?;
        let (signed, proof) = assertion.rsplit_once('.').ok_or(("invalid_grant", "Malformed assertion"))?;
        let (header, claims) = signed.split_once('.').ok_or(("invalid_grant", "Malformed assertion"))?;
        let (header, claims) = (decoded(header), decoded(claims));
        let is = |value: &Value, name: &str, wanted: &str| value.get(name).and_then(Value::as_str) == Some(wanted);
        if !is(&header, "alg", "RS256") || !is(&header, "kid", &self.0.key_id) || !is(&claims, "iss", &self.0.email) {
            return Err(("invalid_grant", "Invalid grant: account not found"));
        }
        let proof = URL_SAFE_NO_PAD.decode(proof).unwrap_or_default();
        let valid = self.0.public.verify(&signature::RSA_PKCS1_2048_8192_SHA256, signed.as_bytes(), &proof);
        valid.map_err(|_| ("invalid_grant", "Invalid JWT Signature."))?;
        self.claims(&claims)
    }

    fn claims(&self, claims: &Value) -> Result<(), (&'static str, &'static str)> {
        let number = |name: &str| claims.get(name).and_then(Value::as_u64).unwrap_or(0);
        let text = |name: &str| claims.get(name).and_then(Value::as_str).unwrap_or_default();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let (issued, expires) = (number("iat"), number("exp"));
        let in_time = issued <= now + SKEW_SECONDS && expires > now && expires <= issued + LONGEST_SECONDS;
        if !in_time {
            let words = "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp \
                         values in the JWT claim.";
            return Err(("invalid_grant", words));
        }
        // A file without an address serves an instance whose port is not known before it listens.
        let audience = text("aud");
        let meant = if self.0.token_uri.is_empty() { audience.ends_with("/token") } else { audience == self.0.token_uri };
        if !meant && audience != PUBLIC_AUDIENCE {
            return Err(("invalid_grant", "Invalid JWT: Failed audience check."));
        }
        if !text("scope").split(' ').any(|scope| scope == SCOPE) {
            return Err(("invalid_scope", "Invalid OAuth scope or ID token audience provided."));
        }
        Ok(())
    }
}

fn decoded(part: &str) -> Value {
    let bytes = URL_SAFE_NO_PAD.decode(part).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// The public half of a private key in PEM.
fn public(pem: &str) -> Option<rsa::PublicKeyComponents<Vec<u8>>> {
    let pair = match PrivateKeyDer::from_pem_slice(pem.as_bytes()).ok()? {
        PrivateKeyDer::Pkcs8(der) => RsaKeyPair::from_pkcs8(der.secret_pkcs8_der()).ok()?,
        PrivateKeyDer::Pkcs1(der) => RsaKeyPair::from_der(der.secret_pkcs1_der()).ok()?,
        _ => return None,
    };
    Some(pair.public().into())
}
