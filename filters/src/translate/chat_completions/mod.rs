//! The chat_completions dialect.
