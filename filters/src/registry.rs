//! Filters by name: how the configuration finds the built-in ones, and how a plugin crate adds its own.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::auth::AuthFilter;
use crate::chain::OnFailure;
use crate::cost::CostFilter;
use crate::filter::Filter;
use crate::guardrails::GuardrailsFilter;
use crate::limits::LimitsFilter;
use crate::routing::RoutingFilter;
use crate::translate::TranslationFilter;

/// A filter and what its failure means.
#[derive(Clone)]
pub struct Registered {
    /// The filter.
    pub filter: Arc<dyn Filter>,
    /// What happens to a request it panics on.
    pub on_failure: OnFailure,
}

type Factory = Box<dyn Fn() -> Registered + Send + Sync>;

/// Factories by filter name.
pub struct Registry {
    factories: BTreeMap<String, Factory>,
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.factories.keys()).finish()
    }
}

impl Registry {
    /// A registry with the built-in filters.
    #[must_use]
    pub fn builtin() -> Self {
        let mut registry = Self { factories: BTreeMap::new() };
        registry.add("auth", || AuthFilter);
        registry.add("limits", LimitsFilter::default);
        registry.add("guardrails", || GuardrailsFilter);
        registry.add("routing", RoutingFilter::default);
        registry.add("translation", || TranslationFilter);
        registry.add("cost", || CostFilter);
        registry
    }

    /// Adds a filter that fails closed. A later one replaces an earlier one of the same name.
    pub fn add<F: Filter + 'static>(&mut self, name: &str, make: impl Fn() -> F + Send + Sync + 'static) {
        self.add_with(name, OnFailure::Closed, make);
    }

    /// Adds a filter and says what its failure means.
    pub fn add_with<F: Filter + 'static>(&mut self, name: &str, on_failure: OnFailure, make: impl Fn() -> F + Send + Sync + 'static) {
        self.factories.insert(name.to_owned(), Box::new(move || Registered { filter: Arc::new(make()), on_failure }));
    }

    /// Makes the filter of that name.
    #[must_use]
    pub fn make(&self, name: &str) -> Option<Registered> {
        self.factories.get(name).map(|factory| factory())
    }

    /// All names, for error messages.
    #[must_use]
    pub fn names(&self) -> String {
        self.factories.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    }
}
