//! A burst moves: slices of one operation, from their sender through routers to all PEs that take them,
//! and on through each PE that combines or relays them, at once and without buffers.

use super::faults::{Checked, Kind};
use super::order::Touch;
use super::plan::{Action, Advance, Place, Slices};
use super::state::{Machine, Parked, Ready, Receipt, Running, Staged, Waits, NONE};
use crate::steps::combined;

/// Slices on their way over one color: who puts them there, the sender of the words, where their
/// values begin, whose slices they are; the hop that they have come by, if not from a sender.
#[derive(Clone, Copy, Debug)]
struct Hop<'a> {
    op: u32,
    from: u32,
    values: usize,
    slices: Run<'a>,
    before: Option<u32>,
}

/// Slices of a PE in the order in which they move: those of its operation from `number` on, or one that
/// is parked.
#[derive(Clone, Copy, Debug)]
struct Run<'a> {
    pe: u32,
    stage: u32,
    first: u32,
    per: u32,
    number: u32,
    of: Option<&'a Slices>,
    turned: bool,
}

impl<'a> Run<'a> {
    fn of(op: &Running<'a>) -> Self {
        Run {
            pe: op.pe,
            stage: op.stage,
            first: op.first,
            per: op.per,
            number: op.done,
            of: Some(&op.op.slices),
            turned: op.op.slices.turns_elements(),
        }
    }

    fn slice(&self, at: u32) -> u32 {
        let nth = |of: &Slices| of.nth((self.number + at) % self.per, self.per);
        self.first + self.of.map_or(0, nth)
    }
}

/// Slices that a PE takes: those of a hop from `low` on.
#[derive(Clone, Copy, Debug)]
struct Take {
    op: u32,
    hop: u32,
    done: u32,
    low: u32,
    high: u32,
}

/// All that moves at once.
#[derive(Clone, Debug, Default)]
pub(super) struct Closure<'a> {
    hops: Vec<Hop<'a>>,
    takes: Vec<Take>,
    /// Filters that count, and receivers at which words stay.
    counts: Vec<u32>,
    stays: Vec<(u32, u32)>,
    values: Vec<u64>,
    /// Wavelets and atoms before each of the slices, and of all.
    weights: Vec<i64>,
    atoms: Vec<u32>,
    /// Which of the slices a filter lets in, and what has ended.
    parts: Vec<(u32, u32)>,
    ended: Vec<u32>,
}

/// What comes of an attempt.
enum Tried {
    Moves,
    Waits(Waits),
    /// So many slices may move.
    Fewer(u32),
}

impl<'a> Machine<'a> {
    /// Everything moves as far as it comes.
    pub(super) fn move_all(&mut self) -> Checked<()> {
        loop {
            while let Some(ready) = self.next() {
                match ready {
                    Ready::Op(index) => {
                        self.attempt(index, false)?;
                    }
                    Ready::Parked(slot) => self.take_parked(slot)?,
                }
                self.settle()?;
            }
            if !self.park_small()? {
                return Ok(());
            }
        }
    }

    fn next(&mut self) -> Option<Ready> {
        if let Some(dice) = self.dice.as_mut().filter(|_| self.ready.len() > 1) {
            *dice ^= *dice << 13;
            *dice ^= *dice >> 7;
            *dice ^= *dice << 17;
            let at = (*dice % self.ready.len() as u64) as usize;
            self.ready.swap(0, at);
        }
        self.ready.pop_front()
    }

    /// Where nothing moves any more, what has room in the queue of its receiver goes there.
    fn park_small(&mut self) -> Checked<bool> {
        let before = self.parked.len();
        for slot in std::mem::take(&mut self.taken_up) {
            self.take_parked(slot)?;
            self.settle()?;
        }
        let mut any = self.parked.len() < before || !self.ready.is_empty();
        while let Some((index, slot)) = self.small.pop() {
            if self.ops[index as usize].waits != Waits::Receiver(slot) || self.has_parked(slot) {
                continue;
            }
            self.forget(index, slot);
            any |= self.attempt(index, true)?;
            self.settle()?;
            if any {
                break;
            }
        }
        Ok(any)
    }

    fn has_parked(&self, slot: u32) -> bool {
        !self.parked.is_empty() && self.parked.contains_key(&slot)
    }

