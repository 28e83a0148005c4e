//! Tiny tasks, made as the tests need them.

use super::Home;

/// A skill that says little.
pub const SKILL: &str =
    "---\nname: measured-words\ndescription: Says how many words an answer may have.\n---\n\nAnswer in five words.\n";
/// A verifier that passes whatever it is given.
pub const PASS: &str = "echo 1 > /logs/verifier/reward.txt\n";

/// A verifier that writes this reward.
pub fn rewarding(reward: &str) -> String {
    format!("printf -- '{reward}' > /logs/verifier/reward.txt\n")
}

/// A task in the layout v1.0.
#[derive(Debug, Clone)]
pub struct Task {
    pub name: String,
    pub instruction: String,
    /// Tables of `task.toml` besides those that every task here has.
    pub settings: String,
    pub memory_mb: u64,
    pub agent_seconds: f64,
    pub verifier_seconds: f64,
    /// Lines of the Dockerfile after `FROM` and the test's label.
    pub dockerfile: String,
    pub test: String,
    pub solve: String,
    /// Further files, by path in the task's folder.
    pub files: Vec<(String, String)>,
}

impl Task {
    /// A task whose solution passes and which fails untouched.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            instruction: "Write the word done to /app/answer.txt.\n".to_owned(),
            settings: String::new(),
            memory_mb: 256,
            agent_seconds: 60.0,
            verifier_seconds: 60.0,
            dockerfile: String::new(),
            test:
                "if [ \"$(cat /app/answer.txt)\" = done ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n"
                    .to_owned(),
            solve: "echo done > /app/answer.txt\n".to_owned(),
            files: Vec::new(),
        }
    }

    /// A task for the agent that runs its instruction as a script.
    pub fn script(name: &str, script: &str, test: &str) -> Self {
        Self { instruction: script.to_owned(), test: test.to_owned(), ..Self::new(name) }
    }

    pub fn file(mut self, path: &str, text: &str) -> Self {
        self.files.push((path.to_owned(), text.to_owned()));
        self
    }

    pub fn write(&self, home: &Home, folder: &str) {
        let Self { memory_mb, agent_seconds, verifier_seconds, settings, .. } = self;
        let toml = format!(
            "version = \"1.0\"\n\n[agent]\ntimeout_sec = {agent_seconds}\n\n[verifier]\ntimeout_sec = {verifier_seconds}\n\n\
             [environment]\nbuild_timeout_sec = 120.0\ncpus = 1\nmemory_mb = {memory_mb}\nstorage_mb = 1024\n\
             allow_internet = false\n\n{settings}"
        );
        let dockerfile = format!("FROM {}\nLABEL test={}\nWORKDIR /app\n{}", home.base, home.mark, self.dockerfile);
        home.write(&format!("{folder}/instruction.md"), &self.instruction);
        home.write(&format!("{folder}/task.toml"), toml);
        home.write(&format!("{folder}/environment/Dockerfile"), dockerfile);
        home.write(&format!("{folder}/tests/test.sh"), &self.test);
        home.write(&format!("{folder}/solution/solve.sh"), &self.solve);
        for (path, text) in &self.files {
            home.write(&format!("{folder}/{path}"), text);
        }
    }
}
