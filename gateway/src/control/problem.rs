//! Answers of `/admin`: JSON, and problems as RFC 9457 has them.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, StatusCode, header};
use sea_orm::{DbErr, SqlErr};
use serde_json::{Map, Value, json};

use crate::licence::TierGated;

/// An answer.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    /// HTTP status.
    pub(super) status: StatusCode,
    /// Headers beside the usual ones.
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    /// JSON; `None` for no body at all.
    pub(super) body: Option<Value>,
    problem: bool,
}

impl Answer {
    /// An answer with a body.
    #[must_use]
    pub(super) const fn json(status: StatusCode, body: Value) -> Self {
        Self { status, headers: Vec::new(), body: Some(body), problem: false }
    }

    /// 204.
    #[must_use]
    pub(super) const fn empty() -> Self {
        Self { status: StatusCode::NO_CONTENT, headers: Vec::new(), body: None, problem: false }
    }

    /// Adds a header.
    #[must_use]
    pub(super) fn with(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.push((name, value));
        }
        self
    }

    /// The content type.
    #[must_use]
    pub(super) const fn content_type(&self) -> HeaderValue {
        HeaderValue::from_static(if self.problem { "application/problem+json" } else { "application/json" })
    }

    /// The body's bytes.
    #[must_use]
    pub(super) fn bytes(&self) -> Bytes {
        self.body.as_ref().map(|body| Bytes::from(body.to_string())).unwrap_or_default()
    }
}

/// Why a call of `/admin` is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// The admin secret is missing or wrong.
    Unauthenticated,
    /// There is no such thing.
    NotFound,
    /// The path takes other methods.
    MethodNotAllowed(&'static str),
    /// The state of the thing forbids it.
    Conflict {
        /// Stable name of the reason.
        code: &'static str,
        /// What is in the way.
        detail: String,
    },
    /// Recovery mode lets no more be created.
    CapExceeded {
        /// What there is too much of, in the plural.
        what: &'static str,
        /// How many there may be.
        limit: u64,
        /// How many there are.
        current: u64,
    },
    /// The edition in force does not have this.
    TierGated(TierGated),
    /// `If-Match` names another version.
    PreconditionFailed,
    /// The body is too large.
    TooLarge,
    /// The body is not JSON by its content type.
    UnsupportedMediaType,
    /// The body is not a JSON object, or did not arrive.
    Malformed(String),
    /// Members or parameters that do not fit.
    Invalid(Vec<Fault>),
    /// The database does not answer.
    Unavailable,
    /// Something unexpected, which the log tells.
    Internal,
}

/// One member or parameter that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// Its name; dots lead into objects.
    pub(super) field: String,
    /// What is wrong with it.
    pub(super) detail: String,
}

impl Problem {
    /// One member that does not fit.
    #[must_use]
    pub(super) fn field(field: &str, detail: impl Into<String>) -> Self {
        Self::Invalid(vec![Fault { field: field.to_owned(), detail: detail.into() }])
    }

    /// A conflict.
    #[must_use]
    pub(super) fn conflict(code: &'static str, detail: impl Into<String>) -> Self {
        Self::Conflict { code, detail: detail.into() }
    }

    /// A row that the configuration file owns.
    #[must_use]
    pub(super) fn read_only(what: &str) -> Self {
        Self::conflict("read_only", format!("This {what} is declared in the configuration file; change it there and restart the gateway."))
    }

