//! Image names, and local images that stand in for them.

use std::collections::BTreeMap;

/// Names of images and the local images that are used in their place, in builds and alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StandIns(BTreeMap<String, String>);

impl StandIns {
    /// Reads entries such as `ubuntu:24.04=debian:bookworm-local`.
    ///
    /// # Errors
    /// The entry that is no such pair.
    pub fn parse<S: AsRef<str>>(entries: impl IntoIterator<Item = S>) -> Result<Self, String> {
        let mut map = BTreeMap::new();
        for entry in entries {
            let entry = entry.as_ref();
            let (name, local) =
                entry.split_once('=').map(|(name, local)| (name.trim(), local.trim())).unwrap_or_default();
            if name.is_empty() || local.is_empty() {
                return Err(format!(
                    "image stand-in '{entry}' is not NAME=LOCAL, such as ubuntu:24.04=my-ubuntu:local"
                ));
            }
            map.insert(familiar(name), local.to_owned());
        }
        Ok(Self(map))
    }

    /// What is used for `image`: its stand-in, or itself.
    #[must_use]
    pub fn resolve<'a>(&'a self, image: &'a str) -> &'a str {
        self.0.get(&familiar(image)).map_or(image, String::as_str)
    }

    /// Whether `image` has a stand-in.
    #[must_use]
    pub fn has(&self, image: &str) -> bool {
        self.0.contains_key(&familiar(image))
    }
}

/// One spelling per image: without the default registry, with a tag.
fn familiar(image: &str) -> String {
    let image = image.trim();
    let image = image.strip_prefix("docker.io/").or_else(|| image.strip_prefix("index.docker.io/")).unwrap_or(image);
    let image = image.strip_prefix("library/").unwrap_or(image);
    let last = image.rsplit('/').next().unwrap_or(image);
    if last.contains(':') || last.contains('@') { image.to_owned() } else { format!("{image}:latest") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_found_by_any_of_its_spellings() {
        let stand_ins = StandIns::parse(["ubuntu:24.04=local:1", "docker.io/library/python = local:2"]).unwrap();
        for (image, want) in [
            ("ubuntu:24.04", "local:1"),
            ("docker.io/library/ubuntu:24.04", "local:1"),
            ("library/ubuntu:24.04", "local:1"),
            ("python", "local:2"),
            ("python:latest", "local:2"),
            ("python:3.12", "python:3.12"),
            ("ghcr.io/ubuntu:24.04", "ghcr.io/ubuntu:24.04"),
            ("localhost:5000/python", "localhost:5000/python"),
        ] {
            assert_eq!(stand_ins.resolve(image), want, "{image}");
        }
        for entry in ["ubuntu", "=x", "x=", ""] {
            assert!(StandIns::parse([entry]).is_err(), "{entry}");
        }
    }
}
