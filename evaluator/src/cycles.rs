//! The cycles of a line.
//!
//! A PE has one slot in a cycle. What receives or lets pass goes first, as the microthreads of input
//! queues have the high priority (docs/machine.md, M3-9), then the code, then what only sends, which
//! waits for the end of a task (M4-14); of two operations each goes in turn. What is written waits
//! in the lane's output queue for the ramp, which all lanes of a PE share, and for room on its way,
//! which comes back when the receiver takes an element. A latency later it is at the other end's ramp, goes down it as
//! soon as the lane's input queue has room, and can be used.
//!
//! A PE is looked at only in cycles in which something may happen there: something arrives, its
//! code comes to the end of an instruction, or something has happened in the cycle before. What
//! happens in a cycle depends on no other PE, and is for others in a later one.

use crate::network::Moved;
use crate::state::{Due, Evaluation, Operation, Stock, Way, DUES};
use crate::steady::Repetition;
use crate::wakes::NEVER;

/// Why there are no further cycles for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Finished,
    /// The budget is spent.
    Spent,
    /// Nothing will happen any more, and not all is over.
    Stuck,
    Interrupted,
}

/// Looks between two questions whether to stop: some hundredths of a second.
const ASK_AFTER: i64 = 1_000_000;

/// Who has the slot of a PE.
enum Slot {
    Operation(Operation),
    Code,
    Nobody,
}

