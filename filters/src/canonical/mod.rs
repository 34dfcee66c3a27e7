//! The one intermediate form between shapes: what a request asks and what an answer says, in no vendor's words.
//!
//! Requests are borrowed from the client's body: texts stay as they are escaped there, schemas and arguments stay raw JSON.
//! Answers, whole or streamed, are one sequence of [`Event`]s.

mod content;
mod error;
mod event;
mod finish;
mod loss;
mod request;
mod tool;

pub use self::content::{Block, Document, Media, Role, SearchHit, Signature, Source, Turn};
pub use self::error::{Failure, FailureClass};
pub use self::event::{Citation, Event, Sink};
pub use self::finish::{Finish, FinishReason};
pub use self::loss::{Loss, Losses, Refusal, Weight};
pub use self::request::{Dialect, Extra, OutputFormat, Request, Sampling, Thinking};
pub use self::tool::{Arguments, Choice, ComputerTool, FunctionTool, Tool, ToolCall, ToolResult, VendorTool, WebSearch};

pub use crate::wire::json::{Number, Raw, Text};
