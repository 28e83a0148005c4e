//! The addresses of the browser bundle's files, whose names carry a hash of their contents.

use std::path::Path;

/// Where a page finds style sheet and program. Read once at the start of the server and given to pages as a context.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bundle {
    /// The style sheet; `None` where the bundle was not built.
    pub style: Option<String>,
    /// The module that loads and starts the program.
    pub start: Option<String>,
    /// The program's JavaScript, loaded ahead.
    pub glue: Option<String>,
    /// The program itself, loaded ahead.
    pub program: Option<String>,
    /// Names the build: pages of one build never talk to a server of another.
    pub build: String,
}

impl Bundle {
    /// Reads `hash.txt` of a built site; without one, pages have neither style nor program.
    #[must_use]
    pub fn read(site_root: &Path, output_name: &str) -> Self {
        std::fs::read_to_string(site_root.join("hash.txt"))
            .map_or_else(|_| Self::default(), |text| Self::parse(&text, output_name))
    }

    fn parse(text: &str, output_name: &str) -> Self {
        let hash = |key: &str| {
            let lines = text.lines().filter_map(|line| line.split_once(':'));
            lines.filter(|(name, _)| name.trim() == key).map(|(_, hash)| hash.trim().to_owned()).next()
        };
        let path =
            |key: &str, stem: &str, extension: &str| hash(key).map(|hash| format!("/pkg/{stem}.{hash}.{extension}"));
        Self {
            style: path("css", output_name, "css"),
            start: path("start", "start", "js"),
            glue: path("js", output_name, "js"),
            program: path("wasm", output_name, "wasm"),
            build: hash("start").unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Bundle;

    #[test]
    fn names_are_made_from_the_hashes() {
        let bundle = Bundle::parse("js: a1\nwasm: b2\ncss: c3\nstart: d4\n", "skilldelta");
        assert_eq!(bundle.style.as_deref(), Some("/pkg/skilldelta.c3.css"));
        assert_eq!(bundle.start.as_deref(), Some("/pkg/start.d4.js"));
        assert_eq!(bundle.program.as_deref(), Some("/pkg/skilldelta.b2.wasm"));
        assert_eq!(bundle.build, "d4");
        assert_eq!(Bundle::parse("", "skilldelta"), Bundle::default());
    }
}
