//! The browser program: takes over the pages which the server rendered.
