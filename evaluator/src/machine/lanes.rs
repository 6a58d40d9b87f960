//! What PEs do: stages one after the other, in each of them lanes beside each other, in these entries
//! whose operations begin together.

use super::faults::{Checked, Fault, Kind};
use super::order::{awaited, Touch};
use super::plan::{Action, Advance, Lane, Op, Place};
use super::state::{Due, LaneRun, Machine, Pe, Progress, Ready, Running, Staged, Waits, NONE};
use crate::steps::combined;

impl<'a> Machine<'a> {
    /// All PEs begin.
    pub(super) fn begin_all(&mut self) -> Checked<()> {
        for pe in 0..self.pes.len() {
            self.begin(pe)?;
            self.settle()?;
        }
        Ok(())
    }

    /// Lanes and PEs go on as far as they come without any words.
    pub(super) fn settle(&mut self) -> Checked<()> {
        while let Some(due) = self.due.pop() {
            match due {
                Due::Lane(lane) => self.go_on(lane)?,
                Due::Begin(pe) => self.begin(pe as usize)?,
                Due::Start(op) => self.start(op)?,
            }
        }
        Ok(())
    }

    /// A PE goes on to the next stage in which it does something, if all that it sets is down.
    pub(super) fn begin(&mut self, pe: usize) -> Checked<()> {
        loop {
            let next = self.pes[pe].stage.wrapping_add(1);
            let Some(stage) = self.given.stages.get(next as usize) else {
                self.pes[pe].stage = self.given.stages.len() as u32;
                self.pes[pe].lanes = 0;
                return Ok(());
            };
            let phase = &self.given.phases[stage.phase];
            let Ok(role) = usize::try_from(phase.role_at[pe]) else {
                self.pes[pe].stage = next;
                continue;
            };
            if !self.set_what_is_down(pe, stage.phase, next) {
                return Ok(());
            }
            self.pes[pe].stage = next;
            let lanes = &phase.roles[role].lanes;
            if lanes.is_empty() {
                continue;
            }
            self.pes[pe].lanes = lanes.len() as u32;
            let first = self.pes[pe].first_lane as usize;
            let shape = &self.shapes[stage.phase];
            let (touches, follows) = (shape.touches[role], shape.follows[role]);
            self.touched[pe].begin(if touches { lanes.len() } else { 0 });
            self.staged[pe].clear();
            for (number, lane) in lanes.iter().enumerate() {
                let place = phase.place_at[pe] as i64;
                self.lanes[first + number] = Some(begun(lane, place, follows));
                self.due.push(Due::Lane((first + number) as u32));
            }
            return Ok(());
        }
    }

    /// A PE sets the routers of a phase that are down between phases; not before all of them are.
    fn set_what_is_down(&mut self, pe: usize, phase: usize, stage: u32) -> bool {
        let sets = &self.shapes[phase].sets;
        let own = sets[pe] as usize..sets[pe + 1] as usize;
        for index in own.clone() {
            let color = self.given.phases[phase].sets[index].color;
            let slot = self.slot(pe, color);
            if self.given.torn_down[color as usize] && self.routers[slot].setting != NONE {
                self.pes[pe].down_first = slot as u32;
                self.pes[pe].lanes = 0;
                return false;
            }
        }
        self.pes[pe].down_first = NONE;
        for index in own {
            let color = self.given.phases[phase].sets[index].color;
            if self.given.torn_down[color as usize] {
                self.set(phase, index, stage);
                self.wake_at_router(self.slot(pe, color));
            }
        }
        true
    }

