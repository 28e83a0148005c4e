//! Verifiers in a container of their own, as Harbor has them: which image, what is taken along, and what is refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod task_support;

use domain::finding::Severity;
use domain::path::RelPath;
use domain::task::{Artifact, Environment, ImageSource, NetworkPolicy, ResultPlace};
use formats::task::LoadedTask;
use task_support::{loaded, older, task, told};

const DOCKERFILE: (&str, Option<&str>) = ("tests/Dockerfile", Some("FROM debian\nCOPY . /tests\n"));

fn read(toml: &str, more: &[(&'static str, Option<&str>)]) -> LoadedTask {
    loaded(older(), &[&[("task.toml", Some(toml))], more].concat())
}

fn own(loaded: &LoadedTask) -> (Vec<Artifact>, Environment) {
    match task(loaded).result_place.clone() {
        ResultPlace::Artifacts { artifacts, container } => (artifacts, *container),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_image_is_named_or_built_from_the_tests() {
    let built = ImageSource::Build { context: RelPath::new("tests").unwrap() };
    let named = |image: &str| ImageSource::Named { image: image.to_owned() };
    for (toml, image, memory_mb, network) in [
        // The mode alone: the task's own settings hold, but for its Dockerfile.
        (
            "[verifier]\nenvironment_mode = \"separate\"\n[environment]\nmemory_mb = 512\nallow_internet = false\n",
            built.clone(),
            512,
            NetworkPolicy::None,
        ),
        // A table alone means it too, and inherits nothing.
        (
            "[verifier.environment]\ncpus = 2\n[environment]\nmemory_mb = 512\n",
            built.clone(),
            2048,
            NetworkPolicy::Public,
        ),
        (
            "[verifier.environment]\ndocker_image = \"graders/sheep:1\"\n",
            named("graders/sheep:1"),
            2048,
            NetworkPolicy::Public,
        ),
        (
            "[verifier]\nsandbox_mode = \"separate\"\n[environment]\ndocker_image = \"farm/sheep:1\"\n",
            named("farm/sheep:1"),
            2048,
            NetworkPolicy::Public,
        ),
    ] {
        let loaded = read(toml, &[DOCKERFILE]);
        let (artifacts, container) = own(&loaded);
        assert_eq!(
            (container.image, container.memory_mb, container.network.clone()),
            (image, memory_mb, network),
            "{toml}"
        );
        assert_eq!(task(&loaded).verifier_network(), &container.network, "{toml}");
        assert_eq!(artifacts, [Artifact { path: "/logs/artifacts".into(), exclude: vec![] }], "{toml}");
    }
    let shared = read("artifacts = [\"/app/x\"]\n[verifier]\nenvironment_mode = \"shared\"\n", &[]);
    assert_eq!(task(&shared).result_place, ResultPlace::Anywhere);
    assert_eq!(told(&shared, Severity::Warning), ["task.toml:1 not_applied"]);
}

#[test]
fn artifacts_are_paths_with_names_that_stay() {
    let toml = "artifacts = [\"/app/model.patch\", {source = \"/work/\", destination = \"w\", exclude = [\".git\"]}, \"/logs/artifacts\"]\n\
                [verifier]\nenvironment_mode = \"separate\"\n";
    let (artifacts, _) = own(&read(toml, &[DOCKERFILE]));
    let at = |path: &str, exclude: &[&str]| Artifact {
        path: path.to_owned(),
        exclude: exclude.iter().map(|name| (*name).to_owned()).collect(),
    };
    assert_eq!(artifacts, [at("/app/model.patch", &[]), at("/work", &[".git"]), at("/logs/artifacts", &[])]);
    for bad in [
        "\"result.json\"",
        "\"/\"",
        "\"/app/../tests\"",
        "\"/tests/test.sh\"",
        "\"/logs/verifier\"",
        "{source = \"/app\", exclude = [\"*.pyc\"]}",
        "{source = \"/app\", exclude = \"x\"}",
        "{source = \"/app\", service = \"database\"}",
        "{destination = \"x\"}",
        "3",
    ] {
        let toml = format!("version = \"1.0\"\nartifacts = [{bad}]\n[verifier]\nenvironment_mode = \"separate\"\n");
        let loaded = read(&toml, &[DOCKERFILE]);
        assert_eq!(told(&loaded, Severity::Error), ["task.toml:2 bad_artifact"], "{bad}");
        assert!(loaded.findings.iter().all(|finding| !finding.is_error() || finding.hint.is_some()), "{bad}");
    }
}

#[test]
fn what_cannot_be_run_is_refused_with_a_remedy() {
    for (toml, more, want) in [
        ("[verifier]\nenvironment_mode = \"separate\"\n", vec![], "tests/Dockerfile no_image"),
        (
            "[verifier]\nenvironment_mode = \"shared\"\n[verifier.environment]\ncpus = 1\n",
            vec![DOCKERFILE],
            "task.toml:2 unsupported_verifier",
        ),
        ("[verifier]\nenvironment_mode = \"sometimes\"\n", vec![DOCKERFILE], "task.toml:2 unsupported_verifier"),
        (
            "[verifier]\nenvironment_mode = \"separate\"\n[[verifier.collect]]\ncommand = \"x\"\n",
            vec![DOCKERFILE],
            "task.toml:3 unsupported_verifier",
        ),
        (
            "[verifier]\nenvironment_mode = \"separate\"\n",
            vec![DOCKERFILE, ("tests/docker-compose.yaml", Some("services: {}\n"))],
            "tests/docker-compose.yaml several_services",
        ),
        ("[verifier.environment]\ngpus = 1\n", vec![DOCKERFILE], "task.toml:2 unsupported_gpu"),
    ] {
        let loaded = read(toml, &more);
        assert_eq!(told(&loaded, Severity::Error), [want], "{toml}");
        assert!(loaded.task.is_none() && loaded.findings.iter().all(|told| !told.is_error() || told.hint.is_some()));
    }
}

#[test]
fn steps_are_refused_with_their_file_and_why() {
    let loaded = read(
        "version = \"1.0\"\n",
        &[("steps/one/instruction.md", Some("First.")), ("steps/one/tests/test.sh", Some("true"))],
    );
    let refused = loaded.findings.iter().find(|finding| finding.is_error()).unwrap();
    assert_eq!((refused.code.as_str(), refused.file.as_str()), ("unsupported_multi_agent", "steps/one/instruction.md"));
    assert!(
        refused.message.contains("several steps") && refused.hint.as_ref().unwrap().contains("one instruction"),
        "{refused}"
    );
    let listed = read("[[steps]]\nname = \"one\"\n", &[]);
    assert_eq!(told(&listed, Severity::Error), ["task.toml:1 unsupported_multi_agent"]);
}
