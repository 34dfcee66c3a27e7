//! The order in which targets are tried: priority groups first, weights inside a group, then fallback models.

use std::sync::Arc;

use super::hash::{mix, point, stable};
use super::{Model, ModelTable, Target};

/// What the order inside a priority group is drawn by.
#[derive(Clone, Copy, Debug)]
pub struct Draw<'a> {
    /// A uniform number; the same number gives the same order.
    pub random: u64,
    /// The key's id. For models with affinity, it and the end user take the number's place.
    pub key: &'a str,
    /// The end user the request names.
    pub end_user: Option<&'a str>,
}

/// Orders a model's targets for one request.
#[must_use]
pub fn plan(model: &Model, models: &ModelTable, draw: &Draw<'_>) -> Vec<Arc<Target>> {
    let mut order = Vec::with_capacity(model.targets.len());
    append(&mut order, model, draw);
    for name in &model.fallbacks {
        if let Some(fallback) = models.find(name) {
            append(&mut order, fallback, draw);
        }
    }
    order
}

fn append(order: &mut Vec<Arc<Target>>, model: &Model, draw: &Draw<'_>) {
    for group in model.targets.chunk_by(|a, b| a.priority == b.priority) {
        match group {
            [only] => order.push(only.clone()),
            _ if model.affinity => by_affinity(order, group, stable(&[draw.key, draw.end_user.unwrap_or_default()])),
            _ => at_random(order, group, draw.random),
        }
    }
}

/// Draws one target after the other.
fn at_random(order: &mut Vec<Arc<Target>>, group: &[Arc<Target>], random: u64) {
    let mut left: Vec<(&Arc<Target>, u64)> = group.iter().zip(weights(group)).collect();
    let mut state = random;
    while !left.is_empty() {
        let (chosen, _) = left.remove(weighted(&left, state));
        order.push(chosen.clone());
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    }
}

/// Lets every target run the same race for everybody with this seed. It takes a target longer the less weight it has, so
/// that each comes first for its share of seeds, and one that is gone changes nothing between the others.
fn by_affinity(order: &mut Vec<Arc<Target>>, group: &[Arc<Target>], seed: u64) {
    let mut times: Vec<(f64, &Arc<Target>)> =
        group.iter().zip(weights(group)).map(|(target, weight)| (time(mix(seed ^ target.identity), weight), target)).collect();
    times.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    order.extend(times.into_iter().map(|(_, target)| target.clone()));
}

/// An exponentially distributed time whose mean is the weight's inverse; without a weight, no time is long enough.
fn time(uniform: u64, weight: u64) -> f64 {
    let [numerator, weight] = [uniform >> 32, weight].map(|number| f64::from(u32::try_from(number).unwrap_or(u32::MAX)));
    if weight == 0.0 {
        return f64::INFINITY;
    }
    -((numerator + 0.5) / 4_294_967_296.0).ln() / weight
}

/// The weights of a group. Where nobody has one, all have the same.
fn weights(group: &[Arc<Target>]) -> impl Iterator<Item = u64> {
    let least = u32::from(group.iter().all(|target| target.weight == 0));
    group.iter().map(move |target| u64::from(target.weight.max(least)))
}

/// Index of the target a uniform number falls on. Weightless targets come last, in declaration order.
fn weighted(targets: &[(&Arc<Target>, u64)], random: u64) -> usize {
    let total = targets.iter().map(|(_, weight)| weight).sum();
    let mut left = point(random, total);
    for (index, (_, weight)) in targets.iter().enumerate() {
        if left < *weight {
            return index;
        }
        left -= weight;
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
        Model { name: name.into(), aliases: Vec::new(), targets, fallbacks, affinity: false, created_at: 0, translation: None }
    }

    fn drawn(random: u64) -> Draw<'static> {
        Draw { random, key: "k", end_user: None }
    }

    fn first_of(entry: &Model, user: usize) -> String {
        let user = user.to_string();
        let draw = Draw { random: 0, key: "k", end_user: Some(&user) };
        plan(entry, &ModelTable::default(), &draw)[0].provider.to_string()
    }

    fn providers(plan: &[Arc<Target>]) -> Vec<&str> {
        plan.iter().map(|target| &*target.provider).collect()
    }

    #[test]
    fn priority_groups_come_in_order_and_fallback_models_last() {
        let first = model("first", vec![target("b", 1, 1), target("a", 0, 1)], &["second", "gone"]);
        let table = ModelTable::new(vec![first, model("second", vec![target("c", 0, 1)], &[])]).expect("distinct");
        let first = table.find("first").expect("declared");
        assert_eq!(providers(&plan(first, &table, &drawn(7))), ["a", "b", "c"]);
    }

    #[test]
    fn weights_decide_the_share_within_one_percent() {
        let entry = model("m", vec![target("a", 0, 90), target("b", 0, 10), target("never", 0, 0)], &[]);
        let mut random = rand::rngs::StdRng::seed_from_u64(1);
        let draws = 100_000;
        let mut first_a = 0;
        for _ in 0..draws {
            let order = plan(&entry, &ModelTable::default(), &drawn(random.random()));
            assert_eq!(providers(&order)[2], "never", "a weightless target is only a fallback");
            first_a += usize::from(providers(&order)[0] == "a");
        }
        assert!(first_a.abs_diff(draws * 9 / 10) < draws / 100, "{first_a} of {draws}");
    }

    #[test]
    fn targets_without_any_weight_share_equally() {
        for affinity in [false, true] {
            let mut entry = model("m", vec![target("a", 0, 0), target("b", 0, 0)], &[]);
            entry.affinity = affinity;
            let mut random = rand::rngs::StdRng::seed_from_u64(2);
            let first_a = (0..10_000)
                .filter(|user: &usize| {
                    let user = user.to_string();
                    let draw = Draw { random: random.random(), key: "k", end_user: Some(&user) };
                    providers(&plan(&entry, &ModelTable::default(), &draw))[0] == "a"
                })
                .count();
            assert!(first_a.abs_diff(5_000) < 200, "{first_a}");
        }
    }

    #[test]
    fn affinity_keeps_the_weights_within_one_percent() {
        let mut entry = model("m", vec![target("a", 0, 60), target("b", 0, 30), target("c", 0, 10), target("never", 0, 0)], &[]);
        entry.affinity = true;
        let users = 100_000;
        let mut firsts = std::collections::BTreeMap::new();
        for user in 0..users {
            *firsts.entry(first_of(&entry, user)).or_insert(0_usize) += 1;
        }
        for (provider, share) in [("a", 60), ("b", 30), ("c", 10), ("never", 0)] {
            let found = firsts.get(provider).copied().unwrap_or(0);
            assert!(found.abs_diff(users * share / 100) < users / 100, "{provider}: {found}");
        }
    }

    #[test]
    fn affinity_does_not_depend_on_chance_and_a_removed_target_moves_only_its_own_users() {
        let mut entry = model("m", vec![target("a", 0, 5), target("b", 0, 3), target("c", 0, 2)], &[]);
        entry.affinity = true;
        let draw = |random| Draw { random, key: "k", end_user: Some("u") };
        assert_eq!(plan(&entry, &ModelTable::default(), &draw(1)), plan(&entry, &ModelTable::default(), &draw(u64::MAX)));
        let mut without = entry.clone();
        without.targets.retain(|target| &*target.provider != "b");
        for user in 0..10_000 {
            let before = first_of(&entry, user);
            assert!(before == "b" || before == first_of(&without, user), "user {user} left {before}");
        }
    }
}
