//! The `translation` filter: keeps the targets the request can be carried to.

use std::sync::Arc;

use crate::endpoint::Endpoint;
use crate::filter::{Filter, Place, Request};
use crate::routing::Target;
use crate::shape::Shape;
use crate::verdict::{Code, Rejection, Verdict};

/// Refuses requests no target of the plan can take. What one target has no words for is found out when its turn comes.
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
        let other = request.plan.iter().map(|target| target.shape).find(|shape| *shape != request.shape);
        keep_carried(request.endpoint, request.shape, &mut request.plan);
        match (request.plan.is_empty(), other) {
            (false, _) => Verdict::Continue,
            (true, None) => {
                let message = format!("The model `{}` has no provider that can serve it at present.", request.model);
                Rejection::new(Code::UpstreamUnavailable, message).into()
            }
            (true, Some(other)) => {
                let (shape, endpoint) = (request.shape, request.endpoint.as_str());
                let message = format!(
                    "The model `{}` is served by a {other} provider, which has no counterpart of the endpoint {endpoint} (field `model`, pair {shape}>{other}).",
                    request.model
                );
                Rejection::new(Code::UnsupportedTranslation, message).with_param("model").into()
            }
        }
    }
}

/// Takes targets without a counterpart of the endpoint out of a plan. Tokens are counted where that is possible, else estimated.
pub fn keep_carried(endpoint: Endpoint, shape: Shape, plan: &mut Vec<Arc<Target>>) {
    let native = |target: &Arc<Target>| target.shape == shape;
    if !(endpoint.translates() || endpoint.counts() && !plan.iter().any(native)) {
        plan.retain(native);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::translate::{ProviderKind, Quirks};

    fn kept(endpoint: Endpoint, shapes: &[Shape]) -> Vec<Shape> {
        let target = |shape: &Shape| Arc::new(Target::new("p".into(), ProviderKind::Openai, Quirks::COMPATIBLE, *shape, "m".into()));
        let mut plan = shapes.iter().map(target).collect();
        keep_carried(endpoint, endpoint.shape(), &mut plan);
        plan.into_iter().map(|target| target.shape).collect()
    }

    #[test]
    fn conversations_keep_targets_of_every_shape() {
        let all = [Shape::Messages, Shape::ChatCompletions, Shape::GenerateContent];
        for endpoint in [Endpoint::ChatCompletions, Endpoint::Messages, Endpoint::Responses, Endpoint::StreamGenerateContent] {
            assert_eq!(kept(endpoint, &all), all, "{endpoint:?}");
        }
    }

    #[test]
    fn endpoints_without_a_counterpart_keep_targets_of_their_own_shape() {
        assert_eq!(kept(Endpoint::Embeddings, &[Shape::Messages, Shape::ChatCompletions]), [Shape::ChatCompletions]);
        assert_eq!(kept(Endpoint::EmbedContent, &[Shape::Messages]), []);
    }

    #[test]
    fn tokens_are_counted_by_a_provider_of_the_shape_where_there_is_one() {
        assert_eq!(kept(Endpoint::MessagesCountTokens, &[Shape::ChatCompletions, Shape::Messages]), [Shape::Messages]);
        assert_eq!(kept(Endpoint::MessagesCountTokens, &[Shape::ChatCompletions]), [Shape::ChatCompletions]);
    }
}
