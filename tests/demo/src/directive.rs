//! Markers: `demo:name` or `demo:name=value`, found in the model name and in the last user text.

use std::time::Duration;

const PREFIX: &str = "demo:";

/// The markers of one request, in order of appearance; the model name's come first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Directives(Vec<(String, Option<String>)>);

impl Directives {
    pub(crate) fn read(model: &str, text: &str) -> Self {
        let words = model.split([',', ';']).chain(text.split_whitespace());
        Self(words.filter_map(marker).collect())
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// The value of a marker, if it is there and has one.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.find(name)?.as_deref()
    }

    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.value(name)?.parse().ok()
    }

    pub(crate) fn count(&self, name: &str) -> Option<usize> {
        self.value(name)?.parse().ok()
    }

    pub(crate) fn status(&self, name: &str) -> Option<u16> {
        self.value(name)?.parse().ok().filter(|status| (200..600).contains(status))
    }

    /// `250ms`, `2s` or plain milliseconds.
    pub(crate) fn duration(&self, name: &str) -> Option<Duration> {
        let value = self.value(name)?;
        if let Some(ms) = value.strip_suffix("ms") {
            return ms.parse().ok().map(Duration::from_millis);
        }
        if let Some(seconds) = value.strip_suffix('s') {
            return seconds.parse().ok().map(Duration::from_secs);
        }
        value.parse().ok().map(Duration::from_millis)
    }

    fn find(&self, name: &str) -> Option<&Option<String>> {
        self.0.iter().find(|(found, _)| found == name).map(|(_, value)| value)
    }
}

fn marker(word: &str) -> Option<(String, Option<String>)> {
    let body = word.get(word.find(PREFIX)? + PREFIX.len()..)?;
    let (name, value) = match body.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (body, None),
    };
    let trimmed = |text: &str| text.trim_end_matches(['.', ',', ';', '"', '\'', ')']).to_owned();
    Some((trimmed(name), value.map(trimmed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_found_in_model_and_text() {
        let found = Directives::read("x;demo:error=429", "please demo:slow=100ms and demo:cut.");
        assert_eq!(found.status("error"), Some(429));
        assert_eq!(found.duration("slow"), Some(Duration::from_millis(100)));
        assert!(found.has("cut"), "a full stop after a marker is not part of it");
    }

    #[test]
    fn the_model_name_wins_over_the_text() {
        assert_eq!(Directives::read("demo:error=500", "demo:error=429").status("error"), Some(500));
    }

    #[test]
    fn a_model_of_ordinary_name_has_no_markers() {
        assert!(!Directives::read("demo-chat", "hello").has("chat"));
    }
}
