//! A verifier in a container of its own image, on the real engine: it sees the agent's artifacts and nothing else, and its tests are those of the image.

use domain::verdict::Verdict;

use crate::common::{Home, Task};

/// Passes where the artifacts are as the agent left them, nothing else of it is there, and this is the image's own script.
const TEST: &str = "[ \"$(cat /app/out/answer.txt)\" = done ] && [ -x /app/out/run.sh ] && [ ! -e /app/out/cache/junk ] \\\n\
    && [ -e /logs/artifacts/log.txt ] && [ ! -e /tmp/planted ] && [ ! -e /app/elsewhere ] && [ -e /grader ] && [ \"$PWD\" = /work ] \\\n\
    && reward=1 || reward=0\nls -R /app /tmp /logs; echo $reward > /logs/verifier/reward.txt\n";

#[test]
fn it_sees_the_artifacts_and_nothing_else_of_what_the_agent_did() {
    let home = Home::new("own-container");
    let task = Task::script(
        "graded",
        "mkdir -p /app/out/cache /logs/artifacts /tests; echo done > /app/out/answer.txt; echo x > /app/out/run.sh; chmod +x /app/out/run.sh; \
         echo x > /app/out/cache/junk; ln -s /etc/passwd /app/out/link; echo x > /logs/artifacts/log.txt; echo x > /tmp/planted; \
         echo x > /app/elsewhere; echo 'echo 1 > /logs/verifier/reward.txt' > /tests/test.sh",
        TEST,
    );
    home.task(&task);
    let toml = "version = \"1.0\"\nartifacts = [{source = \"/app/out\", exclude = [\"cache\"]}, \"/app/missing\"]\n\
         [agent]\ntimeout_sec = 60\n[verifier]\ntimeout_sec = 60\nenvironment_mode = \"separate\"\n\
         [environment]\ncpus = 1\nmemory_mb = 256\nallow_internet = false\n";
    home.write("tasks/graded/task.toml", toml);
    let dockerfile = format!(
        "FROM {}\nLABEL test={}\nRUN touch /grader\nCOPY test.sh /tests/test.sh\nWORKDIR /work\n",
        home.base, home.mark
    );
    home.write("tasks/graded/tests/Dockerfile", dockerfile);
    let (ended, _) = home.eval(&["--agent", "command", "--command", "sh \"$INSTRUCTION_FILE\""]);
    assert_eq!(ended.code, 0, "{ended}");
    for trial in home.kept(1) {
        let result = trial.last();
        let log = String::from_utf8(home.blob(result.verifier_log)).unwrap();
        assert_eq!(result.verdict, Verdict::Pass, "{log}");
        let told: Vec<String> =
            result.findings.iter().map(|finding| format!("{} {}", finding.code, finding.message)).collect();
        for words in [
            "own_container the verifier worked in",
            "artifact_left_out the artifact /app/missing is not there",
            "symbolic link",
        ] {
            assert!(told.iter().any(|told| told.contains(words)), "no {words:?} in {told:?}");
        }
    }
    let (ended, _) = home.eval(&["--agent", "nop"]);
    assert_eq!(ended.code, 0, "{ended}");
    assert!(home.kept(2).iter().all(|trial| matches!(trial.last().verdict, Verdict::Fail { .. })), "nothing was done");
    home.finish();
}
