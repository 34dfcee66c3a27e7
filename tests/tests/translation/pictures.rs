//! Pictures by URL for providers that take none.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use svc_tests::gateway::{Gateway, Options};
use svc_tests::raw::Answer;
use svc_tests::stub::{Reply, Stub};
use svc_tests::upstream::Upstream;

use super::{message, post};

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn server() -> Stub {
    Stub::start(|asked| match asked.target.as_str() {
        "/a.png" => {
            Reply { status: 200, headers: vec![("content-type", "text/plain".to_owned())], body: STANDARD.decode(PNG).expect("base64") }
        }
        "/moved" => Reply::json(302, "").with("location", "/a.png"),
        "/loop" => Reply::json(302, "").with("location", "/loop"),
        "/away" => Reply::json(302, "").with("location", "http://169.254.169.254/latest/meta-data/"),
        "/page" => Reply::json(200, "<html>no picture</html>"),
        _ => Reply::json(404, "{}"),
    })
}

fn show(gateway: &Gateway, url: &str) -> Answer {
    let content: Value = json!([{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": url}}]);
    post(gateway, "/v1/chat/completions", &json!({"model": "generate-model", "messages": [{"role": "user", "content": content}]}))
}

#[test]
fn a_picture_is_fetched_for_a_provider_that_takes_no_url() {
    let (upstream, pictures) = (Upstream::start(), server());
    let gateway = Gateway::start(Options::standard(&upstream.url()).with("egress: {allow: [127.0.0.0/8]}\n"));
    for path in ["/a.png", "/moved"] {
        let answer = show(&gateway, &format!("{}{path}", pictures.url()));
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        assert!(answer.text().contains("image/png"), "{path}: {}", answer.text());
    }
    let sent = pictures.asked();
    assert!(sent.iter().all(|asked| asked.header("authorization").is_none()), "nothing of the client's reaches the picture's server");
}

#[test]
fn a_picture_that_cannot_be_had_is_the_clients_error_and_names_its_place() {
    let (upstream, pictures) = (Upstream::start(), server());
    let gateway = Gateway::start(Options::standard(&upstream.url()).with("egress: {allow: [127.0.0.0/8]}\n"));
    for (path, reason) in [("/gone", "status 404"), ("/loop", "redirected"), ("/page", "JPEG"), ("/away", "public internet")] {
        let answer = show(&gateway, &format!("{}{path}", pictures.url()));
        assert_eq!((answer.status, answer.header("x-svc-error-code")), (400, Some("invalid_request")), "{path}: {}", answer.text());
        assert!(message(&answer).contains(reason) && message(&answer).contains("messages[0]"), "{path}: {}", answer.text());
    }
}

#[test]
fn nothing_inside_the_network_is_reached() {
    let (upstream, pictures) = (Upstream::start(), server());
    let gateway = Gateway::start(Options::standard(&upstream.url()));
    let port = pictures.url().rsplit(':').next().expect("a port").to_owned();
    for host in ["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f000001", "0177.0.0.1", "[::ffff:127.0.0.1]", "0.0.0.0"] {
        let answer = show(&gateway, &format!("http://{host}:{port}/a.png"));
        assert_eq!((answer.status, answer.header("x-svc-error-code")), (400, Some("invalid_request")), "{host}: {}", answer.text());
    }
    for url in ["http://user@127.0.0.1/a.png", "http://169.254.169.254/latest/", "ftp://127.0.0.1/a.png", "file:///etc/passwd"] {
        assert_eq!(show(&gateway, url).status, 400, "{url}");
    }
    assert_eq!(pictures.asked().len(), 0, "no connection was made");
}
