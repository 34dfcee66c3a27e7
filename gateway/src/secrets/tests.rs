//! Where secrets come from, which are refused, and that processes agree.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Barrier;

use tempfile::TempDir;

use super::*;

const STRONG: &str = "0123456789abcdef0123456789abcdef";

fn conf(yaml: &str, folder: &Path) -> Conf {
    let mut conf = Conf::parse(yaml, "test.yaml", &|_| None).unwrap();
    conf.data_dir = folder.join("data");
    conf
}

fn nothing(_: &str) -> Option<String> {
    None
}

#[test]
fn missing_secrets_are_generated_once_and_private() {
    let folder = TempDir::new().unwrap();
    let conf = conf("", folder.path());
    let first = Secrets::find(&conf, &nothing).unwrap();
    let second = Secrets::find(&conf, &nothing).unwrap();
    assert_eq!(first.admin().reveal(), second.admin().reveal());
    assert_eq!(first.master_key(), second.master_key());
    assert_eq!(first.key_pepper(), second.key_pepper());
    assert_eq!(first.jwt_key(), second.jwt_key());
    assert_ne!(first.key_pepper(), first.jwt_key());

    assert_eq!(fs::metadata(&conf.data_dir).unwrap().permissions().mode() & 0o777, 0o700);
    let mut names: Vec<_> = fs::read_dir(&conf.data_dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["admin.secret", "jwt.key", "key.pepper", "master.key"], "no drafts stay behind");
    for name in names {
        let path = conf.data_dir.join(name);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.trim().len() == 64 && text.trim().bytes().all(|byte| byte.is_ascii_hexdigit()), "256 bits in hexadecimal");
    }
}

#[test]
fn starters_at_the_same_time_end_with_the_same_secrets() {
    let folder = TempDir::new().unwrap();
    let conf = conf("", folder.path());
    for round in 0..20 {
        let conf = Conf { data_dir: folder.path().join(round.to_string()), ..conf.clone() };
        let gate = Barrier::new(8);
        let found: Vec<Secrets> = std::thread::scope(|scope| {
            let start = || {
                gate.wait();
                Secrets::find(&conf, &nothing).unwrap()
            };
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(start)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        for other in &found {
            assert_eq!(other.admin().reveal(), found[0].admin().reveal());
            assert_eq!(other.master_key(), found[0].master_key());
            assert_eq!(other.key_pepper(), found[0].key_pepper());
            assert_eq!(other.jwt_key(), found[0].jwt_key());
        }
    }
}

#[test]
fn the_configuration_wins_over_the_environment_and_both_over_files() {
    let folder = TempDir::new().unwrap();
    let env = |name: &str| Some(format!("{name}-{STRONG}"));
    let from_env = Secrets::find(&conf("", folder.path()), &env).unwrap();
    assert_eq!(from_env.admin().reveal(), format!("SVC_ADMIN_SECRET-{STRONG}"));
    assert_eq!(from_env.jwt_key(), format!("SVC_JWT_KEY-{STRONG}").as_bytes());
    assert!(!folder.path().join("data").exists(), "nothing is generated that was given");

    let declared = conf(&format!("admin: {{secret: declared-{STRONG}}}"), folder.path());
    assert_eq!(Secrets::find(&declared, &env).unwrap().admin().reveal(), format!("declared-{STRONG}"));
}

#[test]
fn postgresql_wants_every_secret_and_the_message_names_those_missing() {
    let folder = TempDir::new().unwrap();
    let conf = conf("database: {url: 'postgres://svc@db/svc'}", folder.path());
    let env = |name: &str| (name == "SVC_JWT_KEY" || name == "SVC_KEY_PEPPER").then(|| STRONG.to_owned());
    let message = Secrets::find(&conf, &env).unwrap_err().to_string();
    assert!(message.starts_with("find the secrets: set SVC_ADMIN_SECRET, SVC_MASTER_KEY to at least 32"), "{message}");
    assert!(!folder.path().join("data").exists());
    assert!(Secrets::find(&conf, &|_| Some(STRONG.to_owned())).is_ok());
}

#[test]
fn weak_secrets_are_refused_without_being_shown() {
    let folder = TempDir::new().unwrap();
    for weak in [
        "stubby",
        " ",
        &" ".repeat(40),
        &"a".repeat(64),
        &"abcdefg".repeat(10),
        "Change-Me-0123456789abcdef0123456789",
        "your_secret_here_0123456789abcdef0123",
    ] {
        let env = |name: &str| Some(if name == "SVC_MASTER_KEY" { weak.to_owned() } else { STRONG.to_owned() });
        let message = Secrets::find(&conf("", folder.path()), &env).unwrap_err().to_string();
        assert!(message.starts_with("accept the environment variable SVC_MASTER_KEY: it "), "{message}");
        assert!(weak == " " || !message.contains(weak), "{message}");
    }
    let declared = conf("admin: {secret: tiny}", folder.path());
    let message = Secrets::find(&declared, &nothing).unwrap_err().to_string();
    assert!(message.contains("`admin.secret` of the configuration: it is too short"), "{message}");
}

#[test]
fn a_damaged_file_is_refused_and_an_open_one_closed() {
    let folder = TempDir::new().unwrap();
    let conf = conf("", folder.path());
    Secrets::find(&conf, &nothing).unwrap();
    let path = conf.data_dir.join("master.key");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    Secrets::find(&conf, &nothing).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    fs::write(&path, "").unwrap();
    let message = Secrets::find(&conf, &nothing).unwrap_err().to_string();
    assert!(message.contains("master.key: it is too short"), "{message}");
}

#[test]
fn secrets_are_never_printed() {
    let folder = TempDir::new().unwrap();
    let secrets = Secrets::find(&conf("", folder.path()), &|_| Some(STRONG.to_owned())).unwrap();
    assert_eq!(format!("{secrets:?}"), "Secrets(hidden)");
}
