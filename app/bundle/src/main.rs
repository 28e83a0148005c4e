//! Builds the browser bundle.
fn main() {}
