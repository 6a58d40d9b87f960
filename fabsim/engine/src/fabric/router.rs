//! A router, and what moves through it.

use super::grid::PeIndex;
use super::wavelet::{Command, Wavelet};
use fabsim_program::program::{Direction, Directions};

/// The sides that lead to neighbours, as a set.
pub(crate) const ALL_LINKS: u8 = 0x0f;

/// Index into the channels of all routers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ChannelIndex(pub(crate) u32);

impl ChannelIndex {
    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The part of a router's state that only its own visits and landings change.
#[derive(Clone, Copy, Debug)]
pub struct Router {
    /// Bit per local channel that holds a wavelet.
    pub(crate) occupied: u32,
    /// The local channel that goes first: the first one refused for a taken link.
    pub(crate) turn: u8,
    /// The sides with a neighbour.
    pub(crate) sides: Directions,
    /// The output queues of the compute element hold something.
    pub fed: bool,
    /// The flow the tile is part of, or `NO_FLOW`: then nothing of it is up to date but how many
    /// wavelets its queues hold (see `flow`).
    pub flow: u32,
    /// Cycles in a row in which all its wavelets moved and its compute element did the same.
    pub streak: u8,
    /// What the compute element did in the last cycle: 0 nothing, 1 the main thread went on, from 2
    /// on the microthread with that number, less 2.
    pub deed: u8,
    /// The channels that wavelets have left in the last cycle, if that was all that held any.
    pub drained: u32,
}

/// A tile that is visited.
pub const NO_FLOW: u32 = u32::MAX;

/// A wavelet that leaves a router's queue this cycle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Move {
    pub(crate) pe: PeIndex,
    pub(crate) channel: ChannelIndex,
    /// Where it lands, if it is plain and goes over a link.
    pub(crate) next: ChannelIndex,
    /// As it leaves: popped or not.
    pub(crate) payload: u32,
    pub(crate) control: bool,
    pub(crate) color: u8,
    /// Where the copies go.
    pub(crate) outputs: u8,
    pub(crate) command: Command,
    pub(crate) position: u8,
    /// Neighbours may wait for the room it leaves.
    pub(crate) was_full: bool,
    /// A data wavelet with but one way.
    pub(crate) plain: bool,
}

impl Move {
    #[inline]
    pub(crate) fn wavelet(&self) -> Wavelet {
        Wavelet {
            payload: self.payload,
            control: self.control,
        }
    }
}

/// A wavelet that enters a router's queue from its compute element this cycle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Injection {
    pub(crate) pe: PeIndex,
    pub(crate) channel: ChannelIndex,
    pub(crate) wavelet: Wavelet,
    pub(crate) advance_switch: bool,
}

/// A wavelet that has come down a ramp.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// Where it came down.
    pub pe: PeIndex,
    /// Its color.
    pub color: u8,
    /// The wavelet.
    pub wavelet: Wavelet,
}

/// Wavelets of one color that landed in one router in one cycle: two, or two of several.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Collision {
    /// The router.
    pub pe: PeIndex,
    /// The color.
    pub color: u8,
    /// The sides they came from.
    pub sides: Directions,
    /// There was no room even to queue both.
    pub overflow: bool,
}

/// One landing, for traces and tests.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Landing {
    /// The cycle from which on it is in the queue.
    pub cycle: u64,
    /// The router.
    pub pe: PeIndex,
    /// Its color.
    pub color: u8,
    /// The side it came from.
    pub side: Direction,
    /// The wavelet.
    pub wavelet: Wavelet,
}

/// A landing at a tile that is part of a flow.
#[derive(Clone, Copy, Debug)]
pub struct Caught {
    /// The tile.
    pub pe: PeIndex,
    /// The channel it lands in.
    pub channel: ChannelIndex,
    /// The side it comes from.
    pub side: Direction,
    /// The wavelet.
    pub wavelet: Wavelet,
}
