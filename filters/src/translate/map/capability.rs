//! What models accept, told from their names. The vendors publish no table; the rules are those their services enforce.

use super::Effort;
use crate::shape::Shape;
use crate::translate::{Capabilities, ThinkingStyle};

const BASIC: u8 = Effort::Low.bit() | Effort::Medium.bit() | Effort::High.bit();

/// A model that is asked in the plainest way.
const PLAIN: Capabilities = Capabilities {
    sampling: true,
    both_sampling: true,
    penalties: true,
    thinking: ThinkingStyle::None,
    efforts: BASIC,
    budget_cap: 32_768,
    budget_floor: 0,
    can_disable: true,
    forced_tools: true,
    prefill: true,
    max_output: 8_192,
    schema_output: true,
    url_images: true,
    call_ids: true,
    signatures: false,
    json_schema: true,
    mixed_tools: true,
    needs_responses: false,
    reasoning_model: false,
    vision: true,
};

impl Capabilities {
    /// What a model of a shape accepts, by its name there.
    #[must_use]
    pub fn of(shape: Shape, model: &str) -> Self {
        let name = model.to_ascii_lowercase();
        match shape {
            Shape::ChatCompletions | Shape::Responses => chat(&name),
            Shape::Messages => messages(&name),
            Shape::GenerateContent => generate(&name),
        }
    }
}

/// The first `major.minor` after `prefix` in a name; a missing minor is 0. A number of more than two digits is a date.
fn version(name: &str, prefix: &str) -> Option<(u32, u32)> {
    let rest = name.get(name.find(prefix)? + prefix.len()..)?;
    let mut numbers = rest.split(|c: char| !c.is_ascii_digit());
    let major = numbers.next().filter(|digits| digits.len() <= 2)?.parse().ok()?;
    let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let minor = after.strip_prefix(['.', '-']).and_then(|_| numbers.next()).filter(|digits| digits.len() <= 2);
    Some((major, minor.and_then(|digits| digits.parse().ok()).unwrap_or(0)))
}

fn chat(name: &str) -> Capabilities {
    let name = name.rsplit('/').next().unwrap_or(name);
    let o_series = name.strip_prefix('o').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let gpt = version(name, "gpt-").filter(|(major, _)| *major >= 5);
    if !o_series && gpt.is_none() {
        return Capabilities { thinking: ThinkingStyle::Both, efforts: u8::MAX, max_output: 16_384, ..PLAIN };
    }
    let gpt = gpt.unwrap_or((4, 0));
    let mut efforts = BASIC;
    if gpt == (5, 0) {
        efforts |= Effort::Minimal.bit();
    }
    if ((5, 1)..(6, 0)).contains(&gpt) {
        efforts |= Effort::None.bit();
    }
    if gpt >= (5, 2) || name.contains("5.1-codex-max") {
        efforts |= Effort::Xhigh.bit();
    }
    Capabilities {
        sampling: false,
        penalties: false,
        thinking: ThinkingStyle::Adaptive,
        efforts,
        max_output: 100_000,
        needs_responses: gpt >= (5, 4),
        reasoning_model: true,
        ..PLAIN
    }
}

/// Version of a messages model: the number after the family's name, or before it in names of the third generation.
fn claude(name: &str) -> (u32, u32) {
    let newer = ["opus-", "sonnet-", "haiku-", "fable-", "mythos-"].iter().find_map(|family| version(name, family));
    newer.or_else(|| version(name, "claude-")).unwrap_or((4, 5))
}

fn messages(name: &str) -> Capabilities {
    let version = claude(name);
    let opus = name.contains("opus");
    let haiku = name.contains("haiku");
    let newest = name.contains("fable") || name.contains("mythos");
    let thinking = match version {
        _ if newest || (opus && version >= (5, 5)) => ThinkingStyle::Always,
        _ if version >= (4, 7) => ThinkingStyle::Adaptive,
        (4, 6) => ThinkingStyle::Both,
        _ if version >= (4, 0) || version == (3, 7) => ThinkingStyle::Budget,
        _ => ThinkingStyle::None,
    };
    let mut efforts = BASIC;
    if version >= (4, 7) {
        efforts |= Effort::Xhigh.bit();
    }
    if version >= (4, 6) {
        efforts |= Effort::Max.bit();
    }
    Capabilities {
        sampling: !(newest || (opus && version >= (4, 7)) || (haiku && version >= (5, 5)) || (!opus && !haiku && version >= (5, 0))),
        both_sampling: version < (4, 1),
        penalties: false,
        thinking,
        efforts,
        budget_cap: 65_536,
        budget_floor: 1_024,
        can_disable: thinking != ThinkingStyle::Always,
        forced_tools: !(newest || version >= (5, 5)),
        prefill: version < (4, 6) && !newest,
        max_output: if version >= (4, 5) || newest {
            64_000
        } else if version >= (3, 7) {
            32_000
        } else if version >= (3, 5) {
            8_192
        } else {
            4_096
        },
        schema_output: version >= (4, 5) || newest,
        ..PLAIN
    }
}

