//! Credentials, each taken only where the vendor takes it.

mod aws;
mod google;

use serde_json::json;

pub(crate) use aws::Aws;
pub(crate) use google::Google;
pub use google::GoogleError;

use crate::call::Call;
use crate::options::Options;
use crate::refusal::Refusal;
use crate::vendor::Vendor;

/// Who may call. Nothing listed for a vendor means that every credential of the right form is valid there.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    keys: Vec<String>,
    aws: Option<Aws>,
    pub(crate) google: Option<Google>,
}

impl Access {
    pub(crate) fn new(options: &Options) -> Result<Self, GoogleError> {
        let google = options.service_account.as_deref().map(|file| Google::read(file, options)).transpose()?;
        Ok(Self { keys: options.keys.clone(), aws: options.aws.clone().map(Aws::new), google })
    }

    /// The credential of a call, if its vendor would accept it.
    pub(crate) fn check(&self, call: &Call) -> Result<String, Refusal> {
        match call.vendor {
            Vendor::OpenAi => self.chat_completions(call),
            Vendor::Azure => self.azure(call),
            Vendor::Anthropic => self.messages(call),
            Vendor::Bedrock => self.bedrock(call),
            Vendor::Gemini => self.generate_content(call),
            Vendor::Vertex | Vendor::VertexClaude => self.vertex(call),
        }
    }

    fn accepts(&self, key: &str) -> bool {
        self.keys.is_empty() || self.keys.iter().any(|known| known == key)
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

    fn azure(&self, call: &Call) -> Result<String, Refusal> {
        let key = call.header("api-key").filter(|key| !key.is_empty()).map(str::to_owned).or_else(|| bearer(call));
        let refused = || {
            Refusal::new(
                401,
                "Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an active \
                 subscription and use a correct regional API endpoint for your resource.",
            )
        };
        key.filter(|key| self.accepts(key)).ok_or_else(refused)
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

    /// A signature of the account's key, or an API key of the service.
    fn bedrock(&self, call: &Call) -> Result<String, Refusal> {
        if let Some(key) = bearer(call) {
            return if self.accepts(&key) {
                Ok(key)
            } else {
                Err(aws::denied("Invalid API Key format: Must start with pre-defined prefix"))
            };
        }
        aws::verify(self.aws.as_ref(), call)
    }

    fn generate_content(&self, call: &Call) -> Result<String, Refusal> {
        let key = call.header("x-goog-api-key").map(str::to_owned).or_else(|| call.query("key")).filter(|key| !key.is_empty());
        match key {
            Some(key) if self.accepts(&key) => Ok(key),
            Some(_) => Err(api_key_invalid()),
            None if call.header("authorization").is_some() => Err(unauthenticated()),
            None => Err(Refusal::new(
                403,
                "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API \
                 consumer identity to call this API.",
            )),
        }
    }

    fn vertex(&self, call: &Call) -> Result<String, Refusal> {
        let token = bearer(call).ok_or_else(unauthenticated)?;
        match &self.google {
            Some(google) if google.issued(&token) => google.place(call).map(|()| token),
            Some(_) => Err(unauthenticated()),
            None => Ok(token),
        }
    }
}

fn unauthenticated() -> Refusal {
    Refusal::new(
        401,
        "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.",
    )
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
