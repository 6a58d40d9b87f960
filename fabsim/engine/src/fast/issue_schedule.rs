//! What a main thread that runs ahead owes the microthreads beside it: cycles and memory.
//!
//! What it does is done at once, and how long it takes is noted. As cycles pass, the notes are gone
//! through: microthreads that go before the main thread take cycles from it, and those that come after it
//! get the cycles it leaves.

use super::interference::Interference;
use super::issue_notes::{numbers, CallNotes, Cursor, Note, NONE};
use super::microthread_memory::MicrothreadMemory;
use super::prefetch::prefetch;
use crate::pe::memory::words;
use crate::pe::operation::Running;
use crate::pe::state::Core;
use fabsim_program::program::Dsr;

/// Notes taken at most before cycles pass.
const NOTES: usize = 512;
const DSRS: usize = 64;

/// Notes of what the main thread has done ahead. In front is what passing cycles need, in a cache line.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct IssueSchedule {
    place: Cursor,
    notes: Vec<Note>,
    /// Cycles until the end of the notes, if nobody takes any.
    left: u64,
    /// Cycles taken, and how many of them waits may make up for.
    taken: u64,
    waits: u64,
    /// Microthreads that come after the main thread have none of the cycles it leaves within a task.
    exclusive: bool,
    /// Operations noted, and the cycles in which those that have ended did so.
    operations: usize,
    ended: Vec<u64>,
    used: MicrothreadMemory,
    loaded: u64,
    /// When registers can be used.
    usable: [u64; DSRS],
}

impl Default for IssueSchedule {
    fn default() -> IssueSchedule {
        IssueSchedule {
            notes: Vec::new(),
            used: MicrothreadMemory::default(),
            usable: [0; DSRS],
            loaded: 0,
            place: Cursor::default(),
            left: 0,
            taken: 0,
            waits: 0,
            exclusive: false,
            operations: 0,
            ended: Vec::new(),
        }
    }
}

impl IssueSchedule {
    /// Begins anew with these microthreads, the first turn being in cycle `at`; false if they depend on
    /// when the main thread does what.
    pub fn begin(&mut self, at: u64, threads: &[Running], core: &Core, exclusive: bool) -> bool {
        self.exclusive = exclusive;
        self.notes.clear();
        self.used.clear();
        self.ended.clear();
        self.operations = 0;
        (self.left, self.taken, self.waits, self.loaded) = (0, 0, 0, 0);
        self.place = Cursor {
            at,
            ..Cursor::default()
        };
        for known in &core.dsrs {
            self.usable[usize::from(known.dsr.number()) % DSRS] = known.usable;
        }
        threads.iter().all(|running| self.used.add(running))
    }

    /// Prefetches the note that it is at.
    #[inline]
    pub fn prefetch_note(&self) {
        self.notes
            .get(self.place.note)
            .into_iter()
            .for_each(prefetch);
    }

    /// Elements of a `@map` have been taken in so many cycles.
    pub fn elements(&mut self, cycles: u64) {
        self.notes.push(Note::Elements(cycles as u32));
        self.left += cycles;
    }

    /// Calls of a `@map`, the first of which waits for so many cycles more than `calls` says, as it looks now.
    /// The number of the first one's operation.
    pub fn calls(&mut self, calls: CallNotes, more: u64) -> usize {
        self.notes.push(Note::Calls(calls));
        self.left += u64::from(calls.count) * calls.noted() + more;
        self.waits += more;
        self.operations += usize::from(calls.count);
        self.operations - usize::from(calls.count)
    }

    /// The task has ended, and the next one begins so many cycles later.
    pub fn task_end(&mut self, cycles: u64) {
        self.notes.push(Note::End(cycles as u32));
        // Its turn is the last that anybody has to wait for.
        self.left += if self.exclusive { 1 } else { cycles };
    }

    /// Whether the next turn goes on with one that took elements of a `@map`.
    pub fn is_called(&self) -> bool {
        self.place.is_called()
    }

    /// Whether microthreads that come after the main thread wait for the end.
    pub fn is_exclusive(&self) -> bool {
        self.exclusive
    }

