//! The files in `conf/`, and files that hold nothing or are not there.

use std::fs;
use std::path::Path;

use serde_json::Value;
use svc_gateway::conf::{Conf, Owner};

use crate::{conf_dir, everything, parse, parse_with, shipped};

#[test]
fn shipped_files_are_accepted_without_any_variable_and_with_all_of_them() {
    for path in shipped() {
        let text = fs::read_to_string(&path).unwrap();
        parse(&text);
        let full = parse_with(&text, &everything);
        assert!(full.models.iter().all(|model| !model.targets.is_empty()), "{}", path.display());
    }
}

#[test]
fn the_reference_file_shows_every_key_with_its_default() {
    let text = fs::read_to_string(conf_dir().join("svc.yaml")).unwrap();
    let mut shown = serde_json::to_value(parse(&text)).unwrap();
    let mut default = serde_json::to_value(Conf::default()).unwrap();
    assert_eq!(parse(&text).gateway_url(), Conf::default().gateway_url());
    for conf in [&mut shown, &mut default] {
        let sections = conf.as_object_mut().unwrap();
        sections["admin"].as_object_mut().unwrap().remove("gateway_url");
        for declared in ["providers", "models", "keys", "rules", "guardrails"] {
            sections.remove(declared);
        }
    }
    assert_eq!(shown, default);
    let written: Value = serde_yaml::from_str(&text).unwrap();
    assert_keys_written(&default, &written, "");
}

/// Fails for a key of the types that the file does not show; `tls` is shown as a comment.
fn assert_keys_written(expected: &Value, written: &Value, path: &str) {
    for (key, value) in expected.as_object().into_iter().flatten().filter(|(key, _)| *key != "tls") {
        let path = format!("{path}.{key}");
        let written = written.get(key).unwrap_or_else(|| panic!("conf/svc.yaml does not show {path}"));
        assert_keys_written(value, written, &path);
    }
}

#[test]
fn the_demonstration_gains_a_vendor_with_its_key() {
    let text = fs::read_to_string(conf_dir().join("demo.svc.yaml")).unwrap();
    let names = |conf: &Conf| conf.models.iter().map(|model| model.name.clone()).collect::<Vec<_>>();
    let alone = parse(&text);
    assert_eq!(names(&alone), ["demo-chat", "demo-messages", "demo-gemini"]);
    assert_eq!(alone.server.listen.to_string(), "127.0.0.1:3000");
    assert_eq!(alone.providers[0].base_url, "http://127.0.0.1:3900/v1");
    assert!(alone.keys.is_empty(), "without a secret there is no key");

    let env = |name: &str| match name {
        "ANTHROPIC_API_KEY" => Some("sk-ant-1".to_owned()),
        "SVC_DEV_KEY" => Some("demo-0123456789abcdef".to_owned()),
        "SVC_PORT" => Some("4100".to_owned()),
        _ => None,
    };
    let joined = parse_with(&text, &env);
    assert_eq!(joined.providers.len(), 4);
    assert_eq!(joined.providers[3].keys[0].reveal(), "sk-ant-1");
    assert!(names(&joined).contains(&"claude-sonnet-4-5".to_owned()), "{:?}", names(&joined));
    assert!(!names(&joined).contains(&"gpt-4o".to_owned()));
    assert_eq!(joined.server.listen.port(), 4100);
    assert_eq!(joined.keys[0].owner, Owner::User("developer@example.com".to_owned()));
}

#[test]
fn an_empty_file_is_the_default() {
    for text in ["", "# nothing\n", "---\n", "{}", "server:\nproviders:\nrules: ~\n"] {
        assert_eq!(serde_json::to_value(parse(text)).unwrap(), serde_json::to_value(Conf::default()).unwrap(), "{text:?}");
    }
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = Conf::load(Path::new("/nowhere/svc.yaml")).unwrap_err().to_string();
    assert!(error.starts_with("read the configuration /nowhere/svc.yaml: "), "{error}");
}
