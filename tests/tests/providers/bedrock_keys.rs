//! AWS keys from the gateway's surroundings: fetched once, renewed in time, and used to sign.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use svc_demo::{AwsAccess, Options as DemoOptions};
use svc_tests::gateway::{Gateway, Options};
use svc_tests::shapes::Shape;
use svc_tests::stub::{Asked, Reply, Stub};
use svc_tests::upstream::Upstream;
use svc_tests::wait;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::{ask, ask_at_once, expect_silence, options};

const SECRET: &str = "role/secret+key/0123456789abcdef";
const TOKEN: &str = "role-session-token/abc+def==";
const ROLE_SERVICE_TOKEN: &str = "container-authorization-token-1";

fn upstream() -> Upstream {
    let aws = AwsAccess {
        key: "ASIAEXAMPLE".to_owned(),
        secret: SECRET.to_owned(),
        token: Some(TOKEN.to_owned()),
        region: "us-east-1".to_owned(),
    };
    Upstream::with(DemoOptions { aws: Some(aws), ..DemoOptions::default() })
}

fn conf(url: &str, env: &[(&str, String)]) -> Options {
    let providers = format!("  - {{name: bedrock, kind: bedrock, base_url: \"{url}\", aws: {{region: us-east-1}}}}");
    let models = "  - {name: claude, targets: [{provider: bedrock, model: anthropic.claude-sonnet-4-5-20250929-v1:0}]}";
    let mut options = options(&providers, models);
    options.env = env.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    options
}

fn keys(seconds: i64) -> Reply {
    let end = OffsetDateTime::now_utc() + time::Duration::seconds(seconds);
    let end = end.format(&Rfc3339).expect("a moment");
    Reply::json(200, json!({"AccessKeyId": "ASIAEXAMPLE", "SecretAccessKey": SECRET, "Token": TOKEN, "Expiration": end}))
}

/// A container's service that wants its token and gives keys for so many seconds.
fn container(seconds: i64) -> Stub {
    Stub::start(move |asked| {
        let right =
            asked.method == "GET" && asked.target == "/v2/credentials/1" && asked.header("authorization") == Some(ROLE_SERVICE_TOKEN);
        if right { keys(seconds) } else { Reply::json(401, json!({"code": "no"})) }
    })
}

fn container_env(container: &Stub) -> [(&'static str, String); 2] {
    [
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", format!("{}/v2/credentials/1", container.url())),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN", ROLE_SERVICE_TOKEN.to_owned()),
    ]
}

#[test]
fn keys_of_a_container_are_fetched_once_for_all() {
    let (upstream, container) = (upstream(), container(3600));
    let gateway = Gateway::start(conf(&upstream.url(), &container_env(&container)));
    assert_eq!(container.asked().len(), 0, "nothing is fetched before it is needed");
    ask_at_once(&gateway, Shape::Messages, "claude", 16);
    assert_eq!(container.asked().len(), 1, "one fetches, the others wait");
    let answer = ask(&gateway, Shape::Messages, "claude", "Hello", true);
    assert_eq!(upstream.newest().header("x-amz-security-token"), Some(TOKEN));
    expect_silence(&gateway, &answer, &[SECRET, TOKEN, ROLE_SERVICE_TOKEN]);
}

#[test]
fn keys_are_renewed_before_they_end_and_no_request_fails_by_it() {
    let (upstream, container) = (upstream(), container(2));
    let gateway = Gateway::start(conf(&upstream.url(), &container_env(&container)));
    wait::until("the third set of keys", || {
        let answer = ask(&gateway, Shape::Messages, "claude", "Hello", false);
        assert_eq!(answer.status, 200, "{}", answer.text());
        (container.asked().len() >= 3).then_some(())
    });
}

