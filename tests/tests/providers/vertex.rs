//! Vertex: tokens for a service account, both publishers, and paths of the cloud's own kits.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use svc_demo::Options as DemoOptions;
use svc_tests::certificates::{certify, openssl};
use svc_tests::gateway::{Gateway, KEY, Options};
use svc_tests::raw::{self, Connection};
use svc_tests::shapes::{Shape, events};
use svc_tests::stub::{Reply, Stub};
use svc_tests::upstream::Upstream;
use svc_tests::wait;

use crate::{ask, ask_at_once, expect_silence, options};

/// The form of a private key.
#[derive(Clone, Copy, Debug)]
enum Form {
    Pkcs8,
    Pkcs1,
}

/// A service account and the emulator that knows it.
struct Cloud {
    folder: tempfile::TempDir,
    upstream: Upstream,
}

impl Cloud {
    fn start(form: Form) -> Self {
        Self::giving(form, 3599)
    }

    /// Its tokens are good for so many seconds.
    fn giving(form: Form, token_seconds: u64) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut arguments = vec!["genrsa", "-out", "key.pem"];
        if matches!(form, Form::Pkcs1) {
            arguments.push("-traditional");
        }
        arguments.push("2048");
        openssl(folder.path(), &arguments);
        let file = Self::write(folder.path(), "emulator.json", "");
        let options = DemoOptions {
            service_account: Some(file),
            vertex_location: Some("europe-west4".to_owned()),
            token_seconds,
            ..DemoOptions::default()
        };
        Self { upstream: Upstream::with(options), folder }
    }

    fn write(folder: &Path, name: &str, token_uri: &str) -> PathBuf {
        let key = fs::read_to_string(folder.join("key.pem")).expect("openssl made it");
        let account = json!({
            "type": "service_account", "project_id": "acme", "private_key_id": "key-1", "private_key": key,
            "client_email": "gateway@acme.iam.gserviceaccount.com", "token_uri": token_uri,
        });
        let file = folder.join(name);
        fs::write(&file, account.to_string()).expect("writable");
        file
    }

    fn conf(&self, token_uri: &str) -> Options {
        conf(&self.upstream.url(), &Self::write(self.folder.path(), "gateway.json", token_uri))
    }

    fn gateway(&self) -> Gateway {
        Gateway::start(self.conf(&format!("{}/token", self.upstream.url())))
    }

    fn granted(&self) -> u64 {
        let tokens: Value = raw::get(self.upstream.address(), "/__tokens", &[("connection", "close")]).json();
        tokens["granted"].as_u64().expect("a number")
    }

    fn revoke(&self) {
        let mut connection = Connection::open(self.upstream.address());
        connection.send("DELETE /__tokens HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n");
        assert_eq!(connection.answer().map(|answer| answer.status), Some(204));
    }

    fn private_key(&self) -> String {
        let key = fs::read_to_string(self.folder.path().join("key.pem")).expect("openssl made it");
        key.lines().nth(3).expect("a line of the key").to_owned()
    }
}

fn conf(url: &str, file: &Path) -> Options {
    let vertex = format!("vertex: {{project: acme, location: europe-west4, service_account_file: \"{}\"}}", file.display());
    let providers = format!("  - {{name: vertex, kind: vertex, base_url: \"{url}\", {vertex}}}");
    let models = "  - {name: gemini, targets: [{provider: vertex, model: gemini-2.5-pro}]}\n  - {name: claude, targets: [{provider: vertex, model: claude-sonnet-4-5@20250929}]}";
    options(&providers, models)
}

#[test]
fn one_token_serves_every_request_whatever_the_form_of_the_key() {
    for form in [Form::Pkcs8, Form::Pkcs1] {
        let cloud = Cloud::start(form);
        let gateway = cloud.gateway();
        ask_at_once(&gateway, Shape::Generate, "gemini", 16);
        ask_at_once(&gateway, Shape::Messages, "claude", 4);
        assert_eq!(cloud.granted(), 1, "{form:?}: one fetches, the others wait");
    }
}

#[test]
fn both_publishers_answer_in_their_own_dialect() {
    let cloud = Cloud::start(Form::Pkcs8);
    let gateway = cloud.gateway();
    let place = "/v1/projects/acme/locations/europe-west4/publishers";
    for (shape, model, stream, target) in [
        (Shape::Generate, "gemini", false, "/google/models/gemini-2.5-pro:generateContent"),
        (Shape::Generate, "gemini", true, "/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse"),
        (Shape::Messages, "claude", false, "/anthropic/models/claude-sonnet-4-5@20250929:rawPredict"),
        (Shape::Messages, "claude", true, "/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict"),
    ] {
        let answer = ask(&gateway, shape, model, "Hello Vertex", stream);
        assert_eq!((answer.status, answer.complete), (200, true), "{target}: {}", answer.text());
        let seen = cloud.upstream.newest();
        assert_eq!(seen.target(), format!("{place}{target}"));
        assert!(seen.header("authorization").is_some_and(|value| value.starts_with("Bearer ya29.")), "{seen:?}");
        assert_eq!((seen.header("x-goog-api-key"), seen.header("x-api-key")), (None, None), "the client's key stays here");
        let named = if stream { events(&answer.text()).remove(0) } else { answer.json() };
        assert_eq!(shape.named_model(&named), Some(model), "the client's own name");
    }
    let body: Value = serde_json::from_str(cloud.upstream.newest().text("body")).expect("JSON");
    assert_eq!((&body["anthropic_version"], body.get("model")), (&json!("vertex-2023-10-16"), None));
}

