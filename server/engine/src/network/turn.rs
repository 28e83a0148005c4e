//! From one phase to the next, in the same container: what may be reached changes, while what runs stays.

use std::time::Duration;

use domain::network::AllowList;

use super::sidecar::{Names, OPTIONS, RESOLVER};
use super::{Reach, TrialNetwork};
use crate::sandbox::{Collect, ExecSpec, Sandbox, SandboxError};

const SHORT: Duration = Duration::from_secs(30);
const RESOLV_CONF: &str = "/etc/resolv.conf";

impl TrialNetwork {
    /// Begins a phase of the container that has joined.
    ///
    /// # Errors
    /// Any [`SandboxError`]; the network is then not what the phase should have.
    pub async fn enter(&mut self, reach: &Reach, sandbox: &dyn Sandbox) -> Result<(), SandboxError> {
        if let Some(egress) = &self.egress {
            egress.allow(match reach {
                Reach::Hosts(hosts) => hosts.clone(),
                Reach::ModelOnly | Reach::Public => AllowList::default(),
            });
        }
        let open = *reach == Reach::Public;
        if open != self.open {
            self.sidecar.open_network(open).await?;
            self.open = open;
        }
        if self.names == Names::ByTurns {
            let engines = match &self.resolvers {
                Some(text) => text.clone(),
                None => self.resolvers.insert(read(sandbox).await?).clone(),
            };
            let ours = || format!("nameserver {RESOLVER}\noptions {}\n", OPTIONS.join(" "));
            write(sandbox, &if open { engines } else { ours() }).await?;
        }
        Ok(())
    }
}

async fn read(sandbox: &dyn Sandbox) -> Result<String, SandboxError> {
    run(sandbox, ["cat", RESOLV_CONF].map(str::to_owned).to_vec()).await
}

/// The file is mounted, so it is written into and not replaced.
async fn write(sandbox: &dyn Sandbox, text: &str) -> Result<(), SandboxError> {
    let script = format!("printf %s \"$1\" > {RESOLV_CONF}");
    run(sandbox, vec!["/bin/sh".to_owned(), "-c".to_owned(), script, "sh".to_owned(), text.to_owned()]).await.map(drop)
}

async fn run(sandbox: &dyn Sandbox, argv: Vec<String>) -> Result<String, SandboxError> {
    let mut spec = ExecSpec::new(argv, SHORT);
    spec.user = Some("0".to_owned());
    spec.workdir = Some("/".to_owned());
    let mut output = Collect::default();
    let end = sandbox.exec(&spec, &mut output).await?;
    if !end.exit.is_success() {
        return Err(SandboxError::other("tell a container who answers for names", output.err_text()));
    }
    Ok(output.out_text())
}
