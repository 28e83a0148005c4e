//! The statistics against values made by numpy, scipy and statsmodels: `../shared/data/golden_stats.json`, beside the checkout.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use domain::condition::Pair;
use domain::stats::alpha::Alpha;
use domain::stats::counts::PairCounts;
use domain::stats::evalue::EValue;
use domain::stats::multiple::{benjamini_hochberg, holm};
use domain::stats::quadrant::{Quadrant, cost_efficiency};
use domain::stats::ratio::{RatioCi, ratio};
use domain::stats::variance::VarianceSplit;
use domain::stats::{
    agreement, cluster, delta, gain, mcnemar, newcombe, noise, normal, paired_t, passk, power, signflip, student,
    tango, wilson,
};
use serde_json::Value;

const CLOSED_FORM: f64 = 1e-9;
const ROOT_FOUND: f64 = 1e-7;

/// One section, or `None` (with the reason printed) where the file is absent.
fn section(name: &str) -> Option<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/golden_stats.json");
    let Ok(text) = std::fs::read_to_string(path) else {
        println!("skipped: {path} is absent; the values inside the modules are tested all the same");
        return None;
    };
    let mut file: Value = serde_json::from_str(&text).unwrap();
    Some(file[name].take())
}

fn cases(name: &str) -> Vec<Value> {
    section(name).map_or_else(Vec::new, |section| section["cases"].as_array().unwrap().clone())
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}"))
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

fn count(value: &Value) -> u32 {
    u32::try_from(value.as_u64().unwrap()).unwrap()
}

#[track_caller]
fn close(found: f64, expected: &Value, tolerance: f64) {
    let expected = number(expected);
    assert!((found - expected).abs() <= tolerance, "found {found}, expected {expected}");
}

#[track_caller]
fn close_interval(found: domain::stats::interval::Interval, expected: &Value, tolerance: f64) {
    close(found.low, &expected[0], tolerance);
    close(found.high, &expected[1], tolerance);
}

#[test]
fn constants() {
    let Some(golden) = section("constants") else { return };
    for (key, value) in golden.as_object().unwrap() {
        if let Some(p) = key.strip_prefix("z_") {
            close(normal::quantile(p.parse().unwrap()).unwrap(), value, 1e-12);
        } else if let Some((p, df)) = key.strip_prefix("t_").and_then(|rest| rest.split_once("_df")) {
            close(student::quantile(p.parse().unwrap(), df.parse().unwrap()).unwrap(), value, 1e-11);
        }
    }
}

#[test]
fn mcnemar_tests() {
    for case in cases("mcnemar") {
        let (rescued, broken) = (count(&case["b"]), count(&case["c"]));
        close(mcnemar::exact(rescued, broken), &case["p_exact_two_sided"], CLOSED_FORM);
        close(mcnemar::mid_p(rescued, broken), &case["p_mid"], CLOSED_FORM);
        close(mcnemar::one_sided(rescued, broken), &case["p_one_sided_skill_better"], CLOSED_FORM);
    }
    if let Some(golden) = section("mcnemar") {
        let first = |alpha: f64| (1..).find(|n| mcnemar::smallest_p(*n) < alpha).unwrap();
        assert_eq!(first(0.05), count(&golden["min_discordant_for_p<0.05_when_c=0"]));
        assert_eq!(first(0.05 / 49.0), count(&golden["min_for_Holm_first_step_49_skills"]));
    }
}

#[test]
fn wilson_intervals() {
    for case in cases("single_proportion_ci95") {
        let found = wilson::wilson(count(&case["k"]).into(), count(&case["n"]).into(), Alpha::FIVE_PERCENT).unwrap();
        close_interval(found, &case["wilson"], CLOSED_FORM);
    }
}

