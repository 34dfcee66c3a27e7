//! What the request log keeps of an exchange.

use svc_filters::auth::Owner;
use svc_filters::endpoint::Endpoint;
use svc_filters::verdict::Code;

use super::{Exchange, micros};
use crate::store::{RecordView, RequestOutcome};

impl Exchange {
    /// The record as of now.
    #[must_use]
    pub fn record(&self, outcome: RequestOutcome) -> RecordView<'_> {
        let (owner_kind, owner_id) = match self.key.as_ref().map(|key| &key.owner) {
            Some(Owner::User(id)) => (Some("user"), Some(&**id)),
            Some(Owner::Agent(id)) => (Some("agent"), Some(&**id)),
            None => (None, None),
        };
        let key = self.key.as_deref();
        let lasted = self.started.elapsed();
        let target = self.attempts.current();
        RecordView {
            request_id: self.id.as_str(),
            started_at: self.started_at,
            key_id: key.map(|key| &*key.id),
            owner_kind,
            owner_id,
            team_id: key.and_then(|key| key.team.as_deref()),
            application_id: key.and_then(|key| key.application.as_deref()),
            client_shape: self.shape.as_str(),
            endpoint: self.endpoint.map_or("unknown", Endpoint::as_str),
            path: &self.client.path,
            provider: target.map(|target| &*target.provider),
            provider_shape: target.map(|target| self.asking.as_ref().map_or(target.shape, |asking| asking.dialect).as_str()),
            model_asked: self.model_asked.as_deref(),
            model_resolved: self.resolved.as_ref().map(|model| &*model.name),
            rule: self.rule.as_deref(),
            model_upstream: target.map(|target| &*target.upstream_model),
            status: self.answer.status,
            error_code: self.answer.error_code.map(Code::as_str),
            outcome,
            stream: self.answer.stream,
            total_us: micros(lasted),
            first_byte_us: self.answer.first_byte.map(micros),
            queue_us: self.attempts.queue_us(),
            overhead_us: micros(self.asked.unwrap_or(lasted)),
            usage: self.answer.usage(),
            request_bytes: self.body_length,
            response_bytes: self.answer.bytes,
            client_address: self.client.address.as_deref(),
            user_agent: self.client.user_agent.as_deref(),
            tags: key.and_then(|key| key.tags.as_deref()),
            attempts: self.attempts.records(),
            notes: &self.notes,
            upstream_request_id: self.answer.upstream_request_id.as_ref().and_then(|id| id.to_str().ok()),
            finish_reason: self.answer.finish_reason(),
            trace: self.trace.as_ref().and_then(|trace| trace.record(&self.attempts, self.started, lasted)),
        }
    }
}
