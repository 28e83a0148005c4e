//! Which runner's results these are, by the names and beginnings of the files.

use domain::finding::Finding;
use domain::imported::ResultFormat;

use super::{Files, agentcompass, evalscope, harbor, skill_creator, skilldelta, swe_skills_bench};

/// What is looked for.
pub(super) const WANTED: &str = "results are told by: skilldelta.export or skilldelta.evaluation JSON; eval_report*.json or compare.json (SWE-Skills-Bench); \
     details/*.json (AgentCompass); reviews/*/skillsbench*.jsonl (EvalScope); result.json of a trial (Harbor); benchmark.json with runs (skill-creator); \
     name the form with --format";

/// The files that a format takes for its own.
type Candidates = fn(&Files) -> Vec<String>;

/// The one format that the files tell.
pub(super) fn detect(files: &Files) -> Result<ResultFormat, Box<Finding>> {
    let claims: [(ResultFormat, Candidates); 6] = [
        (ResultFormat::Skilldelta, skilldelta::candidates),
        (ResultFormat::SweSkillsBench, swe_skills_bench::candidates),
        (ResultFormat::Agentcompass, agentcompass::candidates),
        (ResultFormat::Evalscope, evalscope::candidates),
        (ResultFormat::Harbor, harbor::candidates),
        (ResultFormat::SkillCreator, skill_creator::candidates),
    ];
    let found: Vec<(ResultFormat, String)> = claims
        .into_iter()
        .filter_map(|(format, candidates)| Some((format, candidates(files).into_iter().next()?)))
        .collect();
    match found.as_slice() {
        [(format, _)] => Ok(*format),
        [] => {
            let message = format!("none of its {} files tells whose results these are", files.paths().len());
            Err(Box::new(Finding::error("unknown_results", files.name(), message).hint(WANTED)))
        }
        several => {
            let told = several.iter().map(|(format, path)| format!("{format} ({path})")).collect::<Vec<_>>().join(", ");
            let message = format!("the results of several runners lie in it: {told}");
            let hint = "import their folders one by one, or name one with --format";
            Err(Box::new(Finding::error("several_results", files.name(), message).hint(hint)))
        }
    }
}
