//! The routers of a stream: which wavelets leave them in a cycle, and where these arrive.

use crate::streams::{Line, Mark, Wavelet, HIGHER, LOWER, RAMP};

impl Line<'_> {
    /// Which wavelets leave the router of a place in this cycle; whether any does. A link carries
    /// one wavelet a cycle; the first color that finds it taken goes first next time.
    pub fn decide(&mut self, at: usize) -> bool {
        let (mut links, mut any, mut refused) = (0, false, None);
        for step in 0..self.colors {
            let color = (self.first[at] + step) % self.colors;
            let Some(sides) = self.wants(at, color) else {
                continue;
            };
            if sides & links != 0 {
                refused = refused.or(Some(color));
            } else if self.have_room(at, color, sides) {
                (links, any) = (links | sides, true);
                self.sleepers.gives[at * self.colors + color] = (self.now, sides);
            }
        }
        self.first[at] = refused.unwrap_or(self.first[at]);
        any
    }

    /// A wavelet goes up the ramp into the PE's own router; whether one does.
    pub fn rise(&mut self, at: usize) -> bool {
        for turn in 0..self.colors {
            let color = (self.now as usize + turn) % self.colors;
            let positions = &self.places[at].routers.get(color).map(|one| &one.positions);
            let channel = &mut self.channels[at * self.colors + color];
            let open = positions
                .is_some_and(|all| all.get(channel.position).is_some_and(|one| one.0 == RAMP));
            let due = channel
                .output
                .front()
                .is_some_and(|one| one.ready <= self.now);
            if !(open && due && channel.router.len() < self.machine.router_queue) {
                continue;
            }
            if let Some(mut wavelet) = channel.output.pop_front() {
                wavelet.ready = self.now + 1;
                if wavelet.mark == Mark::Last {
                    self.advanced.push(at * self.colors + color);
                    wavelet.mark = Mark::Data;
                }
                channel.router.push_back(wavelet);
            }
            return true;
        }
        false
    }

    /// The sides to which the first wavelet of a color wants to leave a router, a bit for each.
    fn wants(&self, at: usize, color: usize) -> Option<usize> {
        let first = self.channel(at, color).router.front();
        let wavelet = first.filter(|one| one.ready <= self.now)?;
        self.sides(at, color, wavelet.mark)
    }

    fn have_room(&self, at: usize, color: usize, sides: usize) -> bool {
        let has_room = |side: &usize| sides >> side & 1 == 0 || self.has_room(at, color, *side);
        [LOWER, HIGHER, RAMP].iter().all(has_room)
    }

    /// The sides to which a wavelet leaves; None beyond the last position, where nothing leads on.
    pub fn sides(&self, at: usize, color: usize, mark: Mark) -> Option<usize> {
        let position = self.channel(at, color).position;
        let &(_, sides) = self.places[at].routers[color].positions.get(position)?;
        let for_others = mark.is_control() || !self.passes(at, color);
        Some(if for_others {
            sides & !(1 << RAMP)
        } else {
            sides
        })
    }

    /// Whether the filter lets the next wavelet into the PE.
    pub fn passes(&self, at: usize, color: usize) -> bool {
        let counted = self.channels[at * self.colors + color].counted;
        let filter = self.places[at].routers[color].filter;
        filter.is_none_or(|(period, first, count)| (counted + first) % period < count)
    }

    pub fn has_room(&self, at: usize, color: usize, side: usize) -> bool {
        if side == RAMP {
            let channel = &self.channels[at * self.colors + color];
            return channel.input.len() < self.machine.input_queue;
        }
        let Some((next, from)) = self.neighbour(at, side) else {
            return false;
        };
        let channel = &self.channels[next * self.colors + color];
        let positions = &self.places[next].routers[color].positions;
        let lets_in = positions
            .get(channel.position)
            .is_some_and(|one| one.0 == from);
        lets_in && channel.router.len() < self.machine.router_queue
    }

    /// The place on a side, and the side of it that this one is on.
    pub fn neighbour(&self, at: usize, side: usize) -> Option<(usize, usize)> {
        if side == LOWER {
            return at.checked_sub(1).map(|next| (next, HIGHER));
        }
        let next = at + 1;
        let there = next < self.places.len() && !self.places[next].routers.is_empty();
        there.then_some((next, LOWER))
    }

    pub fn hand_on(&mut self, at: usize) {
        for color in 0..self.colors {
            if let Some(sides) = self.given(at, color) {
                self.move_first(at, color, sides);
            }
        }
    }

    fn move_first(&mut self, at: usize, color: usize, sides: usize) {
        let index = at * self.colors + color;
        let Some(mut wavelet) = self.channels[index].router.pop_front() else {
            return;
        };
        let router = &self.places[at].routers[color];
        let channel = &mut self.channels[index];
        match wavelet.mark {
            Mark::Reset => channel.position = 0,
            Mark::Commands(left) if left > 0 && router.ring => {
                channel.position = (channel.position + 1) % router.positions.len();
                wavelet.mark = Mark::Commands(left - 1);
            }
            Mark::Commands(_) => {}
            _ => channel.counted += 1,
        }
        for side in (0..3).filter(|side| sides >> side & 1 == 1) {
            if side == RAMP {
                let ready = self.now + self.machine.ramp_down;
                self.channels[index].input.push_back(ready);
            } else if let Some((next, _)) = self.neighbour(at, side) {
                self.arrive(next, color, wavelet.mark);
            }
        }
    }

    /// A wavelet is in the router of a place, for the next cycles; one that sleeps knows.
    pub fn arrive(&mut self, at: usize, color: usize, mark: Mark) {
        if self.sleepers.sleeps(at) {
            return;
        }
        let (ready, index) = (self.now + self.machine.hop, at * self.colors + color);
        self.channels[index]
            .router
            .push_back(Wavelet { ready, mark });
        self.sleepers.got[index] = self.now;
    }
}
