//! One attempt at a trial, from order to result: image, container, skills, audit, agent, verifier, verdict.

mod court;
mod fault;
mod files;
mod host_values;
mod image;
mod leavings;
mod live;
mod networks;
mod opening;
mod oracle_skills;
mod outcome;
mod place;
mod prompt;
mod replay;
mod reporter;
mod repository;
mod skills;
mod spending;
mod verify;
mod watch;
mod workspace;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use domain::approval::HostLookup;
use domain::attempt::AttemptResult;
use domain::finding::Finding;
use domain::order::{Happening, TrialEvent, TrialOrder};
use domain::task::ResultPlace;
use domain::trial::Phase;
use gateway::{CapReached, CapScope, Gateway, TrialGateway};
use repos::Repositories;
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;

pub use reporter::{Clock, EVENTS_AHEAD};

use self::court::Court;
use self::fault::Fault;
use self::files::PhaseFiles;
use self::host_values::HostValues;
use self::leavings::Leavings;
use self::live::{PhaseLog, ms, secret_printed};
use self::place::Place;
use self::reporter::Reporter;
use self::verify::Verification;
use crate::agent::activation::activation;
use crate::agent::evidence::{self, combine};
use crate::agent::{Agent, AgentContext, AgentRun, ModelAccess, OracleFiles};
use crate::blobs::Blobs;
use crate::image::Images;
use crate::network::{Networks, TrialNetwork};
use crate::sandbox::{Download, Engine, Redactor};

/// What an executor works with.
pub struct ExecutorParts {
    /// Where containers are made.
    pub engine: Arc<dyn Engine>,
    /// Where images are made.
    pub images: Images,
    /// Where repositories come from.
    pub repositories: Repositories,
    /// The way to models.
    pub gateway: Gateway,
    /// The same way for agents that call from inside their containers.
    pub networks: Networks,
    /// The agents it knows, by name.
    pub agents: Vec<Arc<dyn Agent>>,
    /// Contents by hash.
    pub blobs: Arc<dyn Blobs>,
    /// Asks what time it is.
    pub clock: Clock,
    /// The data folder's own id: what labels its containers.
    pub instance: String,
    /// Values that must not appear in anything that is kept or shown.
    pub redactor: Redactor,
    /// Looks up the variables of this machine that a person approved for a verifier.
    pub host_values: HostLookup,
}

/// Makes attempts on one engine. It knows neither the store nor the pages.
pub struct Executor {
    engine: Arc<dyn Engine>,
    images: Images,
    repositories: Repositories,
    gateway: Gateway,
    networks: Networks,
    agents: Vec<Arc<dyn Agent>>,
    blobs: Arc<dyn Blobs>,
    clock: Clock,
    instance: String,
    redactor: Redactor,
    host_values: HostLookup,
    residues: Mutex<HashMap<String, Vec<String>>>,
    befores: Mutex<VecDeque<(String, Arc<Download>)>>,
    budgets: spending::Budgets,
}

impl Executor {
    /// An executor of these parts.
    #[must_use]
    pub fn new(parts: ExecutorParts) -> Self {
        let ExecutorParts {
            engine,
            images,
            repositories,
            gateway,
            networks,
            agents,
            blobs,
            clock,
            instance,
            redactor,
            host_values,
        } = parts;
        Self {
            engine,
            images,
            repositories,
            gateway,
            networks,
            agents,
            blobs,
            clock,
            instance,
            redactor,
            host_values,
            residues: Mutex::default(),
            befores: Mutex::default(),
            budgets: spending::Budgets::default(),
        }
    }

    /// The engine it works on.
    #[must_use]
    pub fn engine(&self) -> &Arc<dyn Engine> {
        &self.engine
    }

    /// The repositories that it fetches and keeps.
    #[must_use]
    pub const fn repositories(&self) -> &Repositories {
        &self.repositories
    }

    /// The images that it builds and keeps.
    #[must_use]
    pub const fn images(&self) -> &Images {
        &self.images
    }

    /// Makes one attempt and says what happens on the way, to a channel of [`EVENTS_AHEAD`] that is read meanwhile; the last event is always
    /// the end. Whatever happens, the container is removed.
    pub async fn run(&self, order: TrialOrder, events: mpsc::Sender<TrialEvent>, cancel: CancellationToken) {
        let reporter = Reporter::new(order.attempt, Arc::clone(&self.clock), events);
        let result = AttemptResult::bare(domain::trial::interrupted());
        let (redactor, values) = (self.redactor.clone(), HostValues::default());
        let mut attempt =
            Attempt { executor: self, order: &order, reporter: &reporter, gateway: None, redactor, values, result };
        let end = tokio::select! {
            end = attempt.run() => end,
            () = cancel.cancelled() => Err(Fault::Cancelled),
        };
        if let Err(fault) = end {
            attempt.result.verdict = fault.verdict();
            if let Fault::Budget(_) = fault {
                let told = Finding::warning("budget_spent", "budget", fault.to_string());
                attempt.result.findings.push(told.hint("plan it again with a larger budget, or with fewer tasks"));
            }
            // An attempt that was stopped has spent what it has spent.
            if let Some(gateway) = attempt.gateway.as_ref().filter(|gateway| gateway.calls() > 0) {
                gateway.settled().await;
                spending::count(&mut attempt.result, gateway);
            }
        }
        let Attempt { mut result, redactor, .. } = attempt;
        live::clean(&mut result, &redactor);
        reporter.say(Happening::Ended { result: Box::new(result) }).await;
    }
}