    /// An operation takes a turn in each of so many cycles; which one it is.
    pub fn turns(&mut self, cycles: u64) -> usize {
        self.notes.push(Note::Turns(cycles as u32));
        self.left += cycles;
        self.operations += 1;
        self.operations - 1
    }

    /// A register was loaded in so many cycles, and can be used some after it began.
    pub fn load(&mut self, dsr: Dsr, cycles: u64, usable: u64) {
        self.notes.push(Note::Load {
            dsr: dsr.number(),
            cycles: cycles as u16,
            usable: usable as u16,
        });
        self.left += cycles;
    }

    /// Operands are waited for: so many cycles, and for registers to be usable; `all` cycles as it looks now.
    pub fn wait(&mut self, all: u64, cycles: u64, dsrs: impl Iterator<Item = Dsr>) {
        self.notes.push(Note::Wait {
            cycles: cycles as u16,
            dsrs: numbers(dsrs),
        });
        self.left += all;
        self.waits += all.saturating_sub(cycles);
    }

    /// Whether so many more notes can be taken.
    pub fn has_room_for(&self, notes: usize) -> bool {
        self.notes.len() + notes <= NOTES
    }

    /// The cycle of the next turn.
    pub fn at(&self) -> u64 {
        self.place.at
    }

    /// Nothing is left; the cycle of the next turn is that of something new.
    pub fn is_done(&self) -> bool {
        self.place.note == self.notes.len()
    }

    /// Another takes the cycle of the next turn.
    pub fn delay(&mut self) {
        self.place.at += 1;
        self.taken += 1;
    }

    /// Goes through the turns before a cycle; how many they were.
    #[inline]
    pub fn advance(&mut self, until: u64) -> u64 {
        match self.place.at < until {
            true => self.advance_to(until),
            false => 0,
        }
    }

    fn advance_to(&mut self, until: u64) -> u64 {
        let mut turns = 0;
        while self.place.at < until && !self.is_done() {
            turns += match self.whole_calls(until) {
                0 => self.turn(until),
                several => several,
            };
        }
        turns
    }

    /// The turns of all calls that nobody delays and that end before a cycle.
    fn whole_calls(&mut self, until: u64) -> u64 {
        let Some(&Note::Calls(calls)) = self.notes.get(self.place.note) else {
            return 0;
        };
        let left = until - self.place.at;
        let ready = self.place.at + calls.until_ready();
        if left < calls.cycles() || self.last_usable(calls.dsrs) > ready {
            return 0;
        }
        let most = left / calls.cycles();
        let first = self.place.at + calls.cycles() - u64::from(calls.back) - 1;
        let count = self.place.pass_calls(&calls, most);
        let ends = (0..count).map(|n| first + n * calls.cycles());
        self.ended.extend(ends);
        self.left = self.left.saturating_sub(count * calls.noted());
        count * calls.turns_of_one()
    }

    /// One turn, or those of an operation before a cycle; how many they were.
    fn turn(&mut self, until: u64) -> u64 {
        let before = self.place.at;
        let turns = self.pass(until);
        self.left = self.left.saturating_sub(self.place.at - before);
        turns
    }

    /// Notes up to one that takes time.
    fn pass(&mut self, until: u64) -> u64 {
        let begun = self.place.at;
        while let Some(note) = self.place.note(&self.notes) {
            match note {
                Note::Turns(_) if self.place.turns == 0 && self.is_called() => {
                    // Nobody has counted it among those that are left.
                    self.left += 1;
                    self.place.at += 1;
                    return 1;
                }
                Note::Turns(all) => {
                    let left = u64::from(all - self.place.turns);
                    let had = left.min(until - self.place.at);
                    self.place.at += had;
                    self.place.turns += had as u32;
                    if had == left {
                        self.place.turns = 0;
                        self.place.go_on(&self.notes);
                        self.ended.push(self.place.at - 1);
                    }
                    return had;
                }
                Note::Step(cycles) | Note::End(cycles) => self.place.at += u64::from(cycles),
                Note::Elements(cycles) => {
                    self.place.mapped = self.place.at;
                    self.place.at += u64::from(cycles);
                }
                Note::Load {
                    dsr,
                    cycles,
                    usable,
                } => {
                    let number = usize::from(dsr) % DSRS;
                    self.usable[number] = self.place.at + u64::from(usable);
                    self.loaded |= 1 << number;
                    self.place.at += u64::from(cycles);
                }
                Note::Wait { cycles, dsrs } => {
                    let ready = self.place.at + u64::from(cycles);
                    self.place.at = ready.max(self.last_usable(dsrs));
                }
                // They have been taken apart.
                Note::Calls(_) => {}
            }
            self.place.go_on(&self.notes);
            if self.place.at > begun {
                return 1;
            }
        }
        // Nothing more is known of this turn, which goes on with something new.
        0
    }

