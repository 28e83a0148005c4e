//! What a Dockerfile becomes before it is built, and what is refused.

use super::*;

fn run(text: &str) -> Result<Rewritten, String> {
    let args = BTreeMap::from([("GIVEN".to_owned(), "g:1".to_owned())]);
    rewrite("Dockerfile", &Dockerfile::parse(text), &args, |image| format!("<{image}>"))
        .map_err(|error| error.to_string())
}

fn check(text: &str, want: &str) {
    let label = format!("LABEL {IMAGE_LABEL}=cache\n");
    assert_eq!(run(text).map(|new| new.text.replace(&label, "")).as_deref(), Ok(want), "{text}");
}

#[test]
fn outside_images_are_replaced_and_stages_are_not() {
    check("FROM a:1", "FROM <a:1>\n");
    check(
        "FROM --platform=$BUILDPLATFORM a:1 AS Build\nFROM build\nFROM scratch",
        "FROM <a:1> AS Build\nFROM build\nFROM scratch\n",
    );
    check(
        "ARG V=3.12\nARG GIVEN\nFROM p:${V}-slim\nFROM $GIVEN",
        "ARG V=3.12\nARG GIVEN\nFROM <p:3.12-slim>\nFROM <g:1>\n",
    );
    check(
        "FROM a AS b\nCOPY --from=b /x /x\nCOPY --from=0 /x /y\nCOPY --from=ghcr.io/uv:1 /uv /bin/\nCOPY --chown=u:g a b",
        "FROM <a> AS b\nCOPY --from=b /x /x\nCOPY --from=0 /x /y\nCOPY --from=<ghcr.io/uv:1> /uv /bin/\nCOPY --chown=u:g a b\n",
    );
    let file = Dockerfile::parse("ARG V=2\nFROM a:$V AS s\nFROM s\nFROM a:2\nCOPY --from=x:1 / /\nCOPY --from=s / /");
    assert_eq!(outside_images(&file, &BTreeMap::new()), ["a:2", "x:1"]);
}

#[test]
fn steps_lead_back_to_the_lines_as_written() {
    let new = run("ARG V=1\nFROM a\n# c\nRUN x \\\n && y\nCMD z").unwrap();
    let steps: Vec<(u32, &str)> = new.steps.iter().map(|(line, text)| (*line, text.as_str())).collect();
    assert_eq!(steps, [(2, "FROM a"), (2, "label what is built"), (4, "RUN x  && y"), (6, "CMD z")]);
}

#[test]
fn heredocs_become_scripts_that_any_builder_runs() {
    let new = run("FROM a\nRUN python3 - <<'PY'\nprint(1)\nPY\n").unwrap().text;
    let word = new.split("echo ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
    assert_eq!(BASE64_STANDARD.decode(word).unwrap(), b"python3 - <<'PY'\nprint(1)\nPY\n");
    assert!(run("FROM a\nRUN <<EOF\n#!/usr/bin/python3\nprint(1)\nEOF\n").unwrap().text.contains("chmod +x"));
    assert!(run("FROM a\nRUN <<EOF\nset -e\nEOF\n").unwrap().text.contains("RUN eval"));
}

#[test]
fn no_text_makes_it_panic() {
    let text = "# escape=`\nARG V=${X:-1}\nFROM --platform=x a:${V} AS é\nRUN <<'EOF' cat <<-B `\n\ta\nEOF\nCOPY --from=é [\"a\", \"b\"]\nADD skills/ /x\n";
    for cut in (0..text.len()).filter(|cut| text.is_char_boundary(*cut)) {
        let (head, tail) = text.split_at(cut);
        for text in [head.to_owned(), tail.to_owned(), format!("{tail}{head}"), format!("{head}<<\"${{${tail}")] {
            let stripped = super::super::strip_skill_copies("Dockerfile", &text);
            let lines = |text: &str| text.lines().count();
            assert_eq!(lines(&stripped.text), lines(&text).max(1), "{text}");
            let _ = run(&text);
            let _ = Dockerfile::parse(&text).workdir();
        }
    }
}

#[test]
fn what_cannot_be_built_or_opens_the_host_is_refused_with_its_line() {
    for (text, want) in [
        ("RUN x", "Dockerfile:1: a Dockerfile without FROM"),
        ("FROM $X", "Dockerfile:1: FROM names its image by a variable"),
        ("FROM a\nCOPY --chmod=755 a b", "Dockerfile:2: COPY --chmod needs BuildKit"),
        ("FROM a\n\nCOPY <<EOF /x\nEOF", "Dockerfile:3: a heredoc in COPY"),
        ("FROM a\nRUN --network=host x", "Dockerfile:2: RUN --network=host opens"),
        ("FROM a\nRUN --security=insecure x", "Dockerfile:2: RUN --security opens"),
        ("FROM a\nRUN --mount=type=secret,id=x x", "Dockerfile:2: RUN --mount=type=secret,id=x needs"),
    ] {
        let got = run(text).unwrap_err();
        assert!(got.starts_with(want), "{text}: {got}");
    }
    check("FROM a\nRUN --mount=type=cache,target=/c x", "FROM <a>\nRUN x\n");
}
