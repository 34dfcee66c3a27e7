//! A gateway, its operator and its licence.

use std::fs;

use serde_json::{Value, json};
use svc_tests::admin::Admin;
use svc_tests::gateway::{Gateway, KEY, Options};
use svc_tests::raw::Answer;
use svc_tests::upstream::Upstream;
use svc_tests::{licence, raw};

/// The name of the cache where the configuration gives it none.
const CACHE: &str = "licence-cache.jwt";

pub(crate) struct Stage {
    pub(crate) admin: Admin,
    pub(crate) gateway: Gateway,
    _upstream: Upstream,
}

/// How a licence stands, as `/admin/licence` and `/admin/health` tell it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) health: u16,
    pub(crate) word: String,
    pub(crate) edition: String,
    pub(crate) tier: String,
    pub(crate) state: String,
    pub(crate) source: String,
    pub(crate) banner: Option<String>,
    pub(crate) env_license_invalid: bool,
}

impl Shown {
    /// Health, its word, edition, tier, state, source, banner and flag.
    pub(crate) fn row(&self) -> (u16, &str, &str, &str, &str, &str, Option<&str>, bool) {
        let Self { health, word, edition, tier, state, source, banner, env_license_invalid } = self;
        (*health, word, edition, tier, state, source, banner.as_deref(), *env_license_invalid)
    }
}

impl Stage {
    pub(crate) fn start(licence: Option<String>) -> Self {
        Self::with(|options| options.with_licence(licence))
    }

    pub(crate) fn with(more: impl FnOnce(Options) -> Options) -> Self {
        let upstream = Upstream::start();
        let gateway = Gateway::start(more(Options::standard(&upstream.url())));
        Self { admin: Admin::new(gateway.address), gateway, _upstream: upstream }
    }

    /// How the licence stands after a restart with another one, or without.
    pub(crate) fn after(&mut self, licence: Option<String>) -> Shown {
        self.gateway.relicense(licence);
        self.shown()
    }

    /// How the licence stands. Whatever that is, requests are served and the log has said it once.
    pub(crate) fn shown(&self) -> Shown {
        let body = json!({"model": "chat-model", "messages": [{"role": "user", "content": "Hello!"}]});
        let served = raw::post(self.gateway.address, "/v1/chat/completions", KEY, &body);
        assert_eq!(served.status, 200, "requests are served: {}", served.text());
        let lines = self.gateway.log().lines().filter(|line| line.contains("licence: ")).count();
        assert_eq!(lines, 1, "the log tells it in one line: {}", self.gateway.log());
        let answer = self.admin.bare("GET", "/admin/health");
        let health = answer.json();
        let licence = self.licence();
        for (name, value) in health["licence"].as_object().expect("health tells of the licence") {
            assert_eq!(*value, licence[name], "both tell the same of `{name}`");
        }
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        Shown {
            health: answer.status,
            word: text(&health["status"]),
            edition: text(&licence["edition"]),
            tier: text(&licence["tier"]),
            state: text(&licence["state"]),
            source: text(&licence["source"]),
            banner: licence["banner"]["code"].as_str().map(str::to_owned),
            env_license_invalid: licence["env_license_invalid"].as_bool().expect("a flag"),
        }
    }

    /// What `/admin/licence` answers.
    pub(crate) fn licence(&self) -> Value {
        self.admin.get("/admin/licence")
    }

    /// Replaces the cached licence.
    pub(crate) fn write_cache(&self, text: &str) {
        fs::write(self.cache(), text).expect("the data directory is writable");
    }

    pub(crate) fn cache(&self) -> std::path::PathBuf {
        self.gateway.data_dir().join(CACHE)
    }

    pub(crate) fn create_key(&self, name: &str) -> Answer {
        self.admin.call("POST", "/admin/keys", &json!({"name": name, "owner": {"user": "dev@example.com"}}))
    }
}

/// An Enterprise licence that expires so many seconds from now.
pub(crate) fn lasting(seconds: i64) -> Option<String> {
    Some(licence::expiring("enterprise", licence::now() + seconds))
}

/// A licence that lost its end on the way.
pub(crate) fn corrupt() -> Option<String> {
    let whole = licence::enterprise();
    Some(whole[..whole.len() - 10].to_owned())
}
