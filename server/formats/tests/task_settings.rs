//! Settings of a task: limits, variables, network, shorthands, and what is refused because it is not supported.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod task_support;

use domain::finding::Severity;
use domain::task::{ImageSource, NetworkPolicy};
use formats::task::LoadedTask;
use task_support::{loaded, newer, older, task, told};

/// Reads the older layout with these settings; the findings from `from` on.
fn toml(settings: &str, from: Severity) -> (LoadedTask, Vec<String>) {
    let loaded = loaded(older(), &[("task.toml", Some(settings))]);
    let told = told(&loaded, from).into_iter().filter(|told| !told.contains("default_timeout")).collect();
    (loaded, told)
}

#[test]
fn limits_are_sane_numbers_or_errors_with_a_line() {
    for (settings, want) in [
        ("[agent]\ntimeout_sec = 0", "task.toml:2 limit_out_of_range"),
        ("[agent]\ntimeout_sec = -5.0", "task.toml:2 limit_out_of_range"),
        ("[agent]\ntimeout_sec = nan", "task.toml:2 limit_out_of_range"),
        ("[agent]\ntimeout_sec = inf", "task.toml:2 limit_out_of_range"),
        ("[agent]\ntimeout_sec = 1e300", "task.toml:2 limit_out_of_range"),
        ("[agent]\ntimeout_sec = \"soon\"", "task.toml:2 wrong_type"),
        ("[agent]\ntimeout_sec = true", "task.toml:2 wrong_type"),
        ("agent = 3", "task.toml:1 wrong_type"),
        ("[verifier]\nx = 1\ntimeout_sec = 1e9", "task.toml:3 limit_out_of_range"),
        ("[environment]\ncpus = 0", "task.toml:2 limit_out_of_range"),
        ("[environment]\ncpus = 100000", "task.toml:2 limit_out_of_range"),
        ("[environment]\nmemory_mb = 0", "task.toml:2 limit_out_of_range"),
        ("[environment]\nmemory_mb = 99999999999", "task.toml:2 limit_out_of_range"),
        ("[environment]\nmemory = \"2X\"", "task.toml:2 wrong_type"),
        ("[environment]\nmemory = \"nanG\"", "task.toml:2 limit_out_of_range"),
        ("[environment]\nmemory_mb = 1024\nmemory = \"2G\"", "task.toml:3 limit_conflict"),
        ("[environment]\ngpus = 1", "task.toml:2 unsupported_gpu"),
        ("[environment]\nworkdir = \"app\"", "task.toml:2 bad_workdir"),
        ("[agent]\nuser = \"a b; rm\"", "task.toml:2 bad_user"),
        ("version = \"2.0\"", "task.toml:1 schema_version"),
    ] {
        let (_, told) = toml(settings, Severity::Error);
        assert_eq!(told, [want], "{settings}");
    }
    for (settings, memory_mb) in [
        ("[environment]\nmemory = \"2G\"", 2048),
        ("[environment]\nmemory = \"512M\"", 512),
        ("[environment]\nmemory = \"1.5g\"", 1536),
        ("[environment]\nmemory = \"1GiB\"\nmemory_mb = 1024", 1024),
        ("[environment]\nmemory_mb = \"4096\"", 4096),
        ("version = \"0.0\"\n", 2048),
    ] {
        let (loaded, _) = toml(settings, Severity::Error);
        assert_eq!(task(&loaded).environment.memory_mb, memory_mb, "{settings}");
    }
}

#[test]
fn unknown_settings_are_noted_and_kept_from_nobody() {
    let (loaded, told) = toml("colour = 1\n[environment]\nshape = \"round\"\n", Severity::Note);
    assert_eq!(told, ["task.toml:1 unknown_key", "task.toml:3 unknown_key"]);
    assert!(loaded.task.is_some());
}