    /// Whether the notes end within the turn of the cycle `now`, which then goes on with something new.
    pub fn ends_in(&mut self, now: u64) -> bool {
        if self.place.at != now && !self.is_done() {
            return false;
        }
        let (mut rest, mut mapped) = (self.place, self.place.mapped);
        while let Some(note) = rest.note(&self.notes) {
            let free = match note {
                Note::Step(cycles) | Note::Elements(cycles) => cycles == 0,
                Note::Wait { cycles: 0, dsrs } => self.last_usable(dsrs) <= now,
                _ => false,
            };
            if !free {
                return false;
            }
            if let Note::Elements(_) = note {
                mapped = now;
            }
            rest.go_on(&self.notes);
        }
        self.place = Cursor { mapped, ..rest };
        true
    }

    fn last_usable(&self, dsrs: [u8; 4]) -> u64 {
        let used = dsrs.iter().filter(|dsr| **dsr != NONE);
        let cycles = used.map(|dsr| self.usable[usize::from(*dsr) % DSRS]);
        cycles.max().unwrap_or(0)
    }

    /// The first cycle from `now` on that has no turn, or an earlier one where that is not known yet.
    pub fn next_free(&self, now: u64) -> u64 {
        let (mut rest, mut free) = (self.place, now);
        while let Some(note) = rest.note(&self.notes).filter(|_| rest.at <= free) {
            let cycles = match note {
                Note::Turns(all) => {
                    // The first one comes after a turn that took elements of a `@map`.
                    let after = u64::from(rest.turns == 0 && rest.is_called());
                    let turns = u64::from(all - std::mem::take(&mut rest.turns)) + after;
                    free = free.max(rest.at + turns);
                    turns
                }
                Note::Step(cycles) | Note::End(cycles) => u64::from(cycles),
                Note::Elements(cycles) => {
                    rest.mapped = rest.at;
                    u64::from(cycles)
                }
                Note::Load { cycles, .. } => u64::from(cycles),
                Note::Wait { .. } => return free.max(rest.at + 1),
                Note::Calls(_) => 0,
            };
            if cycles > 0 {
                free = free.max(rest.at + 1);
            }
            rest.at += cycles;
            rest.go_on(&self.notes);
        }
        free
    }

    /// A cycle before which the notes do not end.
    pub fn end_at_earliest(&self) -> u64 {
        (self.place.at + self.left).saturating_sub(self.taken.min(self.waits))
    }

    /// Registers that were loaded can be used, and results read, from the cycles on that it has come to.
    pub fn write_back(&self, core: &mut Core) {
        core.recent.settle(&self.ended);
        for known in &mut core.dsrs {
            let number = usize::from(known.dsr.number()) % DSRS;
            if self.loaded >> number & 1 == 1 {
                known.usable = self.usable[number];
            }
        }
    }

    /// Whether an operation of the main thread may read and write its operands now.
    pub fn may_run(&self, running: &Running) -> bool {
        self.used.allows(running)
    }

    /// Whether microthreads leave words alone, the last one excluded.
    pub fn is_clear(&self, from: i64, to: i64, writes: bool) -> bool {
        self.used.is_clear(from, to, writes)
    }
}

impl Interference for IssueSchedule {
    #[inline]
    fn step(&mut self, cycles: u64) {
        self.notes.push(Note::Step(cycles as u32));
        self.left += cycles;
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.notes.len() >= NOTES
    }

    fn may_read(&self, address: u64, bytes: u32) -> bool {
        let (from, to) = words(address, bytes);
        self.is_clear(from, to, false)
    }

    fn may_write(&self, address: u64, bytes: u32) -> bool {
        let (from, to) = words(address, bytes);
        self.is_clear(from, to, true)
    }
}

#[cfg(test)]
mod tests;
