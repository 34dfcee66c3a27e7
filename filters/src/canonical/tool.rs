//! Tools, calls of them and their results.

use std::borrow::Cow;

use super::{Block, Number, Raw, Signature, Text};
use crate::wire::json::{Kind, Value, outline};

/// Deepest nesting of arguments.
const DEPTH: usize = 128;

/// A tool offered to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tool<'a> {
    /// A function the client runs.
    Function(FunctionTool<'a>),
    /// A function whose input is free text, perhaps bound to a grammar (chat completions and responses `custom`).
    Custom {
        /// Name.
        name: Text<'a>,
        /// What it is for.
        description: Option<Text<'a>>,
        /// The vendor's `format` object.
        format: Option<Raw<'a>>,
    },
    /// Search of the web within the answer.
    WebSearch(WebSearch<'a>),
    /// Control of a screen, run by the client.
    Computer(ComputerTool<'a>),
    /// A tool with a schema known to its vendor's models only, run by the client: bash, text editor and memory of the messages shape.
    Vendor(VendorTool<'a>),
    /// A tool the provider runs, as written; `kind` is the vendor's name for it.
    Unknown {
        /// Such as `code_execution_20250825` or `codeExecution`.
        kind: Text<'a>,
        /// The whole declaration.
        raw: Raw<'a>,
    },
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionTool<'a> {
    /// Name; never empty.
    pub name: Text<'a>,
    /// What it is for.
    pub description: Option<Text<'a>>,
    /// JSON Schema of its arguments; `None` for none.
    pub parameters: Option<Raw<'a>>,
    /// The schema is in the generate-content vendor's own dialect (upper-case types, `nullable`).
    pub vendor_schema: bool,
    /// Arguments must match the schema exactly.
    pub strict: Option<bool>,
}

/// Search of the web.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebSearch<'a> {
    /// The name the client gave it.
    pub name: Option<Text<'a>>,
    /// Most searches in one answer.
    pub max_uses: Option<u64>,
    /// Only these domains.
    pub allowed_domains: Vec<Text<'a>>,
    /// None of these domains.
    pub blocked_domains: Vec<Text<'a>>,
    /// Approximate location: members `city`, `region`, `country`, `timezone`.
    pub location: Option<Raw<'a>>,
    /// How much context: `low`, `medium`, `high`.
    pub context_size: Option<Text<'a>>,
}

/// A screen to control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComputerTool<'a> {
    /// The vendor's type, such as `computer_20241022`.
    pub kind: Text<'a>,
    /// The name both sides use.
    pub name: Text<'a>,
    /// Width in pixels.
    pub width: Option<Number<'a>>,
    /// Height in pixels.
    pub height: Option<Number<'a>>,
    /// X11 display number.
    pub display: Option<Number<'a>>,
    /// Whether it can zoom.
    pub zoom: bool,
}

/// A bash, text-editor or memory tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VendorTool<'a> {
    /// The vendor's type, such as `bash_20250124`.
    pub kind: Text<'a>,
    /// The name both sides use.
    pub name: Text<'a>,
}

/// Which tools the model may or must call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice<'a> {
    /// The model decides.
    Auto,
    /// It must call one.
    Any,
    /// It must call this one.
    Named(Text<'a>),
    /// It may call these only, and must call one where `required`.
    Among {
        /// Names.
        names: Vec<Text<'a>>,
        /// Whether one must be called.
        required: bool,
    },
    /// It may call none.
    None,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall<'a> {
    /// Id; empty where the client's shape has none (then matched by position).
    pub id: Text<'a>,
    /// Name of the tool.
    pub name: Text<'a>,
    /// Arguments.
    pub arguments: Arguments<'a>,
    /// Continuity token that belongs to this call.
    pub signature: Option<Signature<'a>>,
    /// The call is of a [`Tool::Custom`]; the arguments are free text.
    pub custom: bool,
}

/// A result of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult<'a> {
    /// Id of the call; empty where the client's shape has none.
    pub id: Text<'a>,
    /// Name of the tool, where the client says it.
    pub name: Option<Text<'a>>,
    /// The tool failed.
    pub failed: bool,
    /// What it returned: texts, pictures, documents.
    pub content: Vec<Block<'a>>,
    /// What it returned, where the client gave an object (generate content `response`).
    pub object: Option<Raw<'a>>,
}

/// Arguments of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arguments<'a> {
    /// A JSON value.
    Json(Raw<'a>),
    /// Text that should be a JSON object but was not looked at.
    Text(Text<'a>),
}

impl Arguments<'_> {
    /// The arguments as one valid JSON object. Empty text is an empty object.
    ///
    /// # Errors
    /// When they are no JSON object.
    pub fn object(&self) -> Result<Cow<'_, [u8]>, NotAnObject> {
        let bytes: Cow<'_, [u8]> = match self {
            Self::Json(raw) => Cow::Borrowed(&*raw.0),
            Self::Text(text) => match text.decode() {
                Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                Cow::Owned(text) => Cow::Owned(text.into_bytes()),
            },
        };
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Ok(Cow::Borrowed(b"{}"));
        }
        let valid = matches!(self, Self::Json(_)) || outline(&bytes, DEPTH).is_ok();
        if valid && Value::of(&bytes).kind() == Kind::Object { Ok(bytes) } else { Err(NotAnObject) }
    }
}

/// Arguments of a call are no JSON object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("read the arguments of a tool call: they are no JSON object")]
pub struct NotAnObject;
