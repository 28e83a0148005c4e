//! A container with the skills of its arm in place, audited: what the agent starts in.

use std::sync::Arc;
use std::time::Duration;

use domain::finding::Finding;
use domain::order::TrialOrder;
use domain::path::RelPath;
use domain::skill::SkillPackage;
use domain::skill_audit::SkillAudit;
use domain::tree::LoadedTree;
use gateway::TrialGateway;

use super::Executor;
use super::fault::Fault;
use super::leavings::{Before, PassedOver};
use super::networks::{Joined, PhaseNetworks};
use super::workspace::Workspace;
use super::{prompt, skills};
use crate::agent::Agent;
use crate::agent::activation::InstalledSkill;
use crate::blobs::load_tree;
use crate::image::ReadyImage;
use crate::network::TrialNetwork;
use crate::sandbox::{Caps, Collect, Download, ExecSpec, Labels, Limits, Network, Sandbox, SandboxSpec, Upload};

/// Processes and threads of one container.
const PIDS: u32 = 4096;
/// Working folders that are remembered as they were: about as many as there are images in use at one time.
const REMEMBERED: usize = 8;
/// What is compared of a working folder: all but caches and what tools keep for themselves.
pub(super) const SNAPSHOT: Caps = Caps {
    file_bytes: 1 << 20,
    total_bytes: 32 << 20,
    files: 20_000,
    passed_over: &[
        ".cache",
        ".git",
        ".gradle",
        ".hg",
        ".hypothesis",
        ".mypy_cache",
        ".nox",
        ".pytest_cache",
        ".ruff_cache",
        ".svn",
        ".tox",
        ".venv",
        "__pycache__",
        "node_modules",
        "target",
        "venv",
    ],
    sums: true,
};
/// A container ends by itself this long after its phases should have ended, should we be gone.
const LIFETIME_SLACK: Duration = Duration::from_secs(3600);

/// What the agent starts in.
pub(super) struct Place {
    pub(super) sandbox: Box<dyn Sandbox>,
    /// The network that leads to the model, or to named hosts. After the sandbox, which uses it.
    pub(super) way: Option<TrialNetwork>,
    pub(super) networks: PhaseNetworks,
    /// Where the result lies, for a task that says so. After the sandbox, which uses it.
    pub(super) workspace: Option<Workspace>,
    /// What the container was made from.
    pub(super) image: ReadyImage,
    pub(super) home: String,
    pub(super) workdir: String,
    pub(super) user: Option<String>,
    /// The task as the agent is told it.
    pub(super) prompt: String,
    pub(super) audit: SkillAudit,
    /// The skills whose use is looked for, with the folder they have, or would have.
    pub(super) installed: Vec<InstalledSkill>,
    /// Whether the verifier gets another container.
    pub(super) is_fresh: bool,
    /// Whether what the agent leaves is looked at.
    pub(super) watched: bool,
    /// The working folder as it was; `None` where nobody looks, or it is the root folder.
    pub(super) before: Option<Before>,
    /// Where it is expected to write, beside what every agent and package manager writes.
    pub(super) expected: Vec<String>,
    pub(super) findings: Vec<Finding>,
}

impl Place {
    /// Ends the agent's way to its model: what it wrote must not call one while it is judged.
    pub(super) fn shut(&mut self) {
        if let Some(way) = &mut self.way {
            way.shut();
        }
    }

