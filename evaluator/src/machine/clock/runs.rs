//! Who repeats itself sleeps, so that a long stream costs as much as a short one.
//!
//! A *node* is a PE with its routers. What it does in a cycle depends on its state at the beginning, on
//! which routers beside it let a word in, which it *asks*, and on the words that *land* on it from
//! there. If its state, times counted from now, is what it was `period` cycles ago, and if in each cycle
//! since then its neighbours answer and send what they did then, it does again what it did then. So one
//! period is recorded, and as long as nothing differs the node is not looked at.
//!
//! Why that is exact:
//!
//! - *State.* All that a node's rules read is compared word by word (`Clock::encode`), but numbers that
//!   only count: words that an operation has left, turns, issues, words that passed a filter. They
//!   change by the same amount in each period, and `Clock::periods` says how often that can happen
//!   before one of them would be read otherwise. Then the node wakes by itself.
//! - *Neighbours awake.* In each cycle the answers of routers that are awake are compared with those
//!   recorded before any word leaves, and the words that land with those recorded before they do. If one
//!   differs, the node wakes in that same cycle: its period is done again up to it, by the rules
//!   themselves. Who is awake reads of a sleeping neighbour what was recorded: by which side its routers
//!   let words in (`view`), and what it sends.
//! - *Neighbours asleep.* A node falls asleep beside another only if both records agree on what goes
//!   over the link in every cycle of the common period (`Clock::agrees`), and thus always.
//! - *Looking more often than necessary changes nothing*, so whoever wakes is looked at.
//!
//! What is told of a run, ends of PEs and marks, is never within a recorded period, nor is it that a PE
//! sets its router (`Pe::irregular`).

use std::cmp::Reverse;
use std::collections::hash_map::DefaultHasher;
use std::collections::BinaryHeap;
use std::hash::{Hash, Hasher};

use super::given::Act;
use super::state::{Clock, Command, Word};
use super::trace::{piece_of, Origin, UNKNOWN};
use crate::machine::plan::{opposite, RAMP};
use crate::machine::state::NONE;

/// The longest period that is looked for, and that in which two records are compared.
const LONGEST: u64 = 1024;
/// States are compared each time so many words have left a router, besides at each task.
const WORDS: u32 = 8;
/// Of so many states behind one another each is compared with the first of them.
const MOST_COMPARED: u32 = 64;
/// Less than so many cycles of sleep do not pay.
const WORTH: u64 = 16;
const CLOSED: u8 = u8::MAX;

/// What goes over a link, seen from a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// Whether the router beside it lets a word in.
    Asked(bool),
    Sent(Command),
    Landed(Command),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Event {
    side: u8,
    color: u8,
    what: What,
}

/// A period of a node.
#[derive(Clone, Debug, Default)]
struct Record {
    /// The first cycle behind it, and how long it is.
    since: u64,
    period: u64,
    /// Where the events of each of its cycles begin.
    first: Vec<u32>,
    events: Vec<Event>,
    /// By which side a router lets a word in, cycle by cycle and color by color.
    views: Vec<u8>,
    /// Of each color the sides by which its router lets words in at some time.
    opens: Vec<u8>,
    state: Vec<u32>,
    counted: Vec<i64>,
    /// By how much what is counted changes in the period.
    change: Vec<i64>,
    /// How many words leave its routers in the period.
    words: u64,
}

impl Record {
    fn phase(&self, now: u64) -> usize {
        ((now - self.since) % self.period) as usize
    }

    fn events(&self, phase: usize) -> &[Event] {
        &self.events[self.first[phase] as usize..self.first[phase + 1] as usize]
    }

