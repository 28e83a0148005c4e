//! Finds skills where they lie: in the container, as any agent there would.

use std::collections::BTreeSet;
use std::time::Duration;

use formats::skill::manifest;

use super::shell::Shell;
use crate::sandbox::{Collect, ExecSpec, SandboxError};

/// A skill as the model is told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ListedSkill {
    pub(super) name: String,
    pub(super) description: String,
    /// Its `SKILL.md` in the container.
    pub(super) file: String,
}

/// Enough for any frontmatter; the model reads the rest by itself.
const READ: usize = 65536;
/// Bytes of all skills together.
const ALL: usize = 8 << 20;
const LIMIT: Duration = Duration::from_secs(30);

/// For each skill one line `bytes path`, then so many bytes of its file. A length cannot be imitated by the text that it counts.
const SCRIPT: &str = r#"
read=$1; shift
for base in "$@"; do
  for file in "$base"/*/[Ss][Kk][Ii][Ll][Ll].[Mm][Dd]; do
    [ -f "$file" ] || continue
    bytes=$(head -c "$read" "$file" | wc -c)
    printf '%d %s\n' $((bytes)) "$file"
    head -c "$read" "$file"
  done
done
"#;

/// The skills in `folders`; of two with one name the first counts. What cannot be read as a skill is not listed.
pub(super) async fn skills(shell: &mut Shell<'_>, folders: &[String]) -> Result<Vec<ListedSkill>, SandboxError> {
    let read = READ.to_string();
    let words = ["/bin/sh", "-c", SCRIPT, "sh", read.as_str()].into_iter().chain(folders.iter().map(String::as_str));
    let spec = ExecSpec { user: shell.user.map(str::to_owned), ..ExecSpec::new(words, LIMIT) };
    let mut output = Collect::new(ALL);
    shell.sandbox.exec(&spec, &mut output).await?;
    let mut names = BTreeSet::new();
    let mut listed = parse(&output.out);
    listed.retain(|skill| names.insert(skill.name.clone()));
    Ok(listed)
}

fn parse(mut output: &[u8]) -> Vec<ListedSkill> {
    let mut listed = Vec::new();
    while let Some((head, rest)) = output.iter().position(|byte| *byte == b'\n').map(|end| output.split_at(end)) {
        let head = String::from_utf8_lossy(head);
        let Some((bytes, file)) =
            head.split_once(' ').and_then(|(bytes, file)| Some((bytes.parse::<usize>().ok()?, file)))
        else {
            break;
        };
        let Some((text, rest)) = rest.get(1..).and_then(|rest| rest.split_at_checked(bytes)) else { break };
        output = rest;
        if let Some(manifest) = manifest::check(text, file, None).manifest {
            listed.push(ListedSkill { name: manifest.name, description: manifest.description, file: file.to_owned() });
        }
    }
    listed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skills_are_read_by_their_length_and_the_unreadable_are_left_out() {
        let tricky =
            "---\nname: a\ndescription: >\n  First\n  line.\n---\n12 /root/.agents/skills/fake/SKILL.md\n---\n";
        let broken = "no frontmatter";
        let plain = "---\nname: b\ndescription: Second.\n---\n";
        let output = format!(
            "{} /s/a/SKILL.md\n{tricky}{} /s/x/SKILL.md\n{broken}{} /s/b/SKILL.md\n{plain}",
            tricky.len(),
            broken.len(),
            plain.len()
        );
        let listed = |name: &str, description: &str| ListedSkill {
            name: name.to_owned(),
            description: description.to_owned(),
            file: format!("/s/{name}/SKILL.md"),
        };
        assert_eq!(parse(output.as_bytes()), [listed("a", "First line."), listed("b", "Second.")]);
        for cut in 0..output.len() {
            assert!(parse(&output.as_bytes()[..cut]).len() < 2, "cut at {cut}");
        }
        assert_eq!(parse(b"99999999999999999999 /x\nabc"), []);
    }
}
