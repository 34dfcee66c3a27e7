//! Prompts in multipart forms: of pictures that are changed, of sound that is written down.

use svc_tests::gateway::KEY;
use svc_tests::raw::{Answer, Connection};
use svc_tests::shapes::Shape;

use crate::Setup;

const GUARDRAILS: &str = r#"
  - {name: no-plans, kind: regex, pattern: 'plan-\d+', action: block, applies_to: [prompt]}
  - {name: cards, kind: detector, detector: card_number, action: mask, mask: "[{rule} {last4}]", applies_to: [prompt]}
"#;
const ENDPOINTS: [(&str, &str); 3] =
    [("/v1/images/edits", "image"), ("/v1/audio/transcriptions", "file"), ("/v1/audio/translations", "file")];
/// In a file, nothing is looked for.
const FILE: &str = "plan-17 4111111111111111";

fn form(file: &str, head: &str, prompt: &str) -> String {
    let part = |head: &str, value: &str| format!("--b\r\nContent-Disposition: form-data; {head}\r\n\r\n{value}\r\n");
    let file = part(&format!("name=\"{file}\"; filename=\"a.bin\"\r\nContent-Type: image/png"), FILE);
    [&part("name=\"model\"", "chat-model"), &file, &part(&format!("name=\"prompt\"{head}"), prompt), "--b--\r\n"].concat()
}

fn post(setup: &Setup, path: &str, body: &str) -> Answer {
    let (name, value) = Shape::Chat.credential(KEY);
    let mut connection = Connection::open(setup.gateway.address);
    connection.post(path, &[(name, &value), ("content-type", "multipart/form-data; boundary=b")], body);
    connection.answer().expect("an answer")
}

#[test]
fn a_form_is_refused_for_its_prompt() {
    let setup = Setup::new(GUARDRAILS);
    for (path, file) in ENDPOINTS {
        let before = setup.upstream.count();
        let refused = post(&setup, path, &form(file, "", "the sky of plan-17"));
        Shape::Chat.expect_error(path, &refused, 400, "content_guardrail_blocked");
        assert!(refused.text().contains("no-plans") && !refused.text().contains("plan-17"), "{}", refused.text());
        assert_eq!(setup.upstream.count(), before, "nobody was asked");
        let note = setup.note(&refused, "guardrails_prompt");
        assert_eq!((note["decided"].as_str(), note["findings"][0]["place"].as_str()), (Some("no-plans"), Some("messages")), "{note}");
        assert_eq!(note["bytes"].as_u64(), Some(18), "the file is not looked at: {note}");
    }
}

#[test]
fn a_match_in_a_form_is_masked_and_everything_else_stays() {
    let setup = Setup::new(GUARDRAILS);
    for (path, file) in ENDPOINTS {
        let body = form(file, "", "a card: 4111 1111 1111 1111\nand \"more\"");
        post(&setup, path, &body);
        let expected = body.replace("4111 1111 1111 1111", "[cards 1111]").replace("chat-model", "demo-1");
        assert_eq!(setup.upstream.newest().text("body"), expected, "{path}");
    }
}

#[test]
fn a_prompt_that_cannot_be_looked_at_is_refused() {
    let setup = Setup::new(GUARDRAILS);
    for head in ["; filename=\"p\"", "\r\nContent-Type: text/plain; charset=utf-7", "\r\nContent-Transfer-Encoding: base64"] {
        let refused = post(&setup, "/v1/images/edits", &form("image", head, "cGxhbi0xNw=="));
        Shape::Chat.expect_error(head, &refused, 400, "invalid_request");
        assert!(refused.text().contains("`prompt` is not plain text"), "{}", refused.text());
    }
    // A mask that makes another form of it is none.
    let setup = Setup::new("  - {name: gone, kind: regex, pattern: 'X+', action: mask, mask: '', applies_to: [prompt]}\n");
    let refused =
        post(&setup, "/v1/images/edits", &form("image", "", "a\r\n-X-b\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nother"));
    Shape::Chat.expect_error("a hidden part", &refused, 400, "invalid_request");
    assert!(refused.text().contains("duplicate part `model`"), "{}", refused.text());
}