    fn view(&self, phase: usize, color: u8) -> u8 {
        self.views[phase * self.opens.len() + usize::from(color)]
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Awake,
    Records,
    Sleeps,
}

#[derive(Clone, Debug)]
struct Node {
    mode: Mode,
    /// A state that later ones are compared with, when it was, how many have been, and how many will be.
    seen: u64,
    seen_at: u64,
    compared: u32,
    limit: u32,
    /// So many states are not compared, after so many records were of no use.
    rests: u32,
    failures: u32,
    /// Words that have left its routers.
    moved: u32,
    anchored: bool,
    /// Which time it sleeps.
    turn: u32,
    /// Sides over which something goes in its period; whether one of them leads to a node that is awake.
    deals: u8,
    borders: bool,
    listed: bool,
    /// Words that have landed in this cycle as recorded.
    matched: u32,
    record: Option<Box<Record>>,
}

/// Who sleeps, and who may soon.
#[derive(Debug, Default)]
pub(super) struct Runs {
    on: bool,
    nodes: Vec<Node>,
    anchored: Vec<u32>,
    recording: Vec<u32>,
    /// Nodes that sleep beside others that are awake.
    border: Vec<u32>,
    ends: BinaryHeap<Reverse<(u64, u32, u32)>>,
    /// The node whose period is done again, and how many events of the cycle have been read.
    replays: Option<(usize, usize)>,
    /// A router asked one that sleeps, which may answer otherwise later.
    polls: bool,
    /// Words that were not followed.
    pub skipped: u64,
}

impl Runs {
    pub fn new(pes: usize) -> Self {
        let node = Node {
            mode: Mode::Awake,
            seen: 0,
            seen_at: 0,
            compared: 0,
            limit: 1,
            rests: 0,
            failures: 0,
            moved: 0,
            anchored: false,
            turn: 0,
            deals: 0,
            borders: false,
            listed: false,
            matched: 0,
            record: None,
        };
        Runs {
            on: true,
            nodes: vec![node; pes],
            ..Runs::default()
        }
    }

    pub fn sleeps(&self, pe: usize) -> bool {
        self.on && self.nodes[pe].mode == Mode::Sleeps
    }

    /// Nothing is put down in calendars while a period is done again, nor for who sleeps.
    pub fn is_silent(&self, pe: usize) -> bool {
        self.on && (self.replays.is_some() || self.nodes[pe].mode == Mode::Sleeps)
    }

    pub fn is_replaying(&self) -> bool {
        self.replays.is_some()
    }

    /// Whether cycles in which nothing else happens can be left out.
    pub fn is_quiet(&self) -> bool {
        self.recording.is_empty() && self.border.is_empty()
    }

    /// The cycle in which the next node wakes by itself.
    pub fn next_end(&self) -> Option<u64> {
        self.ends.peek().map(|Reverse((at, _, _))| *at)
    }

    pub fn takes_polls(&mut self) -> bool {
        std::mem::take(&mut self.polls)
    }

    /// A good moment to compare states: a task has begun.
    pub fn anchor(&mut self, pe: usize) {
        if !self.on || self.replays.is_some() {
            return;
        }
        let node = &mut self.nodes[pe];
        if node.mode != Mode::Awake || node.anchored {
            return;
        }
        if node.rests > 0 {
            node.rests -= 1;
            return;
        }
        node.anchored = true;
        self.anchored.push(pe as u32);
    }

    fn note(&mut self, pe: usize, side: u8, color: u32, what: What) {
        if !self.on || self.replays.is_some() || self.nodes[pe].mode != Mode::Records {
            return;
        }
        if let Some(record) = &mut self.nodes[pe].record {
            let color = color as u8;
            record.events.push(Event { side, color, what });
        }
    }

    /// A word leaves a router.
    pub fn leaves(&mut self, pe: usize) {
        if !self.on || self.replays.is_some() {
            return;
        }
        let node = &mut self.nodes[pe];
        node.moved += 1;
        if node.mode == Mode::Records {
            node.record.iter_mut().for_each(|record| record.words += 1);
        } else if node.moved % WORDS == 0 {
            self.anchor(pe);
        }
    }

    pub fn sent(&mut self, pe: usize, side: u8, color: u32, command: Command) {
        self.note(pe, side, color, What::Sent(command));
    }

    pub fn landed(&mut self, pe: usize, side: u8, color: u32, command: Command) {
        if side != RAMP {
            self.note(pe, side, color, What::Landed(command));
        }
    }

    fn record(&self, pe: usize) -> Option<&Record> {
        self.nodes[pe].record.as_deref()
    }

