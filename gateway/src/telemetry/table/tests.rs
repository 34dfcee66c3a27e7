//! The dashboard and the alerts name what the table declares, and nothing else.

use std::collections::BTreeSet;
use std::path::Path;

use super::*;

/// Labels that Prometheus itself sets.
const TARGET: [&str; 2] = ["job", "instance"];
/// Words after which labels stand in parentheses.
const GROUPING: [&str; 6] = ["by", "without", "on", "ignoring", "group_left", "group_right"];

/// What a query names: metrics, each with the labels its selector asks for, and labels it groups by.
#[derive(Debug, Default)]
struct Named {
    metrics: Vec<(String, Vec<String>)>,
    grouping: Vec<String>,
}

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conf").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Words and marks of a query; texts in quotes and durations in brackets are left out.
fn tokens(query: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut rest = query.chars().peekable();
    while let Some(next) = rest.next() {
        match next {
            '"' => while rest.next().is_some_and(|next| next != '"') {},
            '[' => while rest.next().is_some_and(|next| next != ']') {},
            next if next.is_alphanumeric() || matches!(next, '_' | ':' | '$' | '.') => {
                let mut word = String::from(next);
                while let Some(more) = rest.next_if(|next| next.is_alphanumeric() || matches!(next, '_' | ':' | '.')) {
                    word.push(more);
                }
                tokens.push(word);
            }
            next if next.is_whitespace() => {}
            next => tokens.push(next.to_string()),
        }
    }
    tokens
}

fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// The words up to `end`.
fn enclosed<'t>(tokens: &mut impl Iterator<Item = &'t String>, end: &str) -> Vec<String> {
    tokens.take_while(|token| *token != end).filter(|token| is_name(token)).cloned().collect()
}

fn named(query: &str) -> Named {
    let (mut named, tokens) = (Named::default(), tokens(query));
    let mut rest = tokens.iter().peekable();
    while let Some(token) = rest.next() {
        let followed = |mark: &str| tokens.get(tokens.len() - rest.len()).is_some_and(|next| next == mark);
        if GROUPING.contains(&token.as_str()) && followed("(") {
            named.grouping.extend(enclosed(&mut rest, ")"));
        } else if is_name(token) && followed("{") {
            let labels = enclosed(&mut rest, "}");
            named.metrics.push((token.clone(), labels));
        } else if token.starts_with("svc_") {
            named.metrics.push((token.clone(), Vec::new()));
        }
    }
    named
}

/// The labels a series has; none where the table has no such series.
fn labels_of(series: &str) -> Option<Vec<&'static str>> {
    if series == "up" {
        return Some(Vec::new());
    }
    METRICS.iter().find_map(|metric| {
        let part = series.strip_prefix(metric.name)?;
        match (metric.kind, part) {
            (Kind::Histogram(_), "_bucket") => Some([metric.labels, &["le"]].concat()),
            (Kind::Histogram(_), "_sum" | "_count") => Some(metric.labels.to_vec()),
            (Kind::Counter | Kind::Amount | Kind::Gauge, "") => Some(metric.labels.to_vec()),
            _ => None,
        }
    })
}

/// What is wrong with a query; the metrics it names otherwise.
fn check(query: &str) -> Result<BTreeSet<String>, String> {
    let named = named(query);
    let mut all: BTreeSet<&str> = TARGET.into();
    for (metric, labels) in &named.metrics {
        let known = labels_of(metric).ok_or_else(|| format!("there is no series {metric}"))?;
        let stranger = labels.iter().find(|label| !known.contains(&label.as_str()) && !TARGET.contains(&label.as_str()));
        if let Some(label) = stranger {
            return Err(format!("{metric} has no label {label}"));
        }
        all.extend(known);
    }
    match named.grouping.iter().find(|label| !all.contains(label.as_str())) {
        Some(label) => Err(format!("nothing has the label {label}")),
        None if named.metrics.is_empty() => Err("it names no metric".to_owned()),
        None => Ok(named.metrics.into_iter().map(|(metric, _)| metric).collect()),
    }
}

