//! Sizes of the hardware's queues and tables, per architecture.
//!
//! A queue entry is one wavelet. That reproduces the one published count for a whole path: a PE
//! that reads input queue 2 and forwards 16-bit elements through output queue 3 absorbs
//! 4 + 4 + 6 = 14 wavelets. See docs/machine.md.

use crate::program::Arch;

/// Largest depth of any queue; rings are this long. Routers need the room beyond their depth
/// only where `lenient` lets two wavelets land at once.
pub const RING: usize = 8;

/// Colors a router can route.
pub const COLORS: usize = 24;

/// Queue depths in wavelets; 0 where the machine has no such queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Per color and router. Inferred from the official simulator's messages.
    pub router_queue: u8,
    /// By id.
    pub input_queues: [u8; 8],
    /// By id.
    pub output_queues: [u8; 8],
}

const WSE2: Limits = Limits {
    router_queue: 4,
    input_queues: [6, 6, 4, 4, 2, 2, 2, 2],
    output_queues: [2, 2, 6, 6, 2, 2, 0, 0],
};

const WSE3: Limits = Limits {
    router_queue: 4,
    input_queues: [8, 8, 4, 4, 4, 4, 4, 4],
    output_queues: [8; 8],
};

/// The table of `arch`.
pub fn limits(arch: Arch) -> &'static Limits {
    match arch {
        Arch::Wse2 => &WSE2,
        Arch::Wse3 => &WSE3,
    }
}
