//! The variables of one request as the evaluator wants them, made once however many expressions ask for them.

use std::sync::OnceLock;

use ::cel::common::value::{CowVal, Val};
use ::cel::context::VariableResolver;

use super::variable::Variable;
use crate::routing::rules::sample::Asked;

/// What expressions have asked for so far; each by its variable's place.
#[derive(Default)]
pub(in crate::routing::rules) struct Values([OnceLock<Option<Box<dyn Val>>>; Variable::COUNT]);

impl Values {
    /// Makes a variable known, unless it is.
    pub(super) fn supply(&self, variable: Variable, asked: &Asked<'_>) {
        if let Some(place) = self.0.get(variable as usize) {
            place.get_or_init(|| variable.value(asked).try_into().ok());
        }
    }
}

impl VariableResolver for Values {
    fn resolve<'b>(&'b self, name: &str) -> Option<CowVal<'b, 'b>> {
        let value = self.0.get(Variable::named(name)? as usize)?.get()?.as_deref()?;
        Some(CowVal::Borrowed(value))
    }
}