    /// The answer that a node got when its period was recorded.
    fn answered(&mut self, pe: usize, phase: usize) -> bool {
        let Some((_, read)) = &mut self.replays else {
            return false;
        };
        let Some(record) = self.nodes[pe].record.as_deref() else {
            return false;
        };
        for event in &record.events(phase)[*read..] {
            *read += 1;
            if let What::Asked(open) = event.what {
                return open;
            }
        }
        false
    }
}

impl Clock<'_> {
    /// Whether the router beside a PE lets a word in.
    pub(super) fn is_open_beside(&mut self, pe: usize, side: u8, color: u32) -> bool {
        let Some(next) = self.neighbour(pe, side) else {
            return true;
        };
        if !self.runs.on {
            return self.accepts(self.slot(next, color), opposite(side));
        }
        if self.runs.replays.is_some() {
            let phase = self
                .runs
                .record(pe)
                .map_or(0, |record| record.phase(self.now));
            return self.runs.answered(pe, phase);
        }
        let open = match self.runs.record(next) {
            Some(record) if self.runs.sleeps(next) => {
                let phase = record.phase(self.now);
                let open = record.view(phase, color as u8) == opposite(side);
                self.runs.polls |= record.opens[color as usize] >> opposite(side) & 1 == 1;
                open
            }
            _ => self.accepts(self.slot(next, color), opposite(side)),
        };
        self.runs.note(pe, side, color, What::Asked(open));
        open
    }

    /// The side by which a router lets a word in.
    fn view(&self, slot: usize) -> u8 {
        let router = &self.routers[slot];
        let route = self.route_at(router, router.position);
        let side = route.map_or(CLOSED, |route| route.receive);
        if side != CLOSED && self.accepts(slot, side) {
            side
        } else {
            CLOSED
        }
    }

    /// Before a cycle: who wakes by itself, and what is recorded of routers.
    pub(super) fn begin_runs(&mut self) {
        while let Some(Reverse((at, pe, turn))) = self.runs.ends.peek().copied() {
            if at > self.now {
                break;
            }
            self.runs.ends.pop();
            let node = &self.runs.nodes[pe as usize];
            if node.mode == Mode::Sleeps && node.turn == turn {
                self.wake(pe as usize);
                self.pes[pe as usize].looked = u64::MAX;
                self.look_at(pe as usize, self.now);
            }
        }
        let colors = self.given.colors.len();
        for at in 0..self.runs.recording.len() {
            let pe = self.runs.recording[at] as usize;
            self.starts_routing(pe); // a word that is refused asks in each cycle
            let views: Vec<u8> = (0..colors)
                .map(|color| self.view(pe * colors + color))
                .collect();
            if let Some(record) = &mut self.runs.nodes[pe].record {
                record.first.push(record.events.len() as u32);
                record.views.extend(views);
            }
        }
    }

    /// Before words leave: who is answered otherwise than recorded wakes.
    pub(super) fn compare_answers(&mut self) {
        if self.runs.border.is_empty() {
            return;
        }
        let mut border = std::mem::take(&mut self.runs.border);
        border.retain(|pe| {
            let node = &mut self.runs.nodes[*pe as usize];
            node.listed = node.mode == Mode::Sleeps && node.borders;
            node.listed
        });
        self.runs.border = border;
        let mut wakes = Vec::new();
        for pe in self.runs.border.iter().map(|pe| *pe as usize) {
            let Some(record) = self.runs.record(pe) else {
                continue;
            };
            let differs = record.events(record.phase(self.now)).iter().any(|event| {
                let What::Asked(open) = event.what else {
                    return false;
                };
                let Some(next) = self.awake_beside(pe, event.side) else {
                    return false;
                };
                let slot = self.slot(next, u32::from(event.color));
                self.accepts(slot, opposite(event.side)) != open
            });
            if differs {
                wakes.push(pe);
            }
        }
        for pe in wakes {
            self.wake_within(pe);
            self.starts_routing(pe);
        }
    }

    fn awake_beside(&self, pe: usize, side: u8) -> Option<usize> {
        self.neighbour(pe, side)
            .filter(|next| !self.runs.sleeps(*next))
    }

