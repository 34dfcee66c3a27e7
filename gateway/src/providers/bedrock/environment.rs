//! AWS keys from where the process runs, in the order of the vendor's own kits: variables, a web identity, the container, the
//! machine.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use http::{HeaderName, HeaderValue, Method, Uri, header};
use serde::Deserialize;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::sign::AwsKeys;
use crate::conf::Secret;
use crate::fetch::{Call, Fetched, Fetcher};
use crate::providers::cache::Source;
use crate::providers::credential::CredentialError;
use crate::providers::token::refusal;
use crate::providers::transport::secret_value;

const STS: &str = "the AWS token service";
const CONTAINER: &str = "the container's credential service";
const MACHINE: &str = "the machine's metadata service";
const CONTAINER_HOST: &str = "http://169.254.170.2";
const MACHINE_HOST: &str = "http://169.254.169.254";
const MACHINE_ROLES: &str = "/latest/meta-data/iam/security-credentials/";
const TOKEN_TTL: HeaderName = HeaderName::from_static("x-aws-ec2-metadata-token-ttl-seconds");
const TOKEN: HeaderName = HeaderName::from_static("x-aws-ec2-metadata-token");
/// Services next to the process answer at once or not at all.
const NEAR: Duration = Duration::from_secs(2);

/// How long keys are used whose end does not fit the clock here.
const UNSURE: Duration = Duration::from_secs(60);

/// The value of an environment variable.
type Variables = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Keys from the process's surroundings.
pub(super) struct Environment {
    fetcher: Fetcher,
    region: String,
    variables: Variables,
}

type Keys = (AwsKeys, Option<Duration>);

impl Environment {
    pub(super) fn new(fetcher: Fetcher, region: String) -> Self {
        Self { fetcher, region, variables: Arc::new(|name| std::env::var(name).ok()) }
    }

    fn variable(&self, name: &str) -> Option<String> {
        (self.variables)(name).filter(|value| !value.is_empty())
    }

    fn fixed(&self) -> Option<Keys> {
        let keys = AwsKeys {
            access_key_id: self.variable("AWS_ACCESS_KEY_ID")?,
            secret_access_key: Secret::new(self.variable("AWS_SECRET_ACCESS_KEY")?),
            session_token: self.variable("AWS_SESSION_TOKEN").map(Secret::new),
        };
        Some((keys, None))
    }

    /// `AssumeRoleWithWebIdentity` with the token in `file`.
    async fn web_identity(&self, file: &str, role: &str) -> Result<Keys, CredentialError> {
        let token = read("the file of AWS_WEB_IDENTITY_TOKEN_FILE", file).await?;
        let session = self.variable("AWS_ROLE_SESSION_NAME").unwrap_or_else(|| "svc-gateway".to_owned());
        let host = self.variable("AWS_ENDPOINT_URL_STS").unwrap_or_else(|| sts_host(&self.region));
        let fields = [
            ("Action", "AssumeRoleWithWebIdentity"),
            ("Version", "2011-06-15"),
            ("RoleArn", role),
            ("RoleSessionName", &session),
            ("WebIdentityToken", token.trim()),
        ];
        let url = format!("{}/", host.trim_end_matches('/'));
        let answer = self.ask(STS, &Call::form(&url, &fields)).await?;
        let text = String::from_utf8_lossy(&answer.body);
        let field = |name: &str| between(&text, name).filter(|value| !value.is_empty()).ok_or(CredentialError::Unreadable(STS));
        let given = Given {
            access_key_id: field("AccessKeyId")?.to_owned(),
            secret_access_key: field("SecretAccessKey")?.to_owned(),
            token: Some(field("SessionToken")?.to_owned()),
            expiration: between(&text, "Expiration").map(str::to_owned),
        };
        given.keys(STS)
    }

