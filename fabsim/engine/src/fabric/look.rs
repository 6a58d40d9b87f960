//! First half of a router's cycle: which of its wavelets move.

use super::channel::{Channel, Way, NOWHERE};
use super::grid::PeIndex;
use super::ramp::Entry;
use super::router::{ChannelIndex, Injection, Move, Router, ALL_LINKS};
use super::tiles::TileSet;
use super::view::View;
use super::wavelet::{Command, Wavelet};
use super::zone::Zone;
use crate::fast::prefetch::prefetch;
use fabsim_program::program::{Direction, PopMode};

const RAMP: u8 = 1 << Direction::Ramp as u8;

/// Why a wavelet stays where it is.
enum Refusal {
    /// Another color of this router took the link this cycle.
    LinkTaken,
    /// Nothing but a change elsewhere can let it move.
    Blocked,
}

/// What came of a look.
#[derive(Clone, Copy, Default, Debug)]
pub struct Looked {
    /// Something moves.
    pub moved: bool,
    /// The channels, if each that has wavelets moves one of data.
    pub drained: u32,
}

/// The routers of a zone in the first half of a cycle.
pub struct Looking<'a> {
    /// All routers, as they were at the start of the cycle.
    pub view: View<'a>,
    pub(crate) now: u64,
    pub(crate) routers: &'a mut [Router],
    pub(crate) zone: &'a mut Zone,
}

impl Looking<'_> {
    /// The first PE of the zone.
    pub fn first(&self) -> PeIndex {
        self.zone.first
    }

    /// How many PEs the zone has.
    #[allow(clippy::len_without_is_empty)] // no zone is empty
    pub fn len(&self) -> usize {
        self.routers.len()
    }

    /// Prefetches the channels of the router of `pe` that hold a wavelet.
    #[inline]
    pub fn prefetch_channels(&self, pe: PeIndex) {
        let first = self.view.wires.places[pe.index()].first_channel;
        let mut occupied = self.routers[pe.index() - self.zone.first.index()].occupied;
        while occupied != 0 {
            let index = ChannelIndex(first + occupied.trailing_zeros());
            prefetch(self.view.channel(index));
            occupied &= occupied - 1;
        }
    }

    /// The routers to visit.
    pub fn active(&mut self) -> &mut TileSet {
        &mut self.zone.active
    }

    /// What is known of the router of a PE.
    #[inline]
    pub fn router(&mut self, pe: PeIndex) -> &mut Router {
        &mut self.routers[(pe.0 - self.zone.first.0) as usize]
    }

    /// Where a wavelet of `color` from the compute element of `pe` could enter its router now.
    #[inline]
    pub fn accepts_from_ce(&self, pe: PeIndex, color: u8) -> Option<ChannelIndex> {
        let (index, _) = self.view.find(pe, color)?;
        if self.view.wires.swaps {
            let accepts = self.view.accepts_swapped(pe, color, Direction::Ramp);
            return accepts.then_some(index);
        }
        let accepts = self.view.channel_accepts(pe, index, Direction::Ramp);
        accepts.then_some(index)
    }

    /// A wavelet enters the router of `pe` from its compute element, where `accepts_from_ce` says.
    #[inline]
    pub fn inject(&mut self, pe: PeIndex, channel: ChannelIndex, entry: Entry) {
        if !self.view.wires.swaps {
            self.inject_into(pe, channel, entry);
            return;
        }
        let colors = self
            .view
            .wires
            .received_as(pe, entry.color(), Direction::Ramp);
        for color in colors {
            if let Some((channel, _)) = self.view.find(pe, color) {
                self.inject_into(pe, channel, entry);
            }
        }
    }

    #[inline]
    fn inject_into(&mut self, pe: PeIndex, channel: ChannelIndex, entry: Entry) {
        self.zone.injections.push(Injection {
            pe,
            channel,
            wavelet: entry.wavelet(),
            advance_switch: entry.advance_switch(),
        });
    }

    /// Decides for one router; what moves. `room(color)` tells whether its compute
    /// element can take one more wavelet of a color. Each link carries one wavelet a cycle; the
    /// first color that is refused a taken link goes first next time.
    #[inline]
    pub fn look(&mut self, pe: PeIndex, room: impl Fn(u8) -> bool) -> Looked {
        let router = *self.router(pe);
        if router.occupied == 0 {
            return Looked::default();
        }
        let view = self.view;
        let first_channel = view.wires.places[pe.index()].first_channel;
        let mut waiting = router.occupied.rotate_right(u32::from(router.turn));
        let mut taken = 0u8;
        let mut next_turn = None;
        let (mut flows, mut arriving) = (true, false);
        while waiting != 0 {
            let local = (waiting.trailing_zeros() as u8 + router.turn) % 32;
            waiting &= waiting - 1;
            let index = ChannelIndex(first_channel + u32::from(local));
            let channel = view.channel(index);
            if view.wires.registered && channel.is_arriving(self.now) {
                (arriving, flows) = (true, false);
                continue;
            }
            let refusal = match (channel.way, channel.first_data()) {
                (Way::Only(side), Some(payload)) => {
                    let outputs = side.bit();
                    if outputs & taken != 0 {
                        Some(Refusal::LinkTaken)
                    } else if view.way_is_free(pe, channel, side, &room) {
                        taken |= outputs;
                        self.zone.moves.push(Move {
                            pe,
                            channel: index,
                            next: channel.next,
                            payload,
                            control: false,
                            color: channel.color,
                            outputs,
                            command: Command::Nop,
                            position: channel.position,
                            was_full: channel.len() >= view.wires.depth,
                            plain: true,
                        });
                        None
                    } else {
                        Some(Refusal::Blocked)
                    }
                }
                _ => {
                    let sides = router.sides.0;
                    let attempt = Attempt {
                        view,
                        pe,
                        index,
                        sides,
                    };
                    let decided = attempt.decide(taken, &room);
                    if let Ok(decided) = &decided {
                        taken |= decided.outputs;
                        flows &= !decided.control;
                        self.zone.moves.push(*decided);
                    }
                    decided.err()
                }
            };
            flows &= refusal.is_none();
            if let Some(Refusal::LinkTaken) = refusal {
                next_turn = next_turn.or(Some(local));
            }
        }
        if let Some(local) = next_turn {
            self.zone.turned.push((pe, router.turn));
            self.router(pe).turn = local;
        }
        Looked {
            moved: taken != 0 || arriving || self.moved_nowhere(pe),
            drained: if flows { router.occupied } else { 0 },
        }
    }

    /// Takes back what these routers, in order, have decided in this cycle.
    pub fn take_back(&mut self, routers: &[PeIndex]) {
        let concerns = |pe: &PeIndex| routers.binary_search(pe).is_ok();
        self.zone.moves.retain(|decided| !concerns(&decided.pe));
        let turned = std::mem::take(&mut self.zone.turned);
        for (pe, turn) in turned.into_iter().filter(|(pe, _)| concerns(pe)) {
            self.router(pe).turn = turn;
        }
    }

    /// Whether the last move decided is one of `pe` that leads nowhere: a filter swallows it.
    fn moved_nowhere(&self, pe: PeIndex) -> bool {
        let last = self.zone.moves.last();
        last.is_some_and(|decided| decided.pe == pe)
    }
}