    /// Before words land: who is sent others than recorded wakes. Then what sleeps sends to who is awake.
    pub(super) fn compare_words(&mut self) {
        if !self.runs.on {
            return;
        }
        let mut wakes = Vec::new();
        for at in 0..self.moves.len() {
            let one = self.moves[at];
            let (pe, color) = (one.pe as usize, one.color);
            for side in (0..RAMP).filter(|side| one.sides >> side & 1 == 1) {
                let Some(next) = self.neighbour(pe, side) else {
                    continue;
                };
                if !self.runs.sleeps(next) {
                    continue;
                }
                let what = What::Landed(self.sent_by(pe, u32::from(color)));
                let side = opposite(side);
                let record = self.runs.record(next);
                let known = record.is_some_and(|record| {
                    let events = record.events(record.phase(self.now));
                    events.contains(&Event { side, color, what })
                });
                // what is told of vectors is who sent them
                let (slot, beside) = (self.slot(pe, color.into()), self.slot(next, color.into()));
                let trace = self.trace.as_ref();
                if known && trace.is_none_or(|trace| trace.is_same(slot, beside)) {
                    self.runs.nodes[next].matched += 1;
                } else {
                    wakes.push(next);
                }
            }
        }
        for at in 0..self.runs.border.len() {
            let pe = self.runs.border[at] as usize;
            let matched = std::mem::take(&mut self.runs.nodes[pe].matched);
            let Some(record) = self.runs.record(pe) else {
                continue;
            };
            if self.runs.sleeps(pe) {
                let events = record.events(record.phase(self.now)).iter();
                let expected = events.filter(|event| {
                    matches!(event.what, What::Landed(_))
                        && self.awake_beside(pe, event.side).is_some()
                });
                if expected.count() as u32 != matched {
                    wakes.push(pe);
                }
            }
        }
        for pe in wakes {
            if self.runs.sleeps(pe) {
                self.wake_within(pe);
                if self.pes[pe].occupied != 0 && self.route(pe) {
                    self.starts_routing(pe);
                }
            }
        }
        self.send_asleep();
    }

    /// Nodes that sleep send to those that are awake.
    fn send_asleep(&mut self) {
        let ready = (self.now + self.timing.hop) as u32;
        for at in 0..self.runs.border.len() {
            let pe = self.runs.border[at] as usize;
            if !self.runs.sleeps(pe) {
                continue;
            }
            let Some(record) = self.runs.record(pe) else {
                continue;
            };
            let mut landings = Vec::new();
            for event in record.events(record.phase(self.now)) {
                let What::Sent(command) = event.what else {
                    continue;
                };
                if let Some(next) = self.awake_beside(pe, event.side) {
                    let color = event.color;
                    let word = Word {
                        ready,
                        color,
                        command,
                        advances: false,
                    };
                    let origin = self.seen_of(pe, color);
                    landings.push((next as u32, color, opposite(event.side), word, origin));
                }
            }
            self.landings.extend(landings);
        }
    }

    /// Whose the words are that a router hands on period by period: those that it has had before.
    fn seen_of(&self, pe: usize, color: u8) -> Origin {
        let slot = self.slot(pe, u32::from(color));
        let trace = self.trace.as_ref();
        trace.map_or(UNKNOWN, |trace| trace.seen(slot))
    }

    /// Behind a cycle: records end, and states are compared.
    pub(super) fn end_runs(&mut self) {
        let mut recording = std::mem::take(&mut self.runs.recording);
        recording.retain(|pe| {
            let record = self.runs.record(*pe as usize);
            let ends = record.is_none_or(|record| record.since <= self.now);
            if ends {
                self.end_record(*pe as usize);
            }
            !ends
        });
        recording.append(&mut self.runs.recording);
        self.runs.recording = recording;
        let mut anchored = std::mem::take(&mut self.runs.anchored);
        for pe in anchored.drain(..) {
            self.runs.nodes[pe as usize].anchored = false;
            if self.runs.nodes[pe as usize].mode == Mode::Awake {
                self.compare_state(pe as usize);
            }
        }
        anchored.append(&mut self.runs.anchored);
        self.runs.anchored = anchored;
    }

