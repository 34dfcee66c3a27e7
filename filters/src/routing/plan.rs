//! The order in which targets are tried: priority groups first, weights inside a group, then fallback models.

use std::sync::Arc;

use super::{Model, ModelTable, Target};

/// Orders a model's targets for one request. `random` is uniform; the same number gives the same order.
#[must_use]
pub fn plan(model: &Model, models: &ModelTable, random: u64) -> Vec<Arc<Target>> {
    let mut order = Vec::with_capacity(model.targets.len());
    append(&mut order, model, random);
    for name in &model.fallbacks {
        if let Some(fallback) = models.find(name) {
            append(&mut order, fallback, random);
        }
    }
    order
}

fn append(order: &mut Vec<Arc<Target>>, model: &Model, random: u64) {
    for group in model.targets.chunk_by(|a, b| a.priority == b.priority) {
        let mut left: Vec<&Arc<Target>> = group.iter().collect();
        let mut state = random;
        while !left.is_empty() {
            let chosen = left.remove(weighted(&left, state));
            order.push(chosen.clone());
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        }
    }
}

/// Index of the target a uniform number falls on. Weightless targets come last, in declaration order.
fn weighted(targets: &[&Arc<Target>], random: u64) -> usize {
    let total: u64 = targets.iter().map(|target| u64::from(target.weight)).sum();
    if total == 0 {
        return 0;
    }
    // The high half of the product is uniform over 0..total.
    let mut point = u64::try_from((u128::from(random) * u128::from(total)) >> 64).unwrap_or(0);
    for (index, target) in targets.iter().enumerate() {
        let weight = u64::from(target.weight);
        if point < weight {
            return index;
        }
        point -= weight;
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shape;
    use crate::translate::{ProviderKind, Quirks};
    use rand::{Rng, SeedableRng};

    fn target(provider: &str, priority: i32, weight: u32) -> Arc<Target> {
        let target = Target::new(provider.into(), ProviderKind::Openai, Quirks::VENDOR, Shape::ChatCompletions, "m".into());
        Arc::new(target.ranked(priority, weight))
    }

    fn model(name: &str, targets: Vec<Arc<Target>>, fallbacks: &[&str]) -> Model {
        let fallbacks = fallbacks.iter().map(|name| (*name).into()).collect();
        Model { name: name.into(), aliases: Vec::new(), targets, fallbacks, created_at: 0, translation: None }
    }

    fn providers(plan: &[Arc<Target>]) -> Vec<&str> {
        plan.iter().map(|target| &*target.provider).collect()
    }

    #[test]
    fn priority_groups_come_in_order_and_fallback_models_last() {
        let first = model("first", vec![target("b", 1, 1), target("a", 0, 1)], &["second", "gone"]);
        let table = ModelTable::new(vec![first, model("second", vec![target("c", 0, 1)], &[])]).expect("distinct");
        let first = table.find("first").expect("declared");
        assert_eq!(providers(&plan(first, &table, 7)), ["a", "b", "c"]);
    }

    #[test]
    fn weights_decide_the_share_within_one_percent() {
        let entry = model("m", vec![target("a", 0, 90), target("b", 0, 10), target("never", 0, 0)], &[]);
        let mut random = rand::rngs::StdRng::seed_from_u64(1);
        let draws = 100_000;
        let mut first_a = 0;
        for _ in 0..draws {
            let order = plan(&entry, &ModelTable::default(), random.random());
            assert_eq!(providers(&order)[2], "never", "a weightless target is only a fallback");
            first_a += usize::from(providers(&order)[0] == "a");
        }
        assert!(first_a.abs_diff(draws * 9 / 10) < draws / 100, "{first_a} of {draws}");
    }
}
