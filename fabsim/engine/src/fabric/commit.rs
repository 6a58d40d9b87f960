//! Second half of a router's cycle: the moves that were decided take place.

use super::channel::{Channel, NOWHERE};
use super::grid::{PeIndex, LINKS};
use super::observer::{Observer, Passage};
use super::router::{
    Caught, ChannelIndex, Collision, Delivery, Injection, Landing, Move, Router, ALL_LINKS, NO_FLOW,
};
use super::view::Wires;
use super::wavelet::{Command, Wavelet};
use super::zone::{own, Crossing, Zone};
use crate::fast::prefetch::prefetch;
use fabsim_program::program::{Direction, Directions};

/// Channels and compute elements are prefetched so many moves ahead, queues of compute elements so many.
const LATER: usize = 20;
const SOON: usize = 10;

/// What is below the ramps.
pub trait Below<P> {
    /// A wavelet comes down a ramp.
    fn deliver(&mut self, delivery: Delivery, probe: &mut P);
    /// Prefetches the compute element of `pe`.
    fn prefetch(&self, pe: PeIndex);
    /// Prefetches the queue that a wavelet will come down to, once the compute element itself is there.
    fn prefetch_queue(&self, pe: PeIndex, color: u8);
}

/// The routers of a zone in the second half of a cycle.
pub struct Moving<'a> {
    pub(crate) wires: &'a Wires,
    pub(crate) routers: &'a mut [Router],
    /// The number of the first of `channels`.
    pub(crate) first_channel: usize,
    pub(crate) channels: &'a mut [Channel],
    pub(crate) zone: &'a mut Zone,
    /// The next cycle.
    pub(crate) next: u64,
}

