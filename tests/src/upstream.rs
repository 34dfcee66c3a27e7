//! The provider emulator in the test's own process, and what it has seen.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::OnceLock;

use serde_json::Value;
use svc_demo::{Demo, Options};
use tokio::runtime::Runtime;

use crate::{raw, wait};

/// Requests an instance remembers.
const REMEMBERED: usize = 20_000;

/// The runtime of everything asynchronous in a test process.
///
/// # Panics
/// When the machine has no thread left.
pub fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime"))
}

/// A running emulator.
pub struct Upstream {
    demo: Demo,
}

impl Upstream {
    /// Starts one that accepts every credential.
    ///
    /// # Panics
    /// When it does not start.
    #[must_use]
    pub fn start() -> Self {
        Self::with(Options::default())
    }

    /// Starts one that speaks TLS with these PEM files. What it has seen cannot be asked for in clear text.
    ///
    /// # Panics
    /// When it does not start.
    #[must_use]
    pub fn start_tls(cert: PathBuf, key: PathBuf) -> Self {
        Self::with(Options { tls: Some((cert, key)), ..Options::default() })
    }

    /// Starts one with options of the test's own.
    ///
    /// # Panics
    /// When it does not start.
    #[must_use]
    pub fn with(options: Options) -> Self {
        let options = Options { remembered: REMEMBERED, ..options };
        Self { demo: runtime().block_on(Demo::start(options)).expect("the emulator starts") }
    }

    /// Base URL without a slash at the end.
    #[must_use]
    pub fn url(&self) -> String {
        self.demo.base_url()
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.demo.address()
    }

    /// Everything it has seen, oldest first.
    ///
    /// # Panics
    /// When it does not answer.
    #[must_use]
    pub fn seen(&self) -> Vec<Seen> {
        self.list("/__seen")
    }

    /// The last requests, oldest first.
    #[must_use]
    pub fn last(&self, count: usize) -> Vec<Seen> {
        self.list(&format!("/__seen?last={count}"))
    }

    /// The newest request.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn newest(&self) -> Seen {
        self.last(1).pop().expect("the upstream was asked")
    }

    /// Number of requests so far.
    ///
    /// # Panics
    /// When it does not answer.
    #[must_use]
    pub fn count(&self) -> u64 {
        // Requests that come at once may be noted in another order than they are numbered.
        self.last(64).iter().map(Seen::number).max().unwrap_or(0)
    }

    /// Waits until an answer ended as `answer` says: `complete` or `abandoned`.
    pub fn wait_ended(&self, number: u64, answer: &str) {
        let ended = || self.seen().into_iter().find(|seen| seen.number() == number && seen.text("answer") == answer);
        wait::until(&format!("request {number} to be {answer} at the upstream"), ended);
    }

    fn list(&self, path: &str) -> Vec<Seen> {
        let answer = raw::get(self.address(), path, &[("connection", "close")]).json();
        answer["requests"].as_array().expect("a list").iter().cloned().map(Seen).collect()
    }
}

/// One request as the emulator received it.
#[derive(Clone, Debug)]
pub struct Seen(pub Value);

impl Seen {
    /// Its number, counted from 1.
    ///
    /// # Panics
    /// When it has none.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.0["number"].as_u64().expect("a number")
    }

    /// A member that is text.
    ///
    /// # Panics
    /// When it is not.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        self.0[name].as_str().unwrap_or_default()
    }

    /// Path and query as sent.
    #[must_use]
    pub fn target(&self) -> String {
        match self.0["query"].as_str() {
            Some(query) => format!("{}?{query}", self.text("path")),
            None => self.text("path").to_owned(),
        }
    }

    /// The first value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.0["headers"].as_array()?.iter().find(|pair| pair[0] == name)?[1].as_str()
    }

    /// Size of the body.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0["body_bytes"].as_u64().unwrap_or_default()
    }
}
