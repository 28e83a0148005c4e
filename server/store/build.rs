//! `sqlx::migrate!` sees a new file only when the crate is compiled again.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations");
}
