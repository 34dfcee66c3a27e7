//! `svc-licence`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use svc_tests::gateway::program;
use svc_tests::licence;

use crate::stage::Stage;

const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/licence/private.pem");

fn run(arguments: &[&str]) -> Output {
    Command::new(program("svc-licence")).args(arguments).output().expect("it starts")
}

fn told(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn refused(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(!output.status.success(), "{arguments:?} is refused");
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).expect("text")
}

fn path(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

#[test]
fn a_gateway_takes_what_the_program_issues() {
    let token = told(&["issue", "--key", KEY, "--customer", "Example \"Ltd\"", "--edition", "enterprise", "--days", "365"]);
    let stage = Stage::start(Some(token));
    let shown = stage.licence();
    assert_eq!(
        (shown["tier"].as_str(), shown["customer"].as_str(), shown["days_left"].as_i64()),
        (Some("enterprise"), Some("Example \"Ltd\""), Some(365))
    );
}

#[test]
fn a_pair_of_ones_own_signs_and_verifies_and_is_not_overwritten() {
    let folder = tempfile::tempdir().expect("a folder");
    let keys = folder.path().join("keys");
    told(&["keys", "--out", path(&keys)]);
    let (private, public) = (keys.join("private.pem"), keys.join("public.pem"));
    assert_eq!(fs::metadata(&private).expect("a file").permissions().mode() & 0o777, 0o600);
    let before = fs::read(&private).expect("a file");
    assert!(refused(&["keys", "--out", path(&keys)]).contains("never overwritten"));
    assert_eq!(fs::read(&private).expect("a file"), before);

    let file = folder.path().join("svc.license");
    told(&[
        "issue",
        "--key",
        path(&private),
        "--customer",
        "A",
        "--edition",
        "community",
        "--expires-at",
        "2999-12-31",
        "--out",
        path(&file),
    ]);
    assert!(
        refused(&["issue", "--key", path(&private), "--customer", "A", "--edition", "community", "--days", "1", "--out", path(&file)])
            .contains("failed to create")
    );
    assert!(refused(&["inspect", path(&file)]).contains("none of the keys"), "this build does not trust it");
    let shown = told(&["inspect", path(&file), "--key", path(&public)]);
    assert!(shown.contains("expires at  2999-12-31T23:59:59Z") && shown.contains("tier now    community (valid)"), "{shown}");
    assert!(shown.contains("a gateway of this build would refuse"), "{shown}");
    let stage = Stage::start(Some(fs::read_to_string(&file).expect("a file")));
    assert_eq!(stage.shown().state, "invalid");
}

#[test]
fn a_licence_is_inspected_as_a_gateway_would_take_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("licence");
    for (left, tier, banner) in [
        (90, "enterprise (valid)", "none"),
        (9, "enterprise (expiring)", "B-1: "),
        (-9, "enterprise (grace)", "B-2: "),
        (-40, "recovery (expired)", "B-4: "),
    ] {
        fs::write(&file, licence::expiring("enterprise", licence::now() + left * licence::DAY)).expect("it is writable");
        let shown = told(&["inspect", path(&file)]);
        assert!(shown.contains(&format!("tier now    {tier}")) && shown.contains(&format!("banner      {banner}")), "{shown}");
        assert!(shown.contains("key         tests (built in here)"), "{shown}");
    }
}

#[test]
fn wrong_calls_are_told_what_is_wrong() {
    let issue = |more: &[&str]| refused(&[&["issue", "--key", KEY, "--customer", "A"][..], more].concat());
    for (told, words) in [
        (refused(&[]), "Usage:"),
        (refused(&["sign"]), "unknown command sign"),
        (refused(&["keys"]), "--out is missing"),
        (refused(&["keys", "--out"]), "--out needs a value"),
        (refused(&["inspect", "/nowhere"]), "failed to read /nowhere"),
        (refused(&["inspect", KEY]), "it is no JWT"),
        (refused(&["inspect", "-", "--key", KEY]), "no Ed25519 public key"),
        (issue(&["--edition", "gold", "--days", "1"]), "--edition must be"),
        (issue(&["--edition", "community"]), "either --days or --expires-at"),
        (issue(&["--edition", "community", "--days", "1", "--expires-at", "2999-01-01"]), "either --days or --expires-at"),
        (issue(&["--edition", "community", "--days", "0"]), "--days must be"),
        (issue(&["--edition", "community", "--days", "1", "--days", "2"]), "--days is there twice"),
        (issue(&["--edition", "community", "--expires-at", "soon"]), "--expires-at must be"),
        (issue(&["--edition", "community", "--expires-at", "2020-01-01"]), "expired already"),
        (issue(&["--edition", "community", "--days", "1", "--colour", "red"]), "unknown argument --colour"),
        (refused(&["issue", "--key", KEY, "--customer", " ", "--edition", "community", "--days", "1"]), "`sub`"),
    ] {
        assert!(told.starts_with("svc-licence: ") && told.contains(words), "{told}");
    }
}
