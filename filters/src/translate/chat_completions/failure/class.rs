//! What class an error is of.

use crate::canonical::FailureClass;

/// What tells the class.
pub(super) struct Signs<'s> {
    /// HTTP status, or 0 where there is none.
    pub(super) status: u16,
    /// The vendor's `type`.
    pub(super) kind: &'s str,
    /// The vendor's `code`.
    pub(super) code: &'s str,
    /// The vendor's words.
    pub(super) message: &'s str,
}

/// The class: a code that says it, else words that give it away, else the status, else the type.
pub(super) fn of(signs: &Signs<'_>) -> FailureClass {
    let class = by_code(signs.code).or_else(|| by_code(signs.kind)).unwrap_or_else(|| match signs.status {
        0 => by_type(signs.kind),
        status => by_status(status),
    });
    match class {
        FailureClass::BadRequest | FailureClass::TooLarge | FailureClass::Server => by_words(signs.message).unwrap_or(class),
        _ => class,
    }
}

fn by_code(code: &str) -> Option<FailureClass> {
    Some(match code {
        "context_length_exceeded" => FailureClass::ContextTooLong,
        "content_filter" | "content_policy_violation" | "ResponsibleAIPolicyViolation" => FailureClass::RefusedInput,
        "invalid_api_key" => FailureClass::Auth,
        "insufficient_quota" | "credit_balance_exhausted" | "billing_hard_limit_reached" | "billing_not_active" => FailureClass::Billing,
        "model_not_found" | "DeploymentNotFound" => FailureClass::NotFound,
        "rate_limit_exceeded" => FailureClass::Rate,
        "server_is_overloaded" | "slow_down" => FailureClass::Overloaded,
        _ => return None,
    })
}

/// The class of an HTTP status. One service says with a status of its own that it has no capacity left.
pub(super) const fn by_status(status: u16) -> FailureClass {
    if status == 498 { FailureClass::Overloaded } else { FailureClass::of_status(status) }
}

fn by_type(kind: &str) -> FailureClass {
    match kind {
        "invalid_request_error" | "BadRequestError" => FailureClass::BadRequest,
        "authentication_error" => FailureClass::Auth,
        "permission_error" | "PermissionDenied" => FailureClass::Permission,
        "not_found_error" | "NotFoundError" => FailureClass::NotFound,
        "rate_limit_error" | "requests" | "tokens" => FailureClass::Rate,
        "service_unavailable_error" | "overloaded_error" => FailureClass::Overloaded,
        "timeout_error" => FailureClass::Timeout,
        _ => FailureClass::Server,
    }
}

/// Services that copy the API seldom copy its codes.
fn by_words(message: &str) -> Option<FailureClass> {
    let message = message.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|words| message.contains(words));
    if says(&["maximum context length", "context length exceeded", "context_length_exceeded", "exceeds the context", "prompt is too long"])
    {
        Some(FailureClass::ContextTooLong)
    } else if says(&["content management policy", "content_filter"]) {
        Some(FailureClass::RefusedInput)
    } else if says(&["incorrect api key", "invalid api key"]) {
        Some(FailureClass::Auth)
    } else if says(&["insufficient balance", "insufficient credits", "exceeded your current quota"]) {
        Some(FailureClass::Billing)
    } else {
        None
    }
}

/// The HTTP status that stands for a class, where none was told.
pub(super) const fn status(class: FailureClass) -> u16 {
    match class {
        FailureClass::BadRequest | FailureClass::ContextTooLong | FailureClass::RefusedInput => 400,
        FailureClass::TooLarge => 413,
        FailureClass::Auth => 401,
        FailureClass::Billing | FailureClass::Rate => 429,
        FailureClass::Permission => 403,
        FailureClass::NotFound => 404,
        FailureClass::Conflict => 409,
        FailureClass::Overloaded => 503,
        FailureClass::Timeout => 504,
        FailureClass::Server => 500,
    }
}
