//! Real agents: programs that run in the trial's container from a mounted tree and call their model through the trial's own network. What is
//! alike for all of them is here; what is not, in one file per agent that implements [`Program`].

mod end;
mod output;
mod prepare;
mod wire;

use std::sync::Arc;

use async_trait::async_trait;
use domain::finding::Finding;
use domain::plan::PromptIntake;
use domain::usage::TokenUsage;
use formats::trace::{Reading, TraceFormat, read};
use gateway::TrialGateway;

use self::output::Output;
use super::recorder::Recorder;
use super::{
    Agent, AgentContext, AgentEnd, AgentRun, claude_code, codex, gemini_cli, mini_swe_agent, openclaw, opencode,
    openhands, qwen_code,
};
use crate::sandbox::{Caps, ExecEnd, ExecSpec, Exit, Mount, Sandbox};
use crate::trees::{InstalledTree, MOUNTED, mounted};

/// What one agent has of its own.
pub(super) trait Program: Send + Sync {
    /// The program in the tree's `bin`.
    fn program(&self) -> &'static str;

    /// Where it looks for skills; they are placed in the first.
    fn skill_folders(&self, home: &str, workdir: &str) -> Vec<String>;

    /// Folders below HOME that it writes to. They are made for its user; skills in them stay as they were placed.
    fn own_folders(&self) -> &'static [&'static str];

    /// Files that it wants to find: path below HOME, contents.
    fn files(&self, _: &Call<'_>) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Its arguments. Alike in both arms.
    fn arguments(&self, call: &Call<'_>) -> Vec<String>;

    /// How it is given its task. One argument holds no long one.
    fn takes(&self) -> Takes {
        Takes::Argument
    }

    /// Set on top of the container's environment.
    fn env(&self, call: &Call<'_>) -> Vec<(String, String)>;

    /// Where its record is.
    fn record(&self) -> Record;

    /// Where its session file lies, and what it is: folder below HOME, end of the name.
    fn session(&self) -> Option<(&'static str, &'static str, TraceFormat)> {
        None
    }

    /// Why it cannot be evaluated with skills.
    fn skill_obstacle(&self) -> Option<&'static str> {
        None
    }
}

/// How a program is given its task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// Among its arguments.
    Argument,
    /// On its standard input.
    Input,
    /// Among its arguments, or where it is too long for one on its standard input: for programs that give up on an input which is late.
    Either,
}

/// Longest argument of a program, by the kernel (`MAX_ARG_STRLEN`: 32 pages, the end of the text included), less some for an option's name.
const LONGEST_ARGUMENT: u64 = (128 << 10) - 256;
/// Where a task on standard input lies until the program has opened it, in the first of its own folders.
const INPUT: &str = "skilldelta-task.txt";

/// Where an agent's record is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Record {
    /// On standard output, from the first moment on.
    Output(TraceFormat),
    /// In a file below HOME, at the end.
    File(&'static str, TraceFormat),
}

/// One run, as its command line needs it.
pub(super) struct Call<'a> {
    /// Scheme, host and port of the gateway.
    pub(super) base_url: &'a str,
    /// The trial's own key.
    pub(super) token: &'a str,
    pub(super) model: &'a str,
    pub(super) instruction: &'a str,
    pub(super) workdir: &'a str,
    pub(super) home: &'a str,
}

impl<'a> Call<'a> {
    /// The task as an argument; `None` where it is given on the standard input.
    pub(super) fn argument(&self, takes: Takes) -> Option<&'a str> {
        let fits = self.instruction.len() as u64 <= LONGEST_ARGUMENT;
        match takes {
            Takes::Argument => Some(self.instruction),
            Takes::Either => fits.then_some(self.instruction),
            Takes::Input => None,
        }
    }
}

/// An agent in a tree.
struct Installed {
    program: Box<dyn Program>,
    tree: InstalledTree,
}

