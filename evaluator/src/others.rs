//! When the processors of PEs run code: that of others, beside which a line is followed, and that of
//! its own tasks.

use std::collections::VecDeque;

/// Code of a PE: when it was due, the cycle of its first instruction, and the one behind its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    pub due: i64,
    pub begin: i64,
    pub end: i64,
}

/// Code of others, by PE, as it begins.
#[derive(Clone, Debug)]
pub struct Others {
    of: Vec<VecDeque<Stretch>>,
    last: i64,
}

impl Others {
    pub fn new(given: Vec<Vec<Stretch>>) -> Others {
        let ends = given.iter().flatten().map(|one| one.end);
        let last = ends.max().unwrap_or(i64::MIN);
        let in_order = |mut of: Vec<Stretch>| {
            of.retain(|one| one.begin < one.end);
            of.sort_by_key(|one| one.begin);
            of.into()
        };
        Others {
            of: given.into_iter().map(in_order).collect(),
            last,
        }
    }

    /// Whether none runs from a cycle on.
    pub fn are_over(&self, now: i64) -> bool {
        self.last <= now
    }

    /// The end of what runs at a PE in a cycle, if something does; cycles do not go back.
    #[inline]
    pub fn until(&mut self, pe: usize, now: i64) -> Option<i64> {
        if self.are_over(now) {
            return None;
        }
        self.running(pe, now)
    }

    fn running(&mut self, pe: usize, now: i64) -> Option<i64> {
        let of = self.of.get_mut(pe)?;
        while of.front().is_some_and(|one| one.end <= now) {
            of.pop_front();
        }
        let running = of.iter().take_while(|one| one.begin <= now);
        running.map(|one| one.end).max()
    }

    /// When a task that was due in a cycle and could begin in another does so: what was due before
    /// goes first, and `between` cycles are between two tasks.
    pub fn free(&self, pe: usize, due: i64, ready: i64, between: i64) -> i64 {
        let mut begin = ready;
        for one in self.of.get(pe).into_iter().flatten() {
            if one.due <= due && one.begin <= begin && begin < one.end + between {
                begin = one.end + between;
            }
        }
        begin
    }
}
