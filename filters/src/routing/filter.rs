//! The `routing` filter: the model entry behind the asked name, and the order in which its targets are tried.

use super::plan;
use crate::filter::{Filter, Place, Request};
use crate::verdict::{Code, Rejection, Verdict};

/// Turns the asked model into a plan of targets.
#[derive(Clone, Copy, Debug)]
pub struct RoutingFilter;

impl Filter for RoutingFilter {
    fn name(&self) -> &'static str {
        "routing"
    }

    fn check(&self, place: &Place<'_>) -> Result<(), String> {
        place.after("auth")
    }

    fn on_request(&self, request: &mut Request<'_>) -> Verdict {
        let Some(model) = request.policy.models.find(request.model) else {
            let message = format!("The model `{}` does not exist. `GET /v1/models` lists the models this key may call.", request.model);
            return Rejection::new(Code::ModelNotFound, message).with_param("model").into();
        };
        request.plan = plan(model, &request.policy.models, request.random);
        request.resolved = Some(model.clone());
        Verdict::Continue
    }
}