/// A limit of the trial's own is for its agent to keep; one of the whole evaluation is not.
fn budget_holds(reached: Option<CapReached>) -> Result<(), Fault> {
    match reached {
        Some(cap) if cap.scope == CapScope::Evaluation => Err(Fault::Budget(cap)),
        Some(_) | None => Ok(()),
    }
}

/// An attempt under way; `result` fills as it goes, so that an early end keeps what is known.
struct Attempt<'a> {
    executor: &'a Executor,
    order: &'a TrialOrder,
    reporter: &'a Reporter,
    /// Where its calls are counted, once it is open.
    gateway: Option<TrialGateway>,
    /// Knows the attempt's own key and its verifier's values as well, once there are any.
    redactor: Redactor,
    /// What its verifier gets of this machine.
    values: HostValues,
    result: AttemptResult,
}

impl Attempt<'_> {
    async fn run(&mut self) -> Result<(), Fault> {
        let started = Instant::now();
        let agent = self.agent()?;
        self.values = HostValues::of(self.order, &self.executor.host_values)?;
        self.redactor = self.redactor.and(self.values.env.iter().map(|(_, value)| value.as_bytes()));
        let gateway = self.gateway(agent.as_ref()).await?;
        self.gateway.clone_from(&gateway);
        budget_holds(gateway.as_ref().and_then(TrialGateway::budget_spent))?;
        let (mut place, files) = self.prepare(agent.as_ref(), gateway.as_ref()).await?;
        if let Some(access) = place.way.as_ref().and_then(TrialNetwork::access) {
            self.redactor = self.redactor.and([access.token]);
        }
        self.result.phases.preparing = Some(ms(started));

        self.reporter.phase(Phase::Agent).await;
        let started = Instant::now();
        let run = self.agent_phase(agent.as_ref(), gateway.as_ref(), &place, &files).await;
        self.result.phases.agent = Some(ms(started));
        self.keep_agent(agent.as_ref(), &run, gateway.as_ref(), &place);
        place.shut();
        let trace = serde_json::to_vec(&run.trace).unwrap_or_default();
        let calls = spending::calls(gateway.as_ref(), &self.redactor);
        let (blobs, killed) = (self.executor.blobs.as_ref(), place.sandbox.kill_all());
        let (trace, calls, killed) = tokio::join!(blobs.put(trace), spending::keep(calls, blobs), killed);
        self.result.calls = calls;
        self.result.trace = Some(trace.map_err(|source| Fault::Blobs { what: "the trace", source })?);
        budget_holds(gateway.as_ref().and_then(TrialGateway::cap_reached))?;
        let bearing = outcome::bearing(run.end)?;
        killed?;
        self.is_skill_available()?;

        self.reporter.phase(Phase::Verifying).await;
        let started = Instant::now();
        let keeps = self.order.task.verifier.keeps_test_settings;
        let mut leavings = Leavings::look(&place, keeps, blobs, &self.redactor).await?;
        if let ResultPlace::Artifacts { artifacts, .. } = &self.order.task.result_place {
            leavings.only_at(artifacts);
        }
        let court = self.executor.court(self.order, place, files.own_image.as_ref()).await?;
        self.result.findings.extend(court.findings.iter().cloned());
        leavings.clear(court.sandbox.as_ref()).await?;
        self.keep_leavings(leavings);
        let verified = self.verification(&court).run(&files.verifier).await?;
        self.result.phases.verifying = Some(ms(started));
        self.keep_verified(bearing, verified);
        court.leave().await
    }

    async fn prepare(
        &mut self,
        agent: &dyn Agent,
        gateway: Option<&TrialGateway>,
    ) -> Result<(Place, PhaseFiles), Fault> {
        let (executor, order) = (self.executor, self.order);
        let wanted = image::request(&order.task, &order.settings, &executor.blobs).await?;
        self.result.findings.extend(wanted.notes);
        let progress = live::progress(self.reporter.clone(), self.redactor.clone());
        let mut image = executor.images.ensure(&wanted.request, &progress).await?;
        let own_image = match &order.task.result_place {
            ResultPlace::Artifacts { container, .. } => {
                let wanted = image::of_verifier(&order.task, container, &order.settings, &executor.blobs).await?;
                Some(executor.images.ensure(&wanted, &progress).await?)
            }
            ResultPlace::Anywhere | ResultPlace::Workspace { .. } => None,
        };
        if let Some(target) = &order.task.environment.repository {
            self.result.findings.append(&mut image.findings);
            self.reporter.log(Phase::Preparing, format!("fetching {} at {}\n", target.url, target.commit.short()));
            let with = executor.with_repository(order, target, &image).await?;
            self.result.findings.extend(with.findings);
            image = executor.images.ensure(&with.request, &progress).await?;
        }
        self.result.image = Some(image.id.clone());
        self.result.build_context = image.context;
        self.result.findings.extend(image.findings.iter().cloned());
        let files = PhaseFiles::load(&order.task, agent.needs_oracle(), executor.blobs.as_ref());
        let (place, files) = tokio::join!(executor.place(order, agent, gateway, &image), files);
        let mut place = place?;
        self.result.audit = Some(place.audit.clone());
        oracle_skills::place(executor.blobs.as_ref(), order, agent, place.sandbox.as_ref(), &wanted.skill_places)
            .await?;
        self.result.findings.append(&mut place.findings);
        Ok((place, PhaseFiles { own_image, ..files? }))
    }

    async fn agent_phase(
        &mut self,
        agent: &dyn Agent,
        gateway: Option<&TrialGateway>,
        place: &Place,
        files: &PhaseFiles,
    ) -> AgentRun {
        let task = &self.order.task;
        let mut log = PhaseLog::new(Phase::Agent, self.reporter.clone(), &self.redactor);
        let reporter = self.reporter.clone();
        let mut steps = move |step| reporter.step(step);
        let oracle = task.oracle.as_ref().zip(files.oracle.as_ref());
        let limit = oracle.and_then(|(oracle, _)| oracle.timeout).unwrap_or(task.agent.timeout);
        let work = agent.run(AgentContext {
            sandbox: place.sandbox.as_ref(),
            instruction: &place.prompt,
            workdir: &place.workdir,
            home: &place.home,
            user: place.user.as_deref(),
            env: &[],
            gateway,
            access: place.way.as_ref().and_then(TrialNetwork::access).map(ModelAccess::from),
            oracle: oracle.map(|(oracle, files)| OracleFiles { folder: &oracle.folder, files, env: &oracle.env }),
            limit: spending::agent_limit(self.order, limit, gateway.is_some()),
            log: &mut log,
            steps: &mut steps,
            redactor: &self.redactor,
            clock: self.executor.clock.as_ref(),
        });
        let run = tokio::select! {
            run = work => run,
            never = spending::tell(gateway.map(TrialGateway::spending), self.reporter) => match never {},
        };
        spending::tell_last(gateway, self.reporter).await;
        let log = log.end();
        let secrets = log.secrets + run.secrets;
        if secrets > 0 {
            self.result.findings.push(secret_printed("the agent", secrets));
        }
        match log.store(self.executor.blobs.as_ref()).await {
            Ok(blob) => self.result.agent_log = blob,
            Err(error) => self.result.findings.push(Finding::warning(
                "log_lost",
                "agent log",
                format!("it could not be kept: {error}"),
            )),
        }
        run
    }

    fn keep_agent(&mut self, agent: &dyn Agent, run: &AgentRun, gateway: Option<&TrialGateway>, place: &Place) {
        self.result.peak_memory = run.peak_memory;
        let wire = gateway.filter(|gateway| !gateway.records().is_empty()).map(evidence::on_the_wire);
        let traced = activation(&run.trace, &place.installed);
        // Where no skill is on trial there is none to be listed or opened, and neither is known.
        if !place.installed.is_empty() {
            self.result.activation = combine(traced, &place.installed, &run.skills, wire.as_ref());
        }
        self.result.findings.extend(run.findings.iter().cloned());
        self.result.findings.extend(place.missed());
        self.result.findings.extend(gateway.and_then(replay::drift));
        match gateway {
            Some(gateway) => spending::count(&mut self.result, gateway),
            None => self.result.usage = agent.uncounted_usage(),
        }
        if let Some(note) = &run.note {
            self.result.findings.push(Finding::note("agent_note", "agent", note));
        }
    }

    fn verification<'a>(&'a self, court: &'a Court) -> Verification<'a> {
        Verification {
            task: &self.order.task,
            sandbox: court.sandbox.as_ref(),
            blobs: self.executor.blobs.as_ref(),
            reporter: self.reporter,
            redactor: &self.redactor,
            limit: self.order.settings.multiplied(self.order.task.verifier.timeout),
            workdir: &court.workdir,
            has_tests: court.has_tests,
            host_env: &self.values.env,
        }
    }

    fn keep_leavings(&mut self, leavings: Leavings) {
        self.result.outside = leavings.outside;
        self.result.patch = leavings.patch;
        self.result.findings.extend(leavings.findings);
    }

    fn keep_verified(&mut self, bearing: outcome::Bearing, verified: verify::Verified) {
        let judgement = verified.judgement;
        self.result.reward = judgement.reward;
        self.result.tests = judgement.tests;
        self.result.verifier_log = verified.log;
        self.result.findings.extend(judgement.flags);
        self.result.findings.extend(verified.findings);
        self.result.findings.extend(self.values.told());
        self.result.verdict = outcome::verdict(bearing, judgement.verdict);
    }
}
