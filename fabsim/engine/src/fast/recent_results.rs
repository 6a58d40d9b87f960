//! Results of operations that were carried out ahead of their cycles, and may not be in memory yet.

use crate::pe::operation::Running;
use crate::pe::recent::{Recent, Written};
use crate::timing::Timing;

/// What an operation that is carried out at once writes; none where results are in memory at once, too.
pub fn written(running: &Running, timing: &Timing) -> Option<Written> {
    match timing.memory_result_cycles > 1 {
        true => Written::of(&running.dest, running.length, running.pace),
        false => None,
    }
}

impl Recent {
    /// `begin` and `end` of an operation that is carried out at once: what it has written.
    pub fn pass(&mut self, written: Option<Written>, now: u64, after: u64, ahead: Option<usize>) {
        if self.known.is_some() || written.is_some() {
            let known = self.known.get_or_insert_with(Box::default);
            known.end(written, now, after, ahead);
        }
    }

    /// In these cycles operations have ended that were carried out ahead of them.
    pub fn settle(&mut self, ended: &[u64]) {
        for written in self.known.iter_mut().flat_map(|known| &mut known.done) {
            let settled = written.ahead.take().and_then(|n| ended.get(n));
            written.last = settled.copied().unwrap_or(written.last);
        }
    }

    /// The cycle from which on all that is known can be read.
    pub fn end_of_all(&self, after: u64) -> u64 {
        let done = self.known.iter().flat_map(|known| &known.done);
        done.map(|written| written.last + after).max().unwrap_or(0)
    }

    /// Whether elements at these words can be read in cycle `now`, by an operation behind one that has ended
    /// in cycle `ended`, for which what is older has been forgotten.
    pub fn is_settled(
        &self,
        words: impl Iterator<Item = i64> + Clone,
        (now, ended): (u64, u64),
        after: u64,
    ) -> bool {
        let done = self.known.iter().flat_map(|known| &known.done);
        let mut late = done.filter(|written| written.last + after > now.max(ended));
        let is_late = |taken: u64| taken + after > now;
        !late.any(|written| {
            let taken = words.clone().filter_map(|word| written.taken(word));
            taken.max().is_some_and(is_late)
        })
    }
}