    /// The service of a container, or of a pod.
    async fn container(&self, url: &str) -> Result<Keys, CredentialError> {
        if !is_near(url) {
            return Err(CredentialError::Missing("an AWS_CONTAINER_CREDENTIALS_FULL_URI with https or a local address"));
        }
        let mut call = Call::get(url).within(NEAR);
        let token = match self.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") {
            Some(file) => Some(read("the file of AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", &file).await?.trim().to_owned()),
            None => self.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN"),
        };
        if let Some(token) = token {
            let value = secret_value(&token).ok_or(CredentialError::Missing("a container authorization token that can be sent"))?;
            call = call.with_header(header::AUTHORIZATION, value);
        }
        let answer = self.ask(CONTAINER, &call).await?;
        Given::read(&answer)?.keys(CONTAINER)
    }

    /// The machine's metadata service, second version.
    async fn machine(&self) -> Result<Keys, CredentialError> {
        let host = self.variable("AWS_EC2_METADATA_SERVICE_ENDPOINT").unwrap_or_else(|| MACHINE_HOST.to_owned());
        let host = host.trim_end_matches('/');
        let url = format!("{host}/latest/api/token");
        let call = Call { method: Method::PUT, ..Call::get(&url) }.within(NEAR);
        let session = self.ask(MACHINE, &call.with_header(TOKEN_TTL, HeaderValue::from_static("21600"))).await?;
        let unreadable = || CredentialError::Unreadable(MACHINE);
        let session = std::str::from_utf8(&session.body).ok().and_then(|text| secret_value(text.trim())).ok_or_else(unreadable)?;
        let get = |url| Call::get(url).within(NEAR).with_header(TOKEN, session.clone());
        let url = format!("{host}{MACHINE_ROLES}");
        let roles = self.ask(MACHINE, &get(&url)).await?;
        let role = String::from_utf8_lossy(&roles.body).lines().next().unwrap_or_default().trim().to_owned();
        let url = format!("{url}{role}");
        let answer = self.ask(MACHINE, &get(&url)).await?;
        Given::read(&answer)?.keys(MACHINE)
    }

    async fn ask(&self, service: &'static str, call: &Call<'_>) -> Result<Fetched, CredentialError> {
        let answer = self.fetcher.fetch(call).await.map_err(|error| CredentialError::unreachable(service, &error))?;
        if answer.status == 200 { Ok(answer) } else { Err(refusal(service, &answer)) }
    }
}

#[async_trait]
impl Source for Environment {
    type Value = AwsKeys;

    async fn fetch(&self) -> Result<Keys, CredentialError> {
        if let Some(keys) = self.fixed() {
            return Ok(keys);
        }
        if let (Some(file), Some(role)) = (self.variable("AWS_WEB_IDENTITY_TOKEN_FILE"), self.variable("AWS_ROLE_ARN")) {
            return self.web_identity(&file, &role).await;
        }
        if let Some(path) = self.variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") {
            return self.container(&format!("{CONTAINER_HOST}{path}")).await;
        }
        if let Some(url) = self.variable("AWS_CONTAINER_CREDENTIALS_FULL_URI") {
            return self.container(&url).await;
        }
        if self.variable("AWS_EC2_METADATA_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return Err(CredentialError::Missing("AWS credentials in the environment"));
        }
        self.machine().await
    }
}

/// Keys as the services of containers and machines give them.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Given {
    access_key_id: String,
    secret_access_key: String,
    #[serde(default)]
    token: Option<String>,
    #[serde(default)]
    expiration: Option<String>,
}

impl Given {
    fn read(answer: &Fetched) -> Result<Self, CredentialError> {
        serde_json::from_slice(&answer.body).map_err(|_| CredentialError::Unreadable(CONTAINER))
    }

