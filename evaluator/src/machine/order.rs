//! Whether what lanes of a PE do with a slice is ordered within the PE.
//!
//! Two operations may touch a slice in any order if both leave it as it is. Else they have to be in
//! entries of one lane one after the other, in different steps, or one has to come `after` the other's
//! lane. That one happens to come first, by way of the fabric, does not count.

use super::faults::{Checked, Kind};
use super::state::{LaneRun, Machine, Running};

/// What an operation does with a slice: which way it moves it, and what becomes of the slice. What is
/// there already stays the `Same`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touch {
    Sends,
    /// It is combined with what goes through.
    GoesThrough,
    Combines,
    Copies,
    Same,
    /// It is taken from the stage, to where it is combined, or overwrites what is there.
    Takes,
    TakenCombines,
    TakenCopies,
    TakenSame,
}

const TOUCHES: [Touch; 9] = [
    Touch::Sends,
    Touch::GoesThrough,
    Touch::Combines,
    Touch::Copies,
    Touch::Same,
    Touch::Takes,
    Touch::TakenCombines,
    Touch::TakenCopies,
    Touch::TakenSame,
];

impl Touch {
    fn combines(self) -> bool {
        matches!(self, Touch::Combines | Touch::TakenCombines)
    }

    fn copies(self) -> bool {
        matches!(self, Touch::Copies | Touch::TakenCopies)
    }

    fn same(self) -> bool {
        matches!(self, Touch::Same | Touch::TakenSame)
    }

    /// Whether it matters which of the two comes first. Who writes what is there already writes what
    /// the one before him has written, so that it could as well be the other way round.
    fn in_order_with(self, other: Touch) -> bool {
        let alike = self.same() && other.copies() || self.copies() && other.same();
        let changes = |of: Touch| of.combines() || of.copies();
        (changes(self) || changes(other)) && !alike
    }

    /// Which side of a lane it is: bit 0 is from the fabric, bit 1 to it.
    fn ways(self) -> u128 {
        match self {
            Touch::Sends => 2,
            Touch::GoesThrough => 3,
            Touch::Combines | Touch::Copies | Touch::Same => 1,
            _ => 0,
        }
    }
}

/// What the lanes of a PE have touched in its stage: by atom, lane and kind of touch the entry that did
/// so last, counted from 1. Behind the atoms of the vector are those of the stage's areas.
#[derive(Clone, Debug, Default)]
pub(super) struct Touched {
    lanes: usize,
    last: Vec<u32>,
}

impl Touched {
    pub fn begin(&mut self, lanes: usize) {
        self.lanes = lanes;
        self.last.clear();
    }

    fn at(&mut self, cell: usize) -> usize {
        let each = self.lanes * TOUCHES.len();
        if self.last.len() < (cell + 1) * each {
            self.last.resize((cell + 1) * each, 0);
        }
        cell * each
    }
}

/// What is known to have ended when an operation begins, as bits of lanes.
pub(super) fn awaited(op: &Running, lane: &LaneRun) -> u128 {
    let way = if op.op.sends_on().is_some() { 2 } else { 1 };
    lane.awaited | op.op.after.map_or(0, |after| way << (2 * after.min(63)))
}

impl Machine<'_> {
    /// Whether it is followed who touches what at a PE.
    pub(super) fn touches(&self, pe: u32) -> bool {
        self.touched[pe as usize].lanes > 0
    }

    /// An operation touches an atom; a fault if the order with what another one does is open.
    pub(super) fn touch(&mut self, op: &Running, cell: usize, touch: Touch) -> Checked<()> {
        let pe = &self.pes[op.pe as usize];
        let (first, own) = (pe.first_lane as usize, (op.lane - pe.first_lane) as usize);
        if !self.touches(op.pe) {
            return Ok(());
        }
        let touched = &mut self.touched[op.pe as usize];
        let (lanes, base) = (touched.lanes, touched.at(cell));
        let Some(lane) = &self.lanes[op.lane as usize] else {
            return Ok(());
        };
        let known = awaited(op, lane);
        let mut meets = None;
        for other in 0..lanes {
            for (kind, before) in TOUCHES.into_iter().enumerate() {
                let entry = touched.last[base + other * TOUCHES.len() + kind];
                if entry == 0 || !touch.in_order_with(before) {
                    continue;
                }
                let ordered = if other == own {
                    entry < lane.count || before.ways() == touch.ways()
                } else {
                    let began = self.lanes[first + other].as_ref();
                    let began = began.and_then(|one| one.began.get(lane.steps as usize));
                    began.is_none_or(|began| entry <= *began)
                        || known >> (2 * other.min(63)) & before.ways() > 0
                };
                if !ordered {
                    meets = Some(other);
                }
            }
        }
        let kind = TOUCHES.iter().position(|one| *one == touch).unwrap_or(0);
        touched.last[base + own * TOUCHES.len() + kind] = lane.count;
        let Some(other) = meets else { return Ok(()) };
        let atoms = self.given.atoms[self.given.stages[op.stage as usize].call];
        let (slice, pe) = (self.slice_at(op, cell % atoms), self.name(op.pe as usize));
        let text = if other == own {
            format!("{pe} changes slice {slice} while another operation of the entry has it")
        } else {
            format!("{pe} changes slice {slice} while another lane has it, and nothing orders them")
        };
        let fault = *self.fault(Kind::NoFixedOrder, op, text);
        Err(Box::new(fault.of_slice(slice).with(other)))
    }

    /// The slice of a phase that has an atom.
    fn slice_at(&self, op: &Running, atom: usize) -> usize {
        let phase = self.phase_of(op.stage);
        let cuts = &phase.cuts[phase.cut_at[op.pe as usize] as usize];
        cuts.partition_point(|cut| *cut as usize <= atom).max(1) - 1
    }
}