/// The agent of a tree; `None` where this program does not know how to run it.
#[must_use]
pub fn from_tree(tree: InstalledTree) -> Option<Arc<dyn Agent>> {
    let program: Box<dyn Program> = match tree.label.agent.as_str() {
        "claude-code" => Box::new(claude_code::ClaudeCode),
        "codex" => Box::new(codex::Codex),
        "opencode" => Box::new(opencode::OpenCode),
        "gemini-cli" => Box::new(gemini_cli::GeminiCli),
        "qwen-code" => Box::new(qwen_code::QwenCode),
        "mini-swe-agent" => Box::new(mini_swe_agent::MiniSweAgent),
        "openclaw" => Box::new(openclaw::OpenClaw),
        "openhands" => Box::new(openhands::OpenHands),
        _ => return None,
    };
    Some(Arc::new(Installed { program, tree }))
}

#[async_trait]
impl Agent for Installed {
    fn name(&self) -> &str {
        &self.tree.label.agent
    }

    fn version(&self) -> String {
        self.tree.label.version.clone()
    }

    fn skill_folders(&self, home: &str, workdir: &str) -> Vec<String> {
        self.program.skill_folders(home.trim_end_matches('/'), workdir.trim_end_matches('/'))
    }

    fn needs_model(&self) -> bool {
        true
    }

    fn mounts(&self) -> Vec<Mount> {
        self.tree.mounts()
    }

    fn calls_from_container(&self) -> bool {
        true
    }

    fn skill_obstacle(&self) -> Option<&'static str> {
        self.program.skill_obstacle()
    }

    fn prompt_intake(&self) -> PromptIntake {
        match self.program.takes() {
            Takes::Input | Takes::Either => PromptIntake::Any,
            Takes::Argument => PromptIntake::AtMost { bytes: LONGEST_ARGUMENT },
        }
    }

    fn uncounted_usage(&self) -> TokenUsage {
        TokenUsage::UNKNOWN
    }

    async fn run(&self, context: AgentContext<'_>) -> AgentRun {
        let AgentContext { sandbox, instruction, workdir, home, user, env, gateway, access, limit, .. } = context;
        let mut recorder = Recorder::new(context.redactor, context.steps, context.clock);
        recorder.user(instruction);
        let (Some(gateway), Some(access)) = (gateway, access) else {
            return recorder
                .end(AgentEnd::NotReady { message: "it was started without a way to its model".to_owned() });
        };
        if let PromptIntake::AtMost { bytes } = self.prompt_intake()
            && instruction.len() as u64 > bytes
        {
            let name = &self.tree.label.agent;
            let long = format!("the task has {} bytes, and {name} takes at most {bytes}", instruction.len());
            return recorder.end(AgentEnd::NotReady { message: long });
        }
        let call =
            Call { base_url: access.base_url, token: access.token, model: gateway.model(), instruction, workdir, home };
        let facts = match prepare::prepare(self.program.as_ref(), &self.tree, &call, sandbox, user).await {
            Ok(facts) => facts,
            Err(end) => return recorder.end(end),
        };
        let mut spec = ExecSpec::new(self.command(&call), limit);
        spec.workdir = Some(workdir.to_owned());
        spec.user = user.map(str::to_owned);
        spec.env = env.to_vec();
        spec.env.push(("HOME".to_owned(), home.to_owned()));
        spec.env.extend(self.program.env(&call));
        spec.kill_after = true;
        let mut output = Output::new(self.program.record(), &mut *context.log, &mut recorder);
        let end = match sandbox.exec(&spec, &mut output).await {
            Ok(end) => end,
            Err(error) => return recorder.end(AgentEnd::SandboxFailed(error)),
        };
        gateway.settled().await;
        let (reading, words) = output.end();
        recorder.used(&end);
        let reading = match self.program.record() {
            Record::Output(_) => reading,
            Record::File(path, format) => self.file(sandbox, home, path, format).await,
        };
        for step in &reading.trace.steps {
            recorder.record(step.clone());
            context.log.ready().await;
        }
        let session = self.session(sandbox, home).await;
        self.ended(recorder, gateway, &Left { end, reading, words, session, facts })
    }
}

