//! A provider's error, in no vendor's words.

use super::Text;

/// What went wrong, told by a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure<'a> {
    /// Class.
    pub class: FailureClass,
    /// HTTP status it had, or stands for.
    pub status: u16,
    /// The vendor's words, without keys or hosts.
    pub message: Text<'a>,
    /// The vendor's machine-readable code, or empty.
    pub code: Text<'a>,
    /// The request field at fault, in the provider's terms.
    pub param: Option<Text<'a>>,
    /// When to come again, in seconds, where the body tells it.
    pub retry_after: Option<u64>,
}

impl Failure<'static> {
    /// An answer of the provider that cannot be used.
    #[must_use]
    pub fn broken(message: impl Into<Text<'static>>) -> Self {
        let (message, code) = (message.into(), Text::from("upstream_error"));
        Self { class: FailureClass::Server, status: 502, message, code, param: None, retry_after: None }
    }
}

impl Failure<'_> {
    /// The same failure without a borrow.
    #[must_use]
    pub fn into_owned(self) -> Failure<'static> {
        Failure {
            class: self.class,
            status: self.status,
            message: self.message.into_owned(),
            code: self.code.into_owned(),
            param: self.param.map(Text::into_owned),
            retry_after: self.retry_after,
        }
    }
}

/// Classes of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureClass {
    /// The request is wrong.
    BadRequest,
    /// The conversation is longer than the model's context.
    ContextTooLong,
    /// The body is too large.
    TooLarge,
    /// The credential is wrong.
    Auth,
    /// The account has no money left.
    Billing,
    /// The account may not do this.
    Permission,
    /// No such model or resource.
    NotFound,
    /// Conflict.
    Conflict,
    /// Too many requests or tokens.
    Rate,
    /// The provider is overloaded.
    Overloaded,
    /// The provider took too long.
    Timeout,
    /// The provider broke.
    Server,
    /// The provider's filter refused the input.
    RefusedInput,
}

impl FailureClass {
    /// The class of an HTTP status, where nothing else tells it.
    #[must_use]
    pub const fn of_status(status: u16) -> Self {
        match status {
            401 => Self::Auth,
            402 => Self::Billing,
            403 => Self::Permission,
            404 => Self::NotFound,
            408 | 504 => Self::Timeout,
            409 => Self::Conflict,
            413 => Self::TooLarge,
            424 => Self::Server,
            429 => Self::Rate,
            503 | 529 => Self::Overloaded,
            400..=499 => Self::BadRequest,
            _ => Self::Server,
        }
    }
}
