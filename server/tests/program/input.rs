//! What cannot be used is told with place, reason and remedy, and leaves nothing half-written.

use crate::common::{Home, Running, Task};

#[test]
fn what_cannot_be_used_is_told_with_its_place_and_a_remedy() {
    let home = Home::new("input");
    home.task(&Task::new("fine"));
    home.write("skills/broken/SKILL.md", "---\nname: broken\ndescription: one: two\n---\nx\n");
    home.write("unverified/no-verifier/instruction.md", "Do it.\n");
    home.write("unverified/no-verifier/task.toml", "version = \"1.0\"\n");
    home.write("unverified/no-verifier/environment/Dockerfile", format!("FROM {}\n", home.base));
    let (skill, tasks) = (home.skill(), home.tasks());
    for (given, told) in [
        (["no/such/skill", &tasks, "nop"], vec!["no skill at no/such/skill", "check the path"]),
        (["skills/broken", &tasks, "nop"], vec!["SKILL.md:3:", "quotes"]),
        (["skills", &tasks, "nop"], vec!["SKILL.md:3:"]),
        ([&skill, "no/such/tasks", "nop"], vec!["no/such/tasks", "check the path"]),
        ([&skill, "skills", "nop"], vec!["no task found below", "task.md"]),
        ([&skill, "unverified", "nop"], vec!["no-verifier", "test.sh"]),
        ([&skill, &tasks, "claude"], vec!["no agent 'claude'", "oracle"]),
        ([&skill, &tasks, "bash"], vec!["needs a model", "upstream"]),
        ([&skill, &tasks, "command"], vec!["--command"]),
        (["task", &tasks, "nop"], vec!["bring no skill of their own", "fine"]),
    ] {
        let [skill, tasks, agent] = given;
        let ended = home.run(&["eval", "--skill", skill, "--tasks", tasks, "--agent", agent]);
        ended.told(2, &told);
    }
    let fine = ["eval", "--skill", &skill, "--tasks", &tasks, "--agent", "nop"];
    for (more, told) in [
        (["-k", "0"], ["repeats", "from 1 to 100"]),
        (["--fail-if", "speed<1"], ["speed", "delta"]),
        (["--image-stand-in", "ubuntu"], ["--image-stand-in", "NAME=LOCAL"]),
        (["--config", "none.toml"], ["none.toml", "check the path"]),
        (["--task-ids", "absent"], ["no task 'absent'", "fine"]),
    ] {
        home.run(&[fine.as_slice(), &more].concat()).told(2, &told);
    }
    home.write("wide.toml", "max_concurrency = 0\n");
    home.run(&["doctor", "--config", "wide.toml", "--data", "none"]).told(1, &[]);
    home.run(&[fine.as_slice(), &["--config", "wide.toml"]].concat()).told(2, &["max_concurrency", "from 1 to 1000"]);
    for looking in [
        &["export", "1", "--format", "json"][..],
        &["leaderboard", "snapshots"],
        &["evaluations", "list"],
        &["plan", "--tasks", "9", "--from", "1"],
    ] {
        home.run(&[looking, &["--data", "none"]].concat()).told(2, &["no data folder none", "--data"]);
    }
    assert!(!home.path("none").exists(), "made by looking for it");
    assert_eq!(home.evaluations(&home.data()), 0);
    home.finish();
}

#[test]
fn a_task_that_would_open_the_host_is_refused_with_its_line() {
    let home = Home::new("open");
    let skill = home.skill();
    let compose = |line: &str| format!("services:\n  main:\n    build: .\n    {line}\n");
    for (name, line, told) in [
        ("privileged", "privileged: true", "privileged"),
        ("host-net", "network_mode: host", "network_mode"),
        ("host-pid", "pid: host", "pid"),
        ("mount", "volumes: [\"/:/host\"]", "/:/host"),
        ("device", "devices: [\"/dev/kmsg\"]", "devices"),
    ] {
        let task = Task::new(name).file("environment/docker-compose.yaml", &compose(line));
        task.write(&home, &format!("open/{name}/{name}"));
        let tasks = format!("open/{name}");
        let ended = home.run(&["eval", "--skill", &skill, "--tasks", &tasks, "--agent", "nop"]);
        ended.told(2, &["docker-compose.yaml:4", told]);
    }
    home.finish();
}

