//! What the editions can do.

use super::{Edition, Licence};
use crate::conf::{Conf, Guardrail, Rule};

/// A function of the service that has a name of its own in the list of capabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// Several providers, fallbacks and translation.
    Routing,
    /// Routing rules.
    RoutingRules,
    /// Guardrails with patterns and detectors.
    Guardrails,
    /// Rate cards, prices, budgets and chargeback.
    CostEngine,
    /// Teams and applications.
    Teams,
    /// Limits of keys, roles and the service.
    RateLimits,
    /// Request log and audit.
    RequestLogs,
    /// Tags and region pins on routing rules.
    ComplianceRules,
    /// Guardrails that ask a model.
    MlGuardrails,
    /// Destinations that events are sent to.
    Webhooks,
    /// Recomputing the ledger of a period.
    LedgerReplay,
    /// Tables for business intelligence.
    BiTables,
    /// Edits of prices at points in time.
    RateCardHistory,
    /// Switches of background work.
    WorkerFlags,
    /// The Prometheus listener.
    Metrics,
}

/// A function the edition in force does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("use {}: it needs the {} edition", feature.title(), feature.edition().as_str())]
pub struct TierGated {
    /// The function.
    pub feature: Feature,
}

impl Feature {
    /// Every one, the community's first.
    pub const ALL: [Self; 15] = [
        Self::Routing,
        Self::RoutingRules,
        Self::Guardrails,
        Self::CostEngine,
        Self::Teams,
        Self::RateLimits,
        Self::RequestLogs,
        Self::ComplianceRules,
        Self::MlGuardrails,
        Self::Webhooks,
        Self::LedgerReplay,
        Self::BiTables,
        Self::RateCardHistory,
        Self::WorkerFlags,
        Self::Metrics,
    ];

    /// What it takes to write a guardrail.
    #[must_use]
    pub fn of_guardrail(guardrail: &Guardrail) -> Self {
        if guardrail.kind.needs_model() { Self::MlGuardrails } else { Self::Guardrails }
    }

    /// What it takes to write a routing rule.
    #[must_use]
    pub fn of_rule(rule: &Rule) -> Self {
        if rule.region.is_some() || !rule.tags.is_empty() { Self::ComplianceRules } else { Self::RoutingRules }
    }

    /// The first edition that has it.
    #[must_use]
    pub const fn edition(self) -> Edition {
        match self {
            Self::Routing
            | Self::RoutingRules
            | Self::Guardrails
            | Self::CostEngine
            | Self::Teams
            | Self::RateLimits
            | Self::RequestLogs => Edition::Community,
            Self::ComplianceRules
            | Self::MlGuardrails
            | Self::Webhooks
            | Self::LedgerReplay
            | Self::BiTables
            | Self::RateCardHistory
            | Self::WorkerFlags
            | Self::Metrics => Edition::Enterprise,
        }
    }

    /// Its stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Routing => "routing",
            Self::RoutingRules => "routing_rules",
            Self::Guardrails => "guardrails",
            Self::CostEngine => "cost_engine",
            Self::Teams => "teams",
            Self::RateLimits => "rate_limits",
            Self::RequestLogs => "request_logs",
            Self::ComplianceRules => "compliance_rules",
            Self::MlGuardrails => "ml_guardrails",
            Self::Webhooks => "webhooks",
            Self::LedgerReplay => "ledger_replay",
            Self::BiTables => "bi_tables",
            Self::RateCardHistory => "rate_card_history",
            Self::WorkerFlags => "worker_flags",
            Self::Metrics => "metrics",
        }
    }

    /// What it is called in a sentence.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Routing => "multi-provider routing with fallbacks and translation",
            Self::RoutingRules => "routing rules",
            Self::Guardrails => "guardrails with patterns and detectors",
            Self::CostEngine => "the cost engine",
            Self::Teams => "teams and applications",
            Self::RateLimits => "rate limits",
            Self::RequestLogs => "request logs and audit",
            Self::ComplianceRules => "compliance routing (tags and region pins on rules)",
            Self::MlGuardrails => "guardrails that ask a model",
            Self::Webhooks => "webhooks",
            Self::LedgerReplay => "ledger replay",
            Self::BiTables => "BI tables",
            Self::RateCardHistory => "rate-card history",
            Self::WorkerFlags => "worker flags",
            Self::Metrics => "the metrics listener",
        }
    }
}

impl Licence {
    /// Warns of what the configuration declares beyond the edition in force. It is applied all the same.
    pub fn warn_about(&self, conf: &Conf) {
        let guardrails = conf.guardrails.iter().map(|guardrail| (Feature::of_guardrail(guardrail), guardrail.name.as_str()));
        let rules = conf.rules.iter().map(|rule| (Feature::of_rule(rule), rule.name.as_str()));
        let declared: Vec<_> = guardrails.chain(rules).collect();
        for feature in [Feature::MlGuardrails, Feature::ComplianceRules] {
            let names: Vec<_> = declared.iter().filter(|(needed, _)| *needed == feature).map(|(_, name)| *name).collect();
            if let (Err(gated), false) = (self.require(feature), names.is_empty()) {
                log::warn!("the configuration declares {}, which stay in force; editing them would fail to {gated}", names.join(", "));
            }
        }
    }
}
