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
/// so last, counted from 1. Behind the atoms of the vector are those of the stage's areas. And who has
/// used which end of a color.
#[derive(Clone, Debug, Default)]
pub(super) struct Touched {
    lanes: usize,
    last: Vec<u32>,
    ends: Vec<End>,
}

/// An end of a color at a PE, and the entry of a lane that used it last, as part of which ways.
#[derive(Clone, Copy, Debug)]
struct End {
    color: u32,
    sends: bool,
    lane: usize,
    ways: u128,
    entry: u32,
}

impl Touched {
    pub fn begin(&mut self, lanes: usize) {
        self.lanes = lanes;
        self.last.clear();
        self.ends.clear();
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

    /// Whether an entry of another lane of the PE has ended before an operation began, whatever comes
    /// from the fabric: it was in an earlier step, or is of a lane that the operation comes after.
    fn ended_before(&self, op: &Running, other: usize, entry: u32, ways: u128) -> bool {
        let first = self.pes[op.pe as usize].first_lane as usize;
        let Some(lane) = &self.lanes[op.lane as usize] else {
            return true;
        };
        let began = self.lanes[first + other].as_ref();
        let began = began.and_then(|one| one.began.get(lane.steps as usize));
        began.is_none_or(|began| entry <= *began)
            || awaited(op, lane) >> (2 * other.min(63)) & ways > 0
    }

    /// An operation touches an atom; a fault if the order with what another one does is open.
    pub(super) fn touch(&mut self, op: &Running, cell: usize, touch: Touch) -> Checked<()> {
        if !self.touches(op.pe) {
            return Ok(());
        }
        let own = (op.lane - self.pes[op.pe as usize].first_lane) as usize;
        let count = self.lanes[op.lane as usize]
            .as_ref()
            .map_or(0, |one| one.count);
        let touched = &mut self.touched[op.pe as usize];
        let (lanes, base) = (touched.lanes, touched.at(cell));
        let mut meets = None;
        for other in 0..lanes {
            for (kind, before) in TOUCHES.into_iter().enumerate() {
                let entry = self.touched[op.pe as usize].last[base + other * TOUCHES.len() + kind];
                if entry == 0 || !touch.in_order_with(before) {
                    continue;
                }
                let ordered = if other == own {
                    entry < count || before.ways() == touch.ways()
                } else {
                    self.ended_before(op, other, entry, before.ways())
                };
                if !ordered {
                    meets = Some(other);
                }
            }
        }
        let kind = TOUCHES.iter().position(|one| *one == touch).unwrap_or(0);
        self.touched[op.pe as usize].last[base + own * TOUCHES.len() + kind] = count;
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

    /// An operation begins to receive a color, or to send it; a fault if another lane may do so at the
    /// same time.
    pub(super) fn use_end(&mut self, op: &Running, color: u32, sends: bool) -> Checked<()> {
        if !self.touches(op.pe) {
            return Ok(());
        }
        let lane = (op.lane - self.pes[op.pe as usize].first_lane) as usize;
        let ends = std::mem::take(&mut self.touched[op.pe as usize].ends);
        let meets = ends.iter().find(|one| {
            let same = one.color == color && one.sends == sends && one.lane != lane;
            same && !self.ended_before(op, one.lane, one.entry, one.ways)
        });
        let meets = meets.map(|one| one.lane);
        let is_own = |one: &End| one.color == color && one.sends == sends && one.lane == lane;
        let ways =
            u128::from(op.op.receives_on().is_some()) | u128::from(op.op.sends_on().is_some()) << 1;
        let entry = self.lanes[op.lane as usize]
            .as_ref()
            .map_or(0, |one| one.count);
        let touched = &mut self.touched[op.pe as usize];
        touched.ends = ends;
        touched.ends.retain(|one| !is_own(one));
        touched.ends.push(End {
            color,
            sends,
            lane,
            ways,
            entry,
        });
        let Some(other) = meets else { return Ok(()) };
        let (pe, name) = (self.name(op.pe as usize), self.color(color));
        let (kind, does) = if sends {
            (Kind::SeveralSend, "sends on")
        } else {
            (Kind::SeveralReceive, "receives")
        };
        let text = format!("{pe} {does} {name} in two lanes, and nothing orders them");
        let fault = *self.fault(kind, op, text);
        Err(Box::new(fault.on(color).with(other)))
    }

    /// The slice of a phase that has an atom.
    fn slice_at(&self, op: &Running, atom: usize) -> usize {
        let phase = self.phase_of(op.stage);
        let cuts = &phase.cuts[phase.cut_at[op.pe as usize] as usize];
        cuts.partition_point(|cut| *cut as usize <= atom).max(1) - 1
    }
}
