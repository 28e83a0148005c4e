//! What a verifier left behind, read and judged: reward files, test reports, and the verdict that follows from them.

pub mod ctrf;
pub mod judge;
pub mod junit;
pub mod pass_rate;
pub mod printed;
pub mod pytest;
pub mod reward;
pub mod setup_failure;
mod text;

pub use judge::{Judgement, VerifierEnding, VerifierRun, judge};
pub use reward::{Reward, RewardError, RewardReading, read_reward};
