//! Before an agent starts: its folders and files are made, and what it would miss in silence is looked for. Where something is missing the
//! trial is not scored.

use std::time::Duration;

use super::{Call, Program, input};
use crate::agent::AgentEnd;
use crate::sandbox::{Collect, ExecSpec, Sandbox, Upload};
use crate::trees::{InstalledTree, MOUNTED, mounted};

const LIMIT: Duration = Duration::from_secs(60);

/// As root: the home folder and the agent's own folders in it, for its user. What lies in them already is not given away.
const FOLDERS: &str = r#"
user=$1 home=$2; shift 2
own() { [ -z "$user" ] || chown "$user" "$1"; }
[ -d "$home" ] || { mkdir -p "$home" && own "$home"; }
for folder in "$@"; do
  path=$home
  IFS=/; set -f
  for part in $folder; do
    path=$path/$part
    [ -d "$path" ] || mkdir "$path" || exit 1
    own "$path"
  done
  unset IFS; set +f
done
"#;

/// As the agent's user: what is there, one finding a line; exit code 1 with the reason where something is missing.
const LOOK: &str = r#"
program=$1 tools=$2
PATH="$PATH:$tools"; export PATH
bash=$(command -v bash) || { echo "there is no bash in the image, and the mounted one is not found"; exit 1; }
"$bash" -c : || { echo "$bash does not run"; exit 1; }
rg=$(command -v rg) || { echo "there is no ripgrep in the image, and the mounted one is not found"; exit 1; }
"$rg" --version >/dev/null || { echo "$rg does not run"; exit 1; }
probe=$HOME/.skilldelta-probe.$$
( : >"$probe" ) 2>/dev/null || { echo "its home folder $HOME cannot be written by its user"; exit 1; }
rm -f "$probe"
version=$("$program" --version 2>&1 </dev/null | tail -n 1) || version=
[ -n "$version" ] || { echo "$program does not run in this image"; exit 1; }
echo "version $version; bash $bash; ripgrep $rg; home $HOME"
"#;

/// Makes everything ready; what was found, for the result.
pub(super) async fn prepare(
    program: &dyn Program,
    tree: &InstalledTree,
    call: &Call<'_>,
    sandbox: &dyn Sandbox,
    user: Option<&str>,
) -> Result<String, AgentEnd> {
    let home = call.home.trim_end_matches('/');
    let task = input(program, call).map(|path| (path, call.instruction.to_owned()));
    let files = program.files(call).into_iter().chain(task);
    let folders: Vec<&str> = program.own_folders().to_vec();
    let as_root = ["/bin/sh", "-c", FOLDERS, "sh", user.unwrap_or_default(), home];
    let mut spec = ExecSpec::new(as_root.into_iter().chain(folders), LIMIT);
    spec.user = Some("0".to_owned());
    spec.workdir = Some("/".to_owned());
    run(sandbox, &spec, "its folders could not be made").await?;
    let upload = files
        .fold(Upload::new(), |upload, (path, text)| upload.file(&format!("{home}/{path}"), text.into_bytes(), false));
    sandbox.upload(upload).await.map_err(AgentEnd::SandboxFailed)?;
    let path = format!("{}/bin/{}", mounted(&tree.label.agent), program.program());
    let tools = format!("{MOUNTED}/tools/bin");
    let mut look = ExecSpec::new(["/bin/sh", "-c", LOOK, "sh", path.as_str(), tools.as_str()], LIMIT);
    look.user = user.map(str::to_owned);
    look.env = program.env(call);
    look.env.push(("HOME".to_owned(), home.to_owned()));
    run(sandbox, &look, "what it needs is not there").await
}

async fn run(sandbox: &dyn Sandbox, spec: &ExecSpec, what: &str) -> Result<String, AgentEnd> {
    let mut output = Collect::new(16 << 10);
    let end = sandbox.exec(spec, &mut output).await.map_err(AgentEnd::SandboxFailed)?;
    let said = output.out_text().trim().to_owned();
    if end.exit.is_success() {
        return Ok(said);
    }
    let words = if said.is_empty() { output.err_text().trim().to_owned() } else { said };
    Err(AgentEnd::NotReady {
        message: format!("the agent cannot be scored in this image: {what}: {words} ({})", end.exit),
    })
}