    /// An operation waits at a receiver no longer.
    fn forget(&mut self, index: u32, slot: u32) {
        let after = std::mem::replace(&mut self.ops[index as usize].next, NONE);
        self.ops[index as usize].waits = Waits::No;
        if self.at_receiver[slot as usize] == index {
            self.at_receiver[slot as usize] = after;
            return;
        }
        let mut at = self.at_receiver[slot as usize];
        while self.ops[at as usize].next != index {
            at = self.ops[at as usize].next;
        }
        self.ops[at as usize].next = after;
    }

    /// A sender puts out as many slices as go, or waits; whether any have moved.
    fn attempt(&mut self, index: u32, may_stay: bool) -> Checked<bool> {
        let op = self.ops[index as usize];
        if op.over() {
            if let Some(slot) = self.follow(&op, false)? {
                self.park(index, Waits::Router(slot));
                return Ok(false);
            }
            self.advance(&op)?;
            self.end(index)?;
            return Ok(true);
        }
        let mut count = if may_stay { 1 } else { op.left_of_vector() };
        let hop = Hop {
            op: index,
            from: op.pe,
            values: 0,
            slices: Run::of(&op),
            before: None,
        };
        self.measure(&hop.slices, count);
        loop {
            match self.closure(hop, None, count, may_stay)? {
                Tried::Moves => {
                    self.commit(count, None)?;
                    return Ok(true);
                }
                Tried::Waits(waits) => {
                    self.park(index, waits);
                    if let (Waits::Receiver(slot), true) = (waits, self.fits(&op)) {
                        self.small.push((index, slot));
                    }
                    return Ok(false);
                }
                Tried::Fewer(fewer) if fewer == 0 || fewer >= count => {
                    let text = format!(
                        "what comes from {} is taken by an operation that has no room for it",
                        self.name(op.pe as usize)
                    );
                    return Err(self.fault(Kind::OtherLength, &op, text));
                }
                Tried::Fewer(fewer) => count = fewer,
            }
        }
    }

    /// Whether the next slice of an operation has room in a queue.
    fn fits(&self, op: &Running) -> bool {
        let weights = &self.shape_of(op.stage).weights;
        let slice = op.slice(op.done) as usize;
        weights[slice + 1] - weights[slice] <= self.given.queue
    }

    /// What waits at a receiver is taken up, if it comes on from there.
    fn take_parked(&mut self, slot: u32) -> Checked<()> {
        let Some(words) = self.parked.get(&slot).cloned() else {
            return Ok(());
        };
        let hop = Hop {
            op: NONE,
            from: words.from,
            values: 0,
            slices: Run {
                pe: words.pe,
                stage: words.stage,
                first: words.slice,
                per: 1,
                number: 0,
                of: None,
                turned: words.turned,
            },
            before: None,
        };
        self.measure(&hop.slices, 1);
        match self.closure(hop, Some(slot), 1, true)? {
            Tried::Moves => {
                self.parked.remove(&slot);
                self.wake_at_receiver(slot as usize);
                self.commit(1, Some(&words))?;
            }
            Tried::Waits(_) | Tried::Fewer(_) => self.taken_up.push(slot),
        }
        Ok(())
    }

    /// Find all that moves with so many slices of a hop, or of words that are parked at a slot. What a PE
    /// receives comes from one side at a time, so no operation is met twice.
    fn closure(
        &mut self,
        first: Hop<'a>,
        parked: Option<u32>,
        count: u32,
        may_stay: bool,
    ) -> Checked<Tried> {
        let mut closure = std::mem::take(&mut self.closure);
        closure.hops.clear();
        closure.takes.clear();
        closure.counts.clear();
        closure.stays.clear();
        closure.hops.push(first);
        let tried = self.fill(&mut closure, parked, count, may_stay);
        self.closure = closure;
        tried
    }

