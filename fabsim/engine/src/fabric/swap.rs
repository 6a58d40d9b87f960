//! Color swap: colors c and c ^ 1 are a pair, and a router may receive one as the other.
//!
//! If only one color of the pair swaps on an axis, wavelets of the other that arrive there are
//! received as both; if both do, the two are exchanged. What a compute element sends is subject to
//! it where a color swaps on both axes. Programs without swaps never come here.

use super::grid::PeIndex;
use super::rectangle::Fabric;
use super::view::{View, Wires};
use fabsim_program::program::Direction;

impl Wires {
    /// The colors a wavelet from `side` has in the router of `pe`.
    pub fn received_as(
        &self,
        pe: PeIndex,
        color: u8,
        side: Direction,
    ) -> impl Iterator<Item = u8> + Clone {
        let partner = color ^ 1;
        let (mine, theirs) = match self.swaps {
            true => (self.swap(pe, color, side), self.swap(pe, partner, side)),
            false => (false, false),
        };
        let kept = (!mine || !theirs).then_some(color);
        let gained = theirs.then_some(partner);
        kept.into_iter().chain(gained)
    }

    fn swap(&self, pe: PeIndex, color: u8, side: Direction) -> bool {
        let Some((index, _)) = self.find(pe, color) else {
            return false;
        };
        let settings = self.settings_of(pe, index);
        match side {
            Direction::East | Direction::West => settings.swap_x,
            Direction::North | Direction::South => settings.swap_y,
            Direction::Ramp => settings.swap_x && settings.swap_y,
        }
    }
}

impl View<'_> {
    /// `accepts` where colors may be swapped: all copies or none.
    #[cold]
    pub(crate) fn accepts_swapped(self, pe: PeIndex, color: u8, side: Direction) -> bool {
        let mut colors = self.wires.received_as(pe, color, side);
        colors.all(|color| self.accepts(pe, color, side))
    }
}

impl Fabric {
    /// The colors a wavelet from `side` has in the router of `pe`.
    pub fn received_as(
        &self,
        pe: PeIndex,
        color: u8,
        side: Direction,
    ) -> impl Iterator<Item = u8> + Clone {
        self.wires.received_as(pe, color, side)
    }
}
