//! Which call of which vendor a request is, by method and path.

use http::{HeaderMap, Method};

use super::{CallHead, Protocol, anthropic, gemini, links, openai};

/// What is asked of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// An answer.
    Generate,
    /// How many tokens a prompt has; costs nothing.
    CountTokens,
}

/// A call that the gateway knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Whose.
    pub protocol: Protocol,
    /// What for.
    pub action: Action,
    /// The model, where the vendor puts it into the path.
    pub model: Option<String>,
}

impl Route {
    /// The call; `None` = not offered.
    #[must_use]
    pub fn of(method: &Method, path: &str) -> Option<Self> {
        if method != Method::POST {
            return None;
        }
        let plain = |protocol, action| Some(Self { protocol, action, model: None });
        match path {
            anthropic::MESSAGES_PATH => plain(Protocol::Anthropic, Action::Generate),
            "/v1/messages/count_tokens" => plain(Protocol::Anthropic, Action::CountTokens),
            "/v1/chat/completions" | "/chat/completions" => plain(Protocol::OpenaiChat, Action::Generate),
            "/v1/responses" | "/responses" => plain(Protocol::OpenaiResponses, Action::Generate),
            _ => gemini::route(path),
        }
    }

    /// Reads what decides about the call.
    ///
    /// # Errors
    /// Why the body is no such call.
    pub fn head(&self, body: &[u8]) -> Result<CallHead, String> {
        let mut head = match self.protocol {
            Protocol::Anthropic => anthropic::head(body),
            Protocol::OpenaiChat => openai::chat::head(body),
            Protocol::OpenaiResponses => openai::responses::head(body),
            Protocol::Gemini => gemini::head(self.model.as_deref().unwrap_or_default(), body),
        }?;
        head.hosted.extend(links::fetched(body));
        Ok(head)
    }
}

/// In whose words a request is answered that is no known call.
#[must_use]
pub fn likely_protocol(path: &str, headers: &HeaderMap) -> Protocol {
    let has = |words: &str| path.contains(words);
    if has("/v1beta") || has("/v1alpha") || headers.contains_key("x-goog-api-key") {
        Protocol::Gemini
    } else if has("/messages") || headers.contains_key("anthropic-version") || headers.contains_key("x-api-key") {
        Protocol::Anthropic
    } else if has("/responses") {
        Protocol::OpenaiResponses
    } else {
        Protocol::OpenaiChat
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_known_by_method_and_path() {
        use Action::{CountTokens, Generate};
        for (method, path, want) in [
            ("POST", "/v1/messages", Some((Protocol::Anthropic, Generate, None))),
            ("POST", "/v1/messages/count_tokens", Some((Protocol::Anthropic, CountTokens, None))),
            ("POST", "/v1/chat/completions", Some((Protocol::OpenaiChat, Generate, None))),
            ("POST", "/responses", Some((Protocol::OpenaiResponses, Generate, None))),
            (
                "POST",
                "/v1beta/models/gemini-2.5-pro:generateContent",
                Some((Protocol::Gemini, Generate, Some("gemini-2.5-pro"))),
            ),
            ("POST", "/v1/models/m:streamGenerateContent", Some((Protocol::Gemini, Generate, Some("m")))),
            ("POST", "/v1beta/models/m:countTokens", Some((Protocol::Gemini, CountTokens, Some("m")))),
            ("POST", "/v1beta/models/a%2Fb:generateContent", None),
            ("POST", "/v1beta/models/../files:generateContent", None),
            ("POST", "/v1beta/models/m:embedContent", None),
            ("POST", "/v1/messages/batches", None),
            ("GET", "/v1/messages", None),
        ] {
            let got = Route::of(&method.parse().unwrap(), path);
            let got = got.as_ref().map(|route| (route.protocol, route.action, route.model.as_deref()));
            assert_eq!(got, want, "{method} {path}");
        }
    }
}
