//! A zone: a part of the rectangle that one thread works on beside others.

use super::channel::Channel;
use super::grid::PeIndex;
use super::router::{Caught, ChannelIndex, Collision, Injection, Landing, Move};
use super::tiles::TileSet;
use super::wavelet::Wavelet;
use fabsim_program::program::Direction;

/// What goes from one zone to another.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Crossing {
    Wake(PeIndex),
    Landing {
        pe: PeIndex,
        color: u8,
        side: Direction,
        wavelet: Wavelet,
    },
}

/// What one thread keeps of the routers of its zone, and what it has decided and noted.
#[derive(Debug)]
pub(crate) struct Zone {
    /// The first PE, and the first one after the last.
    pub first: PeIndex,
    pub end: PeIndex,
    /// The routers to visit.
    pub active: TileSet,
    pub moves: Vec<Move>,
    /// Routers whose first channel changed as they looked, and which it was.
    pub turned: Vec<(PeIndex, u8)>,
    /// Moves carried out so far.
    pub departures: u64,
    pub injections: Vec<Injection>,
    pub crossings: Vec<Crossing>,
    /// What has come from other zones and has yet to take effect.
    pub arrivals: Vec<Crossing>,
    /// Landings at tiles that are part of a flow.
    pub caught: Vec<Caught>,
    /// Wavelets that filters have yet to count.
    pub counted: Vec<(PeIndex, ChannelIndex, Wavelet)>,
    pub torn_down: Vec<(PeIndex, u8)>,
    pub collisions: Vec<Collision>,
    /// Colors whose `advance_switch` led to a position with other outputs.
    pub retargeted: Vec<(PeIndex, u8)>,
    /// Where a wavelet left the rectangle, and its color: the first, by PE, of the first cycle at least.
    pub lost: Option<(PeIndex, u8)>,
    /// Landings, if a trace is kept.
    pub landings: Option<Vec<Landing>>,
}

impl Zone {
    pub(crate) fn new(first: PeIndex, end: PeIndex) -> Zone {
        Zone {
            first,
            end,
            active: TileSet::new(first, end.index() - first.index()),
            moves: Vec::new(),
            turned: Vec::new(),
            departures: 0,
            injections: Vec::new(),
            crossings: Vec::new(),
            arrivals: Vec::new(),
            caught: Vec::new(),
            counted: Vec::new(),
            torn_down: Vec::new(),
            collisions: Vec::new(),
            retargeted: Vec::new(),
            lost: None,
            landings: None,
        }
    }

    #[inline]
    pub fn holds(&self, pe: PeIndex) -> bool {
        self.first <= pe && pe < self.end
    }

    /// A wavelet lands at a tile that is part of a flow: apart, as most do not.
    #[inline(never)]
    pub fn catch(&mut self, caught: Caught) {
        self.caught.push(caught);
    }

    /// Keeps a landing, where a trace is kept.
    #[cold]
    pub fn trace(&mut self, landing: Landing) {
        self.landings.iter_mut().for_each(|all| all.push(landing));
    }

    /// A wavelet leaves the rectangle.
    #[cold]
    pub fn lose(&mut self, pe: PeIndex, color: u8) {
        let place = (pe, color);
        self.lost = Some(self.lost.map_or(place, |first| first.min(place)));
    }
}

/// The part of a channel list that a thread may change.
#[inline]
pub(crate) fn own(channels: &mut [Channel], first: usize, index: ChannelIndex) -> &mut Channel {
    &mut channels[index.index() - first]
}
