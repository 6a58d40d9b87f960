//! The cycles: words go up ramps, PEs have their slots, routers decide, then all moves take place.
//! Who cannot go on is not looked at until something changes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::given::{Script, Timing};
use super::runs::Runs;
use super::state::Clock;
use super::trace::{Piece, Trace};
use crate::machine::plan::Given;

const SOON: usize = 64;

/// The PEs to look at in the cycles to come.
#[derive(Debug)]
pub(super) struct Calendar {
    soon: Vec<Vec<u32>>,
    later: BinaryHeap<Reverse<(u64, u32)>>,
    count: usize,
}

impl Default for Calendar {
    fn default() -> Self {
        Calendar {
            soon: vec![Vec::new(); SOON],
            later: BinaryHeap::new(),
            count: 0,
        }
    }
}

impl Calendar {
    fn note(&mut self, now: u64, at: u64, pe: u32) {
        if at < now + SOON as u64 {
            self.soon[at as usize % SOON].push(pe);
            self.count += 1;
        } else {
            self.later.push(Reverse((at, pe)));
        }
    }

    /// The PEs of a cycle, some of them twice.
    fn due(&mut self, now: u64) -> Vec<u32> {
        let mut due = std::mem::take(&mut self.soon[now as usize % SOON]);
        self.count -= due.len();
        while let Some(Reverse((at, pe))) = self.later.peek().copied() {
            if at > now {
                break;
            }
            self.later.pop();
            due.push(pe);
        }
        due
    }

    /// The next cycle of any PE.
    fn next(&self, now: u64) -> Option<u64> {
        let soon = (now..now + SOON as u64).find(|at| !self.soon[*at as usize % SOON].is_empty());
        let later = self.later.peek().map(|Reverse((at, _))| *at);
        soon.filter(|_| self.count > 0)
            .into_iter()
            .chain(later)
            .min()
    }
}

/// When PEs have done their part, PE by PE; when the last of them came to each `Mark`; how many words
/// went from router to router. A PE that never ends is `stuck`; where more than the most words were
/// followed one by one, the run is given up.
#[derive(Clone, Debug)]
pub struct Timed {
    pub done: Vec<i64>,
    pub marks: Vec<u64>,
    pub words: u64,
    /// So many of them were followed one by one.
    pub followed: u64,
    pub stuck: Option<usize>,
    pub given_up: bool,
    pub pieces: Vec<Piece>,
}

/// How words are followed: all of them `by_word`, or else not those of PEs that repeat what they did,
/// which gives the same; and the `most` that are before the run is given up. Where it is `traced`, what
/// there is to tell of each vector.
#[derive(Clone, Copy, Debug)]
pub struct Followed {
    pub most: u64,
    pub by_word: bool,
    pub traced: bool,
}

/// Run scripts to their end. PEs begin at `starts`; `numbers` are those of colors.
pub fn timed(
    given: &Given,
    timing: Timing,
    scripts: &[Script],
    script_at: &[u32],
    numbers: &[i64],
    starts: &[i64],
    followed: Followed,
) -> Timed {
    let Followed {
        most,
        by_word,
        traced,
    } = followed;
    let mut clock = Clock::new(given, timing, scripts, script_at, numbers, starts);
    if !by_word {
        clock.runs = Runs::new(given.pes());
    }
    if traced {
        clock.trace = Some(Box::new(Trace::new(&clock)));
    }
    for (pe, start) in starts.iter().enumerate() {
        clock.look_at(pe, *start as u64);
    }
    while clock.left > 0 && clock.words <= most && clock.cycle() {}
    clock.wake_all();
    let done = clock
        .pes
        .iter()
        .map(|pe| pe.done.map_or(-1, |at| at as i64));
    Timed {
        done: done.collect(),
        marks: std::mem::take(&mut clock.marks),
        words: clock.words + clock.runs.skipped,
        followed: clock.words,
        stuck: clock.pes.iter().position(|pe| pe.done.is_none()),
        given_up: clock.words > most,
        pieces: clock.trace.map_or_else(Vec::new, |trace| trace.pieces),
    }
}

impl Clock<'_> {
    /// A PE is looked at in a cycle.
    pub(super) fn look_at(&mut self, pe: usize, at: u64) {
        if self.pes[pe].looked != at && !self.runs.is_silent(pe) {
            self.pes[pe].looked = at;
            self.calendar.note(self.now, at, pe as u32);
        }
    }

    /// A PE whose slot is free is told of a teardown in this cycle, others in the next one.
    pub(super) fn tell(&mut self, pe: usize) {
        if self.pes[pe].taken == Some(self.now) {
            self.look_at(pe, self.now + 1);
        } else if let Some(at) = self.step(pe) {
            self.look_at(pe, at);
        }
    }

    /// One cycle; false if nothing will ever happen again.
    fn cycle(&mut self) -> bool {
        if self.rising.is_empty() && self.routing.is_empty() && self.runs.is_quiet() {
            let own = self.calendar.next(self.now).into_iter();
            match own.chain(self.runs.next_end()).min() {
                Some(at) => self.now = at.max(self.now),
                None => return false,
            }
        }
        self.begin_runs();
        for pe in std::mem::take(&mut self.rising) {
            self.pes[pe as usize].rises = false;
            if !self.runs.sleeps(pe as usize) && self.rise(pe as usize) {
                self.starts_rising(pe as usize);
            }
        }
        let due = self.calendar.due(self.now);
        for pe in due {
            let pe = pe as usize;
            if self.pes[pe].seen == Some(self.now) || self.runs.sleeps(pe) {
                continue;
            }
            self.pes[pe].seen = Some(self.now);
            if let Some(at) = self.step(pe) {
                self.look_at(pe, at);
            }
        }
        self.compare_answers();
        for pe in std::mem::take(&mut self.routing) {
            self.pes[pe as usize].routes = false;
            if !self.runs.sleeps(pe as usize) && self.route(pe as usize) {
                self.starts_routing(pe as usize);
            }
        }
        self.compare_words();
        self.commit();
        self.now += 1;
        self.end_runs();
        true
    }
}
