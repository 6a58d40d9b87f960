//! Routers and links: how wavelets move from PE to PE.
//!
//! A cycle has two halves. First everybody looks: `look` decides from the state at the start of
//! the cycle which wavelets move. Then everybody moves: `commit` changes the state. Nothing that
//! a neighbour may look at changes in the first half, so the order of visits cannot matter.
//!
//! Only active routers are visited. A router whose wavelets cannot move falls asleep; whatever
//! could let them move wakes it: a landing, room or a changed route next door, room in its own
//! compute element's queues.
//!
//! The rectangle is divided into zones of whole rows, one a thread. In each half a thread changes
//! only what belongs to its zone; what goes to another zone is handed over after the second half.

pub mod channel;
mod commit;
mod edge;
pub mod filter;
mod flow;
pub mod grid;
mod look;
pub mod observer;
pub mod ramp;
pub mod registers;
pub mod settings;
mod swap;
pub mod tiles;
mod view;
pub mod wavelet;
mod zone;
mod zones;

pub use self::commit::{Below, Moving};
pub use self::flow::{Caught, Current};
pub use self::look::{Looked, Looking};
pub use self::view::View;
pub use self::zones::split_front;

use self::channel::Channel;
use self::filter::FilterState;
use self::grid::{Grid, PeIndex};
use self::settings::RouterSettings;
use self::view::{Place, Wires};
use self::wavelet::{Command, Wavelet};
use self::zone::Zone;
use fabsim_program::program::{Design, Direction, Directions};
use std::sync::Arc;

/// The sides that lead to neighbours, as a set.
const ALL_LINKS: u8 = 0x0f;

/// Index into the channels of all routers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ChannelIndex(u32);

impl ChannelIndex {
    #[inline]
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// The part of a router's state that only its own visits and landings change.
#[derive(Clone, Copy, Debug)]
pub struct Router {
    /// Bit per local channel that holds a wavelet.
    occupied: u32,
    /// The local channel that goes first: the first one refused for a taken link.
    turn: u8,
    /// The sides with a neighbour.
    sides: Directions,
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
struct Move {
    pe: PeIndex,
    channel: ChannelIndex,
    /// Where it lands, if it is plain and goes over a link.
    next: ChannelIndex,
    /// As it leaves: popped or not.
    payload: u32,
    control: bool,
    color: u8,
    /// Where the copies go.
    outputs: u8,
    command: Command,
    position: u8,
    /// Neighbours may wait for the room it leaves.
    was_full: bool,
    /// A data wavelet with but one way.
    plain: bool,
}

impl Move {
    #[inline]
    fn wavelet(&self) -> Wavelet {
        Wavelet {
            payload: self.payload,
            control: self.control,
        }
    }
}

/// A wavelet that enters a router's queue from its compute element this cycle.
#[derive(Clone, Copy, Debug)]
struct Injection {
    pe: PeIndex,
    channel: ChannelIndex,
    wavelet: Wavelet,
    advance_switch: bool,
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

/// All routers.
#[derive(Debug)]
pub struct Fabric {
    /// The rectangle.
    pub grid: Grid,
    wires: Wires,
    routers: Vec<Router>,
    channels: Vec<Channel>,
    zones: Vec<Zone>,
    /// Landings since the trace was switched on.
    pub trace: Option<Vec<Landing>>,
}

impl Fabric {
    /// The routers of a design, a hop of one cycle or two apart, divided into zones that end before the
    /// given PEs.
    pub fn new(design: &Design, depth: u8, hop_cycles: u64, ends: &[PeIndex]) -> Fabric {
        let grid = Grid {
            width: u32::from(design.width),
            height: u32::from(design.height),
        };
        let settings = design.routers.iter();
        let settings = settings.map(|setup| Arc::new(RouterSettings::new(setup)));
        let mut fabric = Fabric {
            grid,
            wires: Wires::new(grid, depth, hop_cycles, settings.collect()),
            routers: Vec::with_capacity(design.tiles.len()),
            channels: Vec::new(),
            zones: Vec::new(),
            trace: None,
        };
        let channels = design.tiles.iter().map(|tile| {
            let known = &fabric.wires.settings[tile.router as usize];
            known.colors.len()
        });
        fabric.channels.reserve_exact(channels.sum());
        for tile in &design.tiles {
            fabric.add_router(tile.router);
        }
        fabric.divide(ends);
        fabric.set_ways();
        fabric
    }

