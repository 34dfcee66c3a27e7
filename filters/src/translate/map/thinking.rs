//! Thinking: efforts by name, budgets in tokens and what a model takes of either.
//!
//! The table is the one most gateways converge on and the generate-content vendor's own compatibility layer uses. A budget
//! made from an effort and read back gives the same effort.

use crate::canonical::Thinking;
use crate::translate::{Capabilities, ThinkingStyle};

/// How hard to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Effort {
    /// Not at all.
    None,
    /// As little as possible.
    Minimal,
    /// A little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// More.
    Xhigh,
    /// As much as possible.
    Max,
}

impl Effort {
    /// Every effort, ascending.
    pub const ALL: [Self; 7] = [Self::None, Self::Minimal, Self::Low, Self::Medium, Self::High, Self::Xhigh, Self::Max];

    /// Reads a name in any case.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effort| effort.as_str().eq_ignore_ascii_case(name))
    }

    /// The name, lower case.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }

    /// Its bit in [`Capabilities::efforts`].
    #[must_use]
    pub const fn bit(self) -> u8 {
        1 << self as u8
    }

    /// The budget it stands for, within what the model takes.
    #[must_use]
    pub fn budget(self, capabilities: &Capabilities) -> u32 {
        let budget = match self {
            Self::None => return if capabilities.can_disable { 0 } else { capabilities.budget_floor },
            Self::Minimal => 512,
            Self::Low => 1_024,
            Self::Medium => 8_192,
            Self::High => 24_576,
            Self::Xhigh => 32_768,
            Self::Max => capabilities.budget_cap,
        };
        budget.min(capabilities.budget_cap).max(capabilities.budget_floor)
    }

    /// The effort a budget stands for.
    #[must_use]
    pub const fn of_budget(budget: u32) -> Self {
        match budget {
            0 => Self::None,
            1..=512 => Self::Minimal,
            513..=1_024 => Self::Low,
            1_025..=8_192 => Self::Medium,
            8_193..=24_576 => Self::High,
            _ => Self::Xhigh,
        }
    }

    /// The nearest effort that the model knows: itself, else the next lower, else the next higher.
    #[must_use]
    pub fn clamped(self, capabilities: &Capabilities) -> Self {
        let known = |effort: &Self| capabilities.efforts & effort.bit() != 0;
        let lower = Self::ALL.into_iter().filter(|effort| *effort <= self && (*effort != Self::None || self == Self::None)).rfind(known);
        lower.or_else(|| Self::ALL.into_iter().find(|effort| *effort > self && known(effort))).unwrap_or(self)
    }
}

/// What a client wants of thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// It does not say.
    Unsaid,
    /// None.
    Off,
    /// The model decides.
    Auto,
    /// An effort other than none.
    Effort(Effort),
    /// A budget in tokens, not 0.
    Budget(u32),
}

/// Reads a client's words. A named effort wins over a budget, and both over the model's own decision.
#[must_use]
pub fn wanted(thinking: &Thinking<'_>) -> Wanted {
    let named = thinking.effort.as_ref().and_then(|name| Effort::parse(&name.decode()));
    match (thinking.disabled, named, thinking.budget) {
        (true, _, _) | (_, Some(Effort::None), _) | (_, None, Some(0)) => Wanted::Off,
        (_, Some(effort), _) => Wanted::Effort(effort),
        (_, None, Some(budget)) if budget > 0 => Wanted::Budget(u32::try_from(budget).unwrap_or(u32::MAX)),
        (_, None, Some(_)) => Wanted::Auto,
        _ if thinking.adaptive => Wanted::Auto,
        _ => Wanted::Unsaid,
    }
}

/// The effort to ask a model for that takes efforts; `None` leaves it to the model.
#[must_use]
pub fn effort(thinking: &Thinking<'_>, capabilities: &Capabilities) -> Option<Effort> {
    let effort = match wanted(thinking) {
        Wanted::Unsaid => return None,
        Wanted::Off => Effort::None,
        Wanted::Auto if thinking.adaptive => Effort::Medium,
        Wanted::Auto => return None,
        Wanted::Effort(effort) => effort,
        Wanted::Budget(budget) => Effort::of_budget(budget),
    };
    Some(effort.clamped(capabilities))
}

