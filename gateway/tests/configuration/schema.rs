//! The JSON Schema.

use std::fs;

use serde_json::Value;
use svc_gateway::conf::{Conf, schema};

use crate::{conf_dir, nothing, shipped};

fn validator() -> jsonschema::Validator {
    jsonschema::validator_for(&serde_json::from_str(&schema::json()).unwrap()).unwrap()
}

fn yaml(text: &str) -> Value {
    serde_yaml::from_str(text).unwrap()
}

#[test]
fn the_committed_schema_is_current() {
    let committed = fs::read_to_string(conf_dir().join("svc.schema.json")).unwrap();
    assert!(
        committed == schema::json() + "\n",
        "conf/svc.schema.json is stale; write it again with: cargo run -p svc-gateway -- --schema > conf/svc.schema.json"
    );
}

#[test]
fn the_schema_accepts_the_shipped_files_with_their_variables() {
    let validator = validator();
    for path in shipped() {
        let document = yaml(&fs::read_to_string(&path).unwrap());
        let errors: Vec<String> = validator.iter_errors(&document).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{}: {errors:#?}", path.display());
    }
}

#[test]
fn the_schema_refuses_what_the_reader_refuses() {
    let validator = validator();
    for text in [
        "provders: []",
        "metrics: {port: many}",
        "metrics: {enabled: 1}",
        "timeouts: {idle: 5}",
        "server: {max_body: big}",
        "providers: [{name: a, kind: openia}]",
        "providers: [{kind: openai}]",
        "models: [{name: a, targets: []}]",
        "keys: [{name: k, secret: s, owner: {user: a, agent: b}}]",
        "filters: auth",
    ] {
        assert!(!validator.is_valid(&yaml(text)), "{text}");
        assert!(Conf::parse(text, "svc.yaml", &nothing).is_err(), "{text}");
    }
    assert!(validator.is_valid(&yaml(
        "metrics: {port: '${PORT}', enabled: '${ON:-false}'}\nlimits: {global_rpm: '${RPM}', on_limiter_error: '${E:-local}'}"
    )));
}