    fn parts(&self) -> (StatusCode, &'static str, &'static str, String) {
        match self {
            Self::Unauthenticated => {
                let detail = "Send the admin secret as `Authorization: Bearer …`.".to_owned();
                (StatusCode::UNAUTHORIZED, "unauthenticated", "Not authenticated", detail)
            }
            Self::NotFound => (StatusCode::NOT_FOUND, "not_found", "Not found", "There is nothing at this path.".to_owned()),
            Self::MethodNotAllowed(allow) => {
                (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "Method not allowed", format!("This path takes {allow}."))
            }
            Self::Conflict { code, detail } => (StatusCode::CONFLICT, code, "Conflict", detail.clone()),
            Self::CapExceeded { what, limit, .. } => {
                let detail = format!(
                    "Without a valid licence there may be {limit} {what}; what exists keeps working. Set SVC_LICENSE_KEY and restart the gateway."
                );
                (StatusCode::FORBIDDEN, "cap_exceeded", "Cap exceeded", detail)
            }
            Self::TierGated(TierGated { feature }) => {
                let (title, edition) = (feature.title(), feature.edition().as_str());
                let detail =
                    format!("Changing {title} needs the {edition} edition: its build, and a licence for it. What exists keeps working.");
                (StatusCode::FORBIDDEN, "tier_gated", "Not in this edition", detail)
            }
            Self::PreconditionFailed => {
                let detail = "It was changed since; read it again and apply your change to what it is now.".to_owned();
                (StatusCode::PRECONDITION_FAILED, "precondition_failed", "Changed meanwhile", detail)
            }
            Self::TooLarge => {
                (StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", "Body too large", "The body may have 1 MiB at most.".to_owned())
            }
            Self::UnsupportedMediaType => {
                let detail = "Send the body as application/json, not compressed.".to_owned();
                (StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", "Unsupported media type", detail)
            }
            Self::Malformed(detail) => (StatusCode::BAD_REQUEST, "malformed", "Malformed request", detail.clone()),
            Self::Invalid(faults) => {
                let told: Vec<String> = faults.iter().map(|fault| format!("`{}` {}", fault.field, fault.detail)).collect();
                (StatusCode::UNPROCESSABLE_ENTITY, "invalid", "Invalid request", format!("{}.", told.join("; ")))
            }
            Self::Unavailable => {
                let detail = "The database does not answer; try again later.".to_owned();
                (StatusCode::SERVICE_UNAVAILABLE, "unavailable", "Temporarily unavailable", detail)
            }
            Self::Internal => {
                (StatusCode::INTERNAL_SERVER_ERROR, "internal", "Internal error", "The gateway's log has the cause.".to_owned())
            }
        }
    }
}

impl From<Problem> for Answer {
    fn from(problem: Problem) -> Self {
        let (status, code, title, detail) = problem.parts();
        let mut body = json!({"type": "about:blank", "title": title, "status": status.as_u16(), "code": code, "detail": detail});
        match &problem {
            Problem::Invalid(faults) => {
                let faults: Vec<Value> = faults.iter().map(|fault| json!({"field": fault.field, "detail": fault.detail})).collect();
                add(&mut body, "errors", faults);
            }
            Problem::CapExceeded { limit, current, .. } => {
                add(&mut body, "limit", *limit);
                add(&mut body, "current", *current);
            }
            Problem::TierGated(TierGated { feature }) => {
                add(&mut body, "required_edition", feature.edition().as_str());
                add(&mut body, "feature", feature.name());
            }
            _ => {}
        }
        let answer = Self { status, headers: Vec::new(), body: Some(body), problem: true };
        match problem {
            Problem::Unauthenticated => answer.with(header::WWW_AUTHENTICATE, "Bearer realm=\"svc admin\""),
            Problem::MethodNotAllowed(allow) => answer.with(header::ALLOW, allow),
            Problem::Unavailable => answer.with(header::RETRY_AFTER, "5"),
            _ => answer,
        }
    }
}

impl From<TierGated> for Problem {
    fn from(gated: TierGated) -> Self {
        Self::TierGated(gated)
    }
}

impl From<DbErr> for Problem {
    fn from(error: DbErr) -> Self {
        match error.sql_err() {
            Some(SqlErr::UniqueConstraintViolation(_)) => {
                Self::conflict("already_exists", "Something with the same unique value exists already.")
            }
            _ if is_away(&error) => {
                log::error!("an admin call failed: {error}");
                Self::Unavailable
            }
            _ => {
                log::error!("an admin call failed: {error}");
                Self::Internal
            }
        }
    }
}

/// Whether the database is at fault and not the statement.
fn is_away(error: &DbErr) -> bool {
    use sea_orm::RuntimeErr;
    use sea_orm::sqlx::Error;
    match error {
        DbErr::ConnectionAcquire(_) | DbErr::Conn(_) => true,
        DbErr::Exec(RuntimeErr::SqlxError(error)) | DbErr::Query(RuntimeErr::SqlxError(error)) => match &**error {
            Error::Io(_) | Error::Tls(_) | Error::PoolTimedOut | Error::PoolClosed | Error::WorkerCrashed => true,
            // Connection exceptions and shutdown of PostgreSQL; a busy or locked SQLite file.
            Error::Database(error) => error
                .code()
                .is_some_and(|code| code.starts_with("08") || code.starts_with("57P") || ["5", "6", "261", "517"].contains(&&*code)),
            _ => false,
        },
        _ => false,
    }
}

/// A JSON object from its members, in order.
pub(super) fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<String, Value>>())
}

/// Adds a member to a JSON object.
pub(super) fn add(object: &mut Value, name: &str, value: impl Into<Value>) {
    if let Some(members) = object.as_object_mut() {
        members.insert(name.to_owned(), value.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_names_its_code_and_every_fault() {
        let answer = Answer::from(Problem::Invalid(vec![
            Fault { field: "owner".into(), detail: "is required".into() },
            Fault { field: "colour".into(), detail: "is not known".into() },
        ]));
        assert_eq!(answer.status, 422);
        assert_eq!(answer.content_type(), "application/problem+json");
        let body = answer.body.unwrap();
        assert_eq!(body["code"], "invalid");
        assert_eq!(body["detail"], "`owner` is required; `colour` is not known.");
        assert_eq!(body["errors"][1], json!({"field": "colour", "detail": "is not known"}));
    }

    #[test]
    fn problems_carry_the_headers_their_status_asks_for() {
        let headers = |problem: Problem| Answer::from(problem).headers.into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(headers(Problem::Unauthenticated), [header::WWW_AUTHENTICATE]);
        assert_eq!(headers(Problem::MethodNotAllowed("GET, POST")), [header::ALLOW]);
        assert_eq!(headers(Problem::Unavailable), [header::RETRY_AFTER]);
        assert!(headers(Problem::NotFound).is_empty());
    }
}
