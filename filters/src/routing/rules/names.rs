//! Lists of names, of which one has to be met.

/// Names in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Names(Box<[Box<str>]>);

/// Up to so many names looking at each is faster than searching.
const FEW: usize = 8;

impl Names {
    pub(super) fn new<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let mut names: Vec<Box<str>> = names.into_iter().map(Box::from).collect();
        names.sort_unstable();
        names.dedup();
        Self(names.into_boxed_slice())
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        if self.0.len() <= FEW {
            return self.0.iter().any(|known| **known == *name);
        }
        self.0.binary_search_by(|known| (**known).cmp(name)).is_ok()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|name| &**name)
    }
}
