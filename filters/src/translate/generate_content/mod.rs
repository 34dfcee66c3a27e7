//! The generate_content dialect.
