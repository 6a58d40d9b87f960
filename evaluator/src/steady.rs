//! Long entries move one element after the other, in the same way every few cycles: what repeats is
//! skipped.

use crate::state::{Evaluation, LaneState, PeState};

/// The cycles in which repetition is seen.
const PERIOD: i64 = 100;
/// Cycles from one look for repetition to the next, and those in which no code has gone on and no
/// operation ended before the first.
const LOOKS: i64 = 128;
const FIRST_LOOK: i64 = 32;

/// What there was in a cycle, for later ones to be compared with.
struct Kept {
    cycle: i64,
    lanes: Vec<LaneState>,
    pes: Vec<PeState>,
}

/// Looks for repetition, as long as no code goes on and no operation ends.
#[derive(Default)]
pub struct Repetition {
    kept: Option<Kept>,
    quiet: i64,
}

impl Repetition {
    /// Behind a cycle; `changed` says whether code has gone on, or an operation ended.
    pub fn look(&mut self, line: &mut Evaluation, changed: bool) {
        if changed {
            *self = Repetition::default();
        }
        if self.quiet % LOOKS == FIRST_LOOK {
            self.kept = line.is_steady().then(|| Kept {
                cycle: line.now,
                lanes: line.lanes.clone(),
                pes: line.pes.clone(),
            });
        } else if let Some(kept) = self.kept.take_if(|kept| line.is_as(kept)) {
            line.skip_repetitions(&kept);
        }
        self.quiet += 1;
    }
}

impl Evaluation<'_> {
    /// Whether operations have much left, and all code waits for a slot.
    fn is_steady(&self) -> bool {
        if self.line.shares_links || !self.others.are_over(self.now) {
            return false; // links that are taken are not compared, nor is what others are to do
        }
        let waits = |(pe, own): (usize, &PeState)| {
            !own.active || (own.ready <= self.now && self.wakes.of(pe) == self.now)
        };
        let mut left = self
            .lanes
            .iter()
            .flat_map(|lane| [lane.to_take, lane.to_send]);
        self.pes.iter().enumerate().all(waits)
            && left.clone().all(|left| left == 0 || left >= self.enough)
            && left.any(|left| left > 0)
    }

    /// Whether all that decides what comes next is as it was when it was kept. No operation has
    /// ended since, so what operations have left need not be the same.
    fn is_as(&self, kept: &Kept) -> bool {
        let later = self.now - kept.cycle;
        later <= PERIOD
            && self.is_steady()
            && self.pes == kept.pes
            && self
                .lanes
                .iter()
                .zip(&kept.lanes)
                .all(|(lane, before)| lane.is_as(before, later))
    }

    /// Go on with the cycle as many repetitions later as no operation ends in.
    fn skip_repetitions(&mut self, kept: &Kept) {
        let pairs = self.lanes.iter().zip(&kept.lanes);
        let turns = pairs
            .filter_map(|(lane, before)| lane.turns_left(before))
            .min();
        let Some(turns) = turns else {
            return;
        };
        let over = turns * (self.now - kept.cycle);
        self.now += over;
        for (lane, before) in self.lanes.iter_mut().zip(&kept.lanes) {
            lane.to_take -= turns * (before.to_take - lane.to_take);
            lane.to_send -= turns * (before.to_send - lane.to_send);
            lane.dues
                .iter_mut()
                .flatten()
                .for_each(|cycle| *cycle += over);
        }
        self.seen.iter_mut().for_each(|cycle| *cycle += over);
        self.wakes.delay(over);
    }
}

impl LaneState {
    /// Whether a lane was the same so many cycles before, with the same due after the same time.
    fn is_as(&self, before: &LaneState, later: i64) -> bool {
        self.stock == before.stock
            && self.progress == before.progress
            && self.dues.iter().zip(&before.dues).all(|(now, then)| {
                now.len() == then.len() && now.iter().zip(then).all(|(a, b)| *a == b + later)
            })
    }

    /// How often what has gone can go again without an operation's end; None if nothing has.
    fn turns_left(&self, before: &LaneState) -> Option<i64> {
        let of = |left: i64, before: i64| (before > left).then(|| (left - 1) / (before - left));
        let both = [
            of(self.to_take, before.to_take),
            of(self.to_send, before.to_send),
        ];
        both.into_iter().flatten().min()
    }
}
