//! The configuration: the shipped files, values, variables, places in messages, and the schema.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod places;
mod schema;
mod shipped;
mod values;
mod variables;

use std::fs;
use std::path::{Path, PathBuf};

use svc_gateway::conf::{Conf, Problem};

pub(crate) fn conf_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../conf")
}

pub(crate) fn shipped() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = [conf_dir(), conf_dir().join("examples")]
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    files.sort();
    assert!(files.len() >= 5, "{files:?}");
    files
}

pub(crate) fn nothing(_: &str) -> Option<String> {
    None
}

pub(crate) fn everything(name: &str) -> Option<String> {
    Some(match name {
        "SVC_PORT" | "SVC_DEMO_PORT" | "SVC_ADMIN_PORT" => "4000".to_owned(),
        "OWN_MODELS_URL" => "http://10.20.0.7:8080/v1".to_owned(),
        "OTEL_EXPORTER_OTLP_ENDPOINT" => "http://collector:4318".to_owned(),
        "AZURE_OPENAI_ENDPOINT" => "https://contoso.openai.azure.com".to_owned(),
        "AZURE_OPENAI_V1_URL" => "https://contoso.openai.azure.com/openai/v1".to_owned(),
        "AWS_REGION" | "BEDROCK_REGION" => "eu-central-1".to_owned(),
        "GLOBAL_RPM" => "5000".to_owned(),
        _ => format!("value-of-{name}-0123456789"),
    })
}

pub(crate) fn parse(text: &str) -> Conf {
    parse_with(text, &nothing)
}

pub(crate) fn parse_with(text: &str, env: &dyn Fn(&str) -> Option<String>) -> Conf {
    Conf::parse(text, "svc.yaml", env).unwrap_or_else(|error| panic!("failed to {error}\n{text}"))
}

pub(crate) fn problems(text: &str) -> Vec<Problem> {
    Conf::parse(text, "svc.yaml", &nothing).expect_err(text).problems().to_vec()
}

/// The only problem of a text, without the file's name.
pub(crate) fn problem(text: &str) -> String {
    let problems = problems(text);
    assert_eq!(problems.len(), 1, "{problems:?}");
    problems[0].to_string().strip_prefix("svc.yaml:").unwrap().to_owned()
}