#[test]
fn intervals_of_paired_differences() {
    for case in cases("paired_difference_ci95") {
        let [both, rescued, broken, neither] = ["a", "b", "c", "d"].map(|key| count(&case[key]));
        let counts = PairCounts { both, rescued, broken, neither };
        close_interval(
            newcombe::newcombe(&counts, Alpha::FIVE_PERCENT).unwrap(),
            &case["newcombe_m10_phi_cc"],
            CLOSED_FORM,
        );
        close_interval(tango::tango(&counts, Alpha::FIVE_PERCENT).unwrap(), &case["tango_score"], ROOT_FOUND);
        let estimate = delta::delta(&single_pairs(&counts), Alpha::FIVE_PERCENT).unwrap();
        close(estimate.delta, &case["delta"], CLOSED_FORM);
        close(estimate.p_value, &case["p_exact"], CLOSED_FORM);
        // The headline never claims more than the reference's default or its cross-check do.
        for reference in ["newcombe_m10_phi_cc", "tango_score"] {
            let [low, high] = [0, 1].map(|end| number(&case[reference][end]));
            assert!(
                estimate.n_tasks < 20 || (estimate.ci.low <= low + ROOT_FOUND && high - ROOT_FOUND <= estimate.ci.high),
                "{counts:?}"
            );
        }
    }
}

/// As many tasks of one pair each.
fn single_pairs(counts: &PairCounts) -> Vec<PairCounts> {
    let zero = PairCounts::default();
    [
        (counts.both, PairCounts { both: 1, ..zero }),
        (counts.rescued, PairCounts { rescued: 1, ..zero }),
        (counts.broken, PairCounts { broken: 1, ..zero }),
        (counts.neither, PairCounts { neither: 1, ..zero }),
    ]
    .into_iter()
    .flat_map(|(tasks, pair)| std::iter::repeat_n(pair, tasks as usize))
    .collect()
}

#[test]
fn clustered_standard_error() {
    let Some(golden) = section("clustered_se") else { return };
    let clusters: Vec<u64> = golden["cluster"].as_array().unwrap().iter().map(|id| id.as_u64().unwrap()).collect();
    let values: Vec<(u64, f64)> = clusters.into_iter().zip(numbers(&golden["scores"])).collect();
    let found = cluster::clustered_mean(&values, Alpha::FIVE_PERCENT).unwrap();
    close(found.mean, &golden["mean"], CLOSED_FORM);
    close(found.se, &golden["se_clustered_sandwich_small_sample_G/(G-1)*(n-1)/(n-1)"], CLOSED_FORM);
    close(found.se_unclustered, &golden["se_clt_ddof1"], CLOSED_FORM);
    close(found.se_miller.unwrap(), &golden["se_clustered_miller"], CLOSED_FORM);
    close(found.design_effect.unwrap(), &golden["design_effect"], CLOSED_FORM);
    assert_eq!(found.clusters, count(&golden["G"]));
}

#[test]
fn several_trials_of_each_task() {
    let Some(golden) = section("paired_multi_trial") else { return };
    let arm = |key: &str| golden[key].as_array().unwrap().iter().map(numbers).collect::<Vec<_>>();
    let tasks: Vec<PairCounts> = arm("with_skill")
        .iter()
        .zip(arm("no_skill"))
        .map(|(with, without)| {
            let pairs = with.iter().zip(without);
            pairs
                .map(|(with, without)| domain::condition::Flip::of(Pair { with: *with > 0.5, without: without > 0.5 }))
                .collect()
        })
        .collect();
    let estimate = delta::delta(&tasks, Alpha::FIVE_PERCENT).unwrap();
    close(estimate.delta, &golden["delta"], CLOSED_FORM);
    close(estimate.p_value, &golden["sign_flip_exact_p_two_sided"], CLOSED_FORM);
    assert_eq!(estimate.p_mid, None);

    let differences = numbers(&golden["task_delta"]);
    let t = paired_t::paired_t(&differences, Alpha::FIVE_PERCENT).unwrap();
    close(t.se, &golden["se_paired"], CLOSED_FORM);
    close(t.t, &golden["t"], CLOSED_FORM);
    close(t.p, &golden["p_t"], CLOSED_FORM);
    close_interval(t.ci, &golden["ci95_t"], CLOSED_FORM);

    let repositories = golden["repo_cluster"].as_array().unwrap().iter().map(|id| id.as_u64().unwrap());
    let labelled: Vec<(u64, f64)> = repositories.zip(differences).collect();
    let clustered = cluster::clustered_mean(&labelled, Alpha::FIVE_PERCENT).unwrap();
    close(clustered.se, &golden["se_cluster_repo_corrected"], CLOSED_FORM);
    assert!(clustered.too_few && clustered.se < clustered.se_unclustered);

    let split = VarianceSplit::of(&tasks).unwrap();
    close(split.within, &golden["within_trial_component_of_var_delta_per_task"], CLOSED_FORM);
}

