//! Why a document is refused.

use thiserror::Error;

/// Why a document was refused, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{problem} at byte {offset}")]
pub struct Fault {
    /// Offset of the offending byte.
    pub offset: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// What is wrong with a document; each text can be shown to a client.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Problem {
    /// Bytes that are not UTF-8.
    #[error("invalid UTF-8")]
    NotUtf8,
    /// A byte order mark before the document.
    #[error("byte order mark")]
    ByteOrderMark,
    /// The top level is something else than an object.
    #[error("expected a JSON object")]
    NotAnObject,
    /// A byte no value starts with, literals such as NaN included.
    #[error("expected a value")]
    ExpectedValue,
    /// Something else than a quoted key.
    #[error("expected a quoted key")]
    ExpectedKey,
    /// A key without its colon.
    #[error("expected `:`")]
    ExpectedColon,
    /// Neither a comma nor the closing bracket.
    #[error("expected `,` or the closing bracket")]
    ExpectedComma,
    /// The document ends inside a value.
    #[error("unexpected end of the document")]
    UnexpectedEnd,
    /// A control character inside a string.
    #[error("unescaped control character in a string")]
    ControlCharacter,
    /// An escape JSON does not know.
    #[error("invalid escape in a string")]
    InvalidEscape,
    /// A number JSON does not allow.
    #[error("invalid number")]
    InvalidNumber,
    /// Something follows the document.
    #[error("unexpected data after the document")]
    TrailingData,
    /// Nested deeper than allowed.
    #[error("nesting deeper than {0} levels")]
    TooDeep(usize),
    /// More top-level members than any request has.
    #[error("more than {0} members")]
    TooManyMembers(usize),
    /// The same top-level key twice.
    #[error("duplicate key `{0}`")]
    DuplicateKey(Box<str>),
}