/// Smallest budget the messages vendor takes.
const LEAST: u32 = 1_024;

/// The budget to ask a model of the messages shape for that takes budgets: at most four fifths of the limit on the answer.
/// `None`: thinking is to be left out.
#[must_use]
pub fn budget(thinking: &Thinking<'_>, capabilities: &Capabilities, max_output: Option<u64>) -> Option<u32> {
    let asked = match wanted(thinking) {
        Wanted::Unsaid | Wanted::Off => return None,
        Wanted::Auto => Effort::Medium.budget(capabilities),
        Wanted::Effort(effort) => effort.budget(capabilities),
        Wanted::Budget(budget) => budget.min(capabilities.budget_cap),
    };
    if capabilities.thinking == ThinkingStyle::None {
        return None;
    }
    let room = max_output.map_or(u32::MAX, |limit| u32::try_from(limit.saturating_mul(4) / 5).unwrap_or(u32::MAX));
    let budget = asked.max(LEAST).min(room);
    (budget >= LEAST).then_some(budget)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::Text;
    use crate::shape::Shape;

    fn of(effort: Option<&'static str>, budget: Option<i64>) -> Thinking<'static> {
        Thinking { effort: effort.map(Text::from), budget, ..Thinking::default() }
    }

    fn claude() -> Capabilities {
        Capabilities::of(Shape::Messages, "claude-sonnet-4-5")
    }

    #[test]
    fn an_effort_survives_the_way_over_a_budget() {
        let capabilities = Capabilities::of(Shape::GenerateContent, "gemini-2.5-pro");
        for effort in [Effort::Low, Effort::Medium, Effort::High, Effort::Xhigh] {
            assert_eq!(Effort::of_budget(effort.budget(&capabilities)), effort);
        }
    }

    #[test]
    fn budgets_become_the_documented_efforts() {
        let table = [
            (0, "none"),
            (1, "minimal"),
            (512, "minimal"),
            (513, "low"),
            (1_024, "low"),
            (1_025, "medium"),
            (8_192, "medium"),
            (8_193, "high"),
            (24_576, "high"),
            (24_577, "xhigh"),
        ];
        for (budget, effort) in table {
            assert_eq!(Effort::of_budget(budget).as_str(), effort, "{budget}");
        }
    }

    #[test]
    fn a_name_wins_over_a_budget_and_nothing_said_stays_unsaid() {
        assert_eq!(wanted(&of(Some("HIGH"), Some(100))), Wanted::Effort(Effort::High));
        assert_eq!(wanted(&of(None, Some(-1))), Wanted::Auto);
        assert_eq!(wanted(&of(None, Some(0))), Wanted::Off);
        assert_eq!(wanted(&Thinking::default()), Wanted::Unsaid);
    }

    #[test]
    fn a_budget_leaves_a_fifth_of_the_limit_for_the_answer() {
        assert_eq!(budget(&of(Some("high"), None), &claude(), Some(10_000)), Some(8_000));
        assert_eq!(budget(&of(Some("high"), None), &claude(), None), Some(24_576));
        assert_eq!(budget(&of(Some("minimal"), None), &claude(), None), Some(1_024), "the vendor's least");
        assert_eq!(budget(&of(Some("high"), None), &claude(), Some(1_000)), None, "no room");
        assert_eq!(budget(&of(None, None), &claude(), None), None);
    }

    #[test]
    fn efforts_are_clamped_downwards_first() {
        let mut capabilities = claude();
        capabilities.efforts = Effort::Low.bit() | Effort::Medium.bit() | Effort::High.bit();
        assert_eq!(Effort::Max.clamped(&capabilities), Effort::High);
        assert_eq!(Effort::Minimal.clamped(&capabilities), Effort::Low);
        assert_eq!(Effort::None.clamped(&capabilities), Effort::Low, "where it cannot be switched off");
    }
}
