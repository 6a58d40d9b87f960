//! Routers and links: how wavelets move from PE to PE.
//!
//! A cycle has two halves. First everybody looks: `look` decides from the state at the start of
//! the cycle which wavelets move. Then everybody moves: `commit` changes the state. Nothing that
//! a neighbour may look at changes in the first half, so the order of visits cannot matter.
//!
//! Only active routers are visited. A router whose wavelets cannot move falls asleep; whatever
//! could let them move wakes it: a landing, room or a changed route next door, room in its own
//! compute element's queues.

pub mod channel;
mod commit;
mod edge;
pub mod filter;
pub mod grid;
mod look;
pub mod registers;
pub mod settings;
mod swap;
pub mod wavelet;

use self::channel::Channel;
use self::filter::FilterState;
use self::grid::{Grid, PeIndex, LINKS};
use self::settings::{RouterSettings, Settings, NONE};
use self::wavelet::{Command, Wavelet};
use crate::limits::COLORS;
use crate::program::{Design, Direction, Directions};
use std::collections::HashMap;
use std::sync::Arc;

/// The sides that lead to neighbours, as a set.
const ALL_LINKS: u8 = 0x0f;

/// Index into the channels of all routers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ChannelIndex(u32);

impl ChannelIndex {
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// The state of one router beyond its channels.
#[derive(Clone, Debug)]
struct Router {
    first_channel: u32,
    settings: u32,
    /// Bit per local channel that holds a wavelet.
    occupied: u32,
    /// The local channel that goes first: the first one refused for a taken link.
    turn: u8,
    active: bool,
    /// The sides with a neighbour.
    sides: Directions,
    /// Set in the first half of a cycle: visit the router again in the next.
    stay: bool,
}

/// A wavelet that leaves a router's queue this cycle.
#[derive(Clone, Copy, Debug)]
struct Move {
    pe: PeIndex,
    channel: ChannelIndex,
    local: u8,
    color: u8,
    /// Where the copies go.
    outputs: u8,
    /// As it leaves: popped or not.
    wavelet: Wavelet,
    command: Command,
    position: u8,
}

/// A wavelet that enters a router's queue from its compute element this cycle.
#[derive(Clone, Copy, Debug)]
struct Injection {
    pe: PeIndex,
    channel: ChannelIndex,
    local: u8,
    wavelet: Wavelet,
    advance_switch: bool,
}

/// A wavelet on its way from a router to its compute element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delivery {
    pub pe: PeIndex,
    pub color: u8,
    pub wavelet: Wavelet,
}

/// Wavelets of one color that landed in one router in one cycle: two, or two of several.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Collision {
    pub pe: PeIndex,
    pub color: u8,
    pub sides: Directions,
    /// There was no room even to queue both.
    pub overflow: bool,
}

/// One landing, for traces and tests.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Landing {
    pub cycle: u64,
    pub pe: PeIndex,
    pub color: u8,
    pub side: Direction,
    pub wavelet: Wavelet,
}

/// All routers.
#[derive(Debug)]
pub struct Fabric {
    pub grid: Grid,
    depth: u8,
    settings: Vec<Arc<RouterSettings>>,
    /// `of_color` of every set of settings: looked up for every move.
    of_color: Vec<[u8; COLORS]>,
    routers: Vec<Router>,
    channels: Vec<Channel>,
    /// Settings that a program changed while it ran.
    changed: HashMap<ChannelIndex, Settings>,
    filters: HashMap<ChannelIndex, FilterState>,
    active: Vec<PeIndex>,
    next_active: Vec<PeIndex>,
    moves: Vec<Move>,
    injections: Vec<Injection>,
    /// Made by `commit`, taken by the machine.
    pub deliveries: Vec<Delivery>,
    pub torn_down: Vec<(PeIndex, u8)>,
    pub collisions: Vec<Collision>,
    /// Colors whose `advance_switch` led to a position with other outputs.
    pub retargeted: Vec<(PeIndex, u8)>,
    /// Routers whose registers were written: they and their neighbours look again.
    rewired: Vec<PeIndex>,
    /// Some router swaps colors.
    swaps: bool,
    /// Wavelets that have left a queue of a router, so far.
    pub departures: u64,
    /// Landings since the trace was switched on.
    pub trace: Option<Vec<Landing>>,
}

impl Fabric {
    pub fn new(design: &Design, depth: u8) -> Fabric {
        let settings: Vec<_> = design
            .routers
            .iter()
            .map(|setup| Arc::new(RouterSettings::new(setup)))
            .collect();
        let mut fabric = Fabric {
            grid: Grid {
                width: u32::from(design.width),
                height: u32::from(design.height),
            },
            depth,
            of_color: settings.iter().map(|known| known.of_color).collect(),
            settings,
            routers: Vec::with_capacity(design.tiles.len()),
            channels: Vec::new(),
            changed: HashMap::new(),
            filters: HashMap::new(),
            active: Vec::new(),
            next_active: Vec::new(),
            moves: Vec::new(),
            injections: Vec::new(),
            deliveries: Vec::new(),
            torn_down: Vec::new(),
            collisions: Vec::new(),
            retargeted: Vec::new(),
            rewired: Vec::new(),
            swaps: false,
            departures: 0,
            trace: None,
        };
        for tile in &design.tiles {
            fabric.add_router(tile.router);
        }
        fabric.channels.shrink_to_fit();
        fabric
    }

