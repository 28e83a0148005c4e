//! What differs between the vendors' servers: languages, base URLs, paths.

use crate::protocol::Protocol;

/// Whose languages the provider speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Chat Completions and Responses.
    Openai,
    /// Gemini.
    Gemini,
}

impl Dialect {
    /// Where the vendor itself answers.
    #[must_use]
    pub const fn vendor_url(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com",
            Self::Openai => "https://api.openai.com/v1",
            Self::Gemini => "https://generativelanguage.googleapis.com",
        }
    }

    pub(super) const fn speaks(self) -> &'static [Protocol] {
        match self {
            Self::Anthropic => &[Protocol::Anthropic],
            Self::Openai => &[Protocol::OpenaiChat, Protocol::OpenaiResponses],
            Self::Gemini => &[Protocol::Gemini],
        }
    }

    /// A base URL as people write it, cut to what the agent's path is put after.
    pub(super) fn root(self, base_url: &str) -> &str {
        let base = base_url.trim().trim_end_matches('/');
        match self {
            Self::Anthropic => base.trim_end_matches("/v1"),
            Self::Openai => base,
            Self::Gemini => base.trim_end_matches("/v1beta").trim_end_matches("/v1"),
        }
    }

    /// The path as the provider has it. OpenAI's base URL holds the version, which compatible providers put elsewhere.
    pub(super) fn path(self, root: &str, asked: &str) -> String {
        match self {
            Self::Anthropic | Self::Gemini => asked.to_owned(),
            Self::Openai => {
                let rest = asked.strip_prefix("/v1").filter(|rest| rest.starts_with('/')).unwrap_or(asked);
                let bare = root.split_once("://").is_some_and(|(_, place)| !place.contains('/'));
                if bare { format!("/v1{rest}") } else { rest.to_owned() }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Dialect;

    #[test]
    fn base_urls_are_taken_as_the_vendors_clients_take_them() {
        use Dialect::{Anthropic, Gemini, Openai};
        for (dialect, base, asked, want) in [
            (Anthropic, "https://a.com/", "/v1/messages?beta=true", "https://a.com/v1/messages?beta=true"),
            (Anthropic, "https://a.com/anthropic/v1", "/v1/messages", "https://a.com/anthropic/v1/messages"),
            (Openai, "https://a.com", "/v1/chat/completions", "https://a.com/v1/chat/completions"),
            (Openai, "https://a.com", "/responses", "https://a.com/v1/responses"),
            (Openai, "https://a.com/v1/", "/v1/responses", "https://a.com/v1/responses"),
            (Openai, "https://a.com/api/paas/v4", "/v1/chat/completions", "https://a.com/api/paas/v4/chat/completions"),
            (Gemini, "https://a.com/v1beta", "/v1beta/models/m:x?alt=sse", "https://a.com/v1beta/models/m:x?alt=sse"),
        ] {
            let root = dialect.root(base);
            assert_eq!(format!("{root}{}", dialect.path(root, asked)), want, "{base} {asked}");
        }
    }
}
