//! A whole run of a line: from the calls of the phase to the last busy cycle of every PE.

use crate::cycles::End;
use crate::line::{Entry, Line};
use crate::others::{Others, Stretch};
use crate::state::{Evaluation, Task};

/// About what an entry costs besides its elements, in cycles.
const ENTRY_COST: i64 = 70;

/// When each PE's code calls what follows, and its last busy cycle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    pub free: Vec<i64>,
    pub ended: Vec<i64>,
    /// When its tasks have run, if code of others was given.
    pub stretches: Vec<Vec<Stretch>>,
    /// Looks at a PE that were taken.
    pub looks: i64,
    /// Whether the budget was spent, and the rest was taken to go on at the same pace.
    pub extrapolated: bool,
}

/// Why there is no timing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// PEs whose entries never end.
    Stuck(Vec<usize>),
    Interrupted,
}

/// How much is looked at, and who may end it sooner.
pub struct Budget<'a> {
    /// Looks at a PE.
    pub most: i64,
    /// Wavelets that operations have left at least, when repetition is looked for.
    pub enough: i64,
    /// Asked from time to time.
    pub is_interrupted: &'a mut dyn FnMut() -> bool,
}

/// When the phase is called at each PE, by code from which `deep[pe]` cycles of returning lead to the
/// task's end.
#[derive(Clone, Copy)]
pub struct Calls<'a> {
    pub called: &'a [i64],
    pub deep: &'a [i64],
}

/// Run all entries, with code of others beside them if it is given, by PE.
pub fn run(
    line: &Line,
    calls: Calls,
    others: Option<Vec<Vec<Stretch>>>,
    budget: Budget,
) -> Result<Timing, Failure> {
    let mut evaluation = Evaluation::new(line, calls.called, calls.deep);
    if let Some(given) = others {
        evaluation.others = Others::new(given);
        evaluation.stretches = Some(vec![Vec::new(); line.pes()]);
    }
    timed(&mut evaluation, budget)
}

/// Run all entries; the tasks that started, those that begin the phase first.
pub fn tasks(line: &Line, calls: Calls, budget: Budget) -> Result<Vec<Task>, Failure> {
    let mut evaluation = Evaluation::new(line, calls.called, calls.deep);
    let pes = evaluation.pes.iter().enumerate();
    let begun = pes.map(|(pe, own)| Task {
        pe,
        lane: None,
        moves: own.moves.clone(),
    });
    evaluation.tasks = Some(begun.collect());
    timed(&mut evaluation, budget)?;
    Ok(evaluation.tasks.unwrap_or_default())
}

fn timed(evaluation: &mut Evaluation, mut budget: Budget) -> Result<Timing, Failure> {
    evaluation.enough = budget.enough;
    let half = budget.most / 2;
    let first = evaluation.run(half, &mut budget)?;
    if first.is_finished {
        return Ok(evaluation.timing(first.looks));
    }
    let middle = (evaluation.now, evaluation.progress());
    let second = evaluation.run(half, &mut budget)?;
    let looks = first.looks + second.looks;
    if second.is_finished {
        return Ok(evaluation.timing(looks));
    }
    Ok(evaluation.extrapolated(middle, looks))
}

/// By PE: cycles of the code that begins the phase, from its call to its return.
pub fn code_of_beginning(line: &Line) -> Vec<i64> {
    let none = vec![0; line.pes()];
    let pes = Evaluation::new(line, &none, &none).pes;
    pes.iter()
        .map(|pe| pe.moves.iter().map(|next| next.cycles()).sum())
        .collect()
}

struct Part {
    is_finished: bool,
    looks: i64,
}

impl Evaluation<'_> {
    /// Run cycles until all is over or so many looks have been taken.
    fn run(&mut self, most: i64, budget: &mut Budget) -> Result<Part, Failure> {
        self.budget = most;
        match self.advance(budget.is_interrupted) {
            End::Stuck => Err(Failure::Stuck(self.going())),
            End::Interrupted => Err(Failure::Interrupted),
            end => Ok(Part {
                is_finished: end == End::Finished,
                looks: most - self.budget,
            }),
        }
    }

    fn timing(&mut self, looks: i64) -> Timing {
        Timing {
            free: self.pes.iter().map(|pe| pe.free).collect(),
            ended: self.pes.iter().map(|pe| pe.ended).collect(),
            stretches: self.stretches.take().unwrap_or_default(),
            looks,
            extrapolated: false,
        }
    }

    /// The rest is taken to go on as fast as the second half of what has been evaluated.
    fn extrapolated(&mut self, middle: (i64, f64), looks: i64) -> Timing {
        let (then, before) = middle;
        let behind = self.progress();
        let pace = (self.now - then) as f64 / (behind - before).max(1e-9);
        let end = self.now + ((1.0 - behind) * pace).round_ties_even() as i64;
        let mut timing = self.timing(looks);
        for pe in self.going() {
            (timing.free[pe], timing.ended[pe]) = (end, end - 1);
        }
        timing.extrapolated = true;
        timing
    }

    /// PEs that are not at their end.
    fn going(&self) -> Vec<usize> {
        let runs = |pe| {
            self.lanes[self.line.lanes_of(pe)]
                .iter()
                .any(|lane| lane.progress.runs > 0)
        };
        (0..self.pes.len())
            .filter(|&pe| self.pes[pe].active || runs(pe))
            .collect()
    }

    /// The part of all entries that is behind the PEs, by their elements and what an entry costs.
    fn progress(&self) -> f64 {
        let weight = |entry: &Entry| entry.into + entry.out + entry.passed + ENTRY_COST;
        let (mut behind, mut total) = (0, 0);
        for (lane, state) in self.line.lanes.iter().zip(&self.lanes) {
            let entries = &self.line.entries[lane.entries.clone()];
            let before = state.progress.begun.saturating_sub(1).min(entries.len());
            behind += entries[..before].iter().map(weight).sum::<i64>();
            total += entries.iter().map(weight).sum::<i64>();
        }
        behind as f64 / total as f64
    }
}
