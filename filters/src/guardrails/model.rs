//! Guardrails for which a model looks: what is asked of it, and what its answer means.

use std::sync::Arc;

use serde::Deserialize;

use super::action::Action;
use super::mask::{self, Edit, Mask, part, seen_chars};
use super::place::{Place, Places};
use super::spec::{GuardrailError, GuardrailKind, GuardrailSpec, OnFailure};

/// The score from which on a guardrail acts that does not say.
pub const DEFAULT_THRESHOLD: f64 = 0.5;
/// Characters of a model's label that are kept.
const LABEL_KEPT: usize = 64;

/// One guardrail for which a model looks.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelRule {
    /// Its name.
    pub name: Arc<str>,
    /// The model's name where it is served.
    pub model: Arc<str>,
    /// Whether the model finds parts of a text, rather than to score it as a whole.
    pub finds_parts: bool,
    /// The score, 0 to 1, from which on something is found.
    pub threshold: f64,
    /// Among guardrails of the same action the lower number decides.
    pub priority: i32,
    /// What is done about it.
    pub action: Action,
    /// Where it looks: places of the prompt.
    pub places: Places,
    /// What happens to a request that cannot be looked at.
    pub on_failure: OnFailure,
}

/// What a model says about a text.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Judgement {
    /// The text's score, 0 to 1.
    pub score: f64,
    /// What it scores as; `None` from models that find parts.
    #[serde(default)]
    pub label: Option<String>,
    /// The parts that were found; `None` from models that score whole texts.
    #[serde(default)]
    pub entities: Option<Vec<Entity>>,
}

/// A part of a text that a model found.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Entity {
    /// What it is.
    pub label: String,
    /// Where it begins, in Unicode code points.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// How sure the model is, 0 to 1.
    pub score: f64,
}

/// Something a model found. Holds no text.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelFinding {
    /// The guardrail, as an index into those that were asked.
    pub rule: usize,
    /// The text, as an index into those that were shown.
    pub text: usize,
    /// Where that stands.
    pub place: Place,
    /// What the model calls it.
    pub label: String,
    /// How sure it is.
    pub score: f64,
    /// The bytes of the text it is about: all of them, or those of a part.
    pub span: (usize, usize),
    /// Number of characters, without those that cannot be seen.
    pub chars: usize,
}

impl ModelRule {
    /// The rule of a guardrail whose kind needs a model and with which nothing is wrong.
    ///
    /// # Errors
    /// What is wrong with its action.
    pub fn of(spec: &GuardrailSpec) -> Result<Self, GuardrailError> {
        Ok(Self {
            name: Arc::from(&*spec.name),
            model: Arc::from(spec.model.as_deref().unwrap_or(spec.kind.as_str())),
            finds_parts: spec.kind == GuardrailKind::Pii,
            threshold: spec.threshold.unwrap_or(DEFAULT_THRESHOLD),
            priority: spec.priority,
            action: spec.action()?,
            places: spec.places(),
            on_failure: spec.on_failure.unwrap_or_default(),
        })
    }

    /// What of a model's judgement of a text reaches the threshold, as findings of the `rule`-th guardrail in the `index`-th text.
    /// `None` where the judgement is none of such a text, or not of the kind the guardrail needs.
    #[must_use]
    pub fn findings(&self, judgement: &Judgement, text: &str, (rule, index, place): (usize, usize, Place)) -> Option<Vec<ModelFinding>> {
        let found = |label: &str, score, span: (usize, usize)| ModelFinding {
            rule,
            text: index,
            place,
            label: label.chars().take(LABEL_KEPT).collect(),
            score,
            span,
            chars: seen_chars(part(text, 0, span.0, span.1)),
        };
        if self.finds_parts {
            let entities = judgement.entities.as_ref()?;
            let spans = spans(text, entities)?;
            let reached = entities.iter().zip(spans).filter(|(entity, _)| entity.score >= self.threshold);
            return Some(reached.map(|(entity, span)| found(&entity.label, entity.score, span)).collect());
        }
        let reached = (judgement.score >= self.threshold).then_some(judgement.score);
        let label = judgement.label.as_deref().unwrap_or_default();
        Some(reached.map(|score| found(label, score, (0, text.len()))).into_iter().collect())
    }
}

/// The bytes of a text's entities. `None` where they overlap, are out of order or not within the text.
fn spans(text: &str, entities: &[Entity]) -> Option<Vec<(usize, usize)>> {
    let mut offsets = text.char_indices().map(|(offset, _)| offset).chain([text.len()]).enumerate().peekable();
    let mut at = |wanted: usize| {
        while offsets.next_if(|(index, _)| *index < wanted).is_some() {}
        offsets.peek().filter(|(index, _)| *index == wanted).map(|(_, offset)| *offset)
    };
    entities.iter().map(|entity| Some((at(entity.start)?, at(entity.end).filter(|_| entity.start < entity.end)?))).collect()
}

/// The finding that decides: of the guardrail with the strictest action (block, redirect, mask, only log), among equals with the lower
/// priority number, then of the first guardrail. `None` where nothing was found.
#[must_use]
pub fn decisive<'f, 'r>(rules: &'r [Arc<ModelRule>], findings: &'f [ModelFinding]) -> Option<(&'r Arc<ModelRule>, &'f ModelFinding)> {
    let known = findings.iter().filter_map(|finding| Some((rules.get(finding.rule)?, finding)));
    known.min_by_key(|(rule, finding)| (rule.action.rank(), rule.priority, finding.rule))
}