    fn keys(self, service: &'static str) -> Result<Keys, CredentialError> {
        let lifetime = match &self.expiration {
            None => None,
            Some(text) => {
                let end = OffsetDateTime::parse(text, &Rfc3339).map_err(|_| CredentialError::Unreadable(service))?;
                // Keys that seem to be over are rather keys for another clock; they are tried for a moment.
                Some(Duration::try_from(end - OffsetDateTime::now_utc()).ok().filter(|left| !left.is_zero()).unwrap_or(UNSURE))
            }
        };
        let keys = AwsKeys {
            access_key_id: self.access_key_id,
            secret_access_key: Secret::new(self.secret_access_key),
            session_token: self.token.map(Secret::new),
        };
        Ok((keys, lifetime))
    }
}

async fn read(what: &'static str, file: &str) -> Result<String, CredentialError> {
    tokio::fs::read_to_string(file).await.map_err(|error| CredentialError::File(what, error.to_string()))
}

fn sts_host(region: &str) -> String {
    let domain = if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" };
    format!("https://sts.{region}.{domain}")
}

/// Whether keys may be asked for there: in clear text only of the host itself and the vendor's link-local addresses.
fn is_near(url: &str) -> bool {
    let Ok(url) = url.parse::<Uri>() else { return false };
    let host = url.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let near = match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => address.is_loopback() || matches!(address.octets(), [169, 254, 170, 2 | 23]),
        Ok(IpAddr::V6(address)) => address.is_loopback() || address.segments() == [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23],
        Err(_) => host == "localhost",
    };
    url.scheme_str() == Some("https") || (url.scheme_str() == Some("http") && near)
}

/// The text between a tag and its end.
fn between<'t>(text: &'t str, tag: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    rest.split_once(&format!("</{tag}>")).map(|(value, _)| value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &'static [(&'static str, &'static str)]) -> Environment {
        let find = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        Environment { fetcher: Fetcher::new(None), region: "eu-west-1".to_owned(), variables: Arc::new(find) }
    }

    #[tokio::test]
    async fn variables_come_first_and_hold_for_ever() {
        let environment = environment(&[
            ("AWS_ACCESS_KEY_ID", "AKID"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
            ("AWS_SESSION_TOKEN", ""),
            ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/x"),
        ]);
        let (keys, lifetime) = environment.fetch().await.unwrap();
        assert_eq!((keys.access_key_id.as_str(), keys.session_token.is_none(), lifetime), ("AKID", true, None));
    }

    #[tokio::test]
    async fn an_empty_environment_says_what_is_missing() {
        let error = environment(&[("AWS_EC2_METADATA_DISABLED", "true")]).fetch().await.err().unwrap();
        assert_eq!(error.to_string(), "find AWS credentials in the environment");
    }

    #[test]
    fn keys_are_asked_for_in_clear_text_only_nearby() {
        for url in ["http://127.0.0.1:9/x", "http://localhost/x", "http://169.254.170.23/v1", "http://[fd00:ec2::23]/v1", "https://host/x"]
        {
            assert!(is_near(url), "{url}");
        }
        for url in ["http://169.254.169.254/x", "http://host/x", "http://10.0.0.1/x", "ftp://127.0.0.1/x", "127.0.0.1"] {
            assert!(!is_near(url), "{url}");
        }
    }

    #[test]
    fn the_end_of_given_keys_is_a_moment() {
        let end = OffsetDateTime::now_utc() + Duration::from_secs(3600);
        let json = format!(
            r#"{{"Code":"Success","AccessKeyId":"a","SecretAccessKey":"s","Token":"t","Expiration":"{}"}}"#,
            end.format(&Rfc3339).unwrap()
        );
        let fetched = Fetched { status: 200, headers: http::HeaderMap::new(), body: json.into_bytes() };
        let (keys, lifetime) = Given::read(&fetched).unwrap().keys(MACHINE).unwrap();
        assert_eq!(keys.session_token.as_ref().map(Secret::reveal), Some("t"));
        assert!(lifetime.is_some_and(|lifetime| (3590..=3600).contains(&lifetime.as_secs())), "{lifetime:?}");
    }
}
