//! Look-up of a model by any name a client may use.

use std::collections::HashMap;
use std::sync::Arc;

use super::Model;

/// Why a set of models cannot form a table.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ModelTableError {
    /// Two entries claim one name.
    #[error("build the model table: the name `{name}` belongs to both `{first}` and `{second}`")]
    DuplicateName {
        /// The name claimed twice.
        name: String,
        /// Canonical name of the first claimant.
        first: String,
        /// Canonical name of the second claimant.
        second: String,
    },
}

/// All enabled models, found by canonical name or alias.
#[derive(Debug, Default)]
pub struct ModelTable {
    models: Vec<Arc<Model>>,
    by_name: HashMap<Arc<str>, usize>,
}

impl ModelTable {
    /// Builds the table. Targets are put in ascending order of priority.
    ///
    /// # Errors
    /// When a canonical name or alias is claimed twice.
    pub fn new(models: Vec<Model>) -> Result<Self, ModelTableError> {
        let mut table = Self::default();
        for mut model in models {
            model.targets.sort_by_key(|target| target.priority);
            let index = table.models.len();
            let names: Vec<Arc<str>> = std::iter::once(&model.name).chain(&model.aliases).cloned().collect();
            for name in names {
                if let Some(first) = table.by_name.insert(name.clone(), index)
                    && first != index
                {
                    return Err(ModelTableError::DuplicateName {
                        name: name.to_string(),
                        first: table.models.get(first).map(|model| model.name.to_string()).unwrap_or_default(),
                        second: model.name.to_string(),
                    });
                }
            }
            table.models.push(Arc::new(model));
        }
        Ok(table)
    }

    /// The model known under `name`, canonical or alias.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Arc<Model>> {
        self.by_name.get(name).and_then(|index| self.models.get(*index))
    }

    /// Every model in declaration order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Model>> {
        self.models.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(name: &str, aliases: &[&str]) -> Model {
        Model {
            name: name.into(),
            aliases: aliases.iter().map(|alias| Arc::from(*alias)).collect(),
            targets: Vec::new(),
            fallbacks: Vec::new(),
            affinity: false,
            created_at: 0,
            translation: None,
        }
    }

    #[test]
    fn an_alias_leads_to_its_canonical_model() {
        let table = ModelTable::new(vec![model("gpt-4o", &["default"])]).expect("distinct names");
        assert_eq!(table.find("default").map(|model| &*model.name), Some("gpt-4o"));
        assert!(table.find("Default").is_none(), "names are case-sensitive");
    }

    #[test]
    fn two_models_under_one_name_are_refused() {
        let error = ModelTable::new(vec![model("a", &["x"]), model("b", &["x"])]).expect_err("the alias is claimed twice");
        assert_eq!(error.to_string(), "build the model table: the name `x` belongs to both `a` and `b`");
    }
}
