//! The rule for image names: `[host[:port]/]path[:tag][@sha256:digest]`.

/// Whether `name` can name an image.
pub(super) fn is_image_name(name: &str) -> bool {
    let (rest, digest) = match name.split_once('@') {
        Some((rest, digest)) => (rest, Some(digest)),
        None => (name, None),
    };
    let (path, tag) = match rest.rsplit_once(':') {
        Some((path, tag)) if !tag.contains('/') => (path, Some(tag)),
        _ => (rest, None),
    };
    name.len() <= 512 && is_path(path) && tag.is_none_or(is_tag) && digest.is_none_or(is_digest)
}

fn is_path(path: &str) -> bool {
    let mut segments: Vec<&str> = path.split('/').collect();
    let first_is_host =
        segments.len() > 1 && segments.first().is_some_and(|first| first.contains(['.', ':']) || *first == "localhost");
    if first_is_host && !is_host(segments.remove(0)) {
        return false;
    }
    segments.into_iter().all(is_segment)
}

/// Lower-case letters and digits, parted by `.`, `_`, `__` or hyphens.
fn is_segment(segment: &str) -> bool {
    let alphanumeric = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    segment.starts_with(alphanumeric)
        && segment.ends_with(alphanumeric)
        && segment.chars().all(|c| alphanumeric(c) || matches!(c, '.' | '_' | '-'))
        && !segment.contains("..")
}

fn is_host(host: &str) -> bool {
    let (name, port) = match host.split_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (host, None),
    };
    let digits = |port: &str| (1..=5).contains(&port.len()) && port.chars().all(|c| c.is_ascii_digit());
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'))
        && port.is_none_or(digits)
}

fn is_tag(tag: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    tag.len() <= 128 && tag.starts_with(word) && tag.chars().all(|c| word(c) || matches!(c, '.' | '-'))
}

fn is_digest(digest: &str) -> bool {
    let hex = digest.strip_prefix("sha256:");
    hex.is_some_and(|hex| hex.len() == 64 && hex.chars().all(|c| c.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::is_image_name;

    #[test]
    fn image_names() {
        for (name, want) in [
            ("ubuntu:24.04", true),
            ("python:3.12-slim", true),
            ("debian:bookworm-local", true),
            ("gcr.io/oss-fuzz-base/base-builder-python", true),
            ("localhost:5000/a/b_c:x", true),
            ("bugswarm/cached-images:AgentOps-AI-agentops-24579293289", true),
            (&format!("a@sha256:{}", "0".repeat(64)), true),
            ("", false),
            ("Ubuntu", false),
            ("ubuntu:", false),
            ("ubuntu latest", false),
            ("-v/etc:/etc", false),
            ("a//b", false),
            ("../x", false),
            ("a@sha256:12", false),
            ("${IMAGE}", false),
        ] {
            assert_eq!(is_image_name(name), want, "{name:?}");
        }
    }
}
