//! Installing, all or nothing.
//!
//! Invariant: what the root holds is decided by one rename, that of the intent. Before it everything
//! new lies in the staging area and is thrown away by whoever comes next; after it whoever comes next
//! finishes the moves, which can each be done twice. So the root is seen whole, old or new.

mod audit;
mod error;
mod intent;
mod kept_pack;
mod leave;
mod recover;
mod root;
mod stage;
mod state;

pub use audit::audit;
pub use error::InstallError;
pub use kept_pack::KeptPack;
pub use leave::{Kept, KeptAs};
pub use root::{Opened, Root};
pub use stage::{Installed, Plan, Record, Replace};
pub use state::{InstalledState, state_of};