/// What findings in one text replace, in order and without overlaps, where their guardrails mask.
#[must_use]
pub fn model_edits<'f>(rules: &[Arc<ModelRule>], text: &str, findings: impl Iterator<Item = &'f ModelFinding>) -> Vec<Edit> {
    let masks = findings.filter_map(|finding| {
        let rule = rules.get(finding.rule)?;
        let Action::Mask(template) = &rule.action else { return None };
        Some(Mask::new(finding.span, &rule.name, template, (rule.priority, finding.rule)))
    });
    mask::edits(masks.collect(), text, 0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::mask::edited;
    use super::*;

    fn rule(spec: serde_json::Value) -> Arc<ModelRule> {
        let spec: GuardrailSpec = serde_json::from_value(spec).unwrap();
        assert_eq!(spec.problems(), []);
        Arc::new(ModelRule::of(&spec).unwrap())
    }

    fn judged(judgement: serde_json::Value) -> Judgement {
        serde_json::from_value(judgement).unwrap()
    }

    #[test]
    fn a_score_is_found_from_the_threshold_on() {
        let rule = rule(json!({"name": "r", "kind": "injection", "action": "block", "threshold": 0.7}));
        let found = |score: f64| {
            let judgement = judged(json!({"score": score, "label": "INJECTION", "labels": {}, "matched": false}));
            rule.findings(&judgement, "text", (0, 0, Place::Messages)).unwrap().len()
        };
        assert_eq!((found(0.69), found(0.7), found(1.0)), (0, 1, 1));
        assert_eq!((&*rule.model, rule.places, rule.on_failure), ("injection", Places::PROMPT, OnFailure::Closed));
    }

    #[test]
    fn entities_become_spans_of_bytes_and_are_masked() {
        let rules = [
            rule(json!({"name": "pii", "kind": "pii", "action": "mask", "mask": "<{rule} {length}>"})),
            rule(json!({"name": "sure", "kind": "pii", "action": "mask", "threshold": 0.9, "priority": 1, "model": "own"})),
        ];
        let text = "é😀 Zoë Ada, x";
        let entities = json!([
            {"label": "PERSON", "start": 3, "end": 6, "score": 0.6}, {"label": "PERSON", "start": 7, "end": 10, "score": 0.95}]);
        let judgement = judged(json!({"score": 0.95, "entities": entities}));
        let at = |rule| (rule, 0, Place::Messages);
        let mut findings = rules[0].findings(&judgement, text, at(0)).unwrap();
        assert_eq!(findings.iter().map(|found| &text[found.span.0..found.span.1]).collect::<Vec<_>>(), ["Zoë", "Ada"]);
        findings.extend(rules[1].findings(&judgement, text, at(1)).unwrap());
        assert_eq!(findings.len(), 3, "one is below the second's threshold");
        assert_eq!(edited(text, &model_edits(&rules, text, findings.iter())), "é😀 <pii 3> [sure], x");
        assert_eq!(&*decisive(&rules, &findings).unwrap().0.name, "sure", "the lower priority decides");
    }

    #[test]
    fn a_judgement_that_does_not_fit_is_none() {
        let rule = rule(json!({"name": "pii", "kind": "pii", "action": "block"}));
        let looked = |entities: serde_json::Value| {
            rule.findings(&judged(json!({"score": 1.0, "entities": entities})), "Zoë", (0, 0, Place::Messages))
        };
        let entity = |start: usize, end: usize| json!({"label": "P", "start": start, "end": end, "score": 0.9});
        assert_eq!(looked(json!([entity(0, 3)])).map(|found| found[0].span), Some((0, 4)));
        for entities in
            [json!([entity(0, 4)]), json!([entity(2, 2)]), json!([entity(2, 1)]), json!([entity(1, 2), entity(0, 1)]), json!(null)]
        {
            assert_eq!(looked(entities.clone()), None, "{entities}");
        }
    }

    #[test]
    fn what_makes_no_sense_for_these_kinds_is_refused_by_field() {
        let problems = |spec: serde_json::Value| {
            let spec: GuardrailSpec = serde_json::from_value(spec).unwrap();
            spec.problems().into_iter().map(|problem| problem.field).collect::<Vec<_>>()
        };
        assert_eq!(problems(json!({"name": "r", "kind": "injection", "action": "mask"})), [Some("action")]);
        assert_eq!(problems(json!({"name": "r", "kind": "pii", "action": "mask", "mask": "{all}"})), [Some("mask")]);
        assert_eq!(
            problems(json!({"name": "r", "kind": "pii", "action": "block", "applies_to": ["prompt", "answer"]})),
            [Some("applies_to")]
        );
        assert_eq!(problems(json!({"name": "r", "kind": "pii", "action": "block", "applies_to": ["reasoning"]})), [Some("applies_to")]);
        assert_eq!(problems(json!({"name": "r", "kind": "toxicity", "action": "block", "threshold": 1.5})), [Some("threshold")]);
        assert_eq!(problems(json!({"name": "r", "kind": "toxicity", "action": "block", "model": " "})), [Some("model")]);
        assert_eq!(
            problems(json!({"name": "r", "kind": "regex", "pattern": "a", "action": "block", "model": "m", "on_failure": "open"})),
            [Some("model"), Some("on_failure")]
        );
    }
}