    fn set_ways(&mut self) {
        for n in 0..self.routers.len() {
            let end = match self.wires.places.get(n + 1) {
                Some(place) => place.first_channel as usize,
                None => self.channels.len(),
            };
            let first = self.wires.places[n].first_channel as usize;
            for channel in &mut self.channels[first..end] {
                self.wires.set_way(PeIndex(n as u32), channel);
            }
        }
    }

    fn add_router(&mut self, settings: u32) {
        let first_channel = self.channels.len() as u32;
        let sides = self.grid.sides(PeIndex(self.routers.len() as u32));
        let known = Arc::clone(&self.wires.settings[settings as usize]);
        for (local, color) in known.colors.iter().enumerate() {
            if let Some(filter) = &color.filter {
                let channel = ChannelIndex(self.channels.len() as u32);
                let state = FilterState::new(filter);
                self.wires.filters.insert(channel, state);
            }
            self.wires.swaps |= color.swap_x || color.swap_y;
            self.channels.push(Channel::new(local as u8, color));
        }
        self.wires.places.push(Place {
            first_channel,
            settings,
        });
        self.routers.push(Router {
            occupied: 0,
            turn: 0,
            sides,
            fed: false,
            flow: NO_FLOW,
            streak: 0,
            deed: 0,
            drained: 0,
        });
    }

    /// What can be looked at while nothing moves.
    pub fn view(&self) -> View<'_> {
        View {
            grid: self.grid,
            wires: &self.wires,
            channels: &self.channels,
        }
    }

    /// Makes sure the router of `pe` is visited in the next look.
    #[inline]
    pub fn wake(&mut self, pe: PeIndex) {
        self.zone_of(pe).active.insert(pe);
    }

    fn wake_neighbours(&mut self, pe: PeIndex, sides: u8) {
        for side in grid::LINKS {
            if sides & side.bit() != 0 {
                if let Some(neighbour) = self.grid.neighbour(pe, side) {
                    self.wake(neighbour);
                }
            }
        }
    }

    /// Whether a tile is part of a flow.
    pub fn is_in_flow(&self, pe: PeIndex) -> bool {
        self.routers[pe.index()].flow != NO_FLOW
    }

    /// Whether some router swaps colors.
    pub fn swaps(&self) -> bool {
        self.wires.swaps
    }

    /// How many routers have something to do in the coming cycle.
    pub fn active(&self) -> usize {
        self.zones.iter().map(|zone| zone.active.len()).sum()
    }

    /// Whether no router has anything to do.
    pub fn is_idle(&self) -> bool {
        self.zones.iter().all(|zone| zone.active.is_empty())
    }

    /// The current state of a color at a PE, if the color is configured there.
    pub fn channel(&self, pe: PeIndex, color: u8) -> Option<&Channel> {
        let (index, _) = self.view().find(pe, color)?;
        Some(&self.channels[index.index()])
    }

    /// Wavelets that have left a queue of a router, so far.
    pub fn departures(&self) -> u64 {
        self.zones.iter().map(|zone| zone.departures).sum()
    }

    /// The wavelets of a color that landed in a router last, all in one cycle.
    pub fn youngest(&self, pe: PeIndex, color: u8) -> Vec<(Wavelet, Direction)> {
        let Some(channel) = self.channel(pe, color) else {
            return Vec::new();
        };
        let earlier = channel.len().saturating_sub(channel.landed_count);
        channel.entries().skip(usize::from(earlier)).collect()
    }

    /// Every channel that holds wavelets, by PE and color.
    pub fn occupied(&self) -> impl Iterator<Item = (PeIndex, u8, &Channel)> + '_ {
        self.routers.iter().enumerate().flat_map(move |(n, r)| {
            let place = self.wires.places[n];
            let known = &self.wires.settings[place.settings as usize].colors;
            let used = (0..32u8).filter(move |bit| r.occupied >> bit & 1 == 1);
            used.map(move |local| {
                let channel = &self.channels[place.first_channel as usize + usize::from(local)];
                (PeIndex(n as u32), known[usize::from(local)].color, channel)
            })
        })
    }
}
