//! When sleeping compute elements are to be woken.

use crate::fabric::grid::PeIndex;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const BUCKETS: u64 = 64;

/// When to wake which PE. Near times are an index away, far ones in a heap.
#[derive(Debug)]
pub struct Alarm {
    near: Vec<Vec<PeIndex>>,
    near_count: usize,
    far: BinaryHeap<Reverse<(u64, PeIndex)>>,
}

impl Alarm {
    pub fn new() -> Alarm {
        Alarm {
            near: (0..BUCKETS).map(|_| Vec::new()).collect(),
            near_count: 0,
            far: BinaryHeap::new(),
        }
    }

    #[inline]
    pub fn set(&mut self, now: u64, at: u64, pe: PeIndex) {
        if at - now < BUCKETS {
            self.near[(at % BUCKETS) as usize].push(pe);
            self.near_count += 1;
        } else {
            self.far.push(Reverse((at, pe)));
        }
    }

    /// The next time anybody is to be woken, from `now` on.
    pub fn next(&self, now: u64) -> Option<u64> {
        let far = self.far.peek().map(|Reverse((at, _))| *at);
        if self.near_count == 0 {
            return far;
        }
        let mut times = now..now + BUCKETS;
        let near = times.find(|at| !self.near[(at % BUCKETS) as usize].is_empty());
        near.into_iter().chain(far).min()
    }

    pub fn due(&mut self, now: u64) -> Vec<PeIndex> {
        let mut due = std::mem::take(&mut self.near[(now % BUCKETS) as usize]);
        self.near_count -= due.len();
        while let Some(&Reverse((at, pe))) = self.far.peek() {
            if at > now {
                break;
            }
            self.far.pop();
            due.push(pe);
        }
        due
    }

    /// Gives a bucket's memory back.
    pub fn recycle(&mut self, now: u64, mut used: Vec<PeIndex>) {
        used.clear();
        let bucket = &mut self.near[(now % BUCKETS) as usize];
        if bucket.is_empty() {
            *bucket = used;
        }
    }
}
