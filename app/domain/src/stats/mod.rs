//! Statistics of paired evaluations: pure functions, no panic, no NaN in or out. What is undefined is `None` or a variant
//! that says why.
//!
//! The task is the unit of inference. A page needs [`delta::delta`], [`ratio::ratio`], [`verdict::DeltaVerdict`] and
//! [`quadrant::Quadrant`]; the other files hold one family of formulas each.

pub mod agreement;
mod agresti_coull;
pub mod alpha;
mod beta;
pub mod binomial;
pub mod cluster;
pub mod cost;
pub mod counts;
pub mod delta;
pub mod evalue;
mod exact;
pub mod fisher;
pub mod gain;
pub mod interval;
pub mod mcnemar;
mod method;
pub mod multiple;
pub mod newcombe;
pub mod noise;
pub mod normal;
pub mod paired;
pub mod paired_t;
pub mod passk;
pub mod power;
pub mod quadrant;
pub mod ratio;
mod rng;
pub mod signflip;
mod stirling;
pub mod student;
pub mod tango;
mod task_means;
pub mod variance;
pub mod verdict;
pub mod wilson;