#[test]
fn a_service_that_refuses_makes_the_provider_unavailable() {
    let (upstream, container) = (upstream(), container(3600));
    let mut env = container_env(&container);
    env[1].1 = "another-token-0123456789".to_owned();
    let gateway = Gateway::start(conf(&upstream.url(), &env));
    let answer = ask(&gateway, Shape::Messages, "claude", "Hello", false);
    Shape::Messages.expect_error("no keys", &answer, 502, "upstream_unavailable");
    gateway.says("get a credential from the container's credential service: it answered 401");
    expect_silence(&gateway, &answer, &["another-token-0123456789"]);
    assert_eq!(upstream.count(), 0);
}

#[test]
fn keys_of_a_machine_come_by_the_second_version_of_its_service() {
    let upstream = upstream();
    let machine = Stub::start(|asked| match (asked.method.as_str(), asked.target.as_str()) {
        ("PUT", "/latest/api/token") if asked.header("x-aws-ec2-metadata-token-ttl-seconds").is_some() => Reply::json(200, "session-1"),
        ("GET", _) if asked.header("x-aws-ec2-metadata-token") != Some("session-1") => Reply::json(401, ""),
        ("GET", "/latest/meta-data/iam/security-credentials/") => Reply::json(200, "gateway-role"),
        ("GET", "/latest/meta-data/iam/security-credentials/gateway-role") => keys(3600),
        _ => Reply::json(404, ""),
    });
    let gateway = Gateway::start(conf(&upstream.url(), &[("AWS_EC2_METADATA_SERVICE_ENDPOINT", machine.url())]));
    let answer = ask(&gateway, Shape::Messages, "claude", "Hello", false);
    assert_eq!(answer.status, 200, "{}\n{}", answer.text(), gateway.log());
    assert_eq!(machine.asked().len(), 3);
}

#[test]
fn a_web_identity_is_changed_for_keys_of_its_role() {
    let upstream = upstream();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("token");
    std::fs::write(&file, "web.identity.token\n").expect("writable");
    let sts = Stub::start(|asked: &Asked| {
        let form: Vec<(String, String)> = form_urlencoded::parse(&asked.body).into_owned().collect();
        let expected = [
            ("Action", "AssumeRoleWithWebIdentity"),
            ("Version", "2011-06-15"),
            ("RoleArn", "arn:aws:iam::123456789012:role/gateway"),
            ("RoleSessionName", "svc-gateway"),
            ("WebIdentityToken", "web.identity.token"),
        ];
        if asked.method != "POST" || form != expected.map(|(name, value)| (name.to_owned(), value.to_owned())) {
            return Reply::json(400, "<ErrorResponse/>");
        }
        Reply::json(
            200,
            format!(
                "<AssumeRoleWithWebIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>ASIAEXAMPLE</AccessKeyId><SecretAccessKey>{SECRET}</SecretAccessKey><SessionToken>{TOKEN}</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>"
            ),
        )
    });
    let env = [
        ("AWS_WEB_IDENTITY_TOKEN_FILE", file.display().to_string()),
        ("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/gateway".to_owned()),
        ("AWS_ENDPOINT_URL_STS", sts.url()),
    ];
    let gateway = Gateway::start(conf(&upstream.url(), &env));
    ask_at_once(&gateway, Shape::Messages, "claude", 8);
    assert_eq!(sts.asked().len(), 1);
}

#[test]
fn keys_the_service_calls_over_are_fetched_anew_once() {
    let served = AtomicUsize::new(0);
    let container = container(3600);
    let stub = Stub::start(move |_| match served.fetch_add(1, Ordering::SeqCst) {
        0 => Reply::json(403, json!({"message": "The security token included in the request is expired"}))
            .with("x-amzn-errortype", "ExpiredTokenException"),
        _ => Reply::json(
            200,
            json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "x", "content": [], "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1}}),
        ),
    });
    let gateway = Gateway::start(conf(&stub.url(), &container_env(&container)));
    let answer = ask(&gateway, Shape::Messages, "claude", "Hello", false);
    assert_eq!((answer.status, answer.header("x-svc-attempts")), (200, Some("2")), "{}", answer.text());
    assert_eq!(container.asked().len(), 2);
}
