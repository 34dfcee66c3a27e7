//! The running requests of this process that hold a place in the store, so that their leases can be renewed.

use std::collections::{HashMap, HashSet};

use parking_lot::Mutex;

/// Ids of running requests by the key of their counter.
#[derive(Debug, Default)]
pub(super) struct Running {
    places: Mutex<HashMap<String, HashSet<String>>>,
}

impl Running {
    /// A request holds a place in these counters.
    pub(super) fn enter(&self, id: &str, keys: &[String]) {
        if keys.is_empty() {
            return;
        }
        let mut places = self.places.lock();
        for key in keys {
            places.entry(key.clone()).or_default().insert(id.to_owned());
        }
    }

    /// It does no longer.
    pub(super) fn leave(&self, id: &str, keys: &[String]) {
        if keys.is_empty() {
            return;
        }
        let mut places = self.places.lock();
        for key in keys {
            if let Some(ids) = places.get_mut(key) {
                ids.remove(id);
                if ids.is_empty() {
                    places.remove(key);
                }
            }
        }
    }

    /// All of them, in parts of at most `most` ids of one counter.
    pub(super) fn parts(&self, most: usize) -> Vec<(String, Vec<String>)> {
        let places = self.places.lock();
        let mut parts = Vec::new();
        for (key, ids) in places.iter() {
            let ids: Vec<String> = ids.iter().cloned().collect();
            parts.extend(ids.chunks(most).map(|part| (key.clone(), part.to_vec())));
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_left_is_not_renewed_and_keeps_no_memory() {
        let running = Running::default();
        let keys = ["a".to_owned(), "b".to_owned()];
        running.enter("1", &keys);
        running.enter("2", &keys[..1]);
        running.leave("1", &keys);
        assert_eq!(running.parts(10), [("a".to_owned(), vec!["2".to_owned()])]);
        running.leave("2", &keys);
        assert!(running.places.lock().is_empty());
    }

    #[test]
    fn many_are_told_in_parts() {
        let running = Running::default();
        for id in 0..25 {
            running.enter(&id.to_string(), &["a".to_owned()]);
        }
        let mut sizes: Vec<usize> = running.parts(10).iter().map(|(_, ids)| ids.len()).collect();
        sizes.sort_unstable();
        assert_eq!(sizes, [5, 10, 10]);
    }
}
