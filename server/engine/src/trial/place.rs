//! A container with the skills of its arm in place, audited: what the agent starts in.

use std::time::Duration;

use domain::condition::Condition;
use domain::finding::Finding;
use domain::order::TrialOrder;
use domain::path::RelPath;
use domain::skill::SkillPackage;
use domain::skill_audit::SkillAudit;
use domain::task::{NetworkPolicy, Task};
use domain::tree::LoadedTree;
use gateway::{ProviderTools, TrialGateway};

use super::Executor;
use super::fault::Fault;
use super::skills;
use crate::agent::Agent;
use crate::agent::activation::InstalledSkill;
use crate::agent::evidence::telling_line;
use crate::blobs::load_tree;
use crate::image::ReadyImage;
use crate::network::{Reach, TrialNetwork};
use crate::sandbox::{Collect, ExecSpec, Labels, Limits, Network, Sandbox, SandboxSpec, Upload};

/// Processes and threads of one container.
const PIDS: u32 = 4096;
/// A container ends by itself this long after its phases should have ended, should we be gone.
const LIFETIME_SLACK: Duration = Duration::from_secs(3600);

/// What the agent starts in.
pub(super) struct Place {
    pub(super) sandbox: Box<dyn Sandbox>,
    /// The network that leads to the model, for an agent that calls from inside. After the sandbox, which uses it.
    pub(super) way: Option<TrialNetwork>,
    pub(super) home: String,
    pub(super) workdir: String,
    pub(super) user: Option<String>,
    pub(super) audit: SkillAudit,
    /// The treatment's skills, with the folder they have, or would have.
    pub(super) installed: Vec<InstalledSkill>,
    pub(super) findings: Vec<Finding>,
}

impl Place {
    /// Ends the agent's way to its model: what it wrote must not call one while it is judged.
    pub(super) fn shut(&mut self) {
        if let Some(way) = &mut self.way {
            way.shut();
        }
    }

    /// Names that were asked for where there are none, for whoever wonders what an agent missed.
    pub(super) fn names_wanted(&self) -> Option<Finding> {
        let names = self.way.as_ref().map(TrialNetwork::names_wanted).unwrap_or_default();
        let shown = names.iter().take(20).cloned().collect::<Vec<_>>().join(", ");
        (!names.is_empty()).then(|| {
            let message = format!("these names were looked up in the closed network and not found: {shown}");
            Finding::note("names_wanted", "network", message)
        })
    }

    /// Removes everything, in the order that it must be.
    pub(super) async fn leave(self) -> Result<(), Fault> {
        self.sandbox.remove().await?;
        match self.way {
            Some(way) => Ok(way.close().await?),
            None => Ok(()),
        }
    }
}

impl Executor {
    /// Makes the container, takes out what skills the image brought, places those of the arm, and audits.
    pub(super) async fn place(
        &self,
        order: &TrialOrder,
        agent: &dyn Agent,
        gateway: Option<&TrialGateway>,
        image: &ReadyImage,
    ) -> Result<Place, Fault> {
        let task = &order.task;
        let (network, mut findings) = network(task);
        let way = match gateway.filter(|_| agent.calls_from_container()) {
            Some(gateway) => {
                let reach = if network == Network::Public { Reach::Public } else { Reach::ModelOnly };
                Some(self.networks.open(&self.labels(order), gateway, reach).await?)
            }
            None => None,
        };
        let network = way.as_ref().map_or(network, TrialNetwork::join);
        let spec = SandboxSpec { mounts: agent.mounts(), ..self.spec(order, image, network) };
        let created = self.engine.create(&spec).await?;
        findings.extend(created.findings);
        let sandbox = created.sandbox;
        let workdir =
            task.environment.workdir.clone().or_else(|| image.workdir.clone()).unwrap_or_else(|| "/".to_owned());
        let user = task.agent.user.clone().or_else(|| image.user.clone());
        let home = home(sandbox.as_ref(), user.as_deref()).await?;
        let removed = self.residue(sandbox.as_ref(), image, &home, &workdir).await?;
        skills::remove(sandbox.as_ref(), &removed).await?;
        let looked_in = agent.skill_folders(&home, &workdir);
        let target = looked_in.first().cloned().unwrap_or_else(|| format!("{home}/.agents/skills"));
        if order.condition == Condition::WithSkill {
            let loaded = self.load_skills(&order.skills).await?;
            let upload = skills::place(Upload::new(), &target, &loaded);
            sandbox.upload(upload).await?;
        }
        let audit = skills::audit(sandbox.as_ref(), looked_in, removed, order.condition, &order.skills).await?;
        let installed = order.skills.iter().map(|skill| installed(skill, &target)).collect();
        Ok(Place { sandbox, way, home, workdir, user, audit, installed, findings })
    }

