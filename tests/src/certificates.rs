//! Certificates of an authority of the test's own.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Runs `openssl` in a folder.
///
/// # Panics
/// When it is missing or fails.
pub fn openssl(folder: &Path, arguments: &[&str]) {
    let output = Command::new("openssl").args(arguments).current_dir(folder).output().expect("openssl is installed");
    assert!(output.status.success(), "openssl {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Makes an authority (`ca.pem`) and a certificate (`leaf.pem`, `leaf.key`) it signed for `names`, such as `IP:127.0.0.1,DNS:localhost`,
/// that expires in so many days.
///
/// # Panics
/// When `openssl` fails.
pub fn certify(folder: &Path, names: &str, days: i32) {
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    let own = ["req", "-x509", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=test authority"];
    openssl(folder, &[&own[..], &key[..]].concat());
    openssl(folder, &[&["req", "-keyout", "leaf.key", "-out", "leaf.csr", "-subj", "/CN=test"][..], &key[..]].concat());
    fs::write(folder.join("leaf.ext"), format!("subjectAltName={names}\nbasicConstraints=CA:FALSE\n")).expect("writable");
    let days = days.to_string();
    let sign = ["x509", "-req", "-in", "leaf.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", &days];
    openssl(folder, &[&sign[..], &["-extfile", "leaf.ext", "-out", "leaf.pem"]].concat());
}
