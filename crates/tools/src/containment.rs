//! What a sandbox is asked for and what it answers, as plain values: the same for every system.

mod applied;
mod confinement;
mod error;
mod exit;
mod feature;
mod invocation;
mod layout;

pub use applied::{Applied, Isolation};
pub use confinement::{Confinement, Limits, Network, SandboxMode};
pub use error::SandboxError;
pub use exit::{Captured, Ending, Exit, Reason};
pub use feature::{Availability, Feature};
pub use invocation::{Invocation, Output, Stdin};
pub use layout::ViewKind;
pub(crate) use layout::{Closing, Layout, Source};
