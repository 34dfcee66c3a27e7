//! Tokens of the account a machine or container on Google Cloud runs as.

use std::time::Duration;

use http::{HeaderName, HeaderValue};

use crate::fetch::{Call, Fetcher};
use crate::providers::credential::CredentialError;
use crate::providers::token::{Token, granted};

const SERVICE: &str = "the Google Cloud metadata service";
const PATH: &str = "/computeMetadata/v1/instance/service-accounts/default/token";
const FLAVOR: HeaderName = HeaderName::from_static("metadata-flavor");
/// The service is next to the process; it answers at once or not at all.
const NEAR: Duration = Duration::from_secs(3);

/// The metadata service.
pub(in crate::providers) struct Metadata {
    url: String,
    fetcher: Fetcher,
}

impl Metadata {
    /// Its host may be set by `GCE_METADATA_HOST`, as for the vendor's own kits.
    pub(in crate::providers) fn new(fetcher: Fetcher) -> Self {
        let host = std::env::var("GCE_METADATA_HOST").ok().filter(|host| !host.is_empty());
        let host = host.unwrap_or_else(|| "metadata.google.internal".to_owned());
        Self { url: format!("http://{host}{PATH}"), fetcher }
    }

    pub(in crate::providers) async fn fetch(&self) -> Result<(Token, Option<Duration>), CredentialError> {
        let call = Call::get(&self.url).within(NEAR).with_header(FLAVOR, HeaderValue::from_static("Google"));
        granted(&self.fetcher, SERVICE, &call).await
    }
}
