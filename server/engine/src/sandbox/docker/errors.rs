//! bollard's errors, filed under our kinds.

use bollard::errors::Error;

use crate::sandbox::SandboxError;

/// Seconds that bollard waits for the head of an answer.
const REQUEST_SECONDS: u64 = 120;

/// Files an error of the engine.
pub(crate) fn classify(what: &str, error: Error) -> SandboxError {
    match error {
        Error::DockerResponseServerError { status_code, message } => from_answer(what, status_code, &message),
        Error::RequestTimeoutError => SandboxError::Timeout { what: what.to_owned(), seconds: REQUEST_SECONDS },
        Error::DockerStreamError { error } => SandboxError::from_words(what, &error),
        Error::SocketNotFoundError(_) | Error::HyperLegacyError { .. } => unavailable("its address", &error),
        other => SandboxError::from_words(what, &chain(&other)),
    }
}

fn from_answer(what: &str, status: u16, message: &str) -> SandboxError {
    let words = message.to_ascii_lowercase();
    match status {
        404 if words.contains("no such container") || words.contains("no such exec") => {
            SandboxError::Lost { reason: message.trim().to_owned() }
        }
        404 if words.contains("no such image") => SandboxError::ImageMissing {
            image: message.rsplit("image: ").next().unwrap_or(message).trim().to_owned(),
            reason: "it was removed meanwhile".to_owned(),
            remedy: "start the evaluation again, so that it is built or pulled again".to_owned(),
            lasts: false,
        },
        // The status differs by what was asked and by engine version.
        _ if words.contains("container") && words.contains("is not running") => {
            SandboxError::Lost { reason: message.trim().to_owned() }
        }
        _ => SandboxError::from_words(what, message),
    }
}

/// No engine, with what to do about it.
pub(super) fn unavailable(host: &str, error: &Error) -> SandboxError {
    let words = chain(error);
    let remedy = if words.to_ascii_lowercase().contains("permission denied") {
        "run as a user of the group 'docker', or as root"
    } else {
        "start Docker (such as 'systemctl start docker'), or set its address with DOCKER_HOST; 'skilldelta doctor' tells more"
    };
    SandboxError::EngineUnavailable { reason: format!("{words} ({host})"), remedy: remedy.to_owned() }
}

/// Whether the engine says that there is no such thing: it is not there, it would lie below a file, or a link on the way leads to itself.
pub(super) fn absent(error: &Error) -> bool {
    let Error::DockerResponseServerError { status_code, message } = error else { return false };
    let leads_nowhere = ["not a directory", "too many links", "too many levels of symbolic links"];
    *status_code == 404 || leads_nowhere.iter().any(|words| message.contains(words))
}

/// An error with its causes, each told once.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        let words = source.to_string();
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        cause = source.source();
    }
    text
}
