//! What the end of an operation, or a control wavelet in it, brings about.

use fabsim_program::program::BlockTarget;

/// What happens when an operation ends, ids resolved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// A local task is activated.
    Activate(u8),
    /// Something is unblocked.
    Unblock(BlockTarget),
    /// The operation ends.
    Terminate,
}