    fn add_router(&mut self, settings: u32) {
        let first_channel = self.channels.len() as u32;
        let sides = self.grid.sides(PeIndex(self.routers.len() as u32));
        let known = Arc::clone(&self.settings[settings as usize]);
        for color in &known.colors {
            if let Some(filter) = &color.filter {
                let channel = ChannelIndex(self.channels.len() as u32);
                self.filters.insert(channel, FilterState::new(filter));
            }
            self.swaps |= color.swap_x || color.swap_y;
            self.channels.push(Channel::new(color));
        }
        self.routers.push(Router {
            first_channel,
            settings,
            occupied: 0,
            turn: 0,
            active: false,
            sides,
            stay: false,
        });
    }

    /// The channel of `color` at `pe`, and its number among the router's channels.
    #[inline]
    fn find(&self, pe: PeIndex, color: u8) -> Option<(ChannelIndex, u8)> {
        let router = &self.routers[pe.index()];
        let locals = &self.of_color[router.settings as usize];
        let local = locals.get(usize::from(color)).copied()?;
        if local == NONE {
            return None;
        }
        Some((ChannelIndex(router.first_channel + u32::from(local)), local))
    }

    #[inline]
    fn neighbour(&self, pe: PeIndex, side: Direction) -> Option<PeIndex> {
        let sides = self.routers[pe.index()].sides;
        sides.has(side).then(|| self.grid.step(pe, side))
    }

    /// The settings in force for a channel.
    fn settings_of(&self, pe: PeIndex, channel: ChannelIndex) -> &Settings {
        if let Some(changed) = self.changed.get(&channel) {
            return changed;
        }
        let router = &self.routers[pe.index()];
        let local = channel.0 - router.first_channel;
        &self.settings[router.settings as usize].colors[local as usize]
    }

    /// Where a wavelet of `color` coming in from `side` would queue at `pe`, if it may.
    ///
    /// A switching command that is still queued counts as executed: what arrives behind it must
    /// also be acceptable to the position it leads to, else order would be lost.
    #[inline]
    fn accepts(&self, pe: PeIndex, color: u8, side: Direction) -> Option<(ChannelIndex, u8)> {
        let (index, local) = self.find(pe, color)?;
        let channel = &self.channels[index.index()];
        if channel.len() >= self.depth || channel.torn_down || !channel.rx.has(side) {
            return None;
        }
        if channel.has_control() && !self.accepts_behind_commands(pe, index, side) {
            return None;
        }
        Some((index, local))
    }

    fn accepts_behind_commands(&self, pe: PeIndex, index: ChannelIndex, side: Direction) -> bool {
        let channel = &self.channels[index.index()];
        let settings = self.settings_of(pe, index);
        let mut position = channel.position;
        for (wavelet, _) in channel.entries() {
            match wavelet.command() {
                Command::Nop => {}
                Command::Advance => position = settings.after(position),
                Command::Reset => position = 0,
                Command::Teardown => return false,
            }
        }
        settings.routes(position).rx.has(side)
    }

    /// Makes sure the router of `pe` is visited in this cycle's and the next cycle's look.
    #[inline]
    pub fn wake(&mut self, pe: PeIndex) {
        let router = &mut self.routers[pe.index()];
        if !router.active {
            router.active = true;
            self.active.push(pe);
        }
    }

    fn wake_neighbours(&mut self, pe: PeIndex, sides: u8) {
        for side in LINKS {
            if sides & side.bit() != 0 {
                if let Some(neighbour) = self.neighbour(pe, side) {
                    self.wake(neighbour);
                }
            }
        }
    }

    pub fn is_active(&self, pe: PeIndex) -> bool {
        self.routers[pe.index()].active
    }

    /// How many routers are visited next.
    pub fn active_routers(&self) -> usize {
        self.active.len()
    }

    /// The routers to visit, for the machine's loop over their compute elements' outputs.
    pub fn active_router(&self, n: usize) -> PeIndex {
        self.active[n]
    }

    /// The routers to visit, to be put into another order; results must not change.
    pub fn visits(&mut self) -> &mut [PeIndex] {
        &mut self.active
    }

    /// Whether a wavelet of `color` from the compute element of `pe` could enter its router now.
    pub fn accepts_from_ce(&self, pe: PeIndex, color: u8) -> bool {
        if self.swaps {
            return self.accepts_swapped(pe, color, Direction::Ramp);
        }
        self.accepts(pe, color, Direction::Ramp).is_some()
    }

    /// First half: the router of `pe` is to be visited again next cycle.
    pub fn stay(&mut self, pe: PeIndex) {
        self.routers[pe.index()].stay = true;
    }

    /// First half: a wavelet enters the router of `pe` from its compute element, which has asked
    /// `accepts_from_ce` before.
    pub fn inject(&mut self, pe: PeIndex, color: u8, wavelet: Wavelet, advance_switch: bool) {
        if !self.swaps {
            return self.inject_as(pe, color, wavelet, advance_switch);
        }
        for color in self.received_as(pe, color, Direction::Ramp) {
            self.inject_as(pe, color, wavelet, advance_switch);
        }
    }

    fn inject_as(&mut self, pe: PeIndex, color: u8, wavelet: Wavelet, advance_switch: bool) {
        if let Some((channel, local)) = self.find(pe, color) {
            self.injections.push(Injection {
                pe,
                channel,
                local,
                wavelet,
                advance_switch,
            });
        }
    }

    /// The current state of a color at a PE, if the color is configured there.
    pub fn channel(&self, pe: PeIndex, color: u8) -> Option<&Channel> {
        self.find(pe, color)
            .map(|(index, _)| &self.channels[index.index()])
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
            let known = &self.settings[r.settings as usize].colors;
            let used = (0..32u8).filter(move |bit| r.occupied >> bit & 1 == 1);
            used.map(move |local| {
                let channel = &self.channels[r.first_channel as usize + usize::from(local)];
                (PeIndex(n as u32), known[usize::from(local)].color, channel)
            })
        })
    }
}