    /// If a node is as it was, its next period is recorded.
    fn compare_state(&mut self, pe: usize) {
        if self.now < self.timing.first_task {
            return;
        }
        let (state, counted) = self.encode(pe);
        let mut hasher = DefaultHasher::new();
        state.hash(&mut hasher);
        let (hash, now) = (hasher.finish(), self.now);
        let node = &mut self.runs.nodes[pe];
        if node.seen == hash && node.seen_at < now && now - node.seen_at <= LONGEST {
            let period = now - node.seen_at;
            node.mode = Mode::Records;
            node.record = Some(Box::new(Record {
                since: now + period,
                period,
                state,
                counted,
                ..Record::default()
            }));
            self.runs.recording.push(pe as u32);
            (self.pes[pe].irregular, self.pes[pe].wrapped) = (false, 0);
            return;
        }
        node.compared += 1;
        if node.compared >= node.limit || now - node.seen_at > LONGEST {
            (node.seen, node.seen_at, node.compared) = (hash, now, 0);
            node.limit = (node.limit * 2).min(MOST_COMPARED);
        }
    }

    /// A period has been recorded: the node falls asleep, if it is a period, and for long enough.
    fn end_record(&mut self, pe: usize) {
        let (state, counted) = self.encode(pe);
        let node = &mut self.runs.nodes[pe];
        node.mode = Mode::Awake;
        let Some(mut record) = node.record.take() else {
            return;
        };
        record.first.push(record.events.len() as u32);
        let is_same = record.state == state && !self.pes[pe].irregular;
        record.change = counted
            .iter()
            .zip(&record.counted)
            .map(|(b, a)| b - a)
            .collect();
        let colors = self.given.colors.len();
        record.opens = vec![0; colors];
        for (at, side) in record.views.iter().enumerate() {
            record.opens[at % colors] |= if *side == CLOSED { 0 } else { 1 << side };
        }
        let periods = if is_same {
            self.periods(pe, &record)
        } else {
            0
        };
        let period = record.period;
        // who only waits costs nothing awake, and would keep a run that is stuck from its end
        let goes_on = record.words > 0 || record.change.iter().any(|change| *change != 0);
        let pays = goes_on && periods.saturating_mul(period) >= WORTH;
        if !pays || !(0..RAMP).all(|side| self.agrees(pe, side, &record)) {
            let node = &mut self.runs.nodes[pe];
            (node.seen_at, node.seen, node.limit) = (0, 0, 1);
            node.failures = (node.failures + 1).min(6);
            node.rests = 1 << node.failures;
            return;
        }
        let node = &mut self.runs.nodes[pe];
        node.deals = record
            .events
            .iter()
            .fold(0, |sides, event| sides | 1 << event.side);
        (node.mode, node.turn, node.failures) = (Mode::Sleeps, node.turn + 1, 0);
        node.record = Some(record);
        let turn = node.turn;
        if let Some(cycles) = periods.checked_mul(period) {
            self.runs
                .ends
                .push(Reverse((self.now + cycles, pe as u32, turn)));
        }
        self.find_borders(pe);
        self.changed(pe);
    }

    /// Whether the record of a node agrees with that of its neighbour, if that sleeps.
    fn agrees(&self, pe: usize, side: u8, own: &Record) -> bool {
        let Some(next) = self
            .neighbour(pe, side)
            .filter(|next| self.runs.sleeps(*next))
        else {
            return true;
        };
        let Some(other) = self.runs.record(next) else {
            return false;
        };
        let common = own.period / gcd(own.period, other.period) * other.period;
        common <= LONGEST
            && (self.now..self.now + common).all(|now| {
                let ends = (
                    (own, own.phase(now), side),
                    (other, other.phase(now), opposite(side)),
                );
                is_received(ends.0, ends.1) && is_received(ends.1, ends.0)
            })
    }

    /// Who of a node and its neighbours sleeps beside a node that is awake.
    fn find_borders(&mut self, pe: usize) {
        let beside = (0..RAMP).filter_map(|side| self.neighbour(pe, side));
        let touched: Vec<usize> = beside.chain([pe]).collect();
        for pe in touched {
            let deals = self.runs.nodes[pe].deals;
            let borders = self.runs.sleeps(pe)
                && (0..RAMP)
                    .any(|side| deals >> side & 1 == 1 && self.awake_beside(pe, side).is_some());
            let node = &mut self.runs.nodes[pe];
            node.borders = borders;
            node.matched = 0;
            if borders && !node.listed {
                node.listed = true;
                self.runs.border.push(pe as u32);
            }
        }
    }

