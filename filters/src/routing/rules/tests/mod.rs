mod conditions;
mod decisions;
mod shares;
mod speed;
mod unknown;

use std::collections::BTreeMap;
use std::sync::Arc;

use http::HeaderMap;
use serde_json::{Value, json};

use super::sample::Asked;
use super::*;
use crate::auth::Caller;
use crate::endpoint::Endpoint;
use crate::routing::{Model, ModelTable, Target};
use crate::shape::Shape;
use crate::translate::{ProviderKind, Quirks};

/// Friday, 20 November 2026, half past ten in the morning.
pub(super) const FRIDAY: i64 = 1_795_170_600_000;

/// A request to be decided about.
#[derive(Clone)]
pub(crate) struct Given {
    pub(super) model: &'static str,
    pub(super) key: String,
    pub(super) stream: bool,
    pub(super) tools: bool,
    pub(super) images: bool,
    pub(super) max_tokens: Option<u64>,
    pub(super) end_user: Option<String>,
    pub(super) headers: HeaderMap,
    pub(super) caller: Caller,
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) prompt_tokens: u64,
    pub(super) now: i64,
    pub(super) unknown: Unknown,
}

impl Default for Given {
    fn default() -> Self {
        Self {
            model: "large",
            key: "k-1".to_owned(),
            stream: false,
            tools: false,
            images: false,
            max_tokens: None,
            end_user: None,
            headers: HeaderMap::new(),
            caller: Caller::default(),
            metadata: BTreeMap::new(),
            prompt_tokens: 10,
            now: FRIDAY,
            unknown: Unknown::NOTHING,
        }
    }
}

impl Given {
    pub(super) fn full() -> Self {
        let caller = Caller {
            owner: Some(Owner::User("ann@example.com".to_owned())),
            team: Some("search".into()),
            application: Some("crawler".into()),
            groups: vec!["staff".into(), "berlin".into()],
            tags: map(&[("job", "batch")]),
        };
        let mut headers = HeaderMap::new();
        headers.insert("x-plan", http::HeaderValue::from_static("gold"));
        Self {
            stream: true,
            max_tokens: Some(256),
            end_user: Some("u-1".to_owned()),
            headers,
            caller,
            metadata: map(&[("run", "nightly")]),
            prompt_tokens: 1200,
            ..Self::default()
        }
    }

    pub(super) fn sampled<T>(&self, look: impl FnOnce(&Sample<'_>) -> T) -> T {
        let prompt_tokens = || self.prompt_tokens;
        let metadata = || self.metadata.clone();
        look(&Sample {
            endpoint: Endpoint::ChatCompletions,
            shape: Shape::ChatCompletions,
            model: self.model,
            stream: self.stream,
            tools: self.tools,
            images: self.images,
            max_tokens: self.max_tokens,
            end_user: self.end_user.as_deref(),
            headers: &self.headers,
            key_id: &self.key,
            key_name: "build key",
            caller: &self.caller,
            now: self.now,
            random: 1,
            prompt_tokens: &prompt_tokens,
            metadata: &metadata,
            unknown: self.unknown,
        })
    }

    pub(super) fn asked<T>(&self, look: impl FnOnce(&Asked<'_>) -> T) -> T {
        self.sampled(|sample| look(&Asked::new(sample, &ModelTable::default())))
    }
}

fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn target(provider: &str, priority: i32, region: Option<&str>) -> Arc<Target> {
    let target = Target::new(provider.into(), ProviderKind::Openai, Quirks::VENDOR, Shape::ChatCompletions, "m".into());
    Arc::new(target.ranked(priority, 1).in_region(region.map(Arc::from)))
}

/// `large`, also called `best`, in both regions; `small` in one; `mini` in the other, with `small` to fall back on.
fn models() -> ModelTable {
    let model = |name: &str, aliases: &[&str], targets: Vec<Arc<Target>>, fallbacks: &[&str]| Model {
        name: name.into(),
        aliases: aliases.iter().map(|alias| Arc::from(*alias)).collect(),
        targets,
        fallbacks: fallbacks.iter().map(|name| Arc::from(*name)).collect(),
        affinity: false,
        created_at: 0,
        translation: None,
    };
    let models = vec![
        model("large", &["best"], vec![target("us-large", 0, Some("us")), target("eu-large", 1, Some("eu")), target("any", 2, None)], &[]),
        model("small", &["cheap"], vec![target("eu-small", 0, Some("eu"))], &[]),
        model("mini", &[], vec![target("us-mini", 0, Some("us"))], &["small"]),
    ];
    ModelTable::new(models).expect("distinct names")
}

fn rule(spec: Value) -> Rule {
    Rule::compile(&serde_json::from_value(spec.clone()).expect("a rule")).unwrap_or_else(|error| panic!("{spec}: {error}"))
}

fn rules(specs: Value) -> RuleSet {
    let Value::Array(specs) = specs else { panic!("a list") };
    RuleSet::new(specs.into_iter().map(rule).collect(), &models())
}

/// Whether a rule with these conditions matches, and else the first that does not hold.
fn unmet(fields: Value, given: &Given) -> Option<Condition> {
    let mut spec = json!({"name": "r", "kind": "deny"});
    for (name, value) in fields.as_object().expect("fields") {
        spec[name] = value.clone();
    }
    if spec["when"].get("cel").is_some() {
        spec["kind"] = json!("custom");
        spec["redirect"] = json!({"model": "small"});
    }
    let (rules, models) = (rules(json!([spec])), models());
    given.sampled(|sample| match explain(&rules, &models, sample, &NoSpends).tried.as_slice() {
        [Tried { result: Tested::Decided, .. }] => None,
        [Tried { result: Tested::Unmet(condition) | Tested::Failed(condition, _), .. }] => Some(*condition),
        other => panic!("{other:?}"),
    })
}