#[test]
fn variables_are_literal_or_asked_of_the_host() {
    let (loaded, told) = toml(
        "[verifier.env]\nTAG = \"x-1\"\nN = 3\n\nOPT = \"${OPT:-none}\"\nPART = \"a-${B}\"\n\
         [solution]\nINLINE = \"yes\"\n[solution.env]\nKEY = \"${API_KEY}\"\n[environment.env]\nA = \"${A:-b}\"\n",
        Severity::Warning,
    );
    let task = task(&loaded);
    let pairs = |map: &std::collections::BTreeMap<String, String>| {
        map.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(pairs(&task.verifier.env), "N=3 OPT=none PART=a-${B} TAG=x-1");
    assert_eq!(pairs(&task.verifier.env_from_host), "OPT=OPT");
    assert_eq!(pairs(&task.oracle.as_ref().unwrap().env), "INLINE=yes");
    assert_eq!(pairs(&task.environment.env), "A=b");
    assert_eq!(told, ["task.toml:6 partial_template", "task.toml:10 host_value_left_out"]);
    // It is a task that no run is started of until a person approves: see `Ops::approve_variable`.
    let (asking, _) = toml("[verifier.env]\nKEY = \"${API_KEY}\"\n", Severity::Error);
    let refusal = asking.findings.iter().find(|finding| finding.code == "host_value_not_given").unwrap();
    assert_eq!((refusal.severity, refusal.line), (Severity::Warning, Some(2)), "{refusal}");
    assert_eq!(domain::approval::asked(asking.task.as_ref().unwrap()), [("API_KEY", false)]);
    assert_eq!(domain::approval::asked(task), [("OPT", true)]);
    assert!(refusal.hint.as_ref().unwrap().contains("KEY = \"${API_KEY:-}\""), "{refusal}");
    let (_, told) = toml("[verifier.env]\n\"A B\" = \"x\"\nC = [1]\n", Severity::Error);
    assert_eq!(told, ["task.toml:1 bad_variable", "task.toml:3 wrong_type"]);
}

/// Reads the newer layout with this frontmatter; errors and warnings.
fn md(frontmatter: &str) -> (LoadedTask, Vec<String>) {
    let text = format!("---\n{frontmatter}\n---\nCount the sheep.\n");
    let loaded = loaded(newer(), &[("task.md", Some(&text))]);
    let told = told(&loaded, Severity::Warning);
    (loaded, told)
}

#[test]
fn the_network_is_what_the_settings_say_without_contradiction() {
    let hosts = NetworkPolicy::Allowlist { hosts: vec!["a.org".to_owned(), "*.b.org".to_owned()] };
    for (settings, want) in [
        ("{}", Ok(NetworkPolicy::Public)),
        ("{network_mode: no-network}", Ok(NetworkPolicy::None)),
        ("{allow_internet: false}", Ok(NetworkPolicy::None)),
        ("{allow_internet: true, network_mode: no-network}", Ok(NetworkPolicy::None)),
        ("{network_mode: allowlist, allowed_hosts: [A.org, '*.b.org']}", Ok(hosts)),
        ("{network_mode: allowlist}", Err("network_conflict")),
        ("{allowed_hosts: [a.org]}", Err("network_conflict")),
        ("{network_mode: public, allow_internet: false}", Err("network_conflict")),
        ("{network_mode: allowlist, allowed_hosts: ['http://a.org/x']}", Err("bad_host")),
        ("{network_mode: allowlist, allowed_hosts: ['a.org:8420']}", Err("bad_host")),
        ("{network_mode: sometimes}", Err("bad_network_mode")),
    ] {
        for key in ["environment", "sandbox"] {
            let (loaded, told) = md(&format!("{key}: {settings}"));
            match &want {
                Ok(policy) => assert_eq!(task(&loaded).environment.network, *policy, "{settings}"),
                Err(code) => assert_eq!(told, [format!("task.md:2 {code}")], "{settings}"),
            }
        }
    }
}

#[test]
fn shorthands_and_both_spellings_are_understood() {
    let (nowhere, _) = md("name: sheep\nversion: 1.3\nimage: debian:bookworm\nverifier: checks/\noracle: answer");
    assert_eq!(told(&nowhere, Severity::Error), ["checks/test.sh no_verifier"]);
    let text = "---\nimage: debian:bookworm\nverifier: ./checks/\nsandbox: {cpus: 2}\nagent: {prompt_prefix: Be honest.}\n---\nCount.\n";
    let loaded =
        loaded(newer(), &[("task.md", Some(text)), ("checks/test.sh", Some("true")), ("environment/Dockerfile", None)]);
    assert_eq!(task(&loaded).environment.image, ImageSource::Named { image: "debian:bookworm".to_owned() });
    assert_eq!((task(&loaded).verifier.folder.as_str(), task(&loaded).environment.cpus), ("checks", 2.0));
    assert_eq!(task(&loaded).instruction, "Be honest.\n\nCount.");
    let (_, told) = md("sandbox: {cpus: 2}\nenvironment: {cpus: 1}");
    assert_eq!(told, ["task.md:2 two_spellings"]);
    let (_, told) = md("verifier: ../elsewhere");
    assert_eq!(told, ["task.md bad_folder"]);
}

#[test]
fn what_is_not_supported_is_refused_clearly() {
    for (settings, want) in [
        ("steps: [{name: a}]", "task.md:2 unsupported_multi_agent"),
        ("x: 1\nagents: {roles: {a: {}}}", "task.md:3 unsupported_multi_agent"),
        ("scenes: [{name: a}]", "task.md:2 unsupported_multi_agent"),
        ("agent: {user: me}\nuser: {model: scripted}", "task.md:3 unsupported_multi_agent"),
        ("verifier:\n  type: llm-judge", "task.md:3 unsupported_verifier"),
        ("verifier: {service: grader}", "task.md:2 several_services"),
        ("verifier: {sandbox_mode: separate}", "task.md:2 unsupported_verifier"),
        ("verifier: {reward_range: [0, 10]}", "task.md:2 unsupported_reward_range"),
        ("environment: {os: windows}", "task.md:2 unsupported_os"),
        ("environment: {mcp_servers: [{name: a}]}", "task.md:2 unsupported_environment"),
        ("sandbox:\n  docker_image: 'Not An Image'", "task.md:3 bad_image_name"),
    ] {
        let (loaded, told) = md(settings);
        assert_eq!(told, [want], "{settings}");
        assert!(loaded.task.is_none());
    }
    for settings in [
        "steps: []\nagents: {}\nuser:\nverifier: {type: test-script, service: main, judge: {model: x}, reward_range: [0, 1]}",
        "environment: {os: linux, mcp_servers: [], gpus: 0}",
    ] {
        assert_eq!(md(settings).1, [""; 0], "{settings}");
    }
    let sections = "---\na: 1\n---\nDo.\n\n## role:critic\nLook.\n";
    let loaded_sections = loaded(newer(), &[("task.md", Some(sections)), ("prompts/scene.a.md", Some("x"))]);
    assert_eq!(
        told(&loaded_sections, Severity::Error),
        ["task.md:6 unsupported_multi_agent", "prompts/scene.a.md unsupported_multi_agent"]
    );
}

#[test]
fn only_the_script_strategy_of_a_verifier_document_is_run() {
    let strategy = |strategy: &str| {
        let text = format!(
            "---\ndocument_version: '0.3'\nverifier:\n  default_strategy: x\n  strategies:\n    y: {{type: llm-judge}}\n    x: {strategy}\n---\n"
        );
        let loaded = loaded(newer(), &[("verifier/verifier.md", Some(&text))]);
        told(&loaded, Severity::Warning)
    };
    for fine in
        ["{type: script, command: ./test.sh}", "{type: script}", "{type: script, command: bash /verifier/test.sh}"]
    {
        assert_eq!(strategy(fine), [""; 0], "{fine}");
    }
    for refused in ["{type: llm-judge}", "{type: ors-episode}", "{type: script, command: python grade.py}"] {
        assert_eq!(strategy(refused), ["verifier/verifier.md:3 unsupported_verifier"], "{refused}");
    }
    let plain = loaded(newer(), &[("verifier/verifier.md", Some("How it works."))]);
    assert!(plain.task.is_some());
}

#[test]
fn a_compose_file_may_pass_variables_and_open_nothing() {
    let compose = |service: &str| {
        let text = format!("services:\n  main:\n    build:\n      context: ${{CONTEXT_DIR}}\n{service}");
        loaded(older(), &[("environment/docker-compose.yaml", Some(&text))])
    };
    let usual = compose(
        "    command: [sh, -c, sleep infinity]\n    network_mode: ${NETWORK_MODE:-bridge}\n    environment:\n      - A=b\n      - TOKEN=${TOKEN}\n    \
         volumes:\n      - ${HOST_VERIFIER_LOGS_PATH}:${ENV_VERIFIER_LOGS_PATH}\n    deploy:\n      resources:\n        limits:\n          cpus: ${CPUS}\n",
    );
    assert_eq!(task(&usual).environment.env.iter().collect::<Vec<_>>(), [(&"A".to_owned(), &"b".to_owned())]);
    assert_eq!(told(&usual, Severity::Warning), ["environment/docker-compose.yaml:9 host_value_left_out"]);
    for (service, want) in [
        ("    privileged: true\n", "5 opens_host"),
        ("    network_mode: host\n", "5 opens_host"),
        ("    pid: host\n", "5 opens_host"),
        ("    devices: [/dev/kvm]\n", "5 opens_host"),
        ("    volumes:\n      - /etc:/host\n", "6 opens_host"),
        ("    volumes:\n      - type: bind\n        source: /var/run/docker.sock\n", "7 opens_host"),
        ("    cap_add: [SYS_ADMIN]\n", "5 opens_host"),
        ("  database:\n    image: postgres\n", "1 several_services"),
        ("    env_file: .env\n", "5 unsupported_environment"),
        ("    x: [\n", "5 yaml_syntax"),
    ] {
        assert_eq!(
            told(&compose(service), Severity::Error),
            [format!("environment/docker-compose.yaml:{want}")],
            "{service}"
        );
    }
    assert!(compose("    privileged: false\n").task.is_some());
}
