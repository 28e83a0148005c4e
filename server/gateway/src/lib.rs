//! The model gateway: forwards model calls, counts tokens on the wire, keeps keys out of containers.
//!
//! [`Gateway`] knows the configured upstreams; [`Gateway::open`] gives each attempt a [`TrialGateway`] of its own, which answers the
//! vendor's API for that attempt alone.

mod call;
pub mod caps;
mod gateway;
pub mod protocol;
pub mod record;
pub mod retry;
pub mod secret;
mod trial;
pub mod trouble;
pub mod upstream;
pub mod usage;

pub use caps::{CapReached, Caps};
pub use gateway::{Gateway, OpenError, TrialTicket};
pub use record::{CallOutcome, CallRecord};
pub use retry::RetryPolicy;
pub use secret::Secret;
pub use trial::TrialGateway;
pub use trouble::ProviderTrouble;
pub use upstream::{ByteStream, Upstream, UpstreamError};
