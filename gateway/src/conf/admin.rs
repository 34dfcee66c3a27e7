//! `admin` and `rate_cards`: the back office and where prices come from.

use std::net::{Ipv4Addr, SocketAddr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Period, Secret};

/// The admin secret and the settings of the admin service.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Admin {
    /// Opens `/admin` on the gateway. Empty: `SVC_ADMIN_SECRET`, or one generated into `data_dir`.
    #[serde(skip_serializing)]
    #[schemars(extend("default" = ""))]
    pub secret: Secret,
    /// Address and port of the admin service.
    pub listen: SocketAddr,
    /// Where the admin service finds `/admin`; empty means derived from `server.listen`.
    pub gateway_url: String,
    /// The directory of the console's static files; empty means none are served.
    pub console_dir: String,
}

/// The rate-card server. Without one, requests are logged and cost columns stay empty.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RateCards {
    /// The document's address; empty means not configured.
    pub url: String,
    /// A bearer token for it.
    #[serde(skip_serializing)]
    #[schemars(extend("default" = ""))]
    pub bearer: Secret,
    /// A user name and password for it, instead of a bearer token.
    pub basic: Option<Basic>,
    /// How often it is asked.
    pub interval: Period,
}

/// Credentials for HTTP Basic authentication.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Basic {
    /// The user name.
    pub username: String,
    /// The password.
    #[serde(skip_serializing)]
    pub password: Secret,
}

impl Default for Admin {
    fn default() -> Self {
        Self {
            secret: Secret::default(),
            listen: SocketAddr::from((Ipv4Addr::UNSPECIFIED, 8000)),
            gateway_url: String::new(),
            console_dir: "admin/console/dist".to_owned(),
        }
    }
}

impl Default for RateCards {
    fn default() -> Self {
        Self { url: String::new(), bearer: Secret::default(), basic: None, interval: Period::secs(3_600) }
    }
}