    fn fill(
        &mut self,
        closure: &mut Closure<'a>,
        parked: Option<u32>,
        count: u32,
        may_stay: bool,
    ) -> Checked<Tried> {
        let mut at = 0;
        while let Some(hop) = closure.hops.get(at).copied() {
            let from_queue = parked.filter(|_| at == 0);
            if let Some(slot) = from_queue {
                self.way.routers.clear();
                self.way.ends.clear();
                self.way.ends.push(slot);
            } else {
                let op = self.ops[hop.op as usize];
                if let Some(slot) = self.follow(&op, false)? {
                    return Ok(Tried::Waits(Waits::Router(slot)));
                }
            }
            let counts = |slot: &&u32| self.routers[**slot as usize].filter != NONE;
            let counting = self.way.routers.iter().filter(counts);
            closure.counts.extend(counting.copied());
            let ends = std::mem::take(&mut self.way.ends);
            for slot in &ends {
                let end = End {
                    slot: *slot,
                    hop: at as u32,
                    count,
                    may_stay,
                    from_queue: from_queue.is_some(),
                };
                let mut parts = std::mem::take(&mut closure.parts);
                parts.clear();
                let tried = self.end_of(closure, &hop, &end, &mut parts);
                closure.parts = parts;
                if !matches!(tried, Ok(Tried::Moves)) {
                    self.way.ends = ends;
                    return tried;
                }
            }
            self.way.ends = ends;
            at += 1;
        }
        Ok(Tried::Moves)
    }

    /// Wavelets and atoms of slices as they move.
    fn measure(&mut self, slices: &Run<'a>, count: u32) {
        let mut closure = std::mem::take(&mut self.closure);
        let shape = self.shape_of(slices.stage);
        let (mut weight, mut atoms) = (0, 0);
        closure.weights.clear();
        closure.atoms.clear();
        closure.weights.push(0);
        closure.atoms.push(0);
        for number in 0..count {
            let slice = slices.slice(number);
            weight += shape.weights[slice as usize + 1] - shape.weights[slice as usize];
            let (low, high) = self.atoms(slices.stage, slices.pe as usize, slice);
            atoms += high - low;
            closure.weights.push(weight);
            closure.atoms.push(atoms);
        }
        self.closure = closure;
    }

    /// What a PE holds in slices is put behind the values.
    fn read(&self, values: &mut Vec<u64>, slices: &Run<'a>, count: u32) {
        let (call, base) = self.memory(slices.stage, slices.pe as usize);
        for number in 0..count {
            let (low, high) = self.atoms(slices.stage, slices.pe as usize, slices.slice(number));
            let held = &self.held[call][base + low as usize..base + high as usize];
            values.extend_from_slice(held);
        }
    }

    /// What becomes of slices at one of the PEs that they come to; `parts` is empty.
    fn end_of(
        &mut self,
        closure: &mut Closure<'a>,
        hop: &Hop<'a>,
        end: &End,
        parts: &mut Vec<(u32, u32)>,
    ) -> Checked<Tried> {
        self.let_in(closure, hop, end, parts)?;
        let Some((first, _)) = parts.first().copied() else {
            return Ok(Tried::Moves);
        };
        let index = self.receiving[end.slot as usize];
        if index == NONE || (!end.from_queue && self.has_parked(end.slot)) {
            if first > 0 {
                return Ok(Tried::Fewer(first));
            }
            let small = closure.weights[end.count as usize] <= self.given.queue;
            if end.may_stay && end.count == 1 && small && !self.has_parked(end.slot) {
                closure.stays.push((end.slot, end.hop));
                return Ok(Tried::Moves);
            }
            return Ok(Tried::Waits(Waits::Receiver(end.slot)));
        }
        let op = self.ops[index as usize];
        let (own, sent) = (self.call_of(op.stage), self.call_of(hop.slices.stage));
        if own != sent {
            let (pe, from) = (self.name(op.pe as usize), self.name(hop.from as usize));
            let text = format!("{pe} takes in call {own} words that {from} sends in call {sent}");
            let fault = *self.fault(Kind::OtherSlice, &op, text);
            return Err(Box::new(fault.with(hop.from as usize)));
        }
        if op.op.sends_on().is_none() {
            return Ok(stores(closure, end.hop, (index, &op), parts));
        }
        if parts[..] != [(0, end.count)] {
            return Ok(Tried::Fewer(if first > 0 { first } else { 1 }));
        }
        self.goes_on(closure, hop, end, (index, &op))
    }

    fn call_of(&self, stage: u32) -> usize {
        self.given.stages[stage as usize].call
    }

