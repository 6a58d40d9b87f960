//! What short operations have just written to memory: the pipeline holds an operation that reads it
//! until it is there.

use super::port::Port;
use super::rate::{Pace, PARTS};

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
    pub(crate) last: u64,
    /// It was carried out ahead of its cycle, with this number: `settle` says when it ended.
    pub(crate) ahead: Option<usize>,
}

impl Written {
    /// Of an operation that begins; none if it writes no memory, or too much of it.
    pub fn of(dest: &Port, elements: u32, pace: Pace) -> Option<Written> {
        let short = elements <= ELEMENTS && dest.word().is_some();
        short.then(|| Written {
            dest: dest.copied(),
            elements,
            parts: pace.parts.max(1),
            last: 0,
            ahead: None,
        })
    }

    /// When the element at `word` was taken, if it is one of these.
    pub(crate) fn taken(&self, word: i64) -> Option<u64> {
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
    pub(crate) known: Option<Box<Known>>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    running: Option<Written>,
    pub(crate) done: Vec<Written>,
}

impl Known {
    pub(crate) fn end(
        &mut self,
        written: Option<Written>,
        now: u64,
        after: u64,
        ahead: Option<usize>,
    ) {
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
    pub fn begin(&mut self, dest: &Port, elements: u32, pace: Pace) {
        let written = Written::of(dest, elements, pace);
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

    /// From which cycle on an operation can take the first elements of these sources, if that is later than `now`.
    pub fn readable(&self, sources: &[Port], now: u64, after: u64) -> Option<u64> {
        let known = self.known.as_deref()?;
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
