//! What can keep a tree from being built. Each message names the reason and a remedy.

use std::io;

/// Trouble with installing an agent.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// Not an agent that can be installed.
    #[error("there is no agent '{asked}' to install; known: {known}")]
    UnknownAgent {
        /// The name asked for.
        asked: String,
        /// The names there are.
        known: String,
    },
    /// A registry client is not there.
    #[error("'{program}' is not on this machine, and {agent} is fetched with it; install it, or put it on PATH")]
    NoClient {
        /// Its name.
        program: String,
        /// For which agent.
        agent: String,
    },
    /// No Python on this machine is new enough.
    #[error(
        "{agent} needs Python {least} or newer, and there is none on this machine that could be copied; install one, as with 'pyenv install {least}'"
    )]
    NoPython {
        /// For which agent.
        agent: String,
        /// The least version.
        least: String,
    },
    /// The registry does not have it.
    #[error("the registry has no {package} {version}; see what it has with '{look}'")]
    NoSuchVersion {
        /// The package.
        package: String,
        /// The version asked for.
        version: String,
        /// A command that lists versions.
        look: String,
    },
    /// A client failed.
    #[error(
        "'{command}' failed: {reason}; run it by hand to see more, and mend the network, proxy or certificates it names"
    )]
    ClientFailed {
        /// The command line.
        command: String,
        /// Its last words.
        reason: String,
    },
    /// A package is not as it should be.
    #[error("{package} does not hold {what}; this program knows version {tested}, try '@{tested}'")]
    Strange {
        /// The package.
        package: String,
        /// What is missing.
        what: String,
        /// A version known to work.
        tested: String,
    },
    /// This kind of machine is not served.
    #[error("{agent} cannot be installed on {machine}: {reason}")]
    Machine {
        /// The agent.
        agent: String,
        /// The processor.
        machine: String,
        /// Why.
        reason: String,
    },
    /// The data folder.
    #[error("{path} cannot be written: {source}; check its disk and permissions")]
    Disk {
        /// Which path.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// A tree is no longer what was built.
    #[error("the tree of {tree} is damaged: {what}; remove its folder and install it again")]
    Damaged {
        /// Which.
        tree: String,
        /// What is wrong.
        what: String,
    },
}