    /// A node wakes within a cycle, before words leave.
    fn wake_within(&mut self, pe: usize) {
        self.wake(pe);
        self.pes[pe].seen = Some(self.now);
        if self.rise(pe) {
            self.starts_rising(pe);
        }
        if let Some(at) = self.step(pe) {
            self.look_at(pe, at);
        }
    }

    /// A node that sleeps is brought to the beginning of this cycle.
    fn wake(&mut self, pe: usize) {
        let Some(record) = self.runs.nodes[pe].record.take() else {
            return;
        };
        let (now, period) = (self.now, record.period);
        let (times, rest) = ((now - record.since) / period, (now - record.since) % period);
        self.advance(pe, &record, times);
        self.runs.skipped += times * record.words;
        self.runs.nodes[pe].record = Some(record);
        for cycle in now - rest..now {
            self.now = cycle;
            self.runs.replays = Some((pe, 0));
            self.replay(pe);
        }
        (self.now, self.runs.replays) = (now, None);
        let node = &mut self.runs.nodes[pe];
        (node.mode, node.record, node.deals) = (Mode::Awake, None, 0);
        (node.seen, node.seen_at, node.compared, node.limit) = (0, 0, 0, 1);
        self.find_borders(pe);
        let inputs = self.pes[pe].inputs.iter();
        let words = inputs.flat_map(|input| input.queue.words().map(|word| u64::from(word.ready)));
        for ready in words.filter(|ready| *ready > now).collect::<Vec<u64>>() {
            self.look_at(pe, ready);
        }
        self.starts_rising(pe);
        self.changed(pe);
    }

    /// A cycle of a recorded period is done again.
    fn replay(&mut self, pe: usize) {
        let others = (
            std::mem::take(&mut self.landings),
            std::mem::take(&mut self.moves),
        );
        self.rise(pe);
        self.step(pe);
        if self.pes[pe].occupied != 0 {
            self.route(pe);
        }
        let moves = std::mem::take(&mut self.moves);
        self.runs.skipped += moves.len() as u64;
        for one in &moves {
            self.carry(one);
        }
        let ready = (self.now + self.timing.hop) as u32;
        let mut landings = std::mem::take(&mut self.landings);
        landings.retain(|(at, ..)| *at as usize == pe);
        if let Some(record) = self.runs.record(pe) {
            for event in record.events(record.phase(self.now)) {
                if let What::Landed(command) = event.what {
                    let color = event.color;
                    let word = Word {
                        ready,
                        color,
                        command,
                        advances: false,
                    };
                    let origin = self.seen_of(pe, color);
                    landings.push((pe as u32, color, event.side, word, origin));
                }
            }
        }
        for (_, color, side, word, origin) in landings {
            self.land(pe, u32::from(color), side, word, origin);
        }
        (self.landings, self.moves) = others;
    }

    /// All nodes are brought to this cycle.
    pub(super) fn wake_all(&mut self) {
        for pe in 0..self.runs.nodes.len() {
            if self.runs.sleeps(pe) {
                self.wake(pe);
            }
        }
    }

