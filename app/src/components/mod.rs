//! Parts that pages are made of, each with one look and one meaning.

pub mod actor;
pub mod arms;
pub mod audit;
pub mod chart;
pub mod data_table;
pub mod delta;
pub mod evaluation_table;
pub mod exports;
pub mod findings;
pub mod flip;
pub mod fold;
pub mod icon;
pub mod leaderboard_table;
pub mod loaded;
pub mod pager;
pub mod state;
pub mod step_part;
pub mod top_bar;
pub mod trace_rows;
pub mod verdict;
pub mod words;
