//! `skilldelta agents`: what is installed, and installing. Needs no server and disturbs none; a running one offers a new agent after a restart.

use clap::Subcommand;
use engine::trees::RECIPES;

use super::{Exit, Failure, terminal};
use crate::config::{CommonArgs, Config};
use crate::runtime::trees;

/// What to do with agents.
#[derive(Debug, Subcommand)]
pub enum AgentsCommand {
    /// Install agents from the package registries, as the clients (npm, apt-get) on this machine are set up. Once for all trials.
    Install {
        /// An agent, or an agent and a version as in claude-code@2.1.332. Without a version: the one that this program was tested with.
        #[arg(required = true, value_name = "NAME[@VERSION]")]
        agents: Vec<String>,
    },
    /// List agents: installed versions, and what can be installed.
    List,
}

/// Carries it out.
///
/// # Errors
/// Settings that cannot be read, a registry that does not have or give it; each with a remedy.
pub async fn run(common: &CommonArgs, command: AgentsCommand) -> Result<Exit, Failure> {
    let config = Config::load(common).map_err(Failure::unusable)?;
    match command {
        AgentsCommand::Install { agents } => tokio::task::spawn_blocking(move || install(&config, &agents)).await?,
        AgentsCommand::List => {
            list(&config);
            Ok(Exit::Done)
        }
    }
}

fn install(config: &Config, agents: &[String]) -> Result<Exit, Failure> {
    let trees = trees(config);
    for asked in agents {
        let (name, version) = match asked.split_once('@') {
            Some((name, version)) => (name, Some(version)),
            None => (asked.as_str(), None),
        };
        let tree = trees.install(name, version, &|text| eprintln!("{name}: {text}"))?;
        terminal::line(&format!("{}: {} MB in {}", tree.title(), tree.label.bytes >> 20, tree.path().display()));
    }
    Ok(Exit::Done)
}

fn list(config: &Config) {
    let installed = trees(config).list();
    for tree in &installed {
        let state = match tree.check() {
            Ok(()) => {
                format!("{} MB, tree {}", tree.label.bytes >> 20, tree.label.hash.chars().take(12).collect::<String>())
            }
            Err(error) => error.to_string(),
        };
        terminal::line(&format!("installed  {:12} {:12} {state}", tree.label.agent, tree.label.version));
    }
    for recipe in &RECIPES {
        if !installed.iter().any(|tree| tree.label.agent == recipe.name) {
            terminal::line(&format!(
                "available  {:12} {:12} skilldelta agents install {}",
                recipe.name, recipe.tested, recipe.name
            ));
        }
    }
}