    /// The state of a node, times counted from now, and what only counts.
    fn encode(&self, pe: usize) -> (Vec<u32>, Vec<i64>) {
        let (own, now) = (&self.pes[pe], self.now);
        let (mut state, mut counted) = (Vec::with_capacity(96), Vec::with_capacity(32));
        let from_now = |at: u64| at.saturating_sub(now) as u32;
        let flags = [own.runs, own.launched, own.done.is_some()];
        state.extend(flags.map(u32::from));
        state.extend([own.code, own.at, own.last_task, own.active, own.blocked]);
        state.extend([own.turn as u32, own.output_turn as u32]);
        state.extend([own.link_turn, from_now(own.ready_at)]);
        state.extend([own.torn, own.in_use, own.awaited]);
        state.extend(&own.turned);
        state.extend(own.loaded.iter().map(|at| from_now(*at)));
        let follows = own
            .follows
            .iter()
            .enumerate()
            .filter(|(_, code)| **code > 0);
        state.extend(follows.map(|(task, code)| (task as u32) << 24 | code));
        state.extend(own.threads.iter().map(|thread| thread.op));
        let part = match self.calls(pe) {
            Some(_) => own.part % 2,
            None => own.part,
        };
        state.push(part);
        let put = |state: &mut Vec<u32>, words: &mut dyn Iterator<Item = &Word>| {
            let from = state.len();
            state.push(0);
            for word in words {
                state.push(from_now(u64::from(word.ready)));
                state.push(
                    u32::from(word.color) << 16
                        | code_of(word.command) << 1
                        | u32::from(word.advances),
                );
                state[from] += 1;
            }
        };
        for end in own.outputs.iter().chain(&own.inputs) {
            put(&mut state, &mut end.queue.words());
        }
        counted.extend(own.threads.iter().map(|thread| i64::from(thread.left)));
        counted.push(i64::from(own.part));
        counted.extend(
            own.counters
                .iter()
                .chain(&own.issued)
                .map(|n| i64::from(*n)),
        );
        let colors = self.given.colors.len();
        for router in &self.routers[pe * colors..(pe + 1) * colors] {
            state.extend([router.position, router.setting, u32::from(router.down)]);
            put(&mut state, &mut router.queue.words());
            counted.push(router.passed);
        }
        if let Some(trace) = &self.trace {
            state.extend(trace.whose(pe, pe * colors..(pe + 1) * colors));
        }
        (state, counted)
    }

    /// The operation that code executes by call-backs.
    fn calls(&self, pe: usize) -> Option<(u32, [u32; 2])> {
        let own = &self.pes[pe];
        let code = &self.scripts[own.script as usize].codes[own.code as usize];
        match code.get(own.at as usize) {
            Some(Act::Call { op, cycles, other }) if own.runs => Some((*op, [*cycles, *other])),
            _ => None,
        }
    }

    /// What is counted has changed so many times by what it changes in a period, and times have passed.
    fn advance(&mut self, pe: usize, record: &Record, times: u64) {
        let (since, shift) = (record.since, times * record.period);
        let later = |at: &mut u64| *at += if *at > since { shift } else { 0 };
        let word_later = |word: &mut Word| {
            word.ready += if u64::from(word.ready) > since {
                shift as u32
            } else {
                0
            };
        };
        let mut change = record.change.iter().map(|change| change * times as i64);
        let mut count = |value: &mut u32| {
            *value = (i64::from(*value) + change.next().unwrap_or(0)) as u32;
        };
        let is_call = self.calls(pe).is_some();
        let own = &mut self.pes[pe];
        own.threads
            .iter_mut()
            .for_each(|thread| count(&mut thread.left));
        let mut part = own.part;
        count(&mut part);
        if is_call {
            own.part = part;
        }
        own.counters
            .iter_mut()
            .chain(&mut own.issued)
            .for_each(&mut count);
        later(&mut own.ready_at);
        own.loaded.iter_mut().for_each(later);
        for end in own.outputs.iter_mut().chain(&mut own.inputs) {
            end.queue.words_mut().for_each(word_later);
        }
        let colors = self.given.colors.len();
        for router in &mut self.routers[pe * colors..(pe + 1) * colors] {
            router.passed += change.next().unwrap_or(0);
            router.queue.words_mut().for_each(word_later);
        }
    }

