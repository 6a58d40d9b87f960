//! Second half of a router's cycle: the moves that were decided take place.

use super::grid::PeIndex;
use super::wavelet::{Command, Wavelet};
use super::{ChannelIndex, Collision, Delivery, Fabric, Injection, Landing, Move, ALL_LINKS};
use crate::probe::{Passage, Probe};
use crate::program::{Direction, Directions};

impl Fabric {
    /// Carries out all moves; what lands is in its queue from cycle `next` on.
    pub fn commit<P: Probe>(&mut self, next: u64, probe: &mut P) {
        let moves = std::mem::take(&mut self.moves);
        let injections = std::mem::take(&mut self.injections);
        self.departures += moves.len() as u64;
        for decided in &moves {
            self.leave(decided, next, probe);
        }
        for decided in &moves {
            self.arrive(decided, next, probe);
        }
        for injection in &injections {
            self.enter(injection, next, probe);
        }
        self.moves = moves;
        self.injections = injections;
        self.moves.clear();
        self.injections.clear();
    }

    /// Takes a wavelet out of its queue and lets its command take effect.
    fn leave<P: Probe>(&mut self, decided: &Move, next: u64, probe: &mut P) {
        let depth = self.depth;
        let channel = &mut self.channels[decided.channel.index()];
        let was_full = channel.len() >= depth;
        let Some(original) = channel.pop() else {
            return;
        };
        probe.left(
            Passage {
                cycle: next - 1,
                pe: decided.pe,
                color: decided.color,
                wavelet: decided.wavelet,
                level: channel.len(),
            },
            Directions(decided.outputs),
        );
        if channel.is_empty() {
            self.routers[decided.pe.index()].occupied &= !(1 << decided.local);
        }
        if channel.filtered {
            self.count(decided.pe, decided.channel, original);
        }
        if original.control {
            self.obey(decided);
        } else if was_full {
            let sides = self.channels[decided.channel.index()].rx.0;
            self.wake_neighbours(decided.pe, sides);
        }
    }

    pub(super) fn obey(&mut self, decided: &Move) {
        self.move_switch(decided.pe, decided.channel, decided.position);
        if decided.command == Command::Teardown {
            self.channels[decided.channel.index()].torn_down = true;
            self.torn_down.push((decided.pe, decided.color));
        }
    }

    fn count(&mut self, pe: PeIndex, index: ChannelIndex, wavelet: Wavelet) {
        let Some(filter) = self.settings_of(pe, index).filter.clone() else {
            return;
        };
        if let Some(state) = self.filters.get_mut(&index) {
            state.count(&filter, wavelet);
        }
    }

    /// Sets the switch and wakes everybody who may have waited for it.
    fn move_switch(&mut self, pe: PeIndex, index: ChannelIndex, position: u8) {
        if self.channels[index.index()].position != position {
            let settings = self.settings_of(pe, index).clone();
            self.channels[index.index()].set_position(position, &settings);
        }
        self.wake(pe);
        self.wake_neighbours(pe, ALL_LINKS);
    }

    /// Puts the copies of a wavelet where they go.
    fn arrive<P: Probe>(&mut self, decided: &Move, next: u64, probe: &mut P) {
        let mut links = decided.outputs & ALL_LINKS;
        while links != 0 {
            let side = Direction::from_code(links.trailing_zeros() as u8);
            links &= links - 1;
            let Some(neighbour) = self.neighbour(decided.pe, side) else {
                continue;
            };
            if self.swaps {
                let (color, wavelet) = (decided.color, decided.wavelet);
                self.land_swapped((neighbour, color), side.facing(), wavelet, next, probe);
                continue;
            }
            if let Some((channel, local)) = self.find(neighbour, decided.color) {
                let place = (neighbour, channel, local);
                let wavelet = decided.wavelet;
                self.land(place, side.facing(), wavelet, next, probe);
            }
        }
        if decided.outputs & Direction::Ramp.bit() != 0 {
            self.deliveries.push(Delivery {
                pe: decided.pe,
                color: decided.color,
                wavelet: decided.wavelet,
            });
        }
    }

    fn enter<P: Probe>(&mut self, injection: &Injection, next: u64, probe: &mut P) {
        let (pe, channel) = (injection.pe, injection.channel);
        let color = self.channels[channel.index()].color;
        let place = (pe, channel, injection.local);
        self.land(place, Direction::Ramp, injection.wavelet, next, probe);
        if injection.advance_switch {
            let settings = self.settings_of(pe, channel);
            let position = settings.after(self.channels[channel.index()].position);
            // What the operation sent may still be queued here, and would leave by the new sides.
            if settings.routes(position).tx != self.channels[channel.index()].tx {
                self.retargeted.push((pe, color));
            }
            self.move_switch(pe, channel, position);
        }
    }

    /// A wavelet lands; a second one in the same cycle is a collision.
    pub(super) fn land<P: Probe>(
        &mut self,
        (pe, index, local): (PeIndex, ChannelIndex, u8),
        side: Direction,
        wavelet: Wavelet,
        next: u64,
        probe: &mut P,
    ) {
        let channel = &mut self.channels[index.index()];
        let color = channel.color;
        let earlier = channel.last_side().filter(|_| channel.landed == next);
        let queued = channel.push(wavelet, side);
        if let Some(other) = earlier {
            channel.landed_count += u8::from(queued);
            channel.sort_youngest(channel.landed_count);
            self.collisions.push(Collision {
                pe,
                color,
                sides: Directions(other.bit() | side.bit()),
                overflow: !queued,
            });
        } else {
            channel.landed = next;
            channel.landed_count = 1;
        }
        let passage = Passage {
            cycle: next,
            pe,
            color,
            wavelet,
            level: channel.len(),
        };
        probe.landed(passage, side);
        self.routers[pe.index()].occupied |= 1 << local;
        self.wake(pe);
        if let Some(trace) = &mut self.trace {
            trace.push(Landing {
                cycle: next,
                pe,
                color,
                side,
                wavelet,
            });
        }
    }
}
