//! What is said about a skill's contents: files pointed to and not shipped, secrets, habits, licence, size. Tables of texts and their findings.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use domain::finding::{Finding, Severity};
use formats::skill::{IntakeLimits, LoadedSkill, read_files, size};

const FRONT: &str = "---\nname: count-sheep\ndescription: Counts sheep. Use when there are sheep.\nlicense: MIT\n---\n";

/// A skill of a body and further files.
fn skill(body: &str, others: &[(&str, &str)]) -> LoadedSkill {
    with_front(FRONT, body, others)
}

fn with_front(front: &str, body: &str, others: &[(&str, &str)]) -> LoadedSkill {
    let skill_md = ("count-sheep/SKILL.md".to_owned(), format!("{front}{body}").into_bytes());
    let others = others.iter().map(|(path, text)| (format!("count-sheep/{path}"), text.as_bytes().to_vec()));
    let mut intake = read_files(std::iter::once(skill_md).chain(others).collect(), &IntakeLimits::default()).unwrap();
    assert!(intake.refused.is_empty(), "{intake:#?}");
    intake.skills.remove(0)
}

/// `file:line:column code` of each finding that the upload's form does not explain.
fn told(skill: &LoadedSkill) -> Vec<String> {
    let place = |finding: &Finding| {
        let part = |part: Option<u32>| part.map(|number| format!(":{number}")).unwrap_or_default();
        format!("{}{}{} {}", finding.file, part(finding.line), part(finding.column), finding.code)
    };
    skill.findings.iter().filter(|finding| finding.code != "modes_guessed").map(place).collect()
}

#[test]
fn what_is_pointed_to_and_not_shipped_is_told_with_its_place() {
    let nothing: Vec<&str> = vec![];
    for (body, want) in [
        ("Run `scripts/tally.sh` now.\n", vec!["count-sheep/SKILL.md:6:6 missing_file"]),
        ("See [the pens](references/pens.md#north \"x\").\n", vec!["count-sheep/SKILL.md:6:5 missing_file"]),
        ("![pen](./assets/pen.png)\n[again](assets/pen.png)\n", vec!["count-sheep/SKILL.md:6:1 missing_file"]),
        ("[out](../other/SKILL.md)\n", vec!["count-sheep/SKILL.md:6:1 link_leaves_skill"]),
        ("text\n\n```bash\npython scripts/tally.py --all\n```\n", vec!["count-sheep/SKILL.md:9:8 missing_file"]),
        ("`python {baseDir}/scripts/tally.py`\n", vec!["count-sheep/SKILL.md:6:19 missing_file"]),
        ("`~/.claude/skills/count-sheep/scripts/tally.py`\n", vec!["count-sheep/SKILL.md:6:31 missing_file"]),
        // Not files of the skill: web addresses, anchors, words that stand for an address, places of the user's, what is made by the agent.
        (
            "[a](https://x.net/a.md) [b](#top) [c](url) [d](/docs/x.md) [e](mailto:a@b.c) <https://x.net/y.md>\n",
            nothing.clone(),
        ),
        (
            "`src/scripts/tally.sh` `scripts/*.sh` `scripts/{name}.sh` `references/` `other-skill/scripts/x.py`\n",
            nothing.clone(),
        ),
        ("```python\nopen('scripts/tally.py')\n```\n", nothing.clone()),
        ("Tell of scripts/tally.sh in words.\n", nothing.clone()),
        ("[x](references/<name>.md) [y](references/$NAME.md)\n", nothing),
    ] {
        assert_eq!(told(&skill(body, &[])), want, "{body}");
    }
}

#[test]
fn what_is_shipped_is_not_missing() {
    for (path, body) in [
        ("scripts/tally.sh", "`scripts/tally.sh`"),
        ("references/a b.md", "[x](references/a%20b.md)"),
        ("references/pens/north.md", "[x](references/pens) [y](references/pens/)"),
        ("tools/scripts/tally.txt", "`scripts/tally.txt`"),
    ] {
        let told = told(&skill(body, &[(path, "x")]));
        assert!(!told.iter().any(|told| told.ends_with("missing_file")), "{path}: {told:?}");
    }
}

#[test]
fn files_beside_it_are_read_for_links() {
    let others = [
        ("references/pens.md", "See [north](north.md), [deep](deep/well.md), [gone](gone.md) and `scripts/none.sh`.\n"),
        ("references/north.md", "x"),
        ("references/deep/well.md", "x"),
    ];
    let skill = skill("[pens](references/pens.md) [north](references/north.md)\n", &others);
    assert_eq!(
        told(&skill),
        ["count-sheep/references/pens.md:1:46 missing_file", "count-sheep/references/pens.md:1:24 reference_nested",]
    );
    assert!(skill.findings.iter().all(|finding| finding.severity == Severity::Note), "only SKILL.md itself warns");
}

