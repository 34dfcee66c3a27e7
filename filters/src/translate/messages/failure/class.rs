//! What class an error is of, by the vendors' words for it or by its HTTP status.

use crate::canonical::FailureClass;

/// The class of an error word of the messages vendor, of Bedrock, or of Google Cloud.
pub(super) fn named(word: &str) -> Option<FailureClass> {
    // Bedrock writes `Name`, `Name:url` or `namespace#Name`.
    let word = word.split(':').next().unwrap_or(word);
    let word = word.rsplit('#').next().unwrap_or(word);
    Some(match word {
        "invalid_request_error" | "ValidationException" | "INVALID_ARGUMENT" | "FAILED_PRECONDITION" | "OUT_OF_RANGE" => {
            FailureClass::BadRequest
        }
        "authentication_error"
        | "UNAUTHENTICATED"
        | "ExpiredTokenException"
        | "InvalidSignatureException"
        | "UnrecognizedClientException"
        | "MissingAuthenticationTokenException" => FailureClass::Auth,
        "billing_error" | "ServiceQuotaExceededException" => FailureClass::Billing,
        "permission_error" | "AccessDeniedException" | "PERMISSION_DENIED" => FailureClass::Permission,
        "not_found_error" | "ResourceNotFoundException" | "NOT_FOUND" => FailureClass::NotFound,
        "conflict_error" | "ConflictException" | "ABORTED" | "ALREADY_EXISTS" => FailureClass::Conflict,
        "request_too_large" => FailureClass::TooLarge,
        "rate_limit_error" | "ThrottlingException" | "throttlingException" | "ModelNotReadyException" | "RESOURCE_EXHAUSTED" => {
            FailureClass::Rate
        }
        "overloaded_error" | "ServiceUnavailableException" | "serviceUnavailableException" | "UNAVAILABLE" => FailureClass::Overloaded,
        "timeout_error" | "ModelTimeoutException" | "modelTimeoutException" | "DEADLINE_EXCEEDED" => FailureClass::Timeout,
        "api_error"
        | "InternalServerException"
        | "internalServerException"
        | "ModelErrorException"
        | "ModelStreamErrorException"
        | "modelStreamErrorException"
        | "INTERNAL"
        | "UNKNOWN"
        | "DATA_LOSS" => FailureClass::Server,
        "validationException" => FailureClass::BadRequest,
        _ => return None,
    })
}

/// The HTTP status the messages vendor has for a class.
pub(super) const fn status(class: FailureClass) -> u16 {
    match class {
        FailureClass::BadRequest | FailureClass::ContextTooLong | FailureClass::RefusedInput => 400,
        FailureClass::TooLarge => 413,
        FailureClass::Billing => 402,
        FailureClass::Permission => 403,
        FailureClass::NotFound => 404,
        FailureClass::Conflict => 409,
        FailureClass::Rate => 429,
        FailureClass::Overloaded => 529,
        FailureClass::Timeout => 504,
        // A credential of ours that a provider refuses is no fault of the client's.
        FailureClass::Auth => 502,
        FailureClass::Server => 500,
    }
}

/// The class once the words are known: long prompts and empty accounts hide behind `invalid_request_error`.
pub(super) fn refined(class: FailureClass, message: &str) -> FailureClass {
    if class != FailureClass::BadRequest {
        return class;
    }
    let message = message.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|words| message.contains(words));
    if says(&["prompt is too long", "input is too long", "exceeds the maximum number of tokens", "exceed context limit", "context window"])
    {
        FailureClass::ContextTooLong
    } else if says(&["credit balance", "spend limit", "usage limits"]) {
        FailureClass::Billing
    } else {
        class
    }
}
