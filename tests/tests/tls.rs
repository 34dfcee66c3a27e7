//! TLS towards clients and towards providers.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use svc_tests::certificates::certify;
use svc_tests::gateway::{Gateway, KEY, Options};
use svc_tests::raw::Connection;
use svc_tests::shapes::Shape;
use svc_tests::upstream::Upstream;

const SOUND: &str = r#"{"model":"chat-model","messages":[{"role":"user","content":"hi"}]}"#;

/// An authority and a certificate for 127.0.0.1 that it signed.
struct Certificates {
    folder: tempfile::TempDir,
}

impl Certificates {
    fn make() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        certify(folder.path(), "IP:127.0.0.1,DNS:localhost", 2);
        Self { folder }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

#[test]
fn the_listener_speaks_tls_with_http_1_1_and_http_2() {
    let upstream = Upstream::start();
    let certificates = Certificates::make();
    let (cert, key, ca) = (certificates.file("leaf.pem"), certificates.file("leaf.key"), certificates.file("ca.pem"));
    let gateway = Gateway::start(Options::standard(&upstream.url()).with_server(&format!(
        "  tls: {{cert: {}, key: {}}}\n",
        cert.display(),
        key.display()
    )));
    let large = SOUND.replace("hi", &"x".repeat(200_000));
    fs::write(certificates.file("large.json"), large).expect("writable");
    for (flag, version) in [("--http1.1", "1.1"), ("--http2", "2")] {
        for (model_path, stream) in [("/v1/chat/completions", false), ("/v1/chat/completions", true)] {
            let body = if stream { SOUND.replacen('{', "{\"stream\":true,", 1) } else { SOUND.to_owned() };
            for data in [body, format!("@{}", certificates.file("large.json").display())] {
                let output = Command::new("curl")
                    .args(["-sS", flag, "--max-time", "20", "--cacert"])
                    .arg(&ca)
                    .args([
                        "-H",
                        &format!("authorization: Bearer {KEY}"),
                        "-H",
                        "content-type: application/json",
                        "-d",
                        &data,
                        "-w",
                        "\n%{http_version} %{http_code}",
                    ])
                    .arg(format!("https://{}{model_path}", gateway.address))
                    .output()
                    .expect("curl is installed");
                let text = String::from_utf8_lossy(&output.stdout).into_owned();
                assert!(output.status.success(), "{flag}: {}", String::from_utf8_lossy(&output.stderr));
                assert!(
                    text.ends_with(&format!("\n{version} 200")),
                    "{flag} stream {stream}: {text:.400} … {}",
                    &text[text.len().saturating_sub(200)..]
                );
            }
        }
    }
    let mut plain = TcpStream::connect(gateway.address).expect("it listens");
    plain.set_read_timeout(Some(Duration::from_secs(5))).expect("a positive time");
    let request = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {KEY}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{SOUND}",
        SOUND.len()
    );
    plain.write_all(request.as_bytes()).expect("it listens");
    let mut got = Vec::new();
    let _ = plain.read_to_end(&mut got);
    assert!(!String::from_utf8_lossy(&got).contains("200 OK"), "clear text is not served on a TLS port");
}

#[test]
fn a_provider_behind_tls_is_trusted_by_its_own_authority_only() {
    let certificates = Certificates::make();
    let upstream = Upstream::start_tls(certificates.file("leaf.pem"), certificates.file("leaf.key"));
    let provider = |name: &str, http2: &str, ca: bool| {
        let ca = if ca { format!(", ca: {}", certificates.file("ca.pem").display()) } else { String::new() };
        format!("  - {{name: {name}, kind: openai, base_url: \"{}/v1\", keys: [k], http2: {http2}{ca}}}\n", upstream.url())
    };
    let providers = [
        provider("tls-auto", "auto", true),
        provider("tls-never", "never", true),
        provider("tls-always", "always", true),
        provider("tls-unknown", "auto", false),
    ];
    let models: String = ["tls-auto", "tls-never", "tls-always", "tls-unknown"]
        .map(|name| format!("  - {{name: {name}, targets: [{{provider: {name}, model: demo-1}}]}}\n"))
        .concat();
    let gateway = Gateway::start(Options::standard("http://127.0.0.1:9").with_providers(&providers.concat()).with_models(&models));
    for name in ["tls-auto", "tls-never", "tls-always"] {
        for stream in [false, true] {
            for text in ["hi".to_owned(), "y".repeat(300_000)] {
                let mut connection = Connection::open(gateway.address);
                for _ in 0..2 {
                    let answer = Shape::Chat.ask(&mut connection, name, &text, stream);
                    assert_eq!(answer.status, 200, "{name} stream {stream} {} bytes: {:.500}", text.len(), answer.text());
                    assert!(answer.complete, "{name} stream {stream}");
                }
            }
        }
    }
    let answer = Shape::Chat.ask(&mut Connection::open(gateway.address), "tls-unknown", "hi", false);
    Shape::Chat.expect_error("an unknown authority", &answer, 503, "upstream_unavailable");
}
