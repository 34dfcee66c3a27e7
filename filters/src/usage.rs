//! Token usage as one vector, read from each shape's own usage object.
//!
//! Chat completions and responses count cached and reasoning tokens inside their totals, messages counts cache tokens beside
//! its input, generate content counts cached tokens inside and thoughts beside. The vector counts every token once.

mod cost;
mod count;
mod dialects;

use serde::{Deserialize, Serialize};

pub use self::dialects::{MessagesUsage, read_chat, read_generate_content};

/// Largest count believed: the largest integer every JSON reader keeps exact.
pub const LARGEST: u64 = 1 << 53;

/// Tokens of one exchange, each counted once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Input tokens neither read from nor written to a cache.
    pub input_uncached: u64,
    /// Input tokens read from a cache.
    pub cache_read: u64,
    /// Input tokens written to a cache kept for five minutes, or for a time not told.
    pub cache_write_5m: u64,
    /// Input tokens written to a cache kept for an hour.
    pub cache_write_1h: u64,
    /// Output tokens, reasoning included.
    pub output: u64,
    /// Output tokens spent on reasoning, when told.
    pub reasoning: Option<u64>,
    /// What the provider says the exchange cost, in billionths of a US dollar. Aggregators tell it, vendors do not.
    pub cost_nano: Option<u64>,
    /// Something in the usage object was absurd and was clamped or ignored.
    pub suspicious: bool,
}

/// Usage for tests, with every count but the cost.
#[cfg(test)]
pub(crate) const SAMPLE: Usage = Usage {
    input_uncached: 40,
    cache_read: 64,
    cache_write_5m: 10,
    cache_write_1h: 6,
    output: 31,
    reasoning: Some(12),
    cost_nano: None,
    suspicious: false,
};

impl Usage {
    /// All input tokens.
    #[must_use]
    pub const fn input(&self) -> u64 {
        self.input_uncached.saturating_add(self.cache_read).saturating_add(self.cache_write())
    }

    /// Input tokens written to any cache.
    #[must_use]
    pub const fn cache_write(&self) -> u64 {
        self.cache_write_5m.saturating_add(self.cache_write_1h)
    }

    /// All tokens.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.input().saturating_add(self.output)
    }
}