    fn labels(&self, order: &TrialOrder) -> Labels {
        Labels {
            instance: self.instance.clone(),
            evaluation: order.evaluation,
            trial: order.trial,
            attempt: order.attempt,
        }
    }

    fn spec(&self, order: &TrialOrder, image: &ReadyImage, network: Network) -> SandboxSpec {
        let environment = &order.task.environment;
        let phases = order.task.agent.timeout + order.task.verifier.timeout;
        SandboxSpec {
            limits: Limits {
                cpus: environment.cpus,
                memory_mb: environment.memory_mb,
                pids: PIDS,
                storage_mb: Some(environment.storage_mb),
                shm_mb: None,
            },
            network,
            env: environment.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
            workdir: environment.workdir.clone(),
            user: order.task.agent.user.clone(),
            lifetime: phases.mul_f64(order.settings.timeout_multiplier) + LIFETIME_SLACK,
            ..SandboxSpec::new(image.id.clone(), self.labels(order))
        }
    }

    /// Folders of skills that came with the image. Looked for once per image: containers start as copies of it.
    async fn residue(
        &self,
        sandbox: &dyn Sandbox,
        image: &ReadyImage,
        home: &str,
        workdir: &str,
    ) -> Result<Vec<String>, Fault> {
        let key = format!("{}\0{home}\0{workdir}", image.id);
        if let Some(known) = self.residues.lock().await.get(&key) {
            return Ok(known.clone());
        }
        let found = skills::existing(sandbox, &skills::known_folders(home, workdir)).await?;
        self.residues.lock().await.insert(key, found.clone());
        Ok(found)
    }

    /// Lines by which the bodies of skills are known on the wire.
    pub(super) async fn telling_lines(&self, skills: &[SkillPackage]) -> Result<Vec<String>, Fault> {
        let mut lines = Vec::new();
        for entry in skills.iter().filter_map(|skill| skill.tree.get("SKILL.md")) {
            let bytes = self.blobs.get(entry.hash).await;
            let bytes = bytes.map_err(|source| Fault::Blobs { what: "a file of the skill", source })?;
            lines.extend(telling_line(&String::from_utf8_lossy(&bytes)));
        }
        Ok(lines)
    }

    async fn load_skills<'a>(&self, skills: &'a [SkillPackage]) -> Result<Vec<(&'a SkillPackage, LoadedTree)>, Fault> {
        let mut loaded = Vec::with_capacity(skills.len());
        for skill in skills {
            let files = load_tree(self.blobs.as_ref(), &skill.tree)
                .await
                .map_err(|source| Fault::Blobs { what: "a file of the skill", source })?;
            loaded.push((skill, files));
        }
        Ok(loaded)
    }
}

fn installed(skill: &SkillPackage, target: &str) -> InstalledSkill {
    InstalledSkill {
        name: skill.manifest.name.clone(),
        description: skill.manifest.description.clone(),
        folder: format!("{target}/{}", skill.folder()),
        files: skill.tree.iter().map(|(path, _): (&RelPath, _)| path.clone()).collect(),
    }
}

/// A closed container cannot be opened by the provider's own tools.
pub(super) fn provider_tools(task: &Task) -> ProviderTools {
    match network(task).0 {
        Network::Public => ProviderTools::Allowed,
        Network::None | Network::Named(_) | Network::Join(_) => ProviderTools::Refused,
    }
}

/// One container serves both phases, so the stricter of what the task asks for is not always what each phase gets; it is then said.
fn network(task: &Task) -> (Network, Vec<Finding>) {
    let agent = task.agent.network.as_ref().unwrap_or(&task.environment.network);
    let verifier = task.verifier.network.as_ref().unwrap_or(&task.environment.network);
    let mut findings = Vec::new();
    let mut say = |code: &str, message: &str| findings.push(Finding::warning(code, &task.name, message));
    let network = match agent {
        NetworkPolicy::Public => Network::Public,
        NetworkPolicy::None => Network::None,
        NetworkPolicy::Allowlist { .. } => {
            say("network_allowlist", "lists of allowed hosts are not supported yet: the container has no network");
            Network::None
        }
    };
    if verifier != agent {
        say("network_by_phase", "agent and verifier share a container: the verifier gets the agent's network");
    }
    (network, findings)
}

/// The home folder of the agent's user.
async fn home(sandbox: &dyn Sandbox, user: Option<&str>) -> Result<String, Fault> {
    match user.map(|user| user.split(':').next().unwrap_or(user)) {
        None | Some("root" | "0" | "") => Ok("/root".to_owned()),
        Some(_) => {
            let mut spec = ExecSpec::shell("printf %s \"${HOME:-/tmp}\"", Duration::from_secs(30));
            spec.user = user.map(str::to_owned);
            let mut output = Collect::default();
            sandbox.exec(&spec, &mut output).await?;
            let home = output.out_text();
            Ok(if home.starts_with('/') && home.len() > 1 { home } else { "/tmp".to_owned() })
        }
    }
}