#[test]
fn sign_flip_tests() {
    for case in cases("sign_flip_exact") {
        close(signflip::sign_flip(&numbers(&case["d"])).unwrap().p, &case["p"], CLOSED_FORM);
    }
}

#[test]
fn token_overhead() {
    let Some(golden) = section("token_overhead_ratio_of_means") else { return };
    let tasks: Vec<Pair<f64>> = numbers(&golden["no_tokens"])
        .into_iter()
        .zip(numbers(&golden["with_tokens"]))
        .map(|(without, with)| Pair { without, with })
        .collect();
    let found = ratio(&tasks, Alpha::FIVE_PERCENT).unwrap();
    let RatioCi::Bounded { log_delta, fieller } = found.ci else { panic!("{found:?}") };
    close(found.rho, &golden["overhead_rho"], CLOSED_FORM);
    let geometric = found.geometric_ci.unwrap();
    close(found.geometric_rho.unwrap() + 1.0, &golden["geometric_mean_ratio"], CLOSED_FORM);
    for (interval, key) in
        [(log_delta, "log_delta_ci95_t"), (fieller, "fieller_ci95_t"), (geometric, "geometric_ci95_t")]
    {
        close(interval.low + 1.0, &golden[key][0], CLOSED_FORM);
        close(interval.high + 1.0, &golden[key][1], CLOSED_FORM);
    }
    resamples(&tasks, &golden);
}

/// The ratio of means on stored resamples, and on all 256 resamples of the first four pairs.
fn resamples(tasks: &[Pair<f64>], golden: &Value) {
    let of = |places: &[usize]| {
        let drawn: Vec<Pair<f64>> = places.iter().map(|place| tasks[*place]).collect();
        ratio(&drawn, Alpha::FIVE_PERCENT).unwrap().rho + 1.0
    };
    let stored = &golden["deterministic_resample_indices"];
    for (places, expected) in stored["indices"].as_array().unwrap().iter().zip(stored["ratios"].as_array().unwrap()) {
        let places: Vec<usize> =
            places.as_array().unwrap().iter().map(|place| place.as_u64().unwrap() as usize).collect();
        close(of(&places), expected, CLOSED_FORM);
    }
    let mut ratios: Vec<f64> =
        (0..256_usize).map(|draw| of(&[draw % 4, draw / 4 % 4, draw / 16 % 4, draw / 64])).collect();
    ratios.sort_by(f64::total_cmp);
    let mean = ratios.iter().sum::<f64>() / 256.0;
    let deviation = (ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum::<f64>() / 256.0).sqrt();
    let exhaustive = &golden["exhaustive_bootstrap_first4_pairs_256_resamples"];
    for (found, key) in [(mean, "mean"), (deviation, "sd_pop"), (ratios[0], "min"), (ratios[255], "max")] {
        close(found, &exhaustive[key], CLOSED_FORM);
    }
}

#[test]
fn an_unseparated_denominator_gives_no_interval() {
    let Some(golden) = section("fieller_unbounded_example") else { return };
    let tasks: Vec<Pair<f64>> = numbers(&golden["x"])
        .into_iter()
        .zip(numbers(&golden["y"]))
        .map(|(with, without)| Pair { without, with })
        .collect();
    assert_eq!(ratio(&tasks, Alpha::FIVE_PERCENT).unwrap().ci, RatioCi::Unbounded);
}

#[test]
fn adjustments_for_many_tests() {
    for case in cases("multiplicity") {
        let p = numbers(&case["p"]);
        for (found, key) in [(holm(&p), "holm"), (benjamini_hochberg(&p), "bh")] {
            for (found, expected) in found.unwrap().into_iter().zip(case[key].as_array().unwrap()) {
                close(found, expected, CLOSED_FORM);
            }
        }
    }
}