/// The file below HOME that holds the task of a program which reads it on its standard input.
fn input(program: &dyn Program, call: &Call<'_>) -> Option<String> {
    let folder = program.own_folders().first()?;
    call.argument(program.takes()).is_none().then(|| format!("{folder}/{INPUT}"))
}

/// What a run left behind.
struct Left {
    end: ExecEnd,
    reading: Reading,
    /// The last of its standard error.
    words: String,
    session: Option<Reading>,
    facts: String,
}

impl Installed {
    /// The program, with the tools last on PATH and, where the image has no bash, the mounted one named as the shell.
    fn command(&self, call: &Call<'_>) -> Vec<String> {
        let script = format!(
            "PATH=\"$PATH:{MOUNTED}/tools/bin\"; export PATH\n\
             [ -x /bin/bash ] || [ -x /usr/bin/bash ] || {{ SHELL={MOUNTED}/tools/bin/bash; export SHELL; }}\n\
             input=$1; shift; exec 3<\"$input\" || exit 1\n\
             [ \"$input\" = /dev/null ] || rm -f \"$input\"\n\
             exec \"$0\" \"$@\" <&3 3<&-"
        );
        let program = format!("{}/bin/{}", mounted(&self.tree.label.agent), self.program.program());
        let head = ["/bin/sh".to_owned(), "-c".to_owned(), script, program, self.input(call)];
        head.into_iter().chain(self.program.arguments(call)).collect()
    }

    /// What the program reads on its standard input.
    fn input(&self, call: &Call<'_>) -> String {
        let home = call.home.trim_end_matches('/');
        input(self.program.as_ref(), call).map_or_else(|| "/dev/null".to_owned(), |path| format!("{home}/{path}"))
    }

    /// The record that the run left in a file; an empty one where it left none.
    async fn file(&self, sandbox: &dyn Sandbox, home: &str, path: &str, format: TraceFormat) -> Reading {
        let caps = Caps { file_bytes: 256 << 20, total_bytes: 256 << 20, files: 1, ..Caps::default() };
        let path = format!("{}/{path}", home.trim_end_matches('/'));
        let left = sandbox.download(&path, caps).await.ok().flatten();
        left.as_ref().and_then(|left| left.single()).map(|bytes| read(format, bytes)).unwrap_or_default()
    }

    /// The session file that the run left; of several the largest.
    async fn session(&self, sandbox: &dyn Sandbox, home: &str) -> Option<Reading> {
        let (folder, ends, format) = self.program.session()?;
        let path = format!("{}/{folder}", home.trim_end_matches('/'));
        let caps = Caps { file_bytes: 64 << 20, total_bytes: 256 << 20, ..Caps::default() };
        let left = sandbox.download(&path, caps).await.ok().flatten()?;
        let mut files: Vec<_> = left.files.iter().filter(|(path, _)| path.as_str().ends_with(ends)).collect();
        files.sort_by_key(|(_, file)| file.bytes.len());
        files.last().map(|(_, file)| read(format, &file.bytes))
    }

    fn ended(&self, recorder: Recorder<'_>, gateway: &TrialGateway, left: &Left) -> AgentRun {
        let Left { end, reading, words, session, facts } = left;
        let mut findings = vec![self.tree.finding(), Finding::note("agent_preflight", "agent", facts)];
        findings.extend(reading.notes.iter().map(|note| Finding::note("agent_record", "agent", note)));
        let reported = wire::reported(reading, session.as_ref());
        findings.extend(wire::disagreement(&reported, reading.model_calls, gateway));
        findings.extend(wire::left_out(gateway));
        let mut run = recorder.end(end::of(end.exit, reading, words, gateway));
        wire::into_steps(&mut run.trace, &gateway.records());
        run.skills = reading.skills.clone();
        run.findings.extend(findings);
        if run.note.is_none() && !matches!(end.exit, Exit::Exited(0)) && !words.is_empty() {
            run.note = Some(words.clone());
        }
        run
    }
}