impl Evaluation<'_> {
    /// Run cycles until all is over or this cannot go on; it asks now and then whether to stop.
    pub fn advance(&mut self, is_interrupted: &mut dyn FnMut() -> bool) -> End {
        let mut repetition = Repetition::default();
        let mut ask_at = self.budget - ASK_AFTER;
        loop {
            if let Some(end) = self.end() {
                return end;
            }
            if self.budget < ask_at {
                ask_at = self.budget - ASK_AFTER;
                if is_interrupted() {
                    return End::Interrupted;
                }
            }
            let changed = self.cycle();
            self.now = self.wakes.first().min(self.network.next(self.now));
            repetition.look(self, changed);
        }
    }

    fn end(&self) -> Option<End> {
        if self.under_way == 0 {
            Some(End::Finished)
        } else if self.now == NEVER {
            Some(End::Stuck)
        } else if self.budget < 0 {
            Some(End::Spent)
        } else {
            None
        }
    }

    /// One cycle; whether code has gone on, or an operation ended.
    fn cycle(&mut self) -> bool {
        let mut changed = false;
        self.wakes.go_to(self.now);
        self.budget -= 1 + self.network.decide(self.now);
        for word in 0..self.wakes.words() {
            let mut due = self.wakes.take(word);
            while due > 0 {
                let pe = word * 64 + due.trailing_zeros() as usize;
                due &= due - 1;
                if self.wakes.of(pe) == self.now {
                    changed |= self.look(pe);
                    self.budget -= 1;
                }
            }
        }
        self.hand_on();
        changed
    }

    /// Routers hand on what they can.
    fn hand_on(&mut self) {
        let (now, each, hop) = (self.now, self.line.lanes_each, self.line.machine.hop);
        let (lanes, wakes, wiring) = (&mut self.lanes, &mut self.wakes, &self.line.wiring);
        self.network.commit(now, |moved| match moved {
            Moved::Left(lane) => {
                lanes[lane].stock.room += 1;
                wakes.hurry(lane / each, now + 1);
            }
            Moved::Landed(lane) => {
                if let Some(target) = wiring[lane].target {
                    lanes[target].dues[Due::Lands as usize].push_back(now + hop);
                    wakes.hurry(target / each, now + hop);
                }
            }
        });
    }

    /// The cycle of a PE, and when the next one is; whether code has gone on, or an operation ended.
    fn look(&mut self, pe: usize) -> bool {
        let alone = !self.line.counts_held();
        let own = &mut self.pes[pe];
        if own.active {
            own.slots -= (self.now - own.ready.max(self.seen[pe] + 1)).max(0);
        }
        self.seen[pe] = self.now;
        self.arrive(pe);
        let mut moved = alone && self.land(pe);
        moved |= self.go_up(pe);
        let waits = self.waits(pe);
        let slot = self.slot(pe);
        let mut ended = None;
        if let Slot::Operation(operation) = slot {
            moved = true;
            self.pes[pe].slots -= i64::from(waits);
            ended = self.step(operation).then_some(operation);
        }
        if !alone {
            moved |= self.land(pe);
        }
        if let Some(operation) = ended {
            self.leave_list(pe, operation);
            self.operation_ended(pe, operation.lane);
        }
        let goes_on = waits || matches!(slot, Slot::Code);
        let went_on = goes_on && self.pes[pe].slots <= 0;
        if went_on {
            self.go_on(pe);
        }
        let wakes = self.next(pe, moved || went_on);
        self.wakes.set(pe, wakes);
        ended.is_some() || went_on
    }

    /// Whether the code of a PE waits in this cycle, whoever has the slot.
    fn waits(&mut self, pe: usize) -> bool {
        let own = &mut self.pes[pe];
        own.active && own.ready <= self.now && own.slots > 0 && own.waits()
    }

    /// The next cycle in which something may happen at a PE. Where nothing has `moved` in this one,
    /// nothing will before something is due, or the code has had its slots.
    fn next(&mut self, pe: usize, moved: bool) -> i64 {
        let own = &self.pes[pe];
        let mut wakes = self.others.until(pe, self.now).unwrap_or(NEVER);
        if own.active {
            wakes = own.ready.max(self.now + 1) + (own.slots - 1).max(0);
        }
        for lane in &self.lanes[self.line.lanes_of(pe)] {
            if moved && lane.may_go_on() {
                return self.now + 1;
            }
            for due in DUES {
                if let Some(&cycle) = lane.dues[due as usize].front() {
                    if lane.waits_for(due) {
                        wakes = wakes.min(cycle);
                    }
                }
            }
        }
        wakes
    }

    /// What was due up to this cycle is there.
    fn arrive(&mut self, pe: usize) {
        let (now, group) = (self.now, self.line.machine.group);
        for lane in &mut self.lanes[self.line.lanes_of(pe)] {
            for due in DUES {
                let cycles = &mut lane.dues[due as usize];
                while cycles.front().is_some_and(|&cycle| cycle <= now) {
                    cycles.pop_front();
                    match due {
                        Due::Lands => lane.stock.landed += 1,
                        Due::Freed => lane.stock.room += group,
                        Due::Rises => lane.stock.leaving += group,
                        Due::Usable => lane.stock.arrived += 1,
                    }
                }
            }
        }
    }

    /// An element goes down the ramp, if there is room in the queue of its lane; whether one does.
    fn land(&mut self, pe: usize) -> bool {
        let alone = !self.line.counts_held();
        let input_queue = self.line.machine.input_queue;
        let able = self.able(pe, |stock| {
            let waiting = if alone { stock.arrived } else { stock.held };
            stock.landed > 0 && waiting < input_queue
        });
        let Some(index) = alternate(able, &mut self.pes[pe].down_first) else {
            return false;
        };
        let lane = pe * self.line.lanes_each + index;
        let stock = &mut self.lanes[lane].stock;
        stock.landed -= 1;
        if alone {
            stock.arrived += 1;
            return true;
        }
        stock.held += 1;
        self.enter(Due::Usable, self.line.machine.ramp_down, lane);
        if let Some(source) = self.source_in_network(lane) {
            self.network.leave(source);
        }
        true
    }

    /// The lane that a lane receives from, where routers are followed.
    fn source_in_network(&self, lane: usize) -> Option<usize> {
        self.line.wiring[lane]
            .source
            .filter(|_| self.line.shares_links)
    }

    /// An element of an output queue goes up the ramp, if there is room ahead; whether one does.
    fn go_up(&mut self, pe: usize) -> bool {
        let able = self.able(pe, |stock| stock.leaving > 0 && stock.room > 0);
        let Some(index) = alternate(able, &mut self.pes[pe].up_first) else {
            return false;
        };
        let lane = pe * self.line.lanes_each + index;
        let stock = &mut self.lanes[lane].stock;
        stock.leaving -= 1;
        stock.queued -= 1;
        stock.room -= 1;
        if self.line.shares_links {
            self.network.enter(lane, self.now);
        } else if let Some(target) = self.line.wiring[lane].target {
            self.enter(Due::Lands, self.line.wiring[target].delay, target);
        }
        true
    }

    /// Which lanes of a PE hold what is asked for, a bit for each.
    fn able(&self, pe: usize, holds: impl Fn(&Stock) -> bool) -> usize {
        let lanes = self.lanes[self.line.lanes_of(pe)].iter().enumerate();
        lanes.fold(0, |able, (index, lane)| {
            able | usize::from(holds(&lane.stock)) << index
        })
    }

    fn slot(&mut self, pe: usize) -> Slot {
        let (machine, lanes) = (&self.line.machine, &self.lanes[self.line.lanes_of(pe)]);
        let (mut takes, mut sends) = (0, 0);
        for (index, lane) in lanes.iter().enumerate() {
            let stock = &lane.stock;
            let free = stock.queued + machine.group <= machine.output_queue;
            let there = lane.to_take > 0 && stock.arrived >= machine.group;
            takes |= usize::from(there && (free || !lane.progress.passing)) << index;
            sends |= usize::from(free && lane.to_send > 0) << index;
        }
        if takes > 0 {
            return Slot::Operation(self.in_turn(pe, takes, Way::Takes));
        }
        let own = &mut self.pes[pe];
        if own.active && own.ready <= self.now {
            own.slots -= 1;
            return Slot::Code;
        }
        if sends > 0 && self.others.until(pe, self.now).is_none() {
            return Slot::Operation(self.in_turn(pe, sends, Way::Sends));
        }
        Slot::Nobody
    }

    /// Of the lanes whose bits are set, the one whose operation comes first in the PE's list, after
    /// the one that went last.
    fn in_turn(&mut self, pe: usize, able: usize, way: Way) -> Operation {
        let (first, own) = (pe * self.line.lanes_each, &mut self.pes[pe]);
        let count = own.operations.len();
        let is_able = |one: &Operation| one.way == way && able >> (one.lane - first) & 1 == 1;
        let places = (0..count).map(|ahead| (own.turn + ahead) % count);
        let at = places.into_iter().find(|&at| is_able(&own.operations[at]));
        let at = at.expect("what has elements left is in the list");
        own.turn = at + 1;
        own.operations[at]
    }

    /// Elements are taken or sent; whether the operation ends with it.
    fn step(&mut self, operation: Operation) -> bool {
        let (lane, group) = (operation.lane, self.line.machine.group);
        let own = &mut self.lanes[lane];
        let takes = operation.way == Way::Takes;
        let left = if takes {
            &mut own.to_take
        } else {
            &mut own.to_send
        };
        *left -= group;
        let is_over = *left == 0;
        let writes = !takes || own.progress.passing;
        if writes {
            own.stock.queued += group;
        }
        if takes {
            own.stock.arrived -= group;
            own.stock.held -= if self.line.counts_held() { group } else { 0 };
            let source = self.line.wiring[lane].source;
            if let Some(source) = source.filter(|_| !self.line.shares_links) {
                self.enter(Due::Freed, 1 + self.line.wiring[source].hops, source);
            }
        }
        if writes {
            let starts = if takes {
                0
            } else {
                self.line.machine.send_start
            };
            self.enter(Due::Rises, self.line.rise() + starts, lane);
        }
        is_over
    }

    /// An operation that has ended leaves the list of its PE; the one behind it is the next.
    fn leave_list(&mut self, pe: usize, operation: Operation) {
        let own = &mut self.pes[pe];
        if let Some(at) = own.operations.iter().position(|one| *one == operation) {
            own.operations.remove(at);
            own.turn = at;
        }
    }
}

/// Of the lanes of a PE whose bits are set one; of two the `first`, and next time the other.
fn alternate(able: usize, first: &mut usize) -> Option<usize> {
    match able {
        0 => None,
        3 => {
            let chosen = *first;
            *first = 1 - chosen;
            Some(chosen)
        }
        one => Some(one >> 1),
    }
}
