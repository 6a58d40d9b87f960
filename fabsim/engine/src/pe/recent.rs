//! What short operations have just written to memory: the pipeline holds an operation that reads it
//! until it is there.

use super::operation::Running;
use super::port::Port;
use super::rate::PARTS;
use crate::timing::Timing;

/// An operation that writes more elements is not looked at: it takes longer than its result does.
const ELEMENTS: u32 = 32;

/// The elements that a synchronous operation writes.
#[derive(Clone, Debug)]
pub struct Written {
    /// At the first of them.
    dest: Port,
    elements: u32,
    /// Elements a cycle, in `PARTS`.
    parts: u32,
    /// When the last of them was taken.
    last: u64,
    /// It was carried out ahead of its cycle, with this number: `settle` says when it ended.
    ahead: Option<usize>,
}

impl Written {
    /// Of an operation that begins; none if it writes no memory, or too much of it.
    pub fn of(running: &Running) -> Option<Written> {
        let short = running.length <= ELEMENTS && running.dest.word().is_some();
        short.then(|| Written {
            dest: running.dest.copied(),
            elements: running.length,
            parts: running.pace.parts.max(1),
            last: 0,
            ahead: None,
        })
    }

    /// The same for an operation that is carried out at once; none where results are in memory at once, too.
    pub fn ahead(running: &Running, timing: &Timing) -> Option<Written> {
        match timing.memory_result_cycles > 1 {
            true => Written::of(running),
            false => None,
        }
    }

    /// When the element at `word` was taken, if it is one of these.
    fn taken(&self, word: i64) -> Option<u64> {
        let behind = self.elements - 1 - self.place(word)?;
        Some(self.last - u64::from(behind * PARTS / self.parts).min(self.last))
    }

    /// The first of the elements that is at `word`.
    fn place(&self, word: i64) -> Option<u32> {
        if let Port::Line {
            word: from, step, ..
        } = self.dest
        {
            let (way, step) = (word - i64::from(from), i64::from(step));
            let last = step * (i64::from(self.elements) - 1);
            // Most are somewhere else, and a division takes long.
            if way < last.min(0) || way > last.max(0) {
                return None;
            }
            let before = if step.abs() > 1 {
                way / step
            } else {
                way.abs()
            };
            return (before * step == way).then_some(before as u32);
        }
        let mut walk = self.dest.clone();
        (0..self.elements).find(|_| {
            let is_there = walk.word() == Some(word);
            walk.skip();
            is_there
        })
    }
}

/// The results of a PE that may not be in memory yet.
#[derive(Clone, Debug, Default)]
pub struct Recent {
    // A main thread is small: most have none of it.
    known: Option<Box<Known>>,
}

#[derive(Clone, Debug, Default)]
struct Known {
    running: Option<Written>,
    done: Vec<Written>,
}

impl Known {
    fn end(&mut self, written: Option<Written>, now: u64, after: u64, ahead: Option<usize>) {
        self.done.retain(|written| written.last + after > now);
        if let Some(written) = written {
            self.done.push(Written {
                last: now,
                ahead,
                ..written
            });
        }
    }
}

impl Recent {
    /// A synchronous operation begins.
    pub fn begin(&mut self, running: &Running) {
        let written = Written::of(running);
        if written.is_some() {
            self.known.get_or_insert_with(Box::default).running = written;
        }
    }

    /// It has ended in this cycle; results are in memory `after` cycles after an element was taken.
    /// `ahead` is its number among those whose cycle is not settled yet.
    pub fn end(&mut self, now: u64, after: u64, ahead: Option<usize>) {
        if let Some(known) = &mut self.known {
            let written = known.running.take();
            known.end(written, now, after, ahead);
        }
    }

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

    /// From which cycle on an operation can take its first elements, if that is later than `now`.
    pub fn readable(&self, running: &Running, now: u64, after: u64) -> Option<u64> {
        let known = self.known.as_deref()?;
        let sources = &running.sources[..usize::from(running.source_count)];
        let mut latest = None;
        for written in &known.done {
            if written.last + after > now {
                let words = sources.iter().filter_map(Port::word);
                latest = words
                    .filter_map(|word| written.taken(word))
                    .fold(latest, |a, b| a.max(Some(b)));
            }
        }
        latest.map(|taken| taken + after)
    }
}
