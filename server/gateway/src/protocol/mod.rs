//! The vendors' own languages, as far as the gateway has to understand them.

pub mod anthropic;
pub mod headers;
pub mod sse;
