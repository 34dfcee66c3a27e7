//! Command line of the binary and settings of an instance started inside a test.

use std::net::SocketAddr;
use std::path::PathBuf;

const TOKEN_SECONDS: u64 = 3599;

/// What one instance listens on and accepts.
#[derive(Debug, Clone)]
pub struct Options {
    /// Address to bind; port 0 picks a free one.
    pub listen: SocketAddr,
    /// Credentials taken as valid. Empty: any text is.
    pub keys: Vec<String>,
    /// The AWS account whose signatures are valid. None: any signature is.
    pub aws: Option<AwsAccess>,
    /// A service account's JSON key file: `/token` gives out tokens for it, and Vertex takes only those. None: any token is valid.
    /// Where it has no `token_uri`, any audience that ends with `/token` is taken.
    pub service_account: Option<PathBuf>,
    /// The only location that Vertex serves. None: every one.
    pub vertex_location: Option<String>,
    /// How long a token of `/token` is valid.
    pub token_seconds: u64,
    /// Certificate chain and private key, both PEM files; with them the port speaks TLS and offers HTTP/2.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// How many requests `GET /__seen` remembers.
    pub remembered: usize,
}

/// Credentials of one AWS account in one region.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AwsAccess {
    /// Id of the access key.
    pub key: String,
    /// Its secret.
    pub secret: String,
    /// Session token of temporary credentials; a request without it is refused then, and one with it otherwise.
    pub token: Option<String>,
    /// The region that signatures have to be for.
    pub region: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            keys: Vec::new(),
            aws: None,
            service_account: None,
            vertex_location: None,
            token_seconds: TOKEN_SECONDS,
            tls: None,
            remembered: 200,
        }
    }
}

/// What the command line asks for.
#[derive(Debug)]
pub enum Command {
    /// Print the help and end.
    Help,
    /// Serve with these options.
    Serve(Box<Options>),
}

/// Why a command line was not understood.
#[derive(Debug, thiserror::Error)]
pub enum OptionsError {
    /// An option nobody knows.
    #[error("understand the option {0}; see --help")]
    Unknown(String),
    /// An option without the value it needs.
    #[error("find a value after {0}")]
    NoValue(String),
    /// A value of the wrong form.
    #[error("read {value:?} as the value of {option}")]
    BadValue {
        /// The option.
        option: String,
        /// What followed it.
        value: String,
    },
    /// One TLS file without the other.
    #[error("use --tls-cert and --tls-key one without the other")]
    HalfTls,
}

impl Command {
    /// Reads the arguments that follow the program's name.
    ///
    /// # Errors
    /// Unknown options, missing or malformed values.
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, OptionsError> {
        let mut arguments = arguments.into_iter();
        let mut options = Options { listen: SocketAddr::from(([127, 0, 0, 1], 3900)), ..Options::default() };
        let (mut cert, mut key) = (None, None);
        while let Some(option) = arguments.next() {
            if matches!(option.as_str(), "-h" | "--help") {
                return Ok(Self::Help);
            }
            let value = arguments.next().ok_or_else(|| OptionsError::NoValue(option.clone()));
            match option.as_str() {
                "--tls-cert" => cert = Some(PathBuf::from(value?)),
                "--tls-key" => key = Some(PathBuf::from(value?)),
                _ => options.set(&option, value)?,
            }
        }
        options.tls = match (cert, key) {
            (Some(cert), Some(key)) => Some((cert, key)),
            (None, None) => None,
            _ => return Err(OptionsError::HalfTls),
        };
        Ok(Self::Serve(Box::new(options)))
    }
}

impl Options {
    fn set(&mut self, option: &str, value: Result<String, OptionsError>) -> Result<(), OptionsError> {
        match option {
            "--listen" => self.listen = read(option, value?)?,
            "--key" => self.keys.push(value?),
            "--aws" => self.aws = Some(aws(option, value?)?),
            "--service-account" => self.service_account = Some(PathBuf::from(value?)),
            "--vertex-location" => self.vertex_location = Some(value?),
            "--token-seconds" => self.token_seconds = read(option, value?)?,
            "--remember" => self.remembered = read(option, value?)?,
            _ => return Err(OptionsError::Unknown(option.to_owned())),
        }
        Ok(())
    }
}

fn read<T: std::str::FromStr>(option: &str, value: String) -> Result<T, OptionsError> {
    value.parse().map_err(|_| OptionsError::BadValue { option: option.to_owned(), value })
}

/// `REGION:KEY:SECRET` or `REGION:KEY:SECRET:TOKEN`.
fn aws(option: &str, value: String) -> Result<AwsAccess, OptionsError> {
    let parts: Vec<String> = value.splitn(4, ':').map(str::to_owned).collect();
    let mut parts = parts.into_iter();
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(region), Some(key), Some(secret), token) => Ok(AwsAccess { key, secret, token, region }),
        _ => Err(OptionsError::BadValue { option: option.to_owned(), value }),
    }
}
