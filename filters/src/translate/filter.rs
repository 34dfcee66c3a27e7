//! The `translation` filter: keeps the targets the request can be carried to without loss.

use crate::filter::{Filter, Place, Request};
use crate::verdict::{Code, Rejection, Verdict};

/// Refuses requests no target of the plan can take.
#[derive(Clone, Copy, Debug)]
pub struct TranslationFilter;

impl Filter for TranslationFilter {
    fn name(&self) -> &'static str {
        "translation"
    }

    fn check(&self, place: &Place<'_>) -> Result<(), String> {
        place.after("routing")
    }

    fn on_request(&self, request: &mut Request<'_>) -> Verdict {
        let shape = request.shape;
        let other = request.plan.iter().map(|target| target.shape).find(|target| *target != shape);
        request.plan.retain(|target| target.shape == shape);
        match (request.plan.is_empty(), other) {
            (false, _) => Verdict::Continue,
            (true, None) => {
                let message = format!("The model `{}` has no provider that can serve it at present.", request.model);
                Rejection::new(Code::UpstreamUnavailable, message).into()
            }
            (true, Some(other)) => {
                let message = format!(
                    "The model `{}` is served by a {other} provider; a {shape} request cannot be translated to it (field `model`, pair {shape}>{other}).",
                    request.model
                );
                Rejection::new(Code::UnsupportedTranslation, message).with_param("model").into()
            }
        }
    }
}