#[test]
fn pass_at_k() {
    for case in cases("pass_at_k") {
        let [n, passed, k] = ["n", "c", "k"].map(|key| count(&case[key]));
        close(passk::pass_at_k(n, passed, k).unwrap(), &case["pass_at_k"], CLOSED_FORM);
        close(passk::pass_hat_k(n, passed, k).unwrap(), &case["pass_hat_k"], CLOSED_FORM);
    }
}

#[test]
fn normalized_gain() {
    for case in cases("normalized_gain") {
        let found = gain::normalized_gain(number(&case["no_skill"]), number(&case["with_skill"]));
        match found {
            Some(found) => close(found, &case["g"], CLOSED_FORM),
            None => assert!(case["g"].is_null(), "{case}"),
        }
    }
}

#[test]
fn power_of_plans() {
    for case in cases("power") {
        let found =
            power::mcnemar_power(count(&case["n"]), number(&case["p10"]), number(&case["p01"]), Alpha::FIVE_PERCENT);
        close(found.unwrap(), &case["power_exact_mcnemar_0_05"], CLOSED_FORM);
    }
    let Some(golden) = section("power") else { return };
    for case in golden["mde_c0"].as_array().unwrap() {
        match power::smallest_delta(count(&case["n_tasks"]), 0.0, 0.8, Alpha::FIVE_PERCENT) {
            Some(found) => close(found, &case["mde_no_breaks_power80"], ROOT_FOUND),
            None => assert!(case["mde_no_breaks_power80"].is_null(), "{case}"),
        }
    }
    for case in golden["n_needed_normal"].as_array().unwrap() {
        let alpha = Alpha::new(number(&case["alpha"])).unwrap();
        let found = power::tasks_needed(number(&case["delta"]), number(&case["omega2"]), number(&case["power"]), alpha);
        assert_eq!(found, Some(count(&case["n"])), "{case}");
    }
}

#[test]
fn e_values() {
    for case in cases("anytime_valid_e_value") {
        let (rescued, broken) = (count(&case["b"]), count(&case["c"]));
        let uniform = EValue::uniform(rescued, broken);
        close(uniform.value(), &case["e_uniform"], CLOSED_FORM);
        close(uniform.anytime_p(), &case["anytime_p_uniform"], CLOSED_FORM);
        close(EValue::jeffreys(rescued, broken).value(), &case["e_jeffreys"], CLOSED_FORM);
    }
}

#[test]
fn agreement_of_reviewers() {
    let Some(golden) = section("reviewer_agreement") else { return };
    let table = |key: &str| {
        let rows = golden[key].as_array().unwrap().iter();
        rows.map(|row| row.as_array().unwrap().iter().map(count).collect()).collect::<Vec<Vec<u32>>>()
    };
    let cohen = agreement::cohen_kappa(&table("cohen_table"), Alpha::FIVE_PERCENT).unwrap();
    close(cohen.kappa, &golden["cohen_kappa"], CLOSED_FORM);
    close_interval(cohen.ci.unwrap(), &golden["cohen_ci95"], CLOSED_FORM);
    close(agreement::fleiss_kappa(&table("fleiss_table")).unwrap(), &golden["fleiss_kappa"], CLOSED_FORM);
}

#[test]
fn cost_efficiency_and_quadrants() {
    for case in cases("cost_efficiency") {
        let (delta, rho) = (number(&case["delta"]), number(&case["rho"]));
        match cost_efficiency(delta, rho) {
            Some(found) => close(found, &case["ce"], CLOSED_FORM),
            None => assert!(case["ce"].is_null(), "{case}"),
        }
        assert_eq!(Quadrant::of(delta, rho).unwrap().name(), case["quadrant"].as_str().unwrap());
    }
}

#[test]
fn noise_floors() {
    for case in cases("aa_noise_floor") {
        let found = noise::NoiseFloor::expected(count(&case["n"]), number(&case["pass_rate"])).unwrap();
        close(found.sd_delta, &case["sd_delta"], CLOSED_FORM);
        close(found.p_nonzero, &case["p_nonzero_delta"], CLOSED_FORM);
    }
}
