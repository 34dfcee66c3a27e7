//! The texts of bodies, shown to the content rules and rewritten in place.
//!
//! Bodies are read in the client's shape. [`request_texts`] and [`answer_texts`] find the texts of whole bodies;
//! [`screen_request`] and [`screen_answer`] show them to a set of rules, decide, and mask. Whatever is masked, JSON stays valid and every
//! other byte stays as it was.

mod answer;
mod escapes;
mod prompt;
mod report;
mod splices;
mod stream;
#[cfg(test)]
mod tests;
mod texts;
mod whole;

pub use self::answer::Screen;
pub use self::prompt::Prompt;
pub use self::report::{Noted, Report};
pub use self::stream::{AnswerScreen, Closing, Stop};
pub use self::texts::{Body, Form, Found, answer_texts, request_texts};
pub use self::whole::{Screened, screen_answer, screen_request};
