//! When sleeping compute elements are to be woken.

use crate::fabric::grid::PeIndex;
use crate::fabric::tiles::TileSet;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Cycles ahead for which there is a set each: the ramp's delay is among them.
const SETS: u64 = 4;
/// Cycles ahead for which there is a list each.
const LISTS: u64 = 64;

/// When to wake which PE. Near times are an index away, far ones in a heap.
#[derive(Debug)]
pub struct Alarm {
    sets: Vec<TileSet>,
    lists: Vec<Vec<PeIndex>>,
    listed: usize,
    far: BinaryHeap<Reverse<(u64, PeIndex)>>,
}

impl Alarm {
    /// For `count` PEs from `first` on.
    pub fn new(first: PeIndex, count: usize) -> Alarm {
        Alarm {
            sets: (0..SETS).map(|_| TileSet::new(first, count)).collect(),
            lists: (0..LISTS).map(|_| Vec::new()).collect(),
            listed: 0,
            far: BinaryHeap::new(),
        }
    }

    /// Wakes `pe` in the coming cycle `at`.
    #[inline(always)]
    pub fn set(&mut self, now: u64, at: u64, pe: PeIndex) {
        match at - now {
            0..SETS => self.sets[(at % SETS) as usize].insert(pe),
            SETS..LISTS => {
                self.lists[(at % LISTS) as usize].push(pe);
                self.listed += 1;
            }
            _ => self.far.push(Reverse((at, pe))),
        }
    }

    /// The next time anybody is to be woken, from `now` on.
    pub fn next(&self, now: u64) -> Option<u64> {
        let soon = (now..now + SETS).find(|at| !self.sets[(at % SETS) as usize].is_empty());
        let listed = (now..now + LISTS).find(|at| !self.lists[(at % LISTS) as usize].is_empty());
        let far = self.far.peek().map(|Reverse((at, _))| *at);
        soon.into_iter().chain(listed).chain(far).min()
    }

    /// How many are to be woken now, but for those of far times.
    pub fn due(&self, now: u64) -> usize {
        self.sets[(now % SETS) as usize].len() + self.lists[(now % LISTS) as usize].len()
    }

    /// Moves those that are to be woken now into a set.
    pub fn ring(&mut self, now: u64, awake: &mut TileSet) {
        self.sets[(now % SETS) as usize].pour_into(awake);
        if self.listed > 0 {
            let list = &mut self.lists[(now % LISTS) as usize];
            self.listed -= list.len();
            list.drain(..).for_each(|pe| awake.insert(pe));
        }
        while let Some(&Reverse((at, pe))) = self.far.peek() {
            if at > now {
                break;
            }
            self.far.pop();
            awake.insert(pe);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_is_woken_at_their_time_however_far_it_is() {
        let count = 500u64;
        let mut alarm = Alarm::new(PeIndex(0), count as usize);
        let time = |pe: u64| 1 + pe * 7 % 200;
        for pe in 0..count {
            alarm.set(0, time(pe), PeIndex(pe as u32));
        }
        let mut now = 0;
        let mut woken = 0;
        while let Some(at) = alarm.next(now) {
            now = at;
            let mut awake = TileSet::new(PeIndex(0), count as usize);
            alarm.ring(now, &mut awake);
            let due = (0..count).filter(|&pe| time(pe) == now);
            due.for_each(|pe| assert!(awake.contains(PeIndex(pe as u32))));
            woken += awake.len();
        }
        assert_eq!(woken as u64, count);
    }
}