#[test]
fn queries_that_name_what_there_is_not_are_found() {
    for sound in [
        "sum by (model) (rate(svc_requests_total{provider=\"a\",status_code=~\"5..\"}[5m]))",
        "histogram_quantile(0.95, sum(rate(svc_queue_duration_seconds_bucket{job=\"svc\"}[$__rate_interval])) by (le, provider))",
        "svc_active_requests",
        "absent(up{job=\"svc\"})",
    ] {
        assert_eq!(check(sound).err(), None, "{sound}");
    }
    for (wrong, why) in [
        ("svc_request_total", "svc_request_total"),
        ("rate(svc_queue_duration_seconds[5m])", "svc_queue_duration_seconds"),
        ("svc_requests_total_bucket", "svc_requests_total_bucket"),
        ("up_total{job=\"svc\"}", "up_total"),
        ("svc_provider_up{model=\"m\"}", "label model"),
        ("sum by (provider, key) (svc_requests_total)", "label key"),
        ("sum by (le) (svc_request_duration_seconds_count)", "label le"),
        ("vector(1)", "no metric"),
    ] {
        let told = check(wrong).expect_err(wrong);
        assert!(told.contains(why), "{wrong}: {told}");
    }
}

#[test]
fn alerts_name_what_the_table_has_and_say_what_they_mean() {
    let rules: serde_yaml::Value = serde_yaml::from_str(&read("prometheus/alerts.yaml")).expect("YAML");
    let groups = rules["groups"].as_sequence().expect("groups");
    let rules: Vec<_> = groups.iter().flat_map(|group| group["rules"].as_sequence().expect("rules")).collect();
    assert!(!rules.is_empty());
    for rule in rules {
        let name = rule["alert"].as_str().expect("a name");
        check(rule["expr"].as_str().expect("a query")).unwrap_or_else(|error| panic!("{name}: {error}"));
        let severity = rule["labels"]["severity"].as_str();
        assert!(matches!(severity, Some("critical" | "warning" | "info")), "{name}: {severity:?}");
        for told in ["summary", "description"] {
            assert!(rule["annotations"][told].as_str().is_some_and(|text| text.len() > 20), "{name} has no {told}");
        }
        assert!(rule["for"].as_str().is_some(), "{name} fires at the first sample");
    }
}

#[test]
fn the_dashboard_shows_every_metric_the_table_has_and_no_other() {
    let dashboard: serde_json::Value = serde_json::from_str(&read("grafana/svc.json")).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    let mut shown = BTreeSet::new();
    for panel in panels.iter().filter(|panel| panel["type"] != "row") {
        let title = panel["title"].as_str().expect("a title");
        assert_eq!(panel["datasource"]["uid"], "${datasource}", "{title}");
        for target in panel["targets"].as_array().expect("queries") {
            let query = target["expr"].as_str().expect("a query");
            shown.extend(check(query).unwrap_or_else(|error| panic!("{title}: {error}")));
            let grouping = named(query).grouping;
            let legend = target["legendFormat"].as_str().expect("a legend");
            for label in legend.split("{{").skip(1).filter_map(|part| part.split_once("}}")).map(|(label, _)| label) {
                assert!(grouping.iter().any(|known| known == label), "{title}: the legend names {label}");
            }
        }
    }
    for metric in METRICS {
        let parts = [metric.name.to_owned(), format!("{}_bucket", metric.name)];
        assert!(parts.iter().any(|part| shown.contains(part)), "{} is not shown", metric.name);
    }
    for variable in dashboard["templating"]["list"].as_array().expect("variables").iter().filter(|variable| variable["type"] == "query") {
        let query = variable["query"]["query"].as_str().and_then(|query| query.strip_prefix("label_values(")).expect("values of a label");
        let (metric, label) = query.trim_end_matches(')').split_once(", ").expect("two arguments");
        let known = labels_of(metric).unwrap_or_else(|| panic!("{metric}"));
        assert!(known.contains(&label) || TARGET.contains(&label), "{query}");
    }
}

#[test]
fn names_labels_and_buckets_are_as_specified() {
    assert_eq!(METRICS.map(|metric| metric.name).into_iter().collect::<BTreeSet<_>>().len(), 15);
    for metric in METRICS {
        assert!(metric.name.starts_with("svc_") && metric.help.ends_with('.'), "{}", metric.name);
        let personal = ["key", "user", "team", "application", "agent"];
        assert!(!metric.labels.iter().any(|label| personal.contains(label)), "{} names somebody", metric.name);
        if let Kind::Histogram(buckets) = metric.kind {
            assert!(buckets.is_sorted(), "{}", metric.name);
        }
    }
    assert_eq!((REQUEST_BUCKETS.first(), REQUEST_BUCKETS.last()), (Some(&0.1), Some(&60.0)));
    assert_eq!((QUEUE_BUCKETS.first(), QUEUE_BUCKETS.last()), (Some(&0.001), Some(&5.0)));
}
