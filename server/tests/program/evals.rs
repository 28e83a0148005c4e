//! The cases that a skill brings in its `evals.json`, run as tasks in the real engine.

use serde_json::Value;

use crate::common::{Home, trial};

const CASES: &str = r#"{
  "skill_name": "pens",
  "evals": [
    {"id": "sort", "prompt": "Sort pens.txt into sorted.txt.", "files": ["files/pens.txt"],
     "expectations": ["The answer is friendly"],
     "assertions": [
       {"type": "file_exists", "path": "sorted.txt"},
       {"type": "regex", "path": "sorted.txt", "pattern": "^east\\nnorth$"},
       {"type": "command", "run": "sort -c sorted.txt && ! test -e /skills/pens/evals"}
     ]},
    {"id": "half", "prompt": "Write two files.",
     "assertions": [{"type": "file_exists", "path": "sorted.txt"}, {"type": "file_exists", "path": "other.txt"}]},
    {"id": "judged", "prompt": "Be nice.", "assertions": ["The answer is nice"]}
  ]
}"#;

#[test]
fn the_cases_of_a_skill_are_its_tasks() {
    let home = Home::new("evals");
    home.write("skills/measured-words/evals/evals.json", CASES);
    home.write("skills/measured-words/evals/Dockerfile", format!("FROM {}\nLABEL test={}\n", home.base, home.mark));
    home.write("skills/measured-words/evals/files/pens.txt", "north\neast\n");
    let (skill, json) = (home.skill(), home.path("result.json").display().to_string());
    let cases = format!("{skill}/evals/evals.json");
    for (agent, sort, half) in [
        (vec!["--agent", "nop"], ("fail", 0.0), 0.0),
        (vec!["--agent", "command", "--command", "sort pens.txt > sorted.txt 2>/dev/null || true"], ("pass", 1.0), 0.5),
    ] {
        let given = ["eval", "--skill", &skill, "--tasks", &cases, "--json", &json];
        let ended = home.run(&[given.as_slice(), agent.as_slice()].concat());
        ended.told(0, &["#pens-judged is left out", "evals.json:13", "not_judged"]);
        let report: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
        for condition in ["no-skill", "with-skill"] {
            let sorted = trial(&report, "pens-sort", condition);
            assert_eq!((&sorted["verdict"], &sorted["reward"]), (&sort.0.into(), &sort.1.into()), "{sorted}");
            assert_eq!(sorted["tests"].as_array().unwrap().len(), 3, "{sorted}");
            let halved = trial(&report, "pens-half", condition);
            assert_eq!((&halved["verdict"], &halved["reward"]), (&"fail".into(), &half.into()), "{halved}");
        }
        assert_eq!(report["trials"].as_array().unwrap().len(), 4, "the case for a model is not run: {report}");
    }
    let told = home.run(&["check", &cases, "--json"]);
    for words in
        ["cases_left_out", "1 of the file's 3 cases cannot be decided without a model and are not run: pens-judged"]
    {
        assert!(told.out.contains(words), "{told}");
    }
    home.finish();
}
