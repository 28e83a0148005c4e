//! Skills from a git repository: by commit, branch and folder, many in one, each with where it came from; and what is refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use domain::listing::SkillIntake;
use domain::time::Timestamp;
use ops::{Ops, OpsConfig, OpsError, Upload};
use repos::{Mirrors, Repositories, RepositoriesConfig};
use store::Store;

const URL: &str = "https://git.example.com/farm/skills";

fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=t", "-c", "user.email=t@example.invalid"]).args(arguments);
    let output = command.current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn skill(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}.\n---\nDo it.\n")
}

async fn ops(mirror: &Path, cache: &Path) -> Ops {
    let mirrors = Mirrors::parse([(URL.to_owned(), mirror.display().to_string())]).unwrap();
    let search_path = std::env::var_os("PATH");
    let config = RepositoriesConfig { mirrors, search_path, ..RepositoriesConfig::at(cache.to_owned()) };
    let repositories = Some(Repositories::new(config));
    let config = OpsConfig { upload_limit: 1 << 20, repositories, ..OpsConfig::default() };
    Ops::new(Store::temp().await.unwrap(), Arc::new(|| Timestamp(1)), config)
}

async fn fetch(ops: &Ops, part: &str) -> Result<SkillIntake, String> {
    let source = format!("{URL}{part}").parse().unwrap();
    ops.upload_skills("local", Upload::Repository(source)).await.map_err(|error| match error {
        OpsError::Invalid { message, .. } => message,
        other => panic!("{other}"),
    })
}

#[tokio::test]
async fn skills_come_from_a_commit_with_their_origin() {
    let (origin, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folder = origin.path();
    git(folder, &["init", "-q", "-b", "main", "."]);
    write(folder, "skills/count-sheep/SKILL.md", &skill("count-sheep"));
    write(folder, "skills/count-sheep/scripts/count.sh", "#!/bin/sh\n");
    let script = folder.join("skills/count-sheep/scripts/count.sh");
    std::fs::set_permissions(script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-q", "-m", "one"]);
    let first = git(folder, &["rev-parse", "HEAD"]);
    write(folder, "skills/shear-sheep/SKILL.md", &skill("shear-sheep"));
    write(folder, "skills/linked/SKILL.md", &skill("linked"));
    std::os::unix::fs::symlink("/etc/passwd", folder.join("skills/linked/data")).unwrap();
    write(folder, ".gitattributes", "* export-ignore filter=evil\n");
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-q", "-m", "two"]);
    let second = git(folder, &["rev-parse", "HEAD"]);

    let ops = ops(folder, cache.path()).await;
    let names = |intake: &SkillIntake| intake.accepted.iter().map(|skill| skill.name.clone()).collect::<Vec<_>>();
    let whole = fetch(&ops, "").await.unwrap();
    assert_eq!(names(&whole), ["count-sheep", "shear-sheep"]);
    assert_eq!(whole.refused[0].path, "skills/linked/SKILL.md");
    assert_eq!(whole.refused[0].findings[0].code, "symlink");
    let old = fetch(&ops, &format!("@{first}")).await.unwrap();
    assert_eq!((names(&old), old.accepted[0].is_new), (vec!["count-sheep".to_owned()], false), "the same bytes");
    let part = fetch(&ops, "@main#skills/shear-sheep").await.unwrap();
    assert_eq!((names(&part), part.accepted[0].version), (vec!["shear-sheep".to_owned()], whole.accepted[1].version));
    let origin = part.accepted[0].findings.iter().find(|finding| finding.code == "from_repository").unwrap();
    assert_eq!(origin.message, format!("fetched from {URL}@{second}#skills/shear-sheep"));
    let by_file = fetch(&ops, "#skills/shear-sheep/SKILL.md").await.unwrap();
    assert_eq!(by_file.accepted[0].version, part.accepted[0].version);
    let detail = ops.skill(whole.accepted[0].skill).await.unwrap();
    assert!(detail.versions[0].tree.get("scripts/count.sh").unwrap().executable, "modes are those of the commit");

    for (part, want) in [
        ("@nowhere", "has no branch or tag 'nowhere'"),
        ("#nowhere", "there is no nowhere in"),
        ("@1234567890123456789012345678901234567890", "does not have the commit"),
    ] {
        let said = fetch(&ops, part).await.unwrap_err();
        assert!(said.contains(want), "{part}: {said}");
    }
    let nothing = fetch(&ops, "#skills/linked").await.unwrap();
    assert!(nothing.accepted.is_empty() && nothing.refused.len() == 1);
}
