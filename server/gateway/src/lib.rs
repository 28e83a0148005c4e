//! The model gateway: forwards model calls, counts tokens on the wire, keeps keys out of containers.
//!
//! [`Gateway`] knows the configured upstreams; [`Gateway::open`] gives each attempt a [`TrialGateway`] of its own, which answers the
//! vendors' APIs for that attempt alone; [`serve::serve`] offers it on a socket that a closed container reaches.

mod call;
pub mod caps;
mod gateway;
pub mod ledger;
mod passages;
pub mod prices;
pub mod protocol;
pub mod record;
pub mod retry;
pub mod secret;
pub mod serve;
mod sightings;
mod standing;
mod trial;
mod tries;
pub mod trouble;
pub mod upstream;
pub mod usage;

pub use caps::{CapReached, CapScope, Caps, Limit, SharedBudget, Spent};
pub use gateway::{Gateway, OpenError, ProviderTools, TrialTicket};
pub use prices::PriceTable;
pub use protocol::Protocol;
pub use record::{CallOutcome, CallRecord};
pub use retry::RetryPolicy;
pub use secret::Secret;
pub use trial::{MOST_CALLS, TrialGateway};
pub use trouble::ProviderTrouble;
pub use upstream::{ByteStream, Upstream, UpstreamError};
