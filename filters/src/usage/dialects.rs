//! The usage objects of the shapes.

use super::Usage;
use super::cost;
use super::count::Counts;
use crate::wire::json::{Kind, Member, members};

/// What a usage object of the chat-completions family told.
#[derive(Default)]
struct Chat {
    prompt: Option<u64>,
    completion: Option<u64>,
    cached: Option<u64>,
    hit: Option<u64>,
    miss: Option<u64>,
    read: Option<u64>,
    written: Option<u64>,
    created: Option<u64>,
    reasoning: Option<u64>,
    cost: Option<u64>,
}

impl Chat {
    fn member(&mut self, counts: &mut Counts, member: &Member<'_>) {
        match &*member.name() {
            b"prompt_tokens" | b"input_tokens" => self.prompt = counts.read(member).or(self.prompt),
            b"completion_tokens" | b"output_tokens" => self.completion = counts.read(member).or(self.completion),
            b"prompt_cache_hit_tokens" => self.hit = counts.read(member),
            b"prompt_cache_miss_tokens" => self.miss = counts.read(member),
            b"cache_read_input_tokens" => self.read = counts.read(member),
            b"cache_creation_input_tokens" => self.created = counts.read(member),
            b"prompt_tokens_details" | b"input_tokens_details" | b"completion_tokens_details" | b"output_tokens_details" => {
                self.details(counts, member);
            }
            b"cost" => self.cost = cost::read(member),
            _ => {}
        }
    }

    fn details(&mut self, counts: &mut Counts, details: &Member<'_>) {
        counts.suspicious |= !matches!(details.kind, Kind::Object | Kind::Null);
        for member in members(details.value()) {
            match &*member.name() {
                b"cached_tokens" => self.cached = counts.read(&member),
                b"cache_write_tokens" => self.written = counts.read(&member),
                b"reasoning_tokens" => self.reasoning = counts.read(&member),
                _ => {}
            }
        }
    }

    fn usage(&self, counts: Counts) -> Option<Usage> {
        let cache_read = self.cached.or(self.hit).or(self.read).unwrap_or(0);
        let written = self.written.or(self.created).unwrap_or(0);
        let prompt = self.prompt.or_else(|| Some(self.miss?.saturating_add(cache_read)));
        prompt.or(self.completion)?;
        let prompt = prompt.unwrap_or(0);
        // More cached than prompted means that this vendor counts the cache beside the prompt.
        let input_uncached = if cache_read > prompt { prompt } else { (prompt - cache_read).saturating_sub(written) };
        let output = self.completion.unwrap_or(0);
        let usage = Usage { input_uncached, cache_read, cache_write_5m: written, output, cost_nano: self.cost, ..Usage::default() };
        Some(usage.with_reasoning(self.reasoning, counts))
    }
}

/// Reads the `usage` object of chat completions, completions, embeddings, images, audio and responses, and what compatible
/// vendors add to it. None when it names no tokens.
#[must_use]
pub fn read_chat(usage: &[u8]) -> Option<Usage> {
    let (mut counts, mut chat) = (Counts::default(), Chat::default());
    for member in members(usage) {
        chat.member(&mut counts, &member);
    }
    chat.usage(counts)
}

/// The usage of a messages answer, put together from `message_start` and the cumulative `message_delta`s of a stream.
#[derive(Clone, Copy, Debug, Default)]
pub struct MessagesUsage {
    input: Option<u64>,
    cache_read: Option<u64>,
    created: Option<u64>,
    created_5m: Option<u64>,
    created_1h: Option<u64>,
    output: Option<u64>,
    thinking: Option<u64>,
    suspicious: bool,
}

impl MessagesUsage {
    /// Takes over every count `usage`, a messages usage object, tells; later objects win over earlier ones.
    pub fn merge(&mut self, usage: &[u8]) {
        let mut counts = Counts::default();
        for member in members(usage) {
            self.member(&mut counts, &member);
        }
        self.suspicious |= counts.suspicious;
    }

