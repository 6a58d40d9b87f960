//! What is told of each vector that an operation moves, where it is asked for: when its words were
//! there, when they were taken, and which router held them up on their way.
//!
//! Beside each queue there is one of the same length that says of each word whose it is. Nothing that
//! happens depends on it.

use std::collections::VecDeque;
use std::ops::Range;

use super::given::TimedOp;
use super::state::Clock;
use crate::machine::state::NONE;

/// Who has sent a word, the router that held it up last, for how many cycles routers have, and since
/// when one does; NONE if there is no such thing, or nobody knows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    from: u32,
    held_by: u32,
    held: u32,
    since: u32,
}

/// Of a word of which nobody knows.
pub(super) const UNKNOWN: Origin = Origin {
    from: NONE,
    held_by: NONE,
    held: 0,
    since: NONE,
};

/// A vector, or what an operation moves at one issue: the PE, and the number of the operation; the cycle
/// of the issue, that in which its first word was there, if it is received, those in which its first
/// and its last word were taken; and of the first one who sent it, which router held it up last, and
/// for how many cycles routers did. NONE where that is not so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub pe: u32,
    pub op: u32,
    pub issued: u32,
    pub came: u32,
    pub taken: u32,
    pub ended: u32,
    pub from: u32,
    pub held_by: u32,
    pub held: u32,
}

type Origins = VecDeque<Origin>;

#[derive(Debug)]
pub(super) struct Trace {
    outputs: Vec<Vec<Origins>>,
    routers: Vec<Origins>,
    /// Whose word has come to each router last.
    landed: Vec<u32>,
    inputs: Vec<Vec<Origins>>,
    /// By PE and operation: the cycle of its issue, and its piece under way.
    issued: Vec<Vec<u32>>,
    open: Vec<Vec<usize>>,
    pub pieces: Vec<Piece>,
}

/// What is taken of an input queue: the cycle in which the first word was there, and whose it is.
pub(super) type Taken = Option<(u32, Origin)>;

impl Trace {
    pub fn new(clock: &Clock) -> Self {
        let each = |count: &dyn Fn(usize) -> usize| {
            let of = |pe| vec![Origins::new(); count(pe)];
            (0..clock.pes.len()).map(of).collect()
        };
        let ops = |pe: usize| clock.pes[pe].issued.len();
        Trace {
            outputs: each(&|pe| clock.pes[pe].outputs.len()),
            routers: vec![Origins::new(); clock.routers.len()],
            landed: vec![NONE; clock.routers.len()],
            inputs: each(&|pe| clock.pes[pe].inputs.len()),
            issued: (0..clock.pes.len()).map(|pe| vec![NONE; ops(pe)]).collect(),
            open: (0..clock.pes.len()).map(|pe| vec![0; ops(pe)]).collect(),
            pieces: Vec::new(),
        }
    }

    /// Words come to an output queue.
    pub fn put(&mut self, pe: usize, output: usize, count: u32) {
        let own = Origin {
            from: pe as u32,
            ..UNKNOWN
        };
        self.outputs[pe][output].extend((0..count).map(|_| own));
    }

    /// The first word of an output queue goes up the ramp.
    pub fn rises(&mut self, pe: usize, output: usize, now: u64) -> Origin {
        settled(self.outputs[pe][output].pop_front(), now)
    }

    pub fn lands(&mut self, slot: usize, origin: Origin) {
        self.landed[slot] = origin.from;
        self.routers[slot].push_back(origin);
    }

    /// The first word of a router leaves it.
    pub fn leaves(&mut self, slot: usize, now: u64) -> Origin {
        settled(self.routers[slot].pop_front(), now)
    }

    /// What is known of a word that a router hands on while it is not followed: it is of the vector
    /// that passes there.
    pub fn seen(&self, slot: usize) -> Origin {
        Origin {
            from: self.landed[slot],
            ..UNKNOWN
        }
    }

    /// Whose the words are of a PE's queues and routers, and who sent what has come to these last.
    pub fn whose(&self, pe: usize, routers: Range<usize>) -> impl Iterator<Item = u32> + '_ {
        let queues = self.routers[routers.clone()].iter();
        let queues = queues.chain(&self.outputs[pe]).chain(&self.inputs[pe]);
        let words = queues.flatten().map(|word| word.from);
        words.chain(self.landed[routers].iter().copied())
    }

    /// Whether the next word of a router is of the vector that has come to another one last.
    pub fn is_same(&self, slot: usize, next: usize) -> bool {
        let first = self.routers[slot].front();
        first.is_some_and(|first| first.from == self.landed[next])
    }

    pub fn comes_down(&mut self, pe: usize, input: usize, origin: Origin) {
        self.inputs[pe][input].push_back(origin);
    }

    /// Words are taken from an input queue; gives the first.
    pub fn takes(&mut self, pe: usize, input: usize, count: u32) -> Origin {
        let queue = &mut self.inputs[pe][input];
        let mut words = (0..count).map(|_| queue.pop_front());
        let first = words.next().flatten();
        words.for_each(drop);
        first.unwrap_or(UNKNOWN)
    }

    /// The first word of an output queue, or of a router, waits until a router lets it in.
    pub fn waits_to_rise(&mut self, pe: usize, output: usize, now: u64) {
        waits(self.outputs[pe][output].front_mut(), pe, now);
    }

    pub fn waits_to_leave(&mut self, slot: usize, by: usize, now: u64) {
        waits(self.routers[slot].front_mut(), by, now);
    }

    /// An operation is issued, or code has come to a call-back that it executes.
    pub fn issues(&mut self, pe: usize, op: u32, now: u64) {
        let issued = &mut self.issued[pe][op as usize];
        if *issued == NONE {
            *issued = now as u32;
        }
    }

    /// An operation moves `count` words, when so many of `total` have moved before.
    pub fn moves(
        &mut self,
        (pe, op, of): (usize, u32, &TimedOp),
        (before, count, total): (u32, u32, u32),
        first: Taken,
        now: u64,
    ) {
        let (piece, now) = (piece_of(of, total), now as u32);
        if before % piece == 0 {
            let (came, origin) = first.unwrap_or((NONE, UNKNOWN));
            self.open[pe][op as usize] = self.pieces.len();
            self.pieces.push(Piece {
                pe: pe as u32,
                op,
                issued: self.issued[pe][op as usize],
                came,
                taken: now,
                ended: NONE,
                from: origin.from,
                held_by: origin.held_by,
                held: origin.held,
            });
        }
        let is_over = before + count >= total;
        if is_over || (before + count) / piece > before / piece {
            if let Some(open) = self.pieces.get_mut(self.open[pe][op as usize]) {
                open.ended = now;
            }
        }
        if is_over {
            self.issued[pe][op as usize] = NONE;
        }
    }
}

/// The words of a vector of an operation that moves so many at one issue.
pub(super) fn piece_of(op: &TimedOp, total: u32) -> u32 {
    (total / op.vectors.max(1)).max(1)
}

fn settled(word: Option<Origin>, now: u64) -> Origin {
    let mut word = word.unwrap_or(UNKNOWN);
    if word.since != NONE {
        word.held += now as u32 - word.since;
        word.since = NONE;
    }
    word
}

fn waits(word: Option<&mut Origin>, by: usize, now: u64) {
    if let Some(word) = word {
        word.held_by = by as u32;
        if word.since == NONE {
            word.since = now as u32;
        }
    }
}