    /// What was asked for in vain, for whoever wonders what an agent missed.
    pub(super) fn missed(&self) -> Vec<Finding> {
        let Some(way) = &self.way else { return Vec::new() };
        let note = |code: &str, what: &str, missed: Vec<String>| {
            let shown = missed.iter().take(20).cloned().collect::<Vec<_>>().join(", ");
            (!missed.is_empty()).then(|| Finding::note(code, "network", format!("{what}: {shown}")))
        };
        let names =
            note("names_wanted", "these names were looked up in the closed network and not found", way.names_wanted());
        let hosts = note("hosts_refused", "these allowed hosts were not reached", way.hosts_refused());
        names.into_iter().chain(hosts).collect()
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
        let networks = PhaseNetworks::of(order)?;
        let from_inside = gateway.filter(|_| agent.calls_from_container());
        let Joined { network, mut way } = self.agents_network(order, &networks, from_inside).await?;
        let workspace = Workspace::of(task, &self.engine, &self.labels(order)).await?;
        let mounts = agent.mounts().into_iter().chain(workspace.as_ref().and_then(Workspace::mount)).collect();
        let spec = SandboxSpec { mounts, ..self.spec(order, image, network) };
        let created = self.engine.create(&spec).await?;
        let (sandbox, mut findings) = (created.sandbox, created.findings);
        if let Some(way) = &mut way {
            way.enter(&networks.agent, sandbox.as_ref()).await?;
        }
        let workdir =
            task.environment.workdir.clone().or_else(|| image.workdir.clone()).unwrap_or_else(|| "/".to_owned());
        let user = task.agent.user.clone().or_else(|| image.user.clone());
        let home = home(sandbox.as_ref(), user.as_deref()).await?;
        let folder = workspace.as_ref().map_or(workdir.as_str(), Workspace::path);
        let watched = !agent.is_trusted();
        let before = match watched && folder != "/" {
            false => None,
            true => Some(self.before(sandbox.as_ref(), image, folder, &home).await?),
        };
        let removed = self.residue(sandbox.as_ref(), image, &home, &workdir).await?;
        skills::remove(sandbox.as_ref(), &removed).await?;
        let (looked_in, target) = prompt::places(agent.skill_folders(&home, &workdir), &home, order.agent.skills);
        let placed = order.placed();
        if !placed.is_empty() {
            let loaded = self.load_skills(&placed).await?;
            let upload = skills::place(Upload::new(), &target, &loaded);
            sandbox.upload(upload).await?;
        }
        let audit = skills::audit(sandbox.as_ref(), looked_in, removed, &placed).await?;
        let mounted = agent.mounts().into_iter().map(|mount| mount.target);
        let expected =
            mounted.chain([home.clone(), workdir.clone(), folder.to_owned()]).filter(|at| at != "/").collect();
        let installed = order.watched().iter().map(|skill| installed(skill, &target)).collect();
        let prompt = self.prompt(order, &home).await?;
        findings.extend(prompt::said(&prompt, order));
        Ok(Place {
            sandbox,
            way,
            networks,
            workspace,
            image: image.clone(),
            home,
            workdir,
            user,
            prompt,
            audit,
            installed,
            is_fresh: task.result_place.is_fresh(),
            watched,
            before,
            expected,
            findings,
        })
    }

    pub(super) fn labels(&self, order: &TrialOrder) -> Labels {
        Labels {
            instance: self.instance.clone(),
            evaluation: order.evaluation,
            trial: order.trial,
            attempt: order.attempt,
        }
    }

    pub(super) fn spec(&self, order: &TrialOrder, image: &ReadyImage, network: Network) -> SandboxSpec {
        let environment = &order.task.environment;
        let phases = order.task.agent.timeout.saturating_add(order.task.verifier.timeout);
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
            lifetime: order.settings.multiplied(phases) + LIFETIME_SLACK,
            ..SandboxSpec::new(image.id.clone(), self.labels(order))
        }
    }

    /// The working folder as the image has it. Looked at once per image for the trials that run about the same time.
    async fn before(
        &self,
        sandbox: &dyn Sandbox,
        image: &ReadyImage,
        folder: &str,
        home: &str,
    ) -> Result<Before, Fault> {
        let key = format!("{}\0{folder}\0{home}", image.id);
        let below = |place: &String| place.strip_prefix(folder)?.strip_prefix('/').map(str::to_owned);
        let folders = skills::known_folders(home, folder).iter().filter_map(below).collect();
        let passed_over = PassedOver { folders, dotted: folder == home };
        let known =
            self.befores.lock().await.iter().find(|(known, _)| *known == key).map(|(_, files)| Arc::clone(files));
        let files = match known {
            Some(files) => files,
            None => {
                let found = sandbox.download(folder, SNAPSHOT).await?;
                let mut found = found.unwrap_or(Download { complete: true, ..Download::default() });
                passed_over.apply(&mut found);
                let files = Arc::new(found);
                let mut befores = self.befores.lock().await;
                befores.push_front((key, Arc::clone(&files)));
                befores.truncate(REMEMBERED);
                files
            }
        };
        Ok(Before { folder: folder.to_owned(), files, passed_over })
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

    async fn load_skills<'a>(&self, skills: &[&'a SkillPackage]) -> Result<Vec<(&'a SkillPackage, LoadedTree)>, Fault> {
        let mut loaded = Vec::with_capacity(skills.len());
        for skill in skills {
            let files = load_tree(self.blobs.as_ref(), &skill.tree)
                .await
                .map_err(|source| Fault::Blobs { what: "a file of the skill", source })?;
            loaded.push((*skill, files));
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
