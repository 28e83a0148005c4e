//! The pages of a result and of its pairs: what they say, what filters show, and how large they are.

use crate::support::seed::{ended, import, plan, run, trouble, verdict};
use crate::support::{get, site_of};
use axum::Router;
use domain::attempt::AttemptResult;
use domain::comparison::Baseline;
use domain::condition::Condition;
use domain::id::EvaluationId;
use domain::plan::{AgentRef, EvaluationPlan, ModelRef, Treatment};
use domain::skill_audit::Activation;
use domain::verdict::Verdict;
use store::Store;

const CATEGORIES: [&str; 3] = ["spreadsheets", "documents", "git"];

/// How the trial of a task, arm and repeat ends.
type Rule = fn(usize, Condition, u32) -> Option<Verdict>;

/// A site with one evaluation.
async fn site(tasks: usize, repeats: u32, rule: Rule) -> (Router, EvaluationId) {
    let store = Store::temp().await.unwrap();
    let names: Vec<(String, &str)> = (0..tasks).map(|i| (format!("task-{i:03}"), CATEGORIES[i % 3])).collect();
    let plan = plan(&store, "Count sheep", &names, repeats).await;
    let id = run(&store, &plan, |task, condition, repeat| result(rule, task, condition, repeat)).await;
    (site_of(store), id)
}

fn result(rule: Rule, task: usize, condition: Condition, repeat: u32) -> Option<AttemptResult> {
    let tokens = 20_000 + 1_000 * task as u64 + if condition == Condition::WithSkill { 4_000 } else { 0 };
    rule(task, condition, repeat).map(|verdict| ended(verdict, condition, tokens))
}

fn with(condition: Condition) -> bool {
    condition == Condition::WithSkill
}

