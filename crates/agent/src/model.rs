//! Who decides.

mod cancel;

use crate::context::Prompt;
use crate::reply::Reply;

pub use cancel::Cancel;

/// Something that decides.
pub trait Model {
    /// Decides what to do next. Text goes to `delta` as it arrives; a cancelled call may end early.
    fn decide(
        &mut self,
        prompt: &Prompt<'_>,
        cancel: &Cancel,
        delta: &mut dyn FnMut(&str),
    ) -> Reply;

    /// Whether it can be shown pictures.
    fn can_see(&self) -> bool {
        false
    }
}
