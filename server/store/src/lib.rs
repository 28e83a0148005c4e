//! Everything that is kept: SQLite rows by noun, and blobs as files named by their hash.
