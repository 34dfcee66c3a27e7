//! Between the client's shape and the provider's. Pairs of one shape pass unchanged (see [`crate::passage`]).

mod filter;

pub use filter::TranslationFilter;