#[test]
fn without_an_engine_nothing_is_planned() {
    let home = Home::new("no-engine");
    home.task(&Task::new("fine"));
    let (skill, tasks) = (home.skill(), home.tasks());
    let mut command = home.command(&["eval", "--skill", &skill, "--tasks", &tasks, "--agent", "nop"]);
    command.env("DOCKER_HOST", "unix:///nonexistent");
    Running::start(command).end().told(1, &["/nonexistent", "start Docker", "DOCKER_HOST"]);
    assert_eq!(home.evaluations(&home.data()), 0, "an evaluation was left that the next start would run");
    let mut doctor = home.command(&["doctor"]);
    doctor.env("DOCKER_HOST", "unix:///nonexistent");
    let ended = Running::start(doctor).end();
    assert_eq!(ended.code, 1, "{ended}");
    assert!(ended.out.contains("problem  container engine") && ended.out.contains("start Docker"), "{ended}");
    let ended = home.run(&["doctor"]);
    assert_eq!(ended.code, 0, "{ended}");
    home.finish();
}

#[test]
fn the_doctor_looks_into_the_data_folder_and_asks_for_what_the_settings_name() {
    let home = Home::new("doctor");
    let doctor = |data: &str| home.run(&["doctor", "--data", data]);
    let told = |data: &str, line: &str| {
        let ended = doctor(data);
        assert!(ended.code == 1 && ended.out.contains(line), "{line}: {ended}");
    };
    home.write("file", "x");
    told("file/below", "problem  data folder       cannot make the data folder below");
    home.write("spoiled/skilldelta.sqlite", "no database".repeat(100));
    told("spoiled", "problem  data folder       the database is damaged");
    home.write("keyless/skilldelta.toml", "[upstreams.mine]\nkind = \"anthropic\"\nkey_env = \"SKILLDELTA_NO_KEY\"\n");
    told("keyless", "problem  models            upstream mine: the environment variable SKILLDELTA_NO_KEY is not set");
    // What needs no model does not need the key; what does says what is missing.
    home.task(&Task::new("fine"));
    let (skill, tasks) = (home.skill(), home.tasks());
    let eval = ["eval", "--data", "keyless", "--skill", &skill, "--tasks", &tasks, "--agent"];
    let ended = home.run(&[eval.as_slice(), &["nop"]].concat());
    assert_eq!(ended.code, 0, "{ended}");
    home.run(&[eval.as_slice(), &["bash", "--upstream", "mine", "--model", "m"]].concat())
        .told(2, &["'mine' cannot be asked", "SKILLDELTA_NO_KEY is not set"]);
    home.finish();
}

#[test]
fn an_image_that_cannot_be_had_is_infrastructure_trouble_with_a_remedy() {
    let home = Home::new("no-image");
    let gone = Task::new("gone");
    home.task(&gone);
    let dockerfile = format!("FROM skilldelta-no-such-image:1\nLABEL test={}\nWORKDIR /app\n", home.mark);
    home.write("tasks/gone/environment/Dockerfile", dockerfile);
    let (ended, report) = home.eval(&["--agent", "nop"]);
    assert_eq!(ended.code, 1, "{ended}");
    for trial in report["trials"].as_array().unwrap() {
        assert_eq!(trial["verdict"], "infra_error", "{trial}");
        let error = trial["error"].as_str().unwrap();
        assert!(error.contains("skilldelta-no-such-image:1") && error.contains("stand-in"), "{error}");
    }
    // A stand-in mends it.
    let stand_in = format!("skilldelta-no-such-image:1={}", home.base);
    let (ended, report) = home.eval(&["--agent", "oracle", "--image-stand-in", &stand_in]);
    assert_eq!((ended.code, &report["totals"]["both"]), (0, &1.into()), "{ended}");
    home.finish();
}

#[test]
fn a_data_folder_has_one_owner_and_a_port_one_server() {
    let home = Home::new("owner");
    home.task(&Task::new("fine"));
    let mut site = home.serve(&[]);
    let pid = site.running.pid().to_string();
    let data = home.data().display().to_string();
    let ended = home.run(&["eval", "--skill", &home.skill(), "--tasks", &home.tasks(), "--agent", "nop"]);
    ended.told(1, &[&data, "in use", &pid, "choose another folder"]);
    let ended = home.run(&["serve", "--listen", &site.host, "--data", "elsewhere"]);
    ended.told(1, &[&site.host, "in use", "--listen"]);
    assert!(!home.path("elsewhere").exists(), "made for nothing");
    assert!(site.running.is_running());
    let ended = site.stop();
    assert_eq!(ended.code, 0, "{ended}");
    home.finish();
}

/// A reader who has seen enough, such as `head`, ends nothing.
#[test]
fn nobody_needs_to_listen_to_the_end() {
    let home = Home::new("listen");
    for command in [
        &["doctor"][..],
        &["agents", "list"],
        &["leaderboard", "snapshots"],
        &["evaluations", "list"],
        &["plan", "--tasks", "9"],
    ] {
        std::fs::create_dir_all(home.data()).unwrap();
        let mut command = home.command(command);
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ended = command.stdin(std::process::Stdio::null()).stdout(writer).output().unwrap();
        let told = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.code().is_some_and(|code| code < 2) && !told.contains("panicked"), "{told}");
    }
    home.finish();
}
