//! Models, their aliases and the targets that serve them.

mod filter;
mod plan;
mod table;

pub use filter::RoutingFilter;
pub use plan::plan;
pub use table::{ModelTable, ModelTableError};

use std::sync::Arc;

use crate::shape::Shape;
use crate::translate::Policy;

/// One place a model can be served: a provider and the name the model has there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Name of the provider.
    pub provider: Arc<str>,
    /// Shape that provider speaks.
    pub shape: Shape,
    /// Name of the model at that provider.
    pub upstream_model: Arc<str>,
    /// Groups are tried in ascending order.
    pub priority: i32,
    /// Share of the traffic inside one priority group; 0 takes none unless all are 0.
    pub weight: u32,
}

/// A model entry: the name clients use, and where it is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// Canonical name.
    pub name: Arc<str>,
    /// Other names clients may use.
    pub aliases: Vec<Arc<str>>,
    /// Targets, ordered by priority, then by declaration.
    pub targets: Vec<Target>,
    /// Names of the models to try when every target failed.
    pub fallbacks: Vec<Arc<str>>,
    /// Unix seconds of creation, as model lists show it.
    pub created_at: i64,
    /// What is done about fields a provider of another shape has no words for; `None` as the key says.
    pub translation: Option<Policy>,
}
