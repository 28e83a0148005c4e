//! One file per page; a page loads its data and puts parts together.

mod address;
pub mod audit;
pub mod audit_runs;
pub mod evaluation;
pub mod evaluations;
pub mod home;
mod live_view;
pub mod new_evaluation;
pub mod not_found;
pub mod pair;
mod pair_facts;
mod pair_tests;
mod pair_traces;
mod plan_card;
mod plan_form;
pub mod posted;
mod result;
mod result_left_out;
mod result_matrix;
mod result_totals;
pub mod skill;
pub mod skills;
pub mod task;
mod task_audit;
pub mod tasks;