#[test]
fn tokens_are_counted_by_both_publishers() {
    let cloud = Cloud::start(Form::Pkcs8);
    let gateway = cloud.gateway();
    let turns = json!([{"role": "user", "content": "How many tokens are these?"}]);
    let answer = raw::post(gateway.address, "/v1/messages/count_tokens", KEY, &json!({"model": "claude", "messages": turns}));
    assert!(answer.json()["input_tokens"].as_u64().is_some_and(|count| count > 0), "{}", answer.text());
    assert!(cloud.upstream.newest().text("path").ends_with("/publishers/anthropic/models/count-tokens:rawPredict"));
    let answer = raw::post(gateway.address, "/v1beta/models/gemini:countTokens", KEY, &json!({"contents": [{"parts": [{"text": "Hi"}]}]}));
    assert!(answer.json()["totalTokens"].as_u64().is_some_and(|count| count > 0), "{}", answer.text());
}

#[test]
fn the_project_a_client_names_is_not_heeded() {
    let cloud = Cloud::start(Form::Pkcs8);
    let gateway = cloud.gateway();
    for path in [
        "/v1/projects/someone-elses/locations/us-central1/publishers/google/models/gemini:generateContent",
        "/v1beta1/publishers/google/models/gemini:generateContent",
    ] {
        let answer = raw::post(gateway.address, path, KEY, &json!({"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]}));
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        assert!(cloud.upstream.newest().text("path").starts_with("/v1/projects/acme/locations/europe-west4/"));
    }
    let refused = "/v1/projects/p/locations/l/publishers/anthropic/models/claude:rawPredict";
    let answer = raw::post(gateway.address, refused, KEY, &json!({"anthropic_version": "vertex-2023-10-16"}));
    Shape::Messages.expect_error("the cloud's form of messages", &answer, 404, "invalid_request");
    assert!(answer.text().contains("/v1/messages"), "{}", answer.text());
}

#[test]
fn a_revoked_token_is_dropped_and_the_request_repeated_once() {
    let cloud = Cloud::start(Form::Pkcs8);
    let gateway = cloud.gateway();
    assert_eq!(ask(&gateway, Shape::Generate, "gemini", "Hello", false).status, 200);
    cloud.revoke();
    let answer = ask(&gateway, Shape::Generate, "gemini", "Hello", false);
    assert_eq!((answer.status, answer.header("x-svc-attempts")), (200, Some("2")), "{}", answer.text());
    assert_eq!(cloud.granted(), 2);
}

#[test]
fn a_token_is_renewed_before_it_ends_and_no_request_fails_by_it() {
    let cloud = Cloud::giving(Form::Pkcs8, 2);
    let gateway = cloud.gateway();
    wait::until("the third token", || {
        let answer = ask(&gateway, Shape::Generate, "gemini", "Hello", false);
        assert_eq!((answer.status, answer.header("x-svc-attempts")), (200, Some("1")), "{}", answer.text());
        (cloud.granted() >= 3).then_some(())
    });
}

#[test]
fn a_provider_that_refuses_every_token_is_asked_twice_and_no_more() {
    let cloud = Cloud::start(Form::Pkcs8);
    let stub = Stub::start(|_| Reply::json(401, json!({"error": {"code": 401, "message": "no", "status": "UNAUTHENTICATED"}})));
    let file = Cloud::write(cloud.folder.path(), "gateway.json", &format!("{}/token", cloud.upstream.url()));
    let gateway = Gateway::start(conf(&stub.url(), &file));
    let answer = ask(&gateway, Shape::Generate, "gemini", "Hello", false);
    Shape::Generate.expect_error("refused for good", &answer, 502, "upstream_unavailable");
    assert_eq!(stub.asked().len(), 2);
}

#[test]
fn a_token_service_that_refuses_makes_the_provider_unavailable_and_no_secret_leaks() {
    let cloud = Cloud::start(Form::Pkcs8);
    let stub = Stub::start(|asked| {
        let assertion = asked.text();
        Reply::json(400, json!({"error": "invalid_grant", "error_description": assertion}))
    });
    let gateway = Gateway::start(cloud.conf(&stub.url()));
    let answer = ask(&gateway, Shape::Generate, "gemini", "Hello", false);
    Shape::Generate.expect_error("refused by the token service", &answer, 502, "upstream_unavailable");
    gateway.says("it answered 400 invalid_grant");
    let assertion = stub.asked()[0].text();
    let signature = assertion.rsplit_once('.').expect("a signed assertion").1.to_owned();
    expect_silence(&gateway, &answer, &[&cloud.private_key(), &signature]);
}

#[test]
fn a_credential_that_cannot_be_had_leads_to_the_next_target() {
    let cloud = Cloud::start(Form::Pkcs8);
    let nobody = svc_tests::ports::free_address();
    let mut options = cloud.conf(&format!("http://{nobody}/token"));
    let spare = format!("  - {{name: spare, kind: gemini, base_url: \"{}\", keys: [k]}}", cloud.upstream.url());
    options = options.with_providers(&spare);
    options.conf = options.conf.replace("model: gemini-2.5-pro}]", "model: gemini-2.5-pro}, {provider: spare, model: g, priority: 1}]");
    let gateway = Gateway::start(options);
    let answer = ask(&gateway, Shape::Generate, "gemini", "Hello", false);
    assert_eq!((answer.status, answer.header("x-svc-provider")), (200, Some("spare")), "{}", answer.text());
    assert_eq!(answer.header("x-svc-attempts"), Some("2"));
}

#[test]
fn a_key_file_that_is_missing_is_named_at_start() {
    let log = Gateway::refuse(&conf("http://127.0.0.1:1", Path::new("/nowhere/account.json")));
    assert!(log.contains("service account of the provider `vertex`") && log.contains("/nowhere/account.json"), "{log}");
}

#[test]
fn an_api_key_needs_no_project() {
    let stub = Stub::start(|asked| {
        let right = asked.header("x-goog-api-key") == Some("google-api-key-0123456789");
        let answer = json!({"candidates": [{"content": {"role": "model", "parts": [{"text": "Hello"}]}, "finishReason": "STOP"}], "modelVersion": "gemini-2.5-flash"});
        if right { Reply::json(200, answer) } else { Reply::json(403, json!({})) }
    });
    let providers = format!("  - {{name: vertex, kind: vertex, base_url: \"{}\", keys: [google-api-key-0123456789]}}", stub.url());
    let gateway = Gateway::start(options(&providers, "  - {name: g, targets: [{provider: vertex, model: gemini-2.5-flash}]}"));
    let answer = ask(&gateway, Shape::Generate, "g", "Hello", false);
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(stub.asked()[0].target, "/v1/publishers/google/models/gemini-2.5-flash:generateContent");
}

#[test]
fn without_a_key_the_account_of_the_machine_is_used() {
    let metadata = Stub::start(|asked| {
        let right = asked.target == "/computeMetadata/v1/instance/service-accounts/default/token"
            && asked.header("metadata-flavor") == Some("Google");
        if right {
            Reply::json(200, json!({"access_token": "ya29.machine", "expires_in": 3599, "token_type": "Bearer"}))
        } else {
            Reply::json(403, "")
        }
    });
    let upstream = Upstream::start();
    let providers =
        format!("  - {{name: vertex, kind: vertex, base_url: \"{}\", vertex: {{project: acme, location: global}}}}", upstream.url());
    let mut options = options(&providers, "  - {name: g, targets: [{provider: vertex, model: gemini-2.5-flash}]}");
    options.env = vec![("GCE_METADATA_HOST".to_owned(), metadata.url().trim_start_matches("http://").to_owned())];
    let gateway = Gateway::start(options);
    ask_at_once(&gateway, Shape::Generate, "g", 8);
    assert_eq!(metadata.asked().len(), 1);
    assert_eq!(upstream.newest().header("authorization"), Some("Bearer ya29.machine"));
}

#[test]
fn tokens_are_fetched_over_tls_with_the_providers_own_authority() {
    let plain = Cloud::start(Form::Pkcs8);
    let folder = plain.folder.path();
    certify(folder, "DNS:localhost", 2);
    let options = DemoOptions {
        service_account: Some(folder.join("emulator.json")),
        tls: Some((folder.join("leaf.pem"), folder.join("leaf.key"))),
        ..DemoOptions::default()
    };
    let upstream = Upstream::with(options);
    let url = format!("https://localhost:{}", upstream.address().port());
    let file = Cloud::write(folder, "gateway.json", &format!("{url}/token"));
    let mut trusting = conf(&url, &file);
    trusting.conf = trusting.conf.replace("kind: vertex,", &format!("kind: vertex, ca: \"{}\",", folder.join("ca.pem").display()));
    let gateway = Gateway::start(trusting);
    let answer = ask(&gateway, Shape::Generate, "gemini", "Hello", true);
    assert_eq!(answer.status, 200, "{}\n{}", answer.text(), gateway.log());

    let gateway = Gateway::start(conf(&url, &file));
    let answer = ask(&gateway, Shape::Generate, "gemini", "Hello", false);
    assert_eq!(answer.status, 502, "an authority nobody vouches for is not trusted: {}", answer.text());
}