impl Moving<'_> {
    /// The first PE of the zone.
    pub fn first(&self) -> PeIndex {
        self.zone.first
    }

    pub(crate) fn holds(&self, pe: PeIndex) -> bool {
        self.zone.holds(pe)
    }

    /// How many PEs the zone has.
    #[allow(clippy::len_without_is_empty)] // no zone is empty
    pub fn len(&self) -> usize {
        self.routers.len()
    }

    /// Carries out all moves of the zone; what comes down a ramp goes `below`.
    pub fn commit<P: Observer>(&mut self, below: &mut impl Below<P>, probe: &mut P) {
        let moves = std::mem::take(&mut self.zone.moves);
        let injections = std::mem::take(&mut self.zone.injections);
        self.zone.departures += moves.len() as u64;
        if probe.is_silent() {
            // No queue overflows before what leaves has left: it would have to take in more than
            // all sides can send at once.
            for (n, decided) in moves.iter().enumerate() {
                self.prefetch_moves(&moves[n + 1..], below);
                if decided.plain {
                    self.pass(decided, below, probe);
                } else {
                    self.leave(decided, probe);
                    self.arrive(decided, below, probe);
                }
            }
        } else {
            moves.iter().for_each(|decided| self.leave(decided, probe));
            for decided in &moves {
                self.arrive(decided, below, probe);
            }
        }
        for injection in &injections {
            self.enter(injection, probe);
        }
        self.zone.moves = moves;
        self.zone.injections = injections;
        self.zone.moves.clear();
        self.zone.turned.clear();
        self.zone.injections.clear();
    }

    /// What other zones have handed over takes effect.
    pub fn receive<P: Observer>(&mut self, probe: &mut P) {
        let mut arrivals = std::mem::take(&mut self.zone.arrivals);
        for arrival in arrivals.drain(..) {
            match arrival {
                Crossing::Wake(pe) => self.wake(pe),
                Crossing::Landing {
                    pe,
                    color,
                    side,
                    wavelet,
                } => self.land_at(pe, color, side, wavelet, probe),
            }
        }
        self.zone.arrivals = arrivals;
    }

    #[inline]
    pub(crate) fn router(&mut self, pe: PeIndex) -> &mut Router {
        &mut self.routers[(pe.0 - self.zone.first.0) as usize]
    }

    #[inline]
    pub(crate) fn channel(&mut self, index: ChannelIndex) -> &mut Channel {
        own(self.channels, self.first_channel, index)
    }

    /// Prefetches what the next moves need.
    #[inline]
    fn prefetch_moves<P>(&self, next: &[Move], below: &impl Below<P>) {
        let goes_down = |decided: &&Move| decided.outputs & Direction::Ramp.bit() != 0;
        if let Some(later) = next.get(LATER - 1) {
            for index in [later.channel, later.next] {
                let place = index.index().wrapping_sub(self.first_channel);
                self.channels.get(place).into_iter().for_each(prefetch);
            }
            if goes_down(&later) {
                below.prefetch(later.pe);
            }
        }
        if let Some(soon) = next.get(SOON - 1).filter(goes_down) {
            below.prefetch_queue(soon.pe, soon.color);
        }
    }

    #[inline]
    fn wake(&mut self, pe: PeIndex) {
        if self.zone.holds(pe) {
            self.zone.active.insert(pe);
        } else {
            self.zone.crossings.push(Crossing::Wake(pe));
        }
    }

    fn wake_neighbours(&mut self, pe: PeIndex, sides: u8) {
        let sides = sides & self.router(pe).sides.0;
        for side in LINKS {
            if sides & side.bit() != 0 {
                self.wake(self.wires.grid.step(pe, side));
            }
        }
    }

    /// `leave` and `arrive` of a plain move.
    #[inline]
    fn pass<P: Observer>(&mut self, decided: &Move, below: &mut impl Below<P>, probe: &mut P) {
        let channel = self.channel(decided.channel);
        channel.drop_data();
        if channel.is_empty() {
            let local = channel.local;
            self.router(decided.pe).occupied &= !(1 << local);
        }
        if decided.was_full {
            let rx = self.channel(decided.channel).rx;
            self.wake_neighbours(decided.pe, rx.0);
        }
        let (pe, color, wavelet) = (decided.pe, decided.color, decided.wavelet());
        if decided.next == NOWHERE {
            below.deliver(Delivery { pe, color, wavelet }, probe);
            return;
        }
        let side = Direction::from_code(decided.outputs.trailing_zeros() as u8);
        let (pe, side) = (self.wires.grid.step(pe, side), side.facing());
        if self.zone.holds(pe) {
            self.land(pe, decided.next, side, wavelet, probe);
        } else {
            self.zone.crossings.push(Crossing::Landing {
                pe,
                color,
                side,
                wavelet,
            });
        }
    }

    /// Takes a wavelet out of its queue and lets its command take effect.
    #[inline]
    fn leave<P: Observer>(&mut self, decided: &Move, probe: &mut P) {
        let channel = self.channel(decided.channel);
        let Some(original) = channel.pop() else {
            return;
        };
        let (level, filtered, rx) = (channel.len(), channel.filtered, channel.rx);
        let local = channel.local;
        let passage = Passage {
            cycle: self.next - 1,
            pe: decided.pe,
            color: decided.color,
            wavelet: decided.wavelet(),
            level,
        };
        probe.left(passage, Directions(decided.outputs));
        if level == 0 {
            self.router(decided.pe).occupied &= !(1 << local);
        }
        if filtered {
            let counted = (decided.pe, decided.channel, original);
            self.zone.counted.push(counted);
        }
        if original.control {
            self.obey(decided);
        } else if decided.was_full {
            self.wake_neighbours(decided.pe, rx.0);
        }
    }

    pub(crate) fn obey(&mut self, decided: &Move) {
        self.move_switch(decided.pe, decided.channel, decided.position);
        if decided.command == Command::Teardown {
            let wires = self.wires;
            let channel = self.channel(decided.channel);
            channel.torn_down = true;
            wires.set_way(decided.pe, channel);
            self.zone.torn_down.push((decided.pe, decided.color));
        }
    }

    /// Sets the switch and wakes everybody who may have waited for it.
    fn move_switch(&mut self, pe: PeIndex, index: ChannelIndex, position: u8) {
        let wires = self.wires;
        let channel = self.channel(index);
        if channel.position != position {
            channel.set_position(position, wires.settings_of(pe, index));
            wires.set_way(pe, channel);
        }
        self.wake(pe);
        self.wake_neighbours(pe, ALL_LINKS);
    }

    /// Puts the copies of a wavelet where they go.
    #[inline]
    fn arrive<P: Observer>(&mut self, decided: &Move, below: &mut impl Below<P>, probe: &mut P) {
        let (color, wavelet) = (decided.color, decided.wavelet());
        let mut links = decided.outputs & ALL_LINKS;
        let beyond = links & !self.router(decided.pe).sides.0;
        if beyond != 0 {
            self.zone.lose(decided.pe, color);
            links &= !beyond;
        }
        while links != 0 {
            let side = Direction::from_code(links.trailing_zeros() as u8);
            links &= links - 1;
            let (pe, side) = (self.wires.grid.step(decided.pe, side), side.facing());
            if !self.zone.holds(pe) {
                self.zone.crossings.push(Crossing::Landing {
                    pe,
                    color,
                    side,
                    wavelet,
                });
            } else if decided.next != NOWHERE {
                self.land(pe, decided.next, side, wavelet, probe);
            } else {
                self.land_at(pe, color, side, wavelet, probe);
            }
        }
        if decided.outputs & Direction::Ramp.bit() != 0 {
            let pe = decided.pe;
            below.deliver(Delivery { pe, color, wavelet }, probe);
        }
    }

    #[inline]
    pub(crate) fn land_at<P: Observer>(
        &mut self,
        pe: PeIndex,
        color: u8,
        side: Direction,
        wavelet: Wavelet,
        probe: &mut P,
    ) {
        for color in self.wires.received_as(pe, color, side) {
            if let Some((channel, _)) = self.wires.find(pe, color) {
                self.land(pe, channel, side, wavelet, probe);
            }
        }
    }

    fn enter<P: Observer>(&mut self, injection: &Injection, probe: &mut P) {
        let (pe, index) = (injection.pe, injection.channel);
        self.land(pe, index, Direction::Ramp, injection.wavelet, probe);
        if injection.advance_switch {
            let settings = self.wires.settings_of(pe, index);
            let channel = self.channel(index);
            let (color, position) = (channel.color, settings.after(channel.position));
            // What the operation sent may still be queued here, and would leave by the new sides.
            if settings.routes(position).tx != channel.tx {
                self.zone.retargeted.push((pe, color));
            }
            self.move_switch(pe, index, position);
        }
    }

    /// A wavelet lands; a second one in the same cycle is a collision.
    #[inline(always)]
    pub(crate) fn land<P: Observer>(
        &mut self,
        pe: PeIndex,
        index: ChannelIndex,
        side: Direction,
        wavelet: Wavelet,
        probe: &mut P,
    ) {
        let next = self.next;
        let router = &mut self.routers[(pe.0 - self.zone.first.0) as usize];
        if router.flow != NO_FLOW {
            let channel = index;
            self.zone.catch(Caught {
                pe,
                channel,
                side,
                wavelet,
            });
            return;
        }
        let channel = own(self.channels, self.first_channel, index);
        if channel.landed == next {
            let collision = collide(pe, channel, side, wavelet);
            self.zone.collisions.extend(collision);
        } else {
            channel.push(wavelet, side);
            (channel.landed, channel.landed_count) = (next, 1);
        }
        router.occupied |= 1 << channel.local;
        self.zone.active.insert(pe);
        let color = channel.color;
        let passage = Passage {
            cycle: next,
            pe,
            color,
            wavelet,
            level: channel.len(),
        };
        probe.landed(passage, side);
        if self.zone.landings.is_some() {
            self.zone.trace(Landing {
                cycle: next,
                pe,
                color,
                side,
                wavelet,
            });
        }
    }
}

/// A wavelet lands in the cycle in which another one did.
#[cold]
fn collide(
    pe: PeIndex,
    channel: &mut Channel,
    side: Direction,
    wavelet: Wavelet,
) -> Option<Collision> {
    let other = channel.last_side();
    let queued = channel.push(wavelet, side);
    let other = other?;
    channel.landed_count += u8::from(queued);
    channel.sort_youngest(channel.landed_count);
    Some(Collision {
        pe,
        color: channel.color,
        sides: Directions(other.bit() | side.bit()),
        overflow: !queued,
    })
}
