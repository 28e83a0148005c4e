//! Places that are fetched from instead of others, for machines without a network and companies with mirrors of their own.

use std::collections::BTreeMap;
use std::path::PathBuf;

use domain::repository::RepositoryUrl;

/// Where a repository is really fetched from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// An address.
    Url(RepositoryUrl),
    /// A repository on this machine, bare or with a work tree.
    Folder(PathBuf),
}

impl Place {
    /// As messages call it.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Url(url) => url.to_string(),
            Self::Folder(folder) => folder.display().to_string(),
        }
    }
}

/// Mirrors by the address they stand for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mirrors(BTreeMap<String, (RepositoryUrl, Place)>);

impl Mirrors {
    /// Mirrors from (address, place); a place is an https address or an absolute path. With or without `.git` an address is the same.
    ///
    /// # Errors
    /// A sentence that names the pair, the reason and what would be right.
    pub fn parse(pairs: impl IntoIterator<Item = (String, String)>) -> Result<Self, String> {
        let mut mirrors = BTreeMap::new();
        for (address, place) in pairs {
            let wrong = |why: String| {
                format!(
                    "repository mirror {address}={place}: {why}; write https://HOST/PATH=FOLDER or https://HOST/PATH=https://MIRROR/PATH"
                )
            };
            let url = RepositoryUrl::new(&address).map_err(|error| wrong(error.to_string()))?;
            let place = if place.contains("://") {
                Place::Url(RepositoryUrl::new(&place).map_err(|error| wrong(error.to_string()))?)
            } else if place.starts_with('/') {
                Place::Folder(PathBuf::from(&place))
            } else {
                return Err(wrong("the mirror is neither an address nor an absolute path".to_owned()));
            };
            mirrors.insert(url.key().to_owned(), (url, place));
        }
        Ok(Self(mirrors))
    }

    /// Where `url` is fetched from.
    pub(crate) fn of(&self, url: &RepositoryUrl) -> Place {
        self.0.get(url.key()).map_or_else(|| Place::Url(url.clone()), |(_, place)| place.clone())
    }

    /// Each address and what stands for it.
    pub(crate) fn urls(&self) -> impl Iterator<Item = (&RepositoryUrl, &Place)> {
        self.0.values().map(|(url, place)| (url, place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mirror_is_found_with_and_without_the_ending() {
        let pair = |a: &str, b: &str| [(a.to_owned(), b.to_owned())];
        let mirrors = Mirrors::parse(pair("https://example.com/a.git", "/srv/a.git")).unwrap();
        for (url, want) in [
            ("https://example.com/a", Place::Folder("/srv/a.git".into())),
            ("https://example.com/a.git", Place::Folder("/srv/a.git".into())),
            ("https://example.com/b", Place::Url(RepositoryUrl::new("https://example.com/b").unwrap())),
        ] {
            assert_eq!(mirrors.of(&RepositoryUrl::new(url).unwrap()), want, "{url}");
        }
        for (address, place) in [
            ("http://example.com/a", "/srv/a"),
            ("https://example.com/a", "srv/a"),
            ("https://example.com/a", "file:///srv/a"),
        ] {
            assert!(Mirrors::parse(pair(address, place)).unwrap_err().contains(address), "{address} {place}");
        }
    }
}