    pub(super) fn lane(&mut self, lane: u32) -> &mut LaneRun<'a> {
        self.lanes[lane as usize].as_mut().expect("it has begun")
    }

    fn lanes_of(pe: &Pe) -> std::ops::Range<u32> {
        pe.first_lane..pe.first_lane + pe.lanes
    }

    pub(super) fn pe_of_lane(&self, lane: u32) -> usize {
        self.pes.partition_point(|pe| pe.first_lane <= lane) - 1
    }

    /// A lane whose entry has ended goes on to the next one that takes time.
    fn go_on(&mut self, lane: u32) -> Checked<()> {
        if matches!(self.lane(lane).progress, Progress::Runs | Progress::Done) {
            return Ok(()); // it has gone on since
        }
        let pe = self.pe_of_lane(lane);
        let place = self.phase_of(self.pes[pe].stage).place_at[pe] as i64;
        loop {
            let own = self.lane(lane);
            if own.progress == Progress::Runs {
                return Ok(());
            }
            if own.progress == Progress::Idle && ends_step(own, place) {
                own.steps += 1;
                own.progress = Progress::Waits;
                self.poke(pe);
            }
            if self.lane(lane).progress == Progress::Waits {
                if !self.step_is_over(pe, lane) {
                    return Ok(());
                }
                let own = self.lane(lane);
                own.progress = Progress::Idle;
                own.began.push(own.count);
            }
            if !next_entry(self.lane(lane), place) {
                self.lane(lane).progress = Progress::Done;
                self.poke(pe);
                self.may_end(pe);
                return Ok(());
            }
            self.begin_entry(pe, lane, place)?;
        }
    }

    fn step_is_over(&self, pe: usize, lane: u32) -> bool {
        let steps = |lane: u32| {
            self.lanes[lane as usize]
                .as_ref()
                .map_or(0, |one| one.steps)
        };
        Self::lanes_of(&self.pes[pe]).all(|other| {
            let done = self.lanes[other as usize]
                .as_ref()
                .is_none_or(|one| one.progress == Progress::Done);
            done || steps(other) >= steps(lane)
        })
    }

    /// The lanes that wait for others of the PE are looked at.
    fn poke(&mut self, pe: usize) {
        for lane in Self::lanes_of(&self.pes[pe]) {
            if self.lane(lane).progress == Progress::Waits {
                self.due.push(Due::Lane(lane));
            }
        }
    }

    /// A PE all of whose lanes are done begins the next stage.
    fn may_end(&mut self, pe: usize) {
        let mut lanes = Self::lanes_of(&self.pes[pe]);
        if lanes.all(|lane| self.lane(lane).progress == Progress::Done) {
            self.due.push(Due::Begin(pe as u32));
        }
    }

    /// The operations of an entry begin.
    fn begin_entry(&mut self, pe: usize, lane: u32, place: i64) -> Checked<()> {
        let own = self.lane(lane);
        own.count += 1;
        own.progress = Progress::Runs;
        let (turn, number) = (own.turn, own.offset + own.entry);
        let of = own.lane;
        let (shift, entry) = {
            let one = &of.loops[own.at_loop];
            (one.shift.at(place), &one.entries[own.entry])
        };
        let mut begins = std::mem::take(&mut self.begins);
        for op in &entry.ops {
            if op.r#where.at(place) == 0 {
                continue;
            }
            let one = self.running(pe, lane, number, op, shift * turn)?;
            if one.over() && !sends_a_command(op) {
                self.has_ended(pe, lane, op); // there is nothing to move
                continue;
            }
            begins.push(self.place(one));
        }
        self.lane(lane).open = begins.len() as u32;
        for index in begins.drain(..) {
            self.start(index)?;
        }
        self.begins = begins;
        let own = self.lane(lane);
        if own.open == 0 {
            own.progress = Progress::Idle;
        }
        Ok(())
    }

    /// An operation at a place, its slices `shift` further.
    fn running(
        &self,
        pe: usize,
        lane: u32,
        entry: usize,
        op: &'a Op,
        shift: i64,
    ) -> Checked<Running<'a>> {
        let stage = self.pes[pe].stage;
        let (phase, shape) = (self.phase_of(stage), self.shape_of(stage));
        let place = phase.place_at[pe] as i64;
        let mut one = Running {
            op,
            pe: pe as u32,
            lane,
            stage,
            entry: entry as u32,
            first: 0,
            per: 1,
            total: 0,
            done: 0,
            left: 0,
            next: NONE,
            came_back: false,
            waits: Waits::No,
        };
        let ends = (op.receives_on().is_some(), op.sends_on().is_some());
        let relays = op.action == Action::Relay && ends != (false, false);
        if relays && ends != (true, true) {
            let text = format!(
                "{} lets nothing pass from one color to another",
                self.name(pe)
            );
            return Err(self.fault(Kind::OtherSlice, &one, text));
        }
        if let (true, Some(elements)) = (relays, &op.elements) {
            one.left = elements.at(place) * phase.wavelets.0 / phase.wavelets.1;
            return Ok(one);
        }
        let (count, all) = (op.slices.count.at(place), phase.sizes.len() as i64);
        let mut first = op.slices.first.at(place);
        if shift != 0 {
            first = (first + shift).rem_euclid(all);
        }
        if count <= 0 {
            return Ok(one);
        }
        let (blocks, period) = (op.slices.blocks, op.slices.period);
        let end = first + count + i64::from(period) * (i64::from(blocks) - 1);
        if first < 0 || end > all || (blocks > 1 && shape.slices.len() as i64 != all) {
            let text = format!(
                "{} moves slices {first} to {} of {all}",
                self.name(pe),
                end - 1
            );
            return Err(self.fault(Kind::OtherSlice, &one, text));
        }
        let bound = |slice: i64| shape.before[slice as usize];
        one.first = bound(first);
        one.per = bound(first + count) - one.first;
        if relays {
            let weight = |block: u32| {
                let first = (one.first + block * period) as usize;
                shape.weights[first + one.per as usize] - shape.weights[first]
            };
            one.left = (0..blocks).map(weight).sum();
            one.per = 1;
        } else {
            one.per *= blocks;
            one.total = one.per * op.vectors.max(0) as u32;
            one.per = one.per.max(1);
        }
        Ok(one)
    }

    fn place(&mut self, one: Running<'a>) -> u32 {
        if let Some(index) = self.free.pop() {
            self.ops[index as usize] = one;
            return index;
        }
        self.ops.push(one);
        self.ops.len() as u32 - 1
    }

    /// Whether what an operation comes after has ended.
    fn may_start(&self, op: &Running) -> bool {
        let Some(after) = op.op.after else {
            return true;
        };
        let first = self.pes[op.pe as usize].first_lane as usize;
        let Some(other) = self.lanes.get(first + after).and_then(Option::as_ref) else {
            return true;
        };
        if op.op.sends_on().is_some() {
            other.to_send == 0
        } else {
            other.to_receive == 0
        }
    }

    pub(super) fn start(&mut self, index: u32) -> Checked<()> {
        let one = self.ops[index as usize];
        let pe = one.pe as usize;
        if !self.may_start(&one) {
            self.ops[index as usize].waits = Waits::Lane;
            self.pes[pe].pending.push(index);
            return Ok(());
        }
        self.ops[index as usize].waits = Waits::No;
        if let Some(color) = one.op.sends_on() {
            let slot = self.slot(pe, color);
            if self.sending[slot] != NONE {
                let of = &self.ops[self.sending[slot] as usize];
                return Err(self.at_once(Kind::SeveralSend, &one, color, of));
            }
            self.use_end(&one, color, true)?;
            self.sending[slot] = index;
        }
        let Some(color) = one.op.receives_on().filter(|_| !one.over()) else {
            if one.op.sends_on().is_some() {
                self.ready.push_back(Ready::Op(index));
                return Ok(());
            }
            self.apply(&one)?;
            return self.end(index);
        };
        let slot = self.slot(pe, color);
        if self.receiving[slot] != NONE {
            let of = &self.ops[self.receiving[slot] as usize];
            return Err(self.at_once(Kind::SeveralReceive, &one, color, of));
        }
        self.use_end(&one, color, false)?;
        self.receiving[slot] = index;
        if self.parked.contains_key(&(slot as u32)) {
            self.ready.push_back(Ready::Parked(slot as u32));
        } else {
            self.wake_at_receiver(slot);
        }
        Ok(())
    }

    /// Two operations of a PE send a color, or receive it, at once.
    fn at_once(&self, kind: Kind, one: &Running, color: u32, of: &Running) -> Box<Fault> {
        let does = if kind == Kind::SeveralSend {
            "sends on"
        } else {
            "receives"
        };
        let (pe, name) = (self.name(one.pe as usize), self.color(color));
        let text = format!("{pe} {does} {name} in two operations at once");
        let first = self.pes[one.pe as usize].first_lane;
        let fault = self.fault(kind, one, text).on(color);
        Box::new(fault.with((of.lane - first) as usize))
    }

    /// Memory is combined with memory, or overwrites it.
    fn apply(&mut self, one: &Running) -> Checked<()> {
        let (Place::Stage(area), Place::Vector) = (one.op.receive, one.op.send) else {
            return Ok(());
        };
        for number in 0..one.total {
            let slice = one.slice(number);
            let (low, high) = self.atoms(one.stage, one.pe as usize, slice);
            for atom in low..high {
                let cell = self.staged_at(one, area, atom);
                self.touch(one, self.staged_cell(one, area, atom), Touch::Takes)?;
                let there = self.staged[one.pe as usize][cell];
                let value = match (there, one.op.action) {
                    (Staged::Fresh(value), _) | (Staged::Taken(value), Action::Copy) => value,
                    _ => {
                        let text = format!(
                            "{} takes from the stage what it has not received",
                            self.name(one.pe as usize)
                        );
                        let slice = self.shape_of(one.stage).slices[slice as usize] as usize;
                        let fault = *self.fault(Kind::Staging, one, text);
                        return Err(Box::new(fault.of_slice(slice)));
                    }
                };
                self.staged[one.pe as usize][cell] = Staged::Taken(value);
                self.write(one, atom, value)?;
            }
        }
        Ok(())
    }

    pub(super) fn staged_cell(&self, one: &Running, area: u32, atom: u32) -> usize {
        let atoms = self.given.atoms[self.given.stages[one.stage as usize].call];
        (area as usize + 1) * atoms + atom as usize
    }

    /// Where an atom of an area is staged.
    pub(super) fn staged_at(&mut self, one: &Running, area: u32, atom: u32) -> usize {
        let atoms = self.given.atoms[self.given.stages[one.stage as usize].call];
        let staged = &mut self.staged[one.pe as usize];
        if staged.len() < (area as usize + 1) * atoms {
            staged.resize((area as usize + 1) * atoms, Staged::Nothing);
        }
        area as usize * atoms + atom as usize
    }

    /// A value comes to the vector, and is combined with what is there, or not.
    pub(super) fn write(&mut self, one: &Running, atom: u32, value: u64) -> Checked<()> {
        let (call, base) = self.memory(one.stage, one.pe as usize);
        let at = base + atom as usize;
        let before = self.held[call][at];
        let after = match one.op.action {
            Action::Combine => combined(before, value),
            _ => value,
        };
        let (taken, combines) = (
            one.op.receive.color().is_none(),
            one.op.action == Action::Combine,
        );
        let touch = match (taken, before == after, combines) {
            (true, true, _) => Touch::TakenSame,
            (true, false, true) => Touch::TakenCombines,
            (true, false, false) => Touch::TakenCopies,
            (false, true, _) => Touch::Same,
            (false, false, true) => Touch::Combines,
            (false, false, false) => Touch::Copies,
        };
        self.touch(one, atom as usize, touch)?;
        self.held[call][at] = after;
        Ok(())
    }

    /// An operation has ended.
    pub(super) fn end(&mut self, index: u32) -> Checked<()> {
        let one = self.ops[index as usize];
        let pe = one.pe as usize;
        if one.op.returns && !one.came_back && one.total > 0 {
            let text = format!(
                "{} waits for its own words, which do not come back to it",
                self.name(pe)
            );
            return Err(self.fault(Kind::KeptBack, &one, text));
        }
        if let Some(color) = one.op.sends_on() {
            let slot = self.slot(pe, color);
            self.sending[slot] = NONE;
        }
        self.free.push(index);
        let known = awaited(&one, self.lane(one.lane));
        self.has_ended(pe, one.lane, one.op);
        let own = self.lane(one.lane);
        own.awaited = known;
        own.open -= 1;
        if own.open == 0 {
            own.progress = Progress::Idle;
            self.due.push(Due::Lane(one.lane));
        }
        Ok(())
    }

    /// What an operation was waited for by others.
    fn has_ended(&mut self, pe: usize, lane: u32, op: &Op) {
        let own = self.lane(lane);
        own.to_receive -= i64::from(op.receives_on().is_some());
        own.to_send -= i64::from(op.sends_on().is_some());
        if self.pes[pe].pending.is_empty() {
            return;
        }
        let pending = std::mem::take(&mut self.pes[pe].pending);
        let (may, wait): (Vec<u32>, Vec<u32>) = pending
            .into_iter()
            .partition(|index| self.may_start(&self.ops[*index as usize]));
        self.pes[pe].pending = wait;
        self.due.extend(may.into_iter().map(Due::Start));
    }

    /// What waits at a router may go on.
    pub(super) fn wake_at_router(&mut self, slot: usize) {
        let first = std::mem::replace(&mut self.at_router[slot], NONE);
        self.wake(first);
    }

    /// What waits for a PE to receive may go on.
    pub(super) fn wake_at_receiver(&mut self, slot: usize) {
        let first = std::mem::replace(&mut self.at_receiver[slot], NONE);
        self.wake(first);
    }

    fn wake(&mut self, mut next: u32) {
        while next != NONE {
            self.ready.push_back(Ready::Op(next));
            let op = &mut self.ops[next as usize];
            op.waits = Waits::No;
            next = std::mem::replace(&mut op.next, NONE);
        }
    }

    /// A PE that has come to its end, or has not.
    pub(super) fn has_stages_left(&self, pe: usize) -> bool {
        (self.pes[pe].stage as usize) != self.given.stages.len()
    }

    pub(super) fn left_over(&self) -> Option<Fault> {
        let (slot, words) = self.parked.iter().min_by_key(|(slot, _)| **slot)?;
        let (pe, color) = (self.pe_of(*slot as usize), self.color_of(*slot as usize));
        let text = format!(
            "words of {} on {} are left at {}, which receives no more",
            self.name(words.from as usize),
            self.color(color),
            self.name(pe)
        );
        let fault = *self.fault_at(Kind::WordsLeft, pe, color, text);
        Some(fault.with(words.from as usize))
    }
}