impl View<'_> {
    /// Executes slot 0 of a control wavelet here: what leaves, what was done, the new position.
    pub(crate) fn executed(
        self,
        pe: PeIndex,
        index: ChannelIndex,
        wavelet: Wavelet,
    ) -> (Wavelet, Command, u8) {
        let old = self.channel(index).position;
        if !wavelet.control {
            return (wavelet, Command::Nop, old);
        }
        let settings = self.wires.settings_of(pe, index);
        let command = wavelet.command();
        let position = match command {
            Command::Advance => settings.after(old),
            Command::Reset => 0,
            Command::Nop | Command::Teardown => old,
        };
        let advanced = position != old;
        let pops = match settings.pop {
            PopMode::NoPop => false,
            PopMode::AlwaysPop => true,
            PopMode::PopOnAdvance => advanced,
            PopMode::PopOnAdvanceNop => advanced || command == Command::Nop,
        };
        let leaves = if pops { wavelet.popped() } else { wavelet };
        (leaves, command, position)
    }

    /// Whether a data wavelet may leave a channel by its only way.
    #[inline]
    fn way_is_free(
        self,
        pe: PeIndex,
        channel: &Channel,
        side: Direction,
        room: &impl Fn(u8) -> bool,
    ) -> bool {
        if side == Direction::Ramp {
            return room(channel.color);
        }
        let next = self.channel(channel.next);
        if next.len() >= self.wires.depth || next.torn_down || !next.rx.has(side.facing()) {
            return false;
        }
        !next.has_control() || {
            let neighbour = self.grid.step(pe, side);
            self.accepts_behind_commands(neighbour, channel.next, side.facing())
        }
    }
}

/// The first wavelet of a channel that would like to move.
struct Attempt<'a> {
    view: View<'a>,
    pe: PeIndex,
    index: ChannelIndex,
    sides: u8,
}

impl Attempt<'_> {
    /// A wavelet moves to all its outputs at once or not at all.
    fn decide(&self, taken: u8, room: &impl Fn(u8) -> bool) -> Result<Move, Refusal> {
        let channel = self.view.channel(self.index);
        if channel.torn_down || channel.tx.0 == 0 {
            return Err(Refusal::Blocked);
        }
        let color = channel.color;
        let wavelet = channel.first();
        let outputs = self.outputs(wavelet);
        if outputs & taken != 0 {
            return Err(Refusal::LinkTaken);
        }
        // Nobody beyond the edge refuses a wavelet.
        let mut links = outputs & ALL_LINKS & self.sides;
        while links != 0 {
            let side = Direction::from_code(links.trailing_zeros() as u8);
            links &= links - 1;
            let neighbour = self.view.grid.step(self.pe, side);
            let accepted = match self.view.wires.swaps {
                true => self.view.accepts_swapped(neighbour, color, side.facing()),
                false => self.view.accepts(neighbour, color, side.facing()),
            };
            if !accepted {
                return Err(Refusal::Blocked);
            }
        }
        if outputs & RAMP != 0 && !room(color) {
            return Err(Refusal::Blocked);
        }
        let (wavelet, command, position) = self.view.executed(self.pe, self.index, wavelet);
        Ok(Move {
            pe: self.pe,
            channel: self.index,
            next: NOWHERE,
            payload: wavelet.payload,
            control: wavelet.control,
            color,
            outputs,
            command,
            position,
            was_full: channel.len() >= self.view.wires.depth,
            plain: false,
        })
    }

    /// The sides a wavelet leaves by: the position's, without the ramp if the wavelet is hidden
    /// from the compute element or filtered out.
    #[inline]
    fn outputs(&self, wavelet: Wavelet) -> u8 {
        let channel = self.view.channel(self.index);
        let outputs = channel.tx.0;
        if outputs & RAMP == 0 {
            return outputs;
        }
        let filtered =
            || channel.filtered && !self.view.filter_passes(self.pe, self.index, wavelet);
        if wavelet.hidden_from_ce() || filtered() {
            outputs & !RAMP
        } else {
            outputs
        }
    }
}
