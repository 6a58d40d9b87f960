//! Routers and ramps: a link carries a word a cycle, a ramp one up and one down.
//!
//! What moves in a cycle is decided by what there is at its beginning, and takes place at its end.

use super::state::{Clock, Command, Word, PE};
use super::trace::{Origin, UNKNOWN};
use crate::machine::plan::{opposite, RAMP};
use crate::machine::state::NONE;

/// A word leaves a router by some sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    pub pe: u32,
    pub color: u8,
    pub sides: u8,
}

/// Why a word stays.
enum Refused {
    /// Another color has the link in this cycle.
    LinkTaken,
    /// Something else has to change first.
    Blocked,
}

impl Clock<'_> {
    /// One word goes from the output queues of a PE to its router; queues alternate. False if there
    /// is no use in looking again before something changes.
    pub(super) fn rise(&mut self, pe: usize) -> bool {
        let count = self.pes[pe].outputs.len();
        let (turn, mut again) = (self.pes[pe].output_turn, false);
        for number in (0..count).map(|number| (number + turn) % count) {
            let output = &self.pes[pe].outputs[number];
            let Some(word) = output.queue.first() else {
                continue;
            };
            if u64::from(word.ready) > self.now {
                again = true;
                continue;
            }
            let slot = self.slot(pe, u32::from(word.color));
            if !self.accepts(slot, RAMP) {
                if let Some(trace) = &mut self.trace {
                    if self.routers[slot].queue.len() < self.timing.router_queue {
                        trace.waits_to_rise(pe, number, self.now);
                    }
                }
                continue;
            }
            let trace = self.trace.as_mut();
            let origin = trace.map_or(UNKNOWN, |trace| trace.rises(pe, number, self.now));
            let own = &mut self.pes[pe];
            let had_room = own.outputs[number].queue.len() + 2 <= own.outputs[number].depth;
            own.outputs[number].queue.pop();
            own.output_turn = (number + 1) % PE;
            let ready = self.now as u32 + 1;
            let word = Word { ready, ..word };
            self.landings
                .push((pe as u32, word.color, RAMP, word, origin));
            if !had_room {
                self.look_at(pe, self.now);
            }
            return self.pes[pe].outputs.iter().any(|one| one.queue.len() > 0);
        }
        again
    }

    /// Whether a router lets a word in from a side: there is room, its position is open to that side,
    /// and so is the one to which commands that wait in the queue lead.
    pub(super) fn accepts(&self, slot: usize, side: u8) -> bool {
        let router = &self.routers[slot];
        let open = |position: u32| {
            self.route_at(router, position)
                .is_some_and(|route| route.receive == side)
        };
        router.queue.len() < self.timing.router_queue
            && !router.down
            && open(router.position)
            && (router.commands == 0 || self.is_open_behind(slot, side))
    }

    /// Whether the position to which commands lead is open; behind a teardown nothing is accepted.
    fn is_open_behind(&self, slot: usize, side: u8) -> bool {
        let router = &self.routers[slot];
        let mut words = router.queue.words();
        !words.any(|word| word.command == Command::Teardown)
            && self
                .route_at(router, self.behind_commands(slot))
                .is_some_and(|route| route.receive == side)
    }

    fn behind_commands(&self, slot: usize) -> u32 {
        let router = &self.routers[slot];
        let words = router.queue.words();
        words.fold(router.position, |position, word| {
            self.position_behind(slot, position, word.command)
        })
    }

    /// The position to which a command leads.
    fn position_behind(&self, slot: usize, position: u32, command: Command) -> u32 {
        let setting = &self.given.settings[self.routers[slot].setting as usize];
        let last = setting.positions.len() as u32 - 1;
        match command {
            Command::Data => position,
            Command::Reset | Command::Teardown => 0,
            Command::HandOver(left) if left == 0 || !setting.ring => position,
            Command::Advance | Command::HandOver(_) if position < last => position + 1,
            Command::Advance | Command::HandOver(_) => {
                if setting.ring {
                    0
                } else {
                    last
                }
            }
        }
    }

    /// Decide what leaves the router of a PE. False if nothing can before something changes.
    pub(super) fn route(&mut self, pe: usize) -> bool {
        let (occupied, turn) = (self.pes[pe].occupied, self.pes[pe].link_turn);
        let mut waiting = occupied.rotate_right(turn);
        let (mut taken, mut refused, mut again) = (0u8, None, false);
        while waiting != 0 {
            let bit = (waiting.trailing_zeros() + turn) % 32;
            waiting &= waiting - 1;
            let color = self.by_number[bit as usize];
            let slot = self.slot(pe, color);
            let Some(word) = self.routers[slot].queue.first() else {
                continue;
            };
            if u64::from(word.ready) > self.now {
                again = true;
                continue;
            }
            match self.leaves(pe, color, word, taken) {
                Ok(sides) => {
                    taken |= sides;
                    again = true;
                    let (pe, color) = (pe as u32, color as u8);
                    self.moves.push(Move { pe, color, sides });
                }
                Err(Refused::LinkTaken) => {
                    refused = refused.or(Some(bit));
                    again = true;
                }
                Err(Refused::Blocked) => {}
            }
        }
        if let Some(bit) = refused {
            self.pes[pe].link_turn = bit;
        }
        self.runs.takes_polls() || again
    }

    /// The sides by which the first word of a router leaves: all of those of its position, or none.
    fn leaves(&mut self, pe: usize, color: u32, word: Word, taken: u8) -> Result<u8, Refused> {
        let slot = self.slot(pe, color);
        let router = &self.routers[slot];
        if router.down {
            return Err(Refused::Blocked);
        }
        let Some(route) = self.route_at(router, router.position) else {
            return Err(Refused::Blocked);
        };
        let down = route.sends_to(RAMP) && word.command == Command::Data && self.lets_in(slot);
        let sides = route.send & !(1 << RAMP) | u8::from(down) << RAMP;
        if sides & taken != 0 {
            return Err(Refused::LinkTaken);
        }
        let open = (0..RAMP)
            .filter(|side| sides >> side & 1 == 1)
            .all(|side| self.is_open_beside(pe, side, color));
        if !open && self.trace.is_some() {
            self.note_wait(pe, color, sides);
        }
        let input = || self.pes[pe].inputs.iter().find(|one| one.color == color);
        if !open || (down && input().is_none_or(|one| one.queue.len() >= one.depth)) {
            return Err(Refused::Blocked);
        }
        Ok(sides)
    }

    /// The first word of a router waits for the position of one beside it that has room.
    fn note_wait(&mut self, pe: usize, color: u32, sides: u8) {
        let (slot, room) = (self.slot(pe, color), self.timing.router_queue);
        let beside = (0..RAMP).filter(|side| sides >> side & 1 == 1);
        let mut beside = beside.filter_map(|side| Some((side, self.neighbour(pe, side)?)));
        let closed = beside.find(|(side, next)| {
            let other = self.slot(*next, color);
            self.routers[other].queue.len() < room && !self.accepts(other, opposite(*side))
        });
        if let (Some((_, by)), Some(trace)) = (closed, &mut self.trace) {
            trace.waits_to_leave(slot, by, self.now);
        }
    }

    /// Whether the filter of a router lets the next word down the ramp.
    fn lets_in(&self, slot: usize) -> bool {
        let router = &self.routers[slot];
        if router.filter == NONE {
            return true;
        }
        let window = &self.windows[router.filter as usize];
        window.period > 0
            && (router.passed - window.before).rem_euclid(window.period) < window.passes
    }

    /// What was decided takes place.
    pub(super) fn commit(&mut self) {
        let moves = std::mem::take(&mut self.moves);
        for one in &moves {
            self.carry(one);
        }
        self.words += moves.len() as u64;
        self.moves = moves;
        self.moves.clear();
        let mut landings = std::mem::take(&mut self.landings);
        for (pe, color, side, word, origin) in landings.drain(..) {
            self.land(pe as usize, u32::from(color), side, word, origin);
        }
        self.landings = landings;
        for pe in std::mem::take(&mut self.told) {
            self.tell(pe as usize);
        }
    }

    pub(super) fn carry(&mut self, one: &Move) {
        let (pe, color) = (one.pe as usize, u32::from(one.color));
        let slot = self.slot(pe, color);
        let router = &mut self.routers[slot];
        let was_full = router.queue.len() >= self.timing.router_queue;
        let Some(mut word) = router.queue.pop() else {
            return;
        };
        let trace = self.trace.as_mut();
        let origin = trace.map_or(UNKNOWN, |trace| trace.leaves(slot, self.now));
        if self.routers[slot].queue.len() == 0 {
            self.pes[pe].occupied &= !(1 << self.bit_of[color as usize]);
        }
        self.runs.leaves(pe);
        let is_data = word.command == Command::Data;
        let router = &mut self.routers[slot];
        router.passed += i64::from(is_data);
        if !is_data {
            router.commands -= 1;
            let before = router.position;
            self.routers[slot].position = self.position_behind(slot, before, word.command);
            if word.command == Command::Teardown {
                self.routers[slot].down = true;
                self.pes[pe].torn |= 1 << color;
                self.told.push(pe as u32);
            }
            word.command = self.passed_on(slot, word.command);
        }
        if was_full || !is_data {
            self.changed(pe);
        }
        for side in (0..RAMP).filter(|side| one.sides >> side & 1 == 1) {
            if let Some(next) = self.neighbour(pe, side) {
                self.runs.sent(pe, side, color, word.command);
                if self.runs.sleeps(next) {
                    continue;
                }
                let ready = (self.now + self.timing.hop) as u32;
                let landed = Word {
                    ready,
                    advances: false,
                    ..word
                };
                let (next, from) = (next as u32, opposite(side));
                self.landings.push((next, one.color, from, landed, origin));
            }
        }
        if one.sides >> RAMP & 1 == 1 {
            let ready = self.now + self.timing.ramp_down;
            let inputs = &mut self.pes[pe].inputs;
            if let Some(at) = inputs.iter().position(|one| one.color == color) {
                let ready = ready as u32;
                inputs[at].queue.push(Word { ready, ..word });
                if let Some(trace) = &mut self.trace {
                    trace.comes_down(pe, at, origin);
                }
            }
            self.look_at(pe, ready);
        }
    }

    /// What a command is behind the router: one with a ring takes a turn off.
    fn passed_on(&self, slot: usize, command: Command) -> Command {
        let rings = self.given.settings[self.routers[slot].setting as usize].ring;
        match command {
            Command::HandOver(left) if rings => Command::HandOver(left.saturating_sub(1)),
            _ => command,
        }
    }

    /// What the first word of a router is behind it.
    pub(super) fn sent_by(&self, pe: usize, color: u32) -> Command {
        let slot = self.slot(pe, color);
        let first = self.routers[slot].queue.first();
        self.passed_on(slot, first.map_or(Command::Data, |word| word.command))
    }

    pub(super) fn land(&mut self, pe: usize, color: u32, side: u8, word: Word, origin: Origin) {
        if let Some(trace) = &mut self.trace {
            trace.lands(pe * self.given.colors.len() + color as usize, origin);
        }
        self.runs.landed(pe, side, color, word.command);
        let slot = self.slot(pe, color);
        let router = &mut self.routers[slot];
        router.queue.push(Word {
            advances: false,
            ..word
        });
        router.commands += u8::from(word.command != Command::Data);
        self.pes[pe].occupied |= 1 << self.bit_of[color as usize];
        self.starts_routing(pe);
        if word.advances {
            let before = self.routers[slot].position;
            self.routers[slot].position = self.position_behind(slot, before, Command::Advance);
            self.changed(pe);
        }
    }

    /// Who waits for a router may go on: its neighbours, its PE, itself.
    pub(super) fn changed(&mut self, pe: usize) {
        if self.runs.is_replaying() {
            return;
        }
        for side in 0..RAMP {
            if let Some(next) = self.neighbour(pe, side) {
                self.starts_routing(next);
            }
        }
        self.starts_routing(pe);
        self.starts_rising(pe);
    }

    pub(super) fn starts_routing(&mut self, pe: usize) {
        let own = &mut self.pes[pe];
        if !own.routes && own.occupied != 0 && !self.runs.is_silent(pe) {
            own.routes = true;
            self.routing.push(pe as u32);
        }
    }

    pub(super) fn starts_rising(&mut self, pe: usize) {
        let own = &mut self.pes[pe];
        let waits = || own.outputs.iter().any(|one| one.queue.len() > 0);
        if !own.rises && waits() && !self.runs.is_silent(pe) {
            own.rises = true;
            self.rising.push(pe as u32);
        }
    }
}