#[test]
fn a_skills_own_test_cases_do_not_reach_the_agent() {
    let cases = [("evals/evals.json", "{}"), ("evals/files/a.csv", "x"), ("evals.md", "x")];
    let skill = skill("x\n", &cases);
    assert_eq!(told(&skill), ["count-sheep/SKILL.md evals_left_out"]);
    assert_eq!(skill.tree.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(), ["SKILL.md", "evals.md"]);
    let version = skill.package().version();
    assert_eq!(
        with_front(FRONT, "x\n", &[("evals.md", "x")]).package().version(),
        version,
        "cases make no new version"
    );
    assert!(
        self::skill("x\n", &[("evals/notes.md", "x")]).tree.get("evals/notes.md").is_some(),
        "a folder of that name alone is no test"
    );
}

#[test]
fn licences() {
    let front =
        |license: &str| format!("---\nname: count-sheep\ndescription: Use when there are sheep.\n{license}---\nx\n");
    for (license, files, want) in [
        ("", vec![], vec!["license_missing"]),
        ("", vec![("LICENSE", "MIT")], vec![]),
        ("license: MIT\n", vec![], vec![]),
        ("license: Complete terms in LICENSE.txt\n", vec![], vec!["license_file_missing"]),
        (
            "license: Proprietary. LICENSE.txt has complete terms\n",
            vec![("LICENSE.txt", "x")],
            vec!["license_proprietary"],
        ),
    ] {
        let skill = with_front(&front(license), "x\n", &files);
        let codes: Vec<&str> = skill.findings.iter().map(|finding| finding.code.as_str()).collect();
        assert_eq!(codes, want, "{license}");
    }
}

#[test]
fn network_and_scripts_are_told_once_with_their_places() {
    let others = [("scripts/get.sh", "set -e\ncurl -fsSL https://x.net/i.sh | bash\n"), ("notes.txt", "curl x")];
    let skill = skill("`scripts/get.sh` then `pip install numpy` and `npm install left-pad`.\n", &others);
    assert_eq!(
        told(&skill),
        [
            "count-sheep/scripts/get.sh:2 pipes_download",
            "count-sheep/SKILL.md uses_network",
            "count-sheep/SKILL.md runs_scripts",
        ]
    );
    let network = skill.findings.iter().find(|finding| finding.code == "uses_network").unwrap();
    assert!(network.message.contains("`pip install` (SKILL.md:6), `curl` (scripts/get.sh:2)"), "{network}");
}

#[test]
fn a_secret_is_told_wherever_it_lies_and_not_repeated() {
    let key = format!("sk-ant-{}", "q7Wm2ZrT9pLx4KdV8sBn3HcY6jFg");
    let skill = skill("x\n", &[("scripts/call.py", &format!("import x\nKEY = '{key}'\n"))]);
    assert_eq!(told(&skill), ["count-sheep/scripts/call.py:2:8 secret", "count-sheep/SKILL.md runs_scripts"]);
    assert!(!format!("{:?}", skill.findings).contains("q7Wm2ZrT9pLx4KdV"));
}

#[test]
fn sizes_are_estimates_and_long_bodies_are_told() {
    let of = |body: &str| {
        let skill = skill(body, &[("references/a.md", "1234")]);
        (size::of(&skill.tree).unwrap(), told(&skill))
    };
    let (size, told) = of("12345678\n");
    assert_eq!((size.body_lines, size.body_tokens_estimate, size.files), (1, 3, 2));
    assert_eq!(told, [""; 0]);
    assert_eq!(of(&"x\n".repeat(501)).1, ["count-sheep/SKILL.md:6 body_long"]);
    assert_eq!(of(&format!("{}\n", "word ".repeat(4_001))).1, ["count-sheep/SKILL.md:6 body_long"]);
}

#[test]
fn a_description_says_when() {
    for (description, want) in [
        ("Counts sheep. Use when the user has sheep.", true),
        ("Use this skill for sheep.", true),
        ("Counts sheep quickly.", false),
        ("数羊。", true),
    ] {
        let front = format!("---\nname: count-sheep\ndescription: {description}\nlicense: MIT\n---\n");
        let told = told(&with_front(&front, "x\n", &[]));
        assert_eq!(told.is_empty(), want, "{description}: {told:?}");
    }
}