    /// Slices go on from the PE, by themselves or combined with its own.
    fn goes_on(
        &self,
        closure: &mut Closure<'a>,
        hop: &Hop<'a>,
        end: &End,
        (index, op): (u32, &Running<'a>),
    ) -> Checked<Tried> {
        let before = Some(end.hop);
        if op.relays() {
            let weights = &closure.weights[..=end.count as usize];
            let fit = weights.partition_point(|weight| *weight <= op.left) as u32 - 1;
            if fit == 0 {
                let text = format!(
                    "{} lets {} wavelets more pass, and a slice of {} comes from {}",
                    self.name(op.pe as usize),
                    op.left,
                    closure.weights[1],
                    self.name(hop.from as usize)
                );
                let fault = *self.fault(Kind::OtherLength, op, text);
                return Err(Box::new(fault.with(hop.from as usize)));
            }
            if fit < end.count {
                return Ok(Tried::Fewer(fit));
            }
            closure.hops.push(Hop {
                op: index,
                before,
                ..*hop
            });
            return Ok(Tried::Moves);
        }
        let room = op.left_of_vector();
        if room < end.count {
            return Ok(Tried::Fewer(room));
        }
        closure.hops.push(Hop {
            op: index,
            from: op.pe,
            values: 0,
            slices: Run::of(op),
            before,
        });
        Ok(Tried::Moves)
    }

    /// The values of all hops; what is taken is as long as what comes.
    fn carry(&self, closure: &mut Closure<'a>, count: u32, parked: Option<&Parked>) -> Checked<()> {
        let mut values = std::mem::take(&mut closure.values);
        values.clear();
        for at in 0..closure.hops.len() {
            let hop = closure.hops[at];
            let Some(before) = hop.before else {
                match parked {
                    Some(words) => values.extend_from_slice(&words.values),
                    None => self.read(&mut values, &hop.slices, count),
                }
                continue;
            };
            let (op, came) = (&self.ops[hop.op as usize], closure.hops[before as usize]);
            closure.hops[at].values = came.values;
            if op.relays() {
                continue;
            }
            self.same_length(closure, &came, (0, count), (op, 0))?;
            closure.hops[at].values = values.len();
            self.read(&mut values, &hop.slices, count);
            if op.op.action == Action::Combine {
                let (coming, own) = values.split_at_mut(closure.hops[at].values);
                for (own, comes) in own.iter_mut().zip(&coming[came.values..]) {
                    *own = combined(*own, *comes);
                }
            }
        }
        closure.values = values;
        for take in &closure.takes {
            let (op, hop) = (
                &self.ops[take.op as usize],
                &closure.hops[take.hop as usize],
            );
            self.same_length(closure, hop, (take.low, take.high), (op, take.done))?;
        }
        Ok(())
    }

    /// What a PE takes from `done` slices behind its next one on has to be as long as what comes, and
    /// go the same way round. Which elements are combined, the values say.
    fn same_length(
        &self,
        closure: &Closure<'a>,
        hop: &Hop<'a>,
        (low, high): (u32, u32),
        (op, done): (&Running<'a>, u32),
    ) -> Checked<()> {
        let shape = self.shape_of(op.stage);
        let own = Run::of(op);
        for number in low..high {
            let slice = own.slice(done + number - low);
            let weight = shape.weights[slice as usize + 1] - shape.weights[slice as usize];
            let (first, last) = self.atoms(op.stage, op.pe as usize, slice);
            let at = number as usize;
            let comes = closure.weights[at + 1] - closure.weights[at];
            let sent = hop.slices.slice(number);
            let as_long =
                weight == comes && last - first == closure.atoms[at + 1] - closure.atoms[at];
            let turned = hop.slices.turned != own.turned && weight > 1;
            if as_long && !turned {
                continue;
            }
            let kind = if as_long {
                Kind::OtherSlice
            } else {
                Kind::OtherLength
            };
            let slice = shape.slices[slice as usize] as usize;
            let sent = self.shape_of(hop.slices.stage).slices[sent as usize];
            let text = format!(
                "{} takes slice {slice}, of {weight} wavelets, and {} sends slice {sent}, of {comes}{}",
                self.name(op.pe as usize),
                self.name(hop.from as usize),
                if turned { ", the other way round" } else { "" }
            );
            let fault = *self.fault(kind, op, text);
            return Err(Box::new(fault.of_slice(slice).with(hop.from as usize)));
        }
        Ok(())
    }

    /// Which of the slices of a hop come to the PE: those that the filter of its router lets in.
    fn let_in(
        &self,
        closure: &Closure<'a>,
        hop: &Hop<'a>,
        end: &End,
        parts: &mut Vec<(u32, u32)>,
    ) -> Checked<()> {
        let router = self.routers[end.slot as usize];
        let Some(window) = self
            .filters
            .get(router.filter as usize)
            .filter(|_| !end.from_queue)
        else {
            parts.push((0, end.count));
            return Ok(());
        };
        if window.period <= 0 {
            return Ok(());
        }
        let weights = &closure.weights[..=end.count as usize];
        let all = weights[end.count as usize];
        let mut begin = (window.before - router.passed).rem_euclid(window.period) - window.period;
        while begin < all {
            let behind = begin + window.passes.min(window.period);
            let (low, high) = (begin.max(0), behind.min(all));
            begin += window.period;
            if low >= high {
                continue;
            }
            let (Ok(first), Ok(last)) = (weights.binary_search(&low), weights.binary_search(&high))
            else {
                let pe = self.pe_of(end.slot as usize);
                let text = format!("the filter of {} cuts a slice", self.name(pe));
                let (op, slot) = (&self.ops[hop.op as usize], end.slot as usize);
                return Err(self.fault_on_way(Kind::CutFilter, op, slot, text));
            };
            parts.push((first as u32, last as u32));
        }
        Ok(())
    }

    /// What has been found moves.
    fn commit(&mut self, count: u32, parked: Option<&Parked>) -> Checked<()> {
        let mut closure = std::mem::take(&mut self.closure);
        self.carry(&mut closure, count, parked)?;
        let mut ended = std::mem::take(&mut closure.ended);
        ended.clear();
        self.move_words(&closure, count)?;
        self.move_operations(&closure, count, &mut ended)?;
        closure.ended = ended;
        self.closure = closure;
        Ok(())
    }

    /// What is sent is read, what is taken is kept, filters count.
    fn move_words(&mut self, closure: &Closure<'a>, count: u32) -> Checked<()> {
        self.events += closure.takes.len() as u64 + closure.hops.len() as u64;
        for slot in &closure.counts {
            self.routers[*slot as usize].passed += closure.weights[count as usize];
        }
        for hop in closure.hops.iter().filter(|hop| hop.op != NONE) {
            self.has_read(hop, count)?;
        }
        for take in &closure.takes {
            self.keep(closure, take)?;
        }
        for (slot, hop) in &closure.stays {
            self.stays(closure, *slot, &closure.hops[*hop as usize]);
        }
        Ok(())
    }

    /// Operations go on; commands follow the last words of those that have ended.
    fn move_operations(
        &mut self,
        closure: &Closure<'a>,
        count: u32,
        ended: &mut Vec<u32>,
    ) -> Checked<()> {
        for hop in closure.hops.iter().filter(|hop| hop.op != NONE) {
            let op = &mut self.ops[hop.op as usize];
            if op.relays() {
                op.left -= closure.weights[count as usize];
            } else {
                op.done += count;
            }
            if op.over() {
                ended.push(hop.op);
            } else if hop.before.is_none() {
                self.ready.push_back(Ready::Op(hop.op));
            }
        }
        for index in ended.iter() {
            let op = self.ops[*index as usize];
            if op.op.advance != Advance::Nothing {
                self.advance(&op)?;
            }
        }
        for take in &closure.takes {
            let over = self.ops[take.op as usize].over();
            if over && ended.last() != Some(&take.op) {
                ended.push(take.op);
            }
        }
        for index in ended.iter() {
            let op = &self.ops[*index as usize];
            if let Some(color) = op.op.receives_on() {
                let slot = self.slot(op.pe as usize, color);
                self.receiving[slot] = NONE;
            }
        }
        for index in ended.iter() {
            self.end(*index)?;
        }
        Ok(())
    }

    /// An operation has read what it sends; what goes through it it has received as well.
    fn has_read(&mut self, hop: &Hop<'a>, count: u32) -> Checked<()> {
        let op = self.ops[hop.op as usize];
        if op.relays() {
            return Ok(());
        }
        let through = op.op.receives_on().is_some();
        let touch = if through {
            Touch::GoesThrough
        } else {
            Touch::Sends
        };
        if self.touches(op.pe) {
            for number in 0..count {
                let (low, high) = self.atoms(op.stage, op.pe as usize, hop.slices.slice(number));
                for atom in low..high {
                    self.touch(&op, atom as usize, touch)?;
                }
            }
        }
        Ok(())
    }

    /// A PE keeps slices that it takes, in the vector or in the stage.
    fn keep(&mut self, closure: &Closure<'a>, take: &Take) -> Checked<()> {
        let hop = &closure.hops[take.hop as usize];
        let op = self.ops[take.op as usize];
        let own = Run::of(&op);
        let mut value = hop.values + closure.atoms[take.low as usize] as usize;
        for number in 0..take.high - take.low {
            let (low, high) = self.atoms(op.stage, op.pe as usize, own.slice(number));
            for atom in low..high {
                self.keep_atom(&op, atom, closure.values[value])?;
                value += 1;
            }
        }
        self.ops[take.op as usize].done += take.high - take.low;
        self.receipt(&op, hop.from, take.high - take.low);
        let sender = hop.op;
        if sender != NONE && self.ops[sender as usize].pe == op.pe {
            self.ops[sender as usize].came_back = true;
        }
        Ok(())
    }

    fn keep_atom(&mut self, op: &Running, atom: u32, value: u64) -> Checked<()> {
        let Place::Stage(area) = op.op.send else {
            return self.write(op, atom, value);
        };
        let cell = self.staged_at(op, area, atom);
        let there = self.staged[op.pe as usize][cell];
        if matches!(there, Staged::Fresh(other) if other != value) {
            let text = format!(
                "{} stages two slices where there is room for one",
                self.name(op.pe as usize)
            );
            return Err(self.fault(Kind::Staging, op, text));
        }
        let touch = if there == Staged::Fresh(value) {
            Touch::Same
        } else {
            Touch::Copies
        };
        self.touch(op, self.staged_cell(op, area, atom), touch)?;
        self.staged[op.pe as usize][cell] = Staged::Fresh(value);
        Ok(())
    }

    /// A slice stays in the queue of its receiver.
    fn stays(&mut self, closure: &Closure<'a>, slot: u32, hop: &Hop) {
        let atoms = closure.atoms[1] as usize;
        let words = Parked {
            values: closure.values[hop.values..hop.values + atoms].to_vec(),
            from: hop.from,
            pe: hop.slices.pe,
            stage: hop.slices.stage,
            slice: hop.slices.slice(0),
            turned: hop.slices.turned,
        };
        self.parked.insert(slot, words);
    }

    fn receipt(&mut self, op: &Running, from: u32, slices: u32) {
        let lane = op.lane - self.pes[op.pe as usize].first_lane;
        let Some(receipts) = &mut self.receipts else {
            return;
        };
        receipts.push(Receipt {
            stage: op.stage,
            pe: op.pe,
            lane,
            op: op.op.number as u32,
            from,
            slices,
        });
    }
}

/// An end of a way: its slot, the hop and how many slices it has; whether they may stay in the queue
/// there, or come from it.
struct End {
    slot: u32,
    hop: u32,
    count: u32,
    may_stay: bool,
    from_queue: bool,
}

/// A PE keeps what it takes.
fn stores(
    closure: &mut Closure<'_>,
    hop: u32,
    (op, running): (u32, &Running),
    parts: &[(u32, u32)],
) -> Tried {
    let mut room = running.left_of_vector();
    let mut done = 0;
    for (number, (low, high)) in parts.iter().copied().enumerate() {
        if high - low > room {
            return Tried::Fewer(low + room);
        }
        closure.takes.push(Take {
            op,
            hop,
            done,
            low,
            high,
        });
        room -= high - low;
        done += high - low;
        if room == 0 && number + 1 < parts.len() {
            return Tried::Fewer(high);
        }
    }
    Tried::Moves
}
