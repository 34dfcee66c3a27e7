//! Models, their aliases and the targets that serve them.

mod filter;
mod hash;
mod plan;
pub mod rules;
mod table;

pub use filter::RoutingFilter;
pub use plan::{Draw, plan};
pub use table::{ModelTable, ModelTableError};

use std::sync::Arc;

use crate::shape::Shape;
use crate::translate::map::signature::origin;
use crate::translate::{self, Capabilities, Policy, ProviderKind, Quirks};

/// One place a model can be served: a provider and the name the model has there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Name of the provider.
    pub provider: Arc<str>,
    /// Its kind.
    pub kind: ProviderKind,
    /// What it takes otherwise than its vendor.
    pub quirks: Quirks,
    /// Shape it speaks for this model.
    pub shape: Shape,
    /// Name of the model at that provider.
    pub upstream_model: Arc<str>,
    /// Groups are tried in ascending order.
    pub priority: i32,
    /// Share of the traffic inside one priority group; 0 takes none unless all are 0.
    pub weight: u32,
    /// Label for region pins.
    pub region: Option<Arc<str>>,
    /// Tells it from the others, in every process and version.
    identity: u64,
    origin: u32,
    capabilities: Capabilities,
}

impl Target {
    /// A target of priority 0 and weight 1.
    #[must_use]
    pub fn new(provider: Arc<str>, kind: ProviderKind, quirks: Quirks, shape: Shape, upstream_model: Arc<str>) -> Self {
        let (origin, capabilities) = (origin(&provider, &upstream_model), Capabilities::of(shape, &upstream_model));
        let identity = hash::stable(&[&provider, &upstream_model]);
        Self { provider, kind, quirks, shape, upstream_model, priority: 0, weight: 1, region: None, identity, origin, capabilities }
    }

    /// The same in a region.
    #[must_use]
    pub fn in_region(self, region: Option<Arc<str>>) -> Self {
        Self { region, ..self }
    }

    /// The same with a place among others.
    #[must_use]
    pub fn ranked(self, priority: i32, weight: u32) -> Self {
        Self { priority, weight, ..self }
    }

    /// The target as translations see it.
    #[must_use]
    pub fn translated(&self) -> translate::Target<'_> {
        translate::Target {
            shape: self.shape,
            kind: self.kind,
            model: &self.upstream_model,
            origin: self.origin,
            capabilities: self.capabilities,
            quirks: self.quirks,
        }
    }
}

/// A model entry: the name clients use, and where it is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// Canonical name.
    pub name: Arc<str>,
    /// Other names clients may use.
    pub aliases: Vec<Arc<str>>,
    /// Targets, ordered by priority, then by declaration.
    pub targets: Vec<Arc<Target>>,
    /// Names of the models to try when every target failed.
    pub fallbacks: Vec<Arc<str>>,
    /// Whether one key and end user stay on one target inside a priority group.
    pub affinity: bool,
    /// Unix seconds of creation, as model lists show it.
    pub created_at: i64,
    /// What is done about fields a provider of another shape has no words for; `None` as the key says.
    pub translation: Option<Policy>,
}
