//! What may be looked at in the first half of a cycle: all routers, as they were at its start.

use super::channel::{Channel, Way, NOWHERE};
use super::filter::FilterState;
use super::grid::{Grid, PeIndex};
use super::router::ChannelIndex;
use super::settings::{RouterSettings, Settings, NONE};
use super::wavelet::{Command, Wavelet};
use fabsim_program::limits::COLORS;
use fabsim_program::program::Direction;
use std::collections::HashMap;
use std::sync::Arc;

/// Where the channels of a router begin, and what they are set to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub first_channel: u32,
    pub settings: u32,
}

/// What stays as it is while wavelets move.
#[derive(Debug)]
pub(crate) struct Wires {
    pub grid: Grid,
    pub depth: u8,
    /// A wavelet from a link stays in the register behind it for a cycle before it may go on.
    pub registered: bool,
    pub settings: Vec<Arc<RouterSettings>>,
    /// `of_color` of every set of settings: looked up for every move.
    of_color: Vec<[u8; COLORS]>,
    pub places: Vec<Place>,
    /// Settings that a program changed while it ran.
    pub changed: HashMap<ChannelIndex, Settings>,
    pub filters: HashMap<ChannelIndex, FilterState>,
    /// Some router swaps colors.
    pub swaps: bool,
}

impl Wires {
    pub fn new(
        grid: Grid,
        depth: u8,
        hop_cycles: u64,
        settings: Vec<Arc<RouterSettings>>,
    ) -> Wires {
        Wires {
            grid,
            depth,
            registered: hop_cycles > 1,
            of_color: settings.iter().map(|known| known.of_color).collect(),
            settings,
            places: Vec::with_capacity(grid.len()),
            changed: HashMap::new(),
            filters: HashMap::new(),
            swaps: false,
        }
    }

    /// The channel of `color` at `pe`, and its number among the router's channels.
    #[inline]
    pub fn find(&self, pe: PeIndex, color: u8) -> Option<(ChannelIndex, u8)> {
        let place = self.places[pe.index()];
        let locals = &self.of_color[place.settings as usize];
        let local = locals.get(usize::from(color)).copied()?;
        if local == NONE {
            return None;
        }
        Some((ChannelIndex(place.first_channel + u32::from(local)), local))
    }

    /// Works out the way data wavelets take: to be called whenever outputs, filter or teardown of
    /// the channel change.
    pub fn set_way(&self, pe: PeIndex, channel: &mut Channel) {
        (channel.way, channel.next) = self.way(pe, channel);
    }

    fn way(&self, pe: PeIndex, channel: &Channel) -> (Way, ChannelIndex) {
        let side = Direction::from_code(channel.tx.0.trailing_zeros() as u8);
        let special = channel.torn_down || channel.filtered || self.swaps;
        if special || channel.tx.0.count_ones() != 1 {
            return (Way::Other, NOWHERE);
        }
        if side == Direction::Ramp {
            return (Way::Only(side), NOWHERE);
        }
        let neighbour = self.grid.neighbour(pe, side);
        match neighbour.and_then(|n| self.find(n, channel.color)) {
            Some((next, _)) => (Way::Only(side), next),
            None => (Way::Other, NOWHERE),
        }
    }

    /// The settings in force for a channel.
    pub fn settings_of(&self, pe: PeIndex, channel: ChannelIndex) -> &Settings {
        if let Some(changed) = self.changed.get(&channel) {
            return changed;
        }
        let place = self.places[pe.index()];
        let local = channel.0 - place.first_channel;
        &self.settings[place.settings as usize].colors[local as usize]
    }
}

/// All routers at the start of a cycle.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The rectangle.
    pub grid: Grid,
    pub(crate) wires: &'a Wires,
    pub(crate) channels: &'a [Channel],
}

impl<'a> View<'a> {
    #[inline]
    pub(crate) fn find(self, pe: PeIndex, color: u8) -> Option<(ChannelIndex, u8)> {
        self.wires.find(pe, color)
    }

    #[inline]
    pub(crate) fn channel(self, index: ChannelIndex) -> &'a Channel {
        &self.channels[index.index()]
    }

    /// Whether a wavelet of `color` coming in from `side` may queue at `pe`.
    ///
    /// A switching command that is still queued counts as executed: what arrives behind it must
    /// also be acceptable to the position it leads to, else order would be lost.
    #[inline]
    pub(crate) fn accepts(self, pe: PeIndex, color: u8, side: Direction) -> bool {
        let Some((index, _)) = self.find(pe, color) else {
            return false;
        };
        self.channel_accepts(pe, index, side)
    }

    /// `accepts`, for a channel that is known.
    #[inline]
    pub(crate) fn channel_accepts(self, pe: PeIndex, index: ChannelIndex, side: Direction) -> bool {
        let channel = self.channel(index);
        if channel.len() >= self.wires.depth || channel.torn_down || !channel.rx.has(side) {
            return false;
        }
        !channel.has_control() || self.accepts_behind_commands(pe, index, side)
    }

    #[cold]
    pub(crate) fn accepts_behind_commands(
        self,
        pe: PeIndex,
        index: ChannelIndex,
        side: Direction,
    ) -> bool {
        let channel = self.channel(index);
        let settings = self.wires.settings_of(pe, index);
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

    /// Whether the compute element gets a wavelet, as far as a filter has a say.
    pub(crate) fn filter_passes(self, pe: PeIndex, index: ChannelIndex, wavelet: Wavelet) -> bool {
        let filter = self.wires.settings_of(pe, index).filter.as_ref();
        let state = self.wires.filters.get(&index);
        match (filter, state) {
            (Some(filter), Some(state)) => state.passes(filter, wavelet),
            _ => true,
        }
    }
}
