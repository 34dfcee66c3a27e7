//! Tokens of Microsoft Entra for an application, by the client-credentials grant.

use std::time::Duration;

use serde::Deserialize;

use crate::conf::Secret;
use crate::fetch::{Call, Fetcher};
use crate::providers::credential::CredentialError;
use crate::providers::token::{Token, granted};
use crate::providers::transport::encoded;

const SERVICE: &str = "Microsoft Entra";
const AUTHORITY: &str = "https://login.microsoftonline.com";
const SCOPE: &str = "https://cognitiveservices.azure.com/.default";

/// An application of a directory.
pub(in crate::providers) struct Entra {
    url: String,
    client_id: String,
    client_secret: Secret,
    scope: String,
    fetcher: Fetcher,
}

/// An application as it is stored.
#[derive(Deserialize)]
struct Stored {
    tenant: String,
    client_id: String,
    client_secret: String,
    #[serde(default)]
    token_url: Option<String>,
    #[serde(default)]
    scope: Option<String>,
}

impl Entra {
    pub(in crate::providers) fn read(json: &str, fetcher: Fetcher) -> Result<Self, &'static str> {
        let stored: Stored = serde_json::from_str(json).map_err(|_| "its stored Entra application cannot be read")?;
        let url = stored.token_url.unwrap_or_else(|| format!("{AUTHORITY}/{}/oauth2/v2.0/token", encoded(&stored.tenant, b"")));
        Ok(Self {
            url,
            client_id: stored.client_id,
            client_secret: Secret::new(stored.client_secret),
            scope: stored.scope.unwrap_or_else(|| SCOPE.to_owned()),
            fetcher,
        })
    }

    pub(in crate::providers) async fn fetch(&self) -> Result<(Token, Option<Duration>), CredentialError> {
        let fields = [
            ("grant_type", "client_credentials"),
            ("client_id", &self.client_id),
            ("client_secret", self.client_secret.reveal()),
            ("scope", &self.scope),
        ];
        granted(&self.fetcher, SERVICE, &Call::form(&self.url, &fields)).await
    }
}
