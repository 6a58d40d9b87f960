//! Who is told what happens at routers.

use super::grid::PeIndex;
use super::wavelet::Wavelet;
use fabsim_program::program::{Direction, Directions};

/// A wavelet at a router.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passage {
    /// The cycle.
    pub cycle: u64,
    /// The router.
    pub pe: PeIndex,
    /// The color.
    pub color: u8,
    /// The wavelet.
    pub wavelet: Wavelet,
    /// Wavelets in the queue it has entered or left, after it.
    pub level: u8,
}

/// Told what happens at routers.
pub trait Observer {
    /// It looks at nothing: what happens may be done in another order.
    #[inline]
    fn is_silent(&self) -> bool {
        false
    }

    /// A wavelet is in a router's queue from this cycle on, coming in from a side.
    fn landed(&mut self, _passage: Passage, _from: Direction) {}

    /// A wavelet left a router's queue in this cycle, over these sides. Every side but RAMP is the
    /// use of a link; no side at all is a wavelet that a filter swallowed.
    fn left(&mut self, _passage: Passage, _over: Directions) {}
}

/// Looks at nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    #[inline]
    fn is_silent(&self) -> bool {
        true
    }
}