/// A lane before its first entry; what others may come after is counted if it `follows`.
fn begun(lane: &Lane, place: i64, follows: bool) -> LaneRun<'_> {
    let (mut to_receive, mut to_send) = (0, 0);
    for one in lane.loops.iter().filter(|_| follows) {
        let turns = one.turns.at(place).max(0);
        for op in one.entries.iter().flat_map(|entry| &entry.ops) {
            if op.r#where.at(place) != 0 {
                to_receive += turns * i64::from(op.receives_on().is_some());
                to_send += turns * i64::from(op.sends_on().is_some());
            }
        }
    }
    LaneRun {
        lane,
        progress: Progress::Idle,
        at_loop: usize::MAX,
        offset: 0,
        turn: 0,
        turns: 0,
        entry: 0,
        open: 0,
        steps: 0,
        count: 0,
        began: vec![0],
        awaited: 0,
        to_receive,
        to_send,
    }
}

/// Whether something moves routers on also where no words come before it. What moves the own router on
/// is the last word itself, but in turns.
fn sends_a_command(op: &Op) -> bool {
    let by_words = matches!(op.advance, Advance::Nothing | Advance::OwnRouter);
    op.sends_on().is_some() && !by_words
}

/// Whether the entry that a lane is in ends its part of a step.
fn ends_step(lane: &LaneRun, place: i64) -> bool {
    let Some(one) = lane.lane.loops.get(lane.at_loop) else {
        return false;
    };
    one.entries[lane.entry].ends_step.at(place) != 0
}

/// A lane goes to its next entry; false if it has none.
fn next_entry(lane: &mut LaneRun, place: i64) -> bool {
    let loops = &lane.lane.loops;
    if let Some(one) = loops.get(lane.at_loop) {
        lane.entry += 1;
        if lane.entry < one.entries.len() {
            return true;
        }
        lane.entry = 0;
        lane.turn += 1;
        if lane.turn < lane.turns {
            return true;
        }
        lane.offset += one.entries.len();
    }
    loop {
        lane.at_loop = lane.at_loop.wrapping_add(1);
        let Some(one) = loops.get(lane.at_loop) else {
            return false;
        };
        lane.turns = one.turns.at(place);
        if lane.turns > 0 && !one.entries.is_empty() {
            (lane.turn, lane.entry) = (0, 0);
            return true;
        }
        lane.offset += one.entries.len();
    }
}