/// The page as a reader sees it: no markup, no script, single blanks.
fn text(html: &str) -> String {
    let without_scripts = html.split("<script").map(|part| part.split_once("</script>").map_or(part, |(_, rest)| rest));
    let texts = without_scripts
        .flat_map(|part| part.split('<'))
        .map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    texts.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn each_verdict_is_said_in_words_that_need_no_statistics() {
    let cases: [(&str, usize, Rule, &[&str]); 6] = [
        (
            "improves",
            12,
            |task, arm, _| Some(verdict(with(arm) || task == 0)),
            &[
                "Improves",
                "With the skill more tasks pass than without it, by more than chance explains.",
                "With the skill 12 of 12 tasks pass, without it 1 (11 rescued, 0 broken); Δ +92 percentage points, 95 % interval",
                "pass rate from 8.3 % (no-skill) to 100 % (with-skill)",
                "fewer than 1 in 1000 such runs",
            ],
        ),
        (
            "harms",
            12,
            |task, arm, _| Some(verdict(!with(arm) || task == 0)),
            &["Harms", "With the skill fewer tasks pass than without it, by more than chance explains."],
        ),
        (
            "inconclusive",
            10,
            |task, arm, _| Some(verdict(if with(arm) { task < 7 } else { task < 5 })),
            &[
                "Inconclusive",
                "This cannot tell whether the skill helps or harms: the true difference may be anything from a loss of",
                "to a gain of",
            ],
        ),
        (
            "cannot be resolved",
            4,
            |_, arm, _| Some(verdict(with(arm))),
            &[
                "Cannot be resolved",
                "Too few tasks to tell anything: with 4 tasks even the clearest outcome may be chance.",
            ],
        ),
        (
            "nothing scored",
            3,
            |_, _, _| Some(trouble()),
            &[
                "No result",
                "Nothing can be compared: no task was scored in both arms.",
                "no route to the package mirror",
            ],
        ),
        ("running", 4, |task, _, _| (task > 9).then(|| verdict(true)), &["0 of 8 trials finished"]),
    ];
    for (name, tasks, rule, said) in cases {
        let (site, id) = site(tasks, 1, rule).await;
        let page = text(&get(&site, &format!("/evaluations/{id}")).await.body);
        for words in said {
            assert!(page.contains(words), "{name}: {words:?} is not in {page}");
        }
    }
}

/// What is no plain finished evaluation says so before any number.
#[tokio::test]
async fn every_other_state_says_what_it_is() {
    type Change = fn(&mut EvaluationPlan);
    let rescues: Rule = |task, arm, _| Some(verdict(with(arm) || task == 0));
    let flips: Rule = |task, arm, _| Some(verdict(task > 1 || with(arm) == (task == 0)));
    let cases: [(&str, Change, Rule, &[&str]); 7] = [
        (
            "A/A",
            |plan| {
                plan.treatment = Treatment::Nothing;
                plan.comparison.baseline = Baseline::Same;
            },
            flips,
            &[
                "Noise floor ±",
                "is how far Δ moves by chance alone, 19 times in 20",
                "Both arms were the same, so this says nothing about a skill.",
                "in arm B 11 of 12 tasks pass, in arm A 11 (2 flipped); Δ 0 percentage points",
                "Read other results on these tasks by it",
                "Flipped 2 of 12 pairs, though nothing differed",
            ],
        ),
        (
            "previous version",
            |plan| {
                let Treatment::Skills { versions } = plan.treatment.clone() else { panic!("{plan:?}") };
                plan.comparison.baseline = Baseline::PreviousVersion { versions };
            },
            rescues,
            &[
                "With the new version more tasks pass than with the previous one",
                "with the new version 12 of 12 tasks pass, with the previous one 1",
            ],
        ),
        (
            "no coding agent",
            |plan| {
                plan.agent = AgentRef::new("oracle", "1");
                plan.model = None;
            },
            rescues,
            &["no coding agent", "A check of the tasks: the agent calls no model"],
        ),
        (
            "scripted",
            |plan| plan.model = plan.model.take().map(|model| ModelRef { scripted: true, ..model }),
            rescues,
            &["A demonstration: the model's answers came from a file"],
        ),
        ("repeats", |plan| plan.repeats = 2, rescues, &["With the skill 24 of 24 trials pass, without it 2"]),
        (
            "five pairs of twelve",
            |_| (),
            |task, arm, _| (task < 5).then(|| verdict(with(arm))),
            &["With the skill 5 of 5 tasks pass so far, without it 0. Not a result yet: it may still turn."],
        ),
        (
            "six pairs of twelve",
            |_| (),
            |task, arm, _| (task < 6).then(|| verdict(with(arm))),
            &["With the skill 6 of 6 tasks pass so far, without it 0; Δ +100 percentage points, 95 % interval"],
        ),
    ];
    for (name, change, rule, said) in cases {
        let store = Store::temp().await.unwrap();
        let tasks: Vec<(String, &str)> = (0..12).map(|i| (format!("task-{i:03}"), CATEGORIES[i % 3])).collect();
        let mut plan = plan(&store, "Count sheep", &tasks, 1).await;
        plan.settings.concurrency = 24;
        change(&mut plan);
        let id = run(&store, &plan, |task, condition, repeat| {
            let ended = result(rule, task, condition, repeat)?;
            Some(AttemptResult { activation: Activation::default(), ..ended })
        })
        .await;
        let page = text(&get(&site_of(store), &format!("/evaluations/{id}")).await.body);
        for words in said {
            assert!(page.contains(words), "{name}: {words:?} is not in {page}");
        }
        let asked = !matches!(name, "A/A" | "five pairs of twelve" | "six pairs of twelve");
        assert_eq!(page.contains("cannot be told for this agent"), asked, "{name}: {page}");
    }
    let store = Store::temp().await.unwrap();
    let id = import(&store, 8, 1).await;
    let page = text(&get(&site_of(store), &format!("/evaluations/{id}")).await.body);
    assert!(page.contains("imported, self-reported"), "{page}");
}

#[tokio::test]
async fn the_page_tells_actor_usage_cost_activation_and_doubts() {
    let rule: Rule =
        |task, arm, _| Some(if task < 4 && with(arm) { trouble() } else { verdict(with(arm) && task % 2 == 0) });
    let store = Store::temp().await.unwrap();
    let tasks: Vec<(String, &str)> = (0..14).map(|i| (format!("task-{i:03}"), CATEGORIES[i % 3])).collect();
    let plan = plan(&store, "Count sheep", &tasks, 1).await;
    let id = run(&store, &plan, |task, arm, repeat| {
        let mut ended = result(rule, task, arm, repeat)?;
        if task == 5 && with(arm) {
            ended.activation = Activation { listed: Some(true), opened: Some(false), ..Activation::default() };
        }
        Some(ended)
    })
    .await;
    let page = text(&get(&site_of(store), &format!("/evaluations/{id}")).await.body);
    for words in [
        "claude-code 2.0.76",
        "claude-sonnet-4-5",
        "· cache read",
        "by the price table USD 2026-01-15.",
        "Offered to the model 10 of 10 trials that can tell",
        "Opened by the agent 9 of 10 trials that can tell",
        "Files of the skill that were read (1)",
        "Trouble did not hit both arms alike",
        "More trials of one arm than of the other could not be scored",
        "Only pairs whose agent opened the skill",
        "Selection-biased",
        "Δ by group of tasks",
        "Left out: 4 pairs",
    ] {
        assert!(page.contains(words), "{words:?} is not in {page}");
    }
}

#[tokio::test]
async fn the_filter_goes_with_the_reader_from_matrix_to_pair_to_pair() {
    let rule: Rule = |task, arm, repeat| Some(verdict(with(arm) && (task as u32 + repeat).is_multiple_of(3)));
    let (site, id) = site(5, 2, rule).await;
    let address = format!("/evaluations/{id}");
    let all = get(&site, &address).await.body;
    assert!(all.contains("href=\"?flip=rescued#pairs\""), "{all}");
    // Rescued: task 1 repeat 2, task 2 repeat 1, task 4 repeat 2.
    let page = get(&site, &format!("{address}?flip=rescued")).await.body;
    let rows: Vec<bool> = (0..5).map(|task| page.contains(&format!("task-00{task}<"))).collect();
    assert_eq!(rows, [false, true, true, false, true]);
    let pairs: Vec<String> = page
        .split("href=\"/evaluations/")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .filter(|href| href.ends_with("?flip=rescued"))
        .map(str::to_owned)
        .collect();
    assert_eq!(pairs.len(), 6, "{pairs:?}");
    let second = get(&site, &format!("/evaluations/{}", pairs[2])).await;
    let words = text(&second.body);
    assert!(words.contains("2 of 3 pairs rescued"), "{words}");
    for (rel, pair) in [("prev", &pairs[1]), ("next", &pairs[5])] {
        let link = format!("rel=\"{rel}\" href=\"/evaluations/{pair}\"");
        assert!(second.body.contains(&link), "{link} in {}", second.body);
    }
    let none = text(&get(&site, &format!("{address}?flip=broken&sort=nonsense&page=99")).await.body);
    assert!(none.contains("No task has such a pair."), "{none}");
}

#[tokio::test]
async fn names_of_tasks_and_files_are_text_wherever_they_stand() {
    let mark = "</title><script>x</script>\"'&\u{e000}0";
    let store = Store::temp().await.unwrap();
    let tasks: Vec<(String, &str)> = (0..8).map(|i| (format!("{mark}{i}"), ["<img src=x>", "b"][i % 2])).collect();
    let plan = plan(&store, mark, &tasks, 2).await;
    let id = run(&store, &plan, |task, condition, _| {
        let mut result = ended(verdict(task % 3 == 0), condition, 9_000);
        result.activation.files_read.push(mark.to_owned());
        Some(result)
    })
    .await;
    let site = site_of(store);
    for path in [format!("/evaluations/{id}?group=yes"), format!("/evaluations/{id}/pairs/{}/1", plan.tasks[0].id)] {
        let body = get(&site, &path).await.body;
        assert!(body.contains("&lt;script&gt;x"), "{body}");
        for bad in ["<script>x", "<img src=x"] {
            let around: Option<String> = body.split_once(bad).map(|(_, after)| after.chars().take(80).collect());
            assert_eq!(around, None, "{bad} in {path}");
        }
    }
}

/// 500 tasks with 5 repeats: the page stays one that a browser opens at once, and every pair can be reached.
#[tokio::test]
async fn a_large_result_comes_in_pages() {
    let store = Store::temp().await.unwrap();
    let id = import(&store, 500, 5).await;
    let site = site_of(store);
    let first = get(&site, &format!("/evaluations/{id}")).await.body;
    assert!(first.len() < 700_000, "{} bytes", first.len());
    assert!(text(&first).contains("Page 1 of 10, 500 tasks"));
    let last = get(&site, &format!("/evaluations/{id}?page=10")).await.body;
    assert!(last.contains("task-499<") && !last.contains("task-000<"));
}
