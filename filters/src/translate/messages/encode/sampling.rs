//! Sampling, and the fields of other dialects that have no place here.

use super::prepare::Context;
use crate::canonical::{Losses, Number, Request, Weight};

/// Sampling as it is sent.
#[derive(Default)]
pub(super) struct Sampled<'a> {
    pub(super) temperature: Option<Number<'a>>,
    pub(super) top_p: Option<Number<'a>>,
    pub(super) top_k: Option<Number<'a>>,
}

impl<'a> Sampled<'a> {
    pub(super) fn settle(request: &Request<'a>, thinks: bool, context: &Context<'_>, losses: &mut Losses) -> Self {
        foreign(request, context, losses);
        let (terms, capabilities, asked) = (context.terms, &context.target.capabilities, &request.sampling);
        if !capabilities.sampling {
            let given = [(terms.temperature, asked.temperature), (terms.top_p, asked.top_p), (terms.top_k, asked.top_k)];
            for (field, _) in given.into_iter().filter(|(_, value)| value.is_some()) {
                losses.note(field, Weight::Minor, "the model does not take it");
            }
            return Self::default();
        }
        let mut keep = |field: &'static str, value: Option<Number<'a>>, fits: bool, reason: &'static str| {
            if value.is_some() && !fits {
                losses.note(field, Weight::Minor, reason);
            }
            value.filter(|_| fits)
        };
        let near_one = |number: Number<'_>| (0.95..=1.0).contains(&number.value());
        let thinking = "it cannot be set while the model thinks";
        let even = asked.temperature.is_none_or(|number| (number.value() - 1.0).abs() < f64::EPSILON);
        let mut temperature = keep(terms.temperature, asked.temperature, !thinks || even, thinking);
        if temperature.is_some_and(|number| number.value() > 1.0) {
            keep(terms.temperature, temperature, false, "lowered to 1, the highest the messages dialect knows");
            temperature = Some(Number("1.0"));
        }
        let top_p = keep(terms.top_p, asked.top_p, !thinks || asked.top_p.is_some_and(near_one), thinking);
        let both = capabilities.both_sampling || temperature.is_none();
        let top_p = keep(terms.top_p, top_p, both, "the model does not take it together with a temperature");
        let top_k = keep(terms.top_k, asked.top_k, !thinks, thinking);
        Self { temperature, top_p, top_k }
    }
}

/// Notes what this dialect has no word for.
fn foreign(request: &Request<'_>, context: &Context<'_>, losses: &mut Losses) {
    let (terms, asked) = (context.terms, &request.sampling);
    let unknown = "the messages dialect has no such field";
    let single = "a messages provider gives one answer";
    let list = [
        (asked.n.is_some_and(|n| n > 1), terms.n, Weight::Major, single),
        (asked.logprobs, terms.logprobs, Weight::Major, "a messages provider gives no probabilities"),
        (asked.top_logprobs.is_some() && !asked.logprobs, terms.top_logprobs, Weight::Minor, unknown),
        (asked.seed.is_some(), terms.seed, Weight::Minor, unknown),
        (asked.presence_penalty.is_some(), terms.presence, Weight::Minor, unknown),
        (asked.frequency_penalty.is_some(), terms.frequency, Weight::Minor, unknown),
        (request.verbosity.is_some(), terms.verbosity, Weight::Minor, unknown),
    ];
    for (_, field, weight, reason) in list.into_iter().filter(|(given, ..)| *given) {
        losses.note(field, weight, reason);
    }
    for extra in &request.extras {
        losses.note(extra.field.decode().into_owned(), extra.weight, unknown);
    }
}