fn generate(name: &str) -> Capabilities {
    let version = version(name, "gemini-").unwrap_or((2, 5));
    let third = version >= (3, 0);
    let pro = name.contains("pro");
    let lite = name.contains("lite");
    let thinking = match version {
        _ if third => ThinkingStyle::Adaptive,
        (2, 5) => ThinkingStyle::Budget,
        _ => ThinkingStyle::None,
    };
    let mut efforts = Effort::Low.bit() | Effort::High.bit();
    if !(version == (3, 0) && pro) {
        efforts |= Effort::Medium.bit();
    }
    if third && name.contains("flash") && version < (3, 7) {
        efforts |= Effort::Minimal.bit();
    }
    if version >= (3, 7) {
        efforts |= Effort::Xhigh.bit();
    }
    Capabilities {
        penalties: !third,
        thinking,
        efforts,
        budget_cap: if pro { 32_768 } else { 24_576 },
        budget_floor: if pro {
            128
        } else if lite {
            512
        } else {
            1
        },
        can_disable: !pro && !third,
        max_output: 65_536,
        url_images: false,
        call_ids: third,
        signatures: third,
        json_schema: version >= (2, 5),
        mixed_tools: third,
        ..PLAIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_and_dates_are_none() {
        assert_eq!(version("gpt-5.4-mini", "gpt-"), Some((5, 4)));
        assert_eq!(version("gpt-5", "gpt-"), Some((5, 0)));
        assert_eq!(version("claude-opus-4-5-20251101", "opus-"), Some((4, 5)));
        assert_eq!(version("claude-sonnet-4-20250514", "sonnet-"), Some((4, 0)));
        assert_eq!(version("gemini-3-pro-preview", "gemini-"), Some((3, 0)));
        assert_eq!(version("gpt-oss-120b", "gpt-"), None);
    }

    #[test]
    fn messages_models_think_as_their_generation_does() {
        let style = |name: &str| Capabilities::of(Shape::Messages, name).thinking;
        assert_eq!(style("claude-3-5-sonnet-20241022"), ThinkingStyle::None);
        assert_eq!(style("claude-3-7-sonnet-latest"), ThinkingStyle::Budget);
        assert_eq!(style("us.anthropic.claude-sonnet-4-5-20250929-v1:0"), ThinkingStyle::Budget);
        assert_eq!(style("claude-opus-4-6"), ThinkingStyle::Both);
        assert_eq!(style("claude-sonnet-5"), ThinkingStyle::Adaptive);
        assert_eq!(style("claude-opus-5-5"), ThinkingStyle::Always);
    }

    #[test]
    fn messages_models_lose_sampling_prefill_and_forced_tools_with_time() {
        let of = |name: &str| Capabilities::of(Shape::Messages, name);
        assert!(of("claude-sonnet-4-5").sampling && of("claude-sonnet-4-5").prefill && of("claude-sonnet-4-5").forced_tools);
        assert!(!of("claude-opus-4-7").sampling && !of("claude-sonnet-5").sampling && !of("claude-opus-4-6").prefill);
        assert!(!of("claude-opus-5-5").forced_tools && !of("claude-fable-5-1").forced_tools);
    }

    #[test]
    fn chat_models_reason_from_the_fifth_generation_on() {
        let of = |name: &str| Capabilities::of(Shape::ChatCompletions, name);
        assert!(of("gpt-4o").sampling && !of("gpt-4o").reasoning_model && of("gpt-4.1").sampling);
        assert!(of("o3-mini").reasoning_model && of("gpt-5").efforts & Effort::Minimal.bit() != 0);
        assert!(!of("gpt-5.3").needs_responses && of("gpt-5.4").needs_responses && of("gpt-6.1-sol").needs_responses);
        assert!(of("gpt-oss-120b").sampling && of("llama-3.1").sampling && !of("openai/gpt-5").sampling);
    }

    #[test]
    fn generate_models_take_ids_and_signatures_from_the_third_generation_on() {
        let of = |name: &str| Capabilities::of(Shape::GenerateContent, name);
        assert!(!of("gemini-2.5-pro").call_ids && of("gemini-3.1-pro-preview").call_ids && of("gemini-3-flash").signatures);
        assert_eq!(of("gemini-2.5-flash").thinking, ThinkingStyle::Budget);
        assert_eq!(of("gemini-2.5-pro").budget_floor, 128);
        assert_eq!(of("gemini-3-pro").efforts & Effort::Medium.bit(), 0);
    }
}