    fn member(&mut self, counts: &mut Counts, member: &Member<'_>) {
        match &*member.name() {
            b"input_tokens" => self.input = counts.read(member).or(self.input),
            b"cache_read_input_tokens" => self.cache_read = counts.read(member).or(self.cache_read),
            b"cache_creation_input_tokens" => self.created = counts.read(member).or(self.created),
            b"output_tokens" => self.output = counts.read(member).or(self.output),
            b"cache_creation" | b"output_tokens_details" => self.details(counts, member),
            _ => {}
        }
    }

    fn details(&mut self, counts: &mut Counts, details: &Member<'_>) {
        counts.suspicious |= !matches!(details.kind, Kind::Object | Kind::Null);
        for member in members(details.value()) {
            match &*member.name() {
                b"ephemeral_5m_input_tokens" => self.created_5m = counts.read(&member).or(self.created_5m),
                b"ephemeral_1h_input_tokens" => self.created_1h = counts.read(&member).or(self.created_1h),
                b"thinking_tokens" => self.thinking = counts.read(&member).or(self.thinking),
                _ => {}
            }
        }
    }

    /// The vector; none while no count was told.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        self.input.or(self.cache_read).or(self.created).or(self.output)?;
        let split = self.created_5m.unwrap_or(0).saturating_add(self.created_1h.unwrap_or(0));
        let created = self.created.unwrap_or(split);
        let cache_write_1h = self.created_1h.unwrap_or(0).min(created);
        let counts = Counts { suspicious: self.suspicious || split > created };
        let usage = Usage {
            input_uncached: self.input.unwrap_or(0),
            cache_read: self.cache_read.unwrap_or(0),
            cache_write_5m: created - cache_write_1h,
            cache_write_1h,
            output: self.output.unwrap_or(0),
            ..Usage::default()
        };
        Some(usage.with_reasoning(self.thinking, counts))
    }
}

/// What a `usageMetadata` object told.
#[derive(Default)]
struct Generate {
    prompt: Option<u64>,
    cached: Option<u64>,
    tools: Option<u64>,
    candidates: Option<u64>,
    thoughts: Option<u64>,
    total: Option<u64>,
}

impl Generate {
    fn usage(&self, mut counts: Counts) -> Option<Usage> {
        self.prompt.or(self.candidates).or(self.thoughts).or(self.total)?;
        let (prompt, tools) = (self.prompt.unwrap_or(0), self.tools.unwrap_or(0));
        let (cache_read, candidates) = (self.cached.unwrap_or(0), self.candidates.unwrap_or(0));
        counts.suspicious |= cache_read > prompt;
        let uncached = if cache_read > prompt { prompt } else { prompt - cache_read };
        let inclusive = self.total == Some(prompt.saturating_add(tools).saturating_add(candidates));
        let output = if inclusive { candidates } else { candidates.saturating_add(self.thoughts.unwrap_or(0)) };
        let usage = Usage { input_uncached: uncached.saturating_add(tools), cache_read, output, ..Usage::default() };
        Some(usage.with_reasoning(self.thoughts, counts))
    }
}

/// Reads the `usageMetadata` object of generate content. None when it names no tokens.
#[must_use]
pub fn read_generate_content(usage: &[u8]) -> Option<Usage> {
    let (mut counts, mut told) = (Counts::default(), Generate::default());
    for member in members(usage) {
        match &*member.name() {
            b"promptTokenCount" => told.prompt = counts.read(&member),
            b"cachedContentTokenCount" => told.cached = counts.read(&member),
            b"toolUsePromptTokenCount" => told.tools = counts.read(&member),
            b"candidatesTokenCount" => told.candidates = counts.read(&member),
            b"thoughtsTokenCount" => told.thoughts = counts.read(&member),
            b"totalTokenCount" => told.total = counts.read(&member),
            _ => {}
        }
    }
    told.usage(counts)
}

impl Usage {
    /// Adds the reasoning count, at most the output it is part of.
    fn with_reasoning(mut self, reasoning: Option<u64>, counts: Counts) -> Self {
        self.suspicious = counts.suspicious || reasoning.is_some_and(|reasoning| reasoning > self.output);
        self.reasoning = reasoning.map(|reasoning| reasoning.min(self.output));
        self
    }
}

#[cfg(test)]
mod tests;
