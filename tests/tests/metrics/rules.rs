//! The alerts and the dashboard that come with the gateway, as a real server takes them.

use std::fs;
use std::path::{Path, PathBuf};

use svc_tests::prometheus::promtool;
use svc_tests::shapes::Shape;

use crate::{STEADY, Stage, provider};

/// What the alerts make of made-up samples.
const TEST: &str = include_str!("alerts.test.yaml");

fn conf(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../conf").join(name)
}

#[test]
fn alerts_fire_when_they_should_and_only_then() {
    let told =
        promtool(&["check", "config", conf("prometheus/prometheus.yaml").to_str().expect("a path")], "").expect("a sound configuration");
    assert!(told.contains("11 rules found"), "{told}");
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::copy(conf("prometheus/alerts.yaml"), folder.path().join("alerts.yaml")).expect("the alerts");
    let test = folder.path().join("alerts.test.yaml");
    fs::write(&test, TEST).expect("the folder is writable");
    promtool(&["test", "rules", test.to_str().expect("a path")], "").expect("alerts as the test has them");
}

#[test]
fn a_server_answers_every_query_of_the_dashboard() {
    let stage = Stage::start(&provider("narrow", "http://127.0.0.1:1", ", max_concurrency: 1"), "", STEADY);
    for shape in Shape::ALL {
        assert_eq!(stage.ask(shape, shape.model(), "hi", false), 200);
    }
    // Rates are there with the second sample.
    stage.prometheus.expect("count(rate(svc_requests_total[1m]))", 3.0);
    let dashboard: serde_json::Value = serde_json::from_slice(&fs::read(conf("grafana/svc.json")).expect("the dashboard")).expect("JSON");
    let targets = dashboard["panels"].as_array().expect("panels").iter().filter_map(|panel| panel["targets"].as_array()).flatten();
    let variables = [("$__rate_interval", "1m"), ("$__range", "1h"), ("$instance", ".*"), ("$provider", ".*"), ("$model", ".*")];
    let mut answered = 0;
    for target in targets {
        let query =
            variables.iter().fold(target["expr"].as_str().expect("a query").to_owned(), |query, (name, value)| query.replace(name, value));
        assert!(!query.contains('$'), "{query}");
        let found = stage.prometheus.query(&query).unwrap_or_else(|error| panic!("{query}: {error}"));
        answered += usize::from(!found.is_empty());
    }
    // Nobody has waited, reported a cost or reasoned in this short run.
    assert!(answered >= 15, "{answered} queries gave something");
}
