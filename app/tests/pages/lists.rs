//! The list of evaluations: the same numbers as their own pages, and all of them, page by page.

use std::collections::BTreeSet;

use domain::attempt::AttemptResult;
use domain::condition::Condition;
use domain::plan::EvaluationPlan;
use domain::report::headline;
use domain::skill_audit::Activation;
use store::Store;

use crate::support::seed::{ended, import, plan, run, trouble, verdict};
use crate::support::{get, site_and_ops};

fn names(n: usize) -> Vec<(String, &'static str)> {
    (0..n).map(|i| (format!("task-{i:03}"), "git")).collect()
}

#[tokio::test]
async fn a_list_says_what_the_pages_say() {
    let store = Store::temp().await.unwrap();
    let plan = plan(&store, "Sheep", &names(8), 3).await;
    run(&store, &plan, |task, arm, repeat| {
        let lucky = (task * 5 + repeat as usize * 3 + usize::from(arm == Condition::WithSkill) * 4) % 7 < 4;
        let result = ended(if task == 6 { trouble() } else { verdict(lucky) }, arm, 1_000);
        // The skill was not there for the model: scored, and its pair counts for nothing.
        let unseen = Activation { listed: Some(false), opened: Some(false), ..Activation::default() };
        let is_unseen = task < 3 && arm == Condition::WithSkill;
        (task != 7).then_some(if is_unseen { AttemptResult { activation: unseen, ..result } } else { result })
    })
    .await;
    import(&store, 20, 2).await;
    let (_, ops) = site_and_ops(store);
    let page = ops.evaluations(1, 50).await.unwrap();
    assert_eq!((page.all, page.pages, page.evaluations.len()), (2, 1, 2));
    for listed in page.evaluations {
        let report = ops.report(listed.id).await.unwrap();
        assert!(report.totals.delta.is_some_and(|delta| delta != 0.0), "{:?}", report.totals);
        assert_eq!(listed.headline, headline(&report).into(), "{}", listed.title);
        assert_eq!((listed.delta, listed.skills), (report.totals.delta, report.skills), "{}", listed.title);
        let finished = report.trials.iter().filter(|trial| trial.verdict.is_some()).count() as u64;
        assert_eq!((listed.counts.finished(), listed.counts.total()), (finished, report.trials.len() as u64));
        let unscored = report.trials.iter().filter(|trial| trial.verdict.as_deref() == Some("infra_error")).count();
        assert_eq!(listed.counts.not_scored, unscored as u64);
    }
}

#[tokio::test]
async fn every_evaluation_is_on_one_page() {
    let store = Store::temp().await.unwrap();
    let plan = plan(&store, "Sheep", &names(1), 1).await;
    for number in 0..53_u64 {
        let numbered = EvaluationPlan { title: format!("Sheep {number:02}"), seed: number, ..plan.clone() };
        store.create_evaluation(&numbered, domain::time::Timestamp(1)).await.unwrap();
    }
    let (site, _) = site_and_ops(store);
    let titles = async |path: &str| -> BTreeSet<String> {
        let body = get(&site, path).await.body;
        assert!(body.contains("Pages of evaluations"), "{path}");
        body.split("Sheep ").skip(1).filter_map(|rest| rest.get(..2)).map(str::to_owned).collect()
    };
    let (first, second) = (titles("/evaluations").await, titles("/evaluations?page=2").await);
    assert_eq!((first.len(), second.len(), first.union(&second).count()), (50, 3, 53));
    assert!(first.contains("52") && second.contains("00"), "the newest come first");
    for (path, same) in [("page=1", &first), ("page=0", &first), ("page=x", &first), ("page=99", &second)] {
        assert_eq!(&titles(&format!("/evaluations?{path}")).await, same, "{path}");
    }
    let home = get(&site, "/").await.body;
    assert!(home.contains("All 53 evaluations"), "{home}");
}

/// The seeded skill has rows and no files, as after a damage of the data folder.
#[tokio::test]
async fn a_lost_file_hides_neither_a_skill_nor_its_results() {
    let store = Store::temp().await.unwrap();
    let plan = plan(&store, "Sheep", &names(6), 1).await;
    run(&store, &plan, |_, arm, _| Some(ended(verdict(arm == Condition::WithSkill), arm, 1_000))).await;
    let (site, ops) = site_and_ops(store);
    let skill = ops.skills().await.unwrap()[0].id;
    let page = get(&site, &format!("/skills/{skill}")).await;
    assert_eq!(page.status.as_u16(), 200, "{}", page.body);
    for words in ["count-sheep", "SKILL.md is not in the data folder as it was", "Results by version"] {
        assert!(page.body.contains(words), "{words}: {}", page.body);
    }
}
