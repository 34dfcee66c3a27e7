//! Token counts: derived from the sizes of prompt and answer, or set by markers.

use crate::directive::Directives;

/// What one answer claims to have used. Input includes everything cached, output includes reasoning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) input: u64,
    pub(crate) cached: u64,
    pub(crate) written_5m: u64,
    pub(crate) written_1h: u64,
    pub(crate) output: u64,
    pub(crate) reasoning: u64,
}

impl Usage {
    /// Every four bytes are a token; `demo:in`, `out`, `cached`, `cache-write`, `cache-write-1h` and `reasoning` override.
    pub(crate) fn of(directives: &Directives, prompt_bytes: usize, answer_bytes: usize, reasoning: u64) -> Self {
        let set = |name: &str| directives.number(name).unwrap_or(0);
        let extra = set("cached") + set("cache-write") + set("cache-write-1h");
        Self {
            input: directives.number("in").unwrap_or_else(|| tokens(prompt_bytes) + extra),
            cached: set("cached"),
            written_5m: set("cache-write"),
            written_1h: set("cache-write-1h"),
            output: directives.number("out").unwrap_or_else(|| tokens(answer_bytes) + reasoning),
            reasoning,
        }
    }

    pub(crate) fn written(&self) -> u64 {
        self.written_5m + self.written_1h
    }

    /// Input that was neither read from nor written to a cache.
    pub(crate) fn uncached(&self) -> u64 {
        self.input.saturating_sub(self.cached).saturating_sub(self.written())
    }

    pub(crate) fn total(&self) -> u64 {
        self.input + self.output
    }
}

/// At least one token, one for every four bytes begun.
pub(crate) fn tokens(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX).max(1)
}