    /// How often a period can follow the recorded one before something that is counted would be read
    /// otherwise than in that.
    fn periods(&self, pe: usize, record: &Record) -> u64 {
        let own = &self.pes[pe];
        let script = &self.scripts[own.script as usize];
        let (threads, counters) = (own.threads.len(), own.counters.len());
        let change = &record.change;
        let issues = &change[threads + 1 + counters..][..own.issued.len()];
        let mut most = u64::MAX;
        let mut within = |room: i64, step: i64| {
            most = most.min(if step > 0 {
                room.max(0) as u64 / step as u64
            } else {
                0
            });
        };
        for (thread, left) in own
            .threads
            .iter()
            .zip(change)
            .filter(|(_, left)| **left != 0)
        {
            let op = &script.ops[thread.op as usize];
            let is_one = issues[thread.op as usize] == 0;
            // what is told of vectors is never within a recorded period
            let of_piece = if self.trace.is_some() {
                let issue = own.issued[thread.op as usize].wrapping_sub(1) as usize;
                let piece = piece_of(op, op.words[issue % op.words.len()]);
                (thread.left - 1) % piece + 1
            } else {
                thread.left
            };
            let room = i64::from(of_piece) - i64::from(op.at_once) - 1;
            within(room, if is_one { -left } else { 0 });
        }
        let part = change[threads];
        if let Some((op, cycles)) = self.calls(pe).filter(|_| part != 0) {
            let of = &script.ops[op as usize];
            let total = of.words[own.issued[op as usize] as usize % of.words.len()];
            let is_one = issues[op as usize] == 0 && (part % 2 == 0 || cycles[0] == cycles[1]);
            let room = i64::from(total) - i64::from(own.part) - i64::from(of.at_once) - 1;
            within(room, if is_one { part } else { 0 });
        }
        for (counter, turns) in change[threads + 1..][..counters].iter().enumerate() {
            if *turns != 0 {
                let count = least_turns(&script.codes, counter as u32);
                let is_one = own.wrapped >> (counter % 64) & 1 == 0;
                let room = i64::from(count) - i64::from(own.counters[counter]) - 1;
                within(room, if is_one { *turns } else { 0 });
            }
        }
        for (op, issued) in issues
            .iter()
            .enumerate()
            .filter(|(_, issued)| **issued != 0)
        {
            let alike = alike(&script.ops[op].words, own.issued[op], *issued);
            let room = alike.map_or(i64::MAX, |alike| alike - 1);
            within(if self.trace.is_some() { 0 } else { room }, *issued);
        }
        let colors = self.given.colors.len();
        let passed = &change[threads + 1 + counters + own.issued.len()..];
        for (router, passed) in self.routers[pe * colors..].iter().zip(passed) {
            if router.filter != NONE && *passed != 0 {
                let window = &self.windows[router.filter as usize];
                if window.period > 0 && passed % window.period != 0 {
                    let at = (router.passed - window.before).rem_euclid(window.period);
                    let (first, last) = if at < window.passes {
                        (0, window.passes)
                    } else {
                        (window.passes, window.period)
                    };
                    // the word behind those of a period is looked at, too
                    let room = if at - passed >= first {
                        last - at - 1
                    } else {
                        0
                    };
                    within(room, *passed);
                }
            }
        }
        most
    }
}

/// How many issues from `issued` on have as many words as those `step` before them; none if all.
fn alike(words: &[u32], issued: u32, step: i64) -> Option<i64> {
    let count = words.len() as i64;
    let of = |issue: i64| words[issue.rem_euclid(count) as usize];
    (0..count)
        .filter(|_| step % count != 0)
        .find(|at| of(i64::from(issued) + at) != of(i64::from(issued) + at - step))
}

/// The fewest turns that code takes before a counter begins again.
fn least_turns(codes: &[Vec<Act>], counter: u32) -> u32 {
    let counts = codes.iter().flatten().filter_map(|act| match act {
        Act::Again {
            counter: of, count, ..
        } if *of == counter => Some(*count),
        _ => None,
    });
    counts.min().unwrap_or(0)
}

/// Whether what one node asks and sends over a link is what the other answers and receives.
fn is_received(from: (&Record, usize, u8), to: (&Record, usize, u8)) -> bool {
    let (record, phase, side) = from;
    let (other, other_phase, other_side) = to;
    let mut sent = 0;
    let same = record
        .events(phase)
        .iter()
        .filter(|event| event.side == side)
        .all(|event| match event.what {
            What::Asked(open) => (other.view(other_phase, event.color) == other_side) == open,
            What::Sent(command) => {
                sent += 1;
                other.events(other_phase).contains(&Event {
                    side: other_side,
                    what: What::Landed(command),
                    ..*event
                })
            }
            What::Landed(_) => true,
        });
    let landed = other
        .events(other_phase)
        .iter()
        .filter(|event| event.side == other_side && matches!(event.what, What::Landed(_)));
    same && landed.count() == sent
}

fn code_of(command: Command) -> u32 {
    match command {
        Command::Data => 0,
        Command::Advance => 1,
        Command::Reset => 2,
        Command::Teardown => 3,
        Command::HandOver(left) => 4 + u32::from(left),
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 {
        a
    } else {
        gcd(b, a % b)
    }
}
