//! The program skilldelta.
fn main() {}
