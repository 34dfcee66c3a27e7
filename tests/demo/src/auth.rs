//! Credentials, each taken only where the vendor takes it.

use serde_json::json;

use crate::call::{Call, Shape};
use crate::refusal::Refusal;

/// Keys that are valid; none listed means every key is.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keys(Vec<String>);

impl Keys {
    pub(crate) fn new(keys: Vec<String>) -> Self {
        Self(keys)
    }

    /// The credential of a call, if its shape's vendor would accept it.
    pub(crate) fn check(&self, shape: Shape, call: &Call) -> Result<String, Refusal> {
        match shape {
            Shape::ChatCompletions => self.chat_completions(call),
            Shape::Messages => self.messages(call),
            Shape::GenerateContent => self.generate_content(call),
        }
    }

    fn accepts(&self, key: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|known| known == key)
    }

    fn chat_completions(&self, call: &Call) -> Result<String, Refusal> {
        let Some(key) = bearer(call) else {
            return Err(Refusal::new(
                401,
                "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth \
                 (i.e. Authorization: Bearer YOUR_KEY).",
            ));
        };
        if self.accepts(&key) {
            return Ok(key);
        }
        let message = format!("Incorrect API key provided: {}. You can find your API key in your account settings.", masked(&key));
        Err(Refusal::new(401, message).code("invalid_api_key"))
    }

    fn messages(&self, call: &Call) -> Result<String, Refusal> {
        let own = call.header("x-api-key").filter(|key| !key.is_empty()).map(str::to_owned);
        let refused = if own.is_some() { "invalid x-api-key" } else { "Invalid bearer token" };
        match own.or_else(|| bearer(call)) {
            Some(key) if self.accepts(&key) => Ok(key),
            Some(_) => Err(Refusal::new(401, refused)),
            None => Err(Refusal::new(401, "x-api-key header is required")),
        }
    }

    fn generate_content(&self, call: &Call) -> Result<String, Refusal> {
        let key = call.header("x-goog-api-key").map(str::to_owned).or_else(|| call.query("key")).filter(|key| !key.is_empty());
        match key {
            Some(key) if self.accepts(&key) => Ok(key),
            Some(_) => Err(api_key_invalid()),
            None if call.header("authorization").is_some() => Err(Refusal::new(
                401,
                "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.",
            )),
            None => Err(Refusal::new(
                403,
                "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API \
                 consumer identity to call this API.",
            )),
        }
    }
}

fn api_key_invalid() -> Refusal {
    Refusal::invalid("API key not valid. Please pass a valid API key.").detail(json!({
        "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com",
        "metadata": {"service": "generativelanguage.googleapis.com"}}))
}

fn bearer(call: &Call) -> Option<String> {
    let (scheme, key) = call.header("authorization")?.split_once(' ')?;
    let key = key.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !key.is_empty()).then(|| key.to_owned())
}

fn masked(key: &str) -> String {
    let tail: String = key.chars().rev().take(4).collect::<Vec<_>>().into_iter().rev().collect();
    format!("{}{tail}", "*".repeat(8))
}
