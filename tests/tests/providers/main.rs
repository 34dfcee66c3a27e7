//! Providers on the clouds: addresses, signatures, tokens and frames, against strict emulators.

mod azure;
mod bedrock;
mod bedrock_keys;
mod vertex;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;

use svc_tests::gateway::{Gateway, KEY, Options};
use svc_tests::raw::{Answer, Connection};
use svc_tests::shapes::Shape;

/// A configuration with these providers and models, one line each, and a key that may call everything.
fn options(providers: &str, models: &str) -> Options {
    let conf = format!(
        "providers:\n{providers}\nmodels:\n{models}\nkeys:\n  - {{name: all, secret: {KEY}, owner: {{user: dev@example.com}}}}\nbreaker: {{enabled: false}}\n"
    );
    Options { conf, ..Options::standard("") }
}

/// One request on a connection of its own.
fn ask(gateway: &Gateway, shape: Shape, model: &str, text: &str, stream: bool) -> Answer {
    shape.ask(&mut Connection::open(gateway.address), model, text, stream)
}

/// Many requests at once; all have to be answered with 200.
fn ask_at_once(gateway: &Gateway, shape: Shape, model: &str, count: usize) {
    thread::scope(|scope| {
        let asked: Vec<_> = (0..count).map(|_| scope.spawn(|| ask(gateway, shape, model, "Hello", false))).collect();
        for answer in asked {
            let answer = answer.join().expect("no panic");
            assert_eq!(answer.status, 200, "{}\n{}", answer.head, answer.text());
        }
    });
}

/// Checks that nothing secret reached the log or an answer.
fn expect_silence(gateway: &Gateway, answer: &Answer, secrets: &[&str]) {
    for secret in secrets {
        assert!(!gateway.log().contains(secret), "a secret is in the log:\n{}", gateway.log());
        assert!(!format!("{}{}", answer.head, answer.text()).contains(secret), "a secret is in an answer: {}", answer.text());
    }
}

fn openssl(folder: &Path, arguments: &[&str]) {
    let output = Command::new("openssl").args(arguments).current_dir(folder).output().expect("openssl is installed");
    assert!(output.status.success(), "openssl {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// An authority and a certificate for this host that it signed.
fn certify(folder: &Path) {
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    let own = ["req", "-x509", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=test authority"];
    openssl(folder, &[&own[..], &key[..]].concat());
    openssl(folder, &[&["req", "-keyout", "leaf.key", "-out", "leaf.csr", "-subj", "/CN=localhost"][..], &key[..]].concat());
    fs::write(folder.join("leaf.ext"), "subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n").expect("writable");
    let sign = ["x509", "-req", "-in", "leaf.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2"];
    openssl(folder, &[&sign[..], &["-extfile", "leaf.ext", "-out", "leaf.pem"]].concat());
}
