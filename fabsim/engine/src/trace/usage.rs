//! Where the cycles of a run went: what compute elements did, how links and queues were used.

use super::waits::{waits, Wait};
use crate::fabric::grid::{Grid, PeIndex, LINKS};
use crate::fabric::observer::{Observer, Passage};
use crate::pe::event::{Executed, Turn};
use crate::pe::plan::PePlan;
use crate::pe::Pe;
use crate::probe::{Probe, RampPassage};
use fabsim_program::limits::COLORS;
use fabsim_program::program::{Direction, Directions};

/// What a compute element does in a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Doing {
    /// Nothing to do.
    #[default]
    Idle,
    /// Scalar code, starting tasks, loading registers.
    Code,
    /// Elements of DSD operations.
    Operation,
    /// No wavelet.
    Input,
    /// No room in an output queue.
    Output,
    /// A FIFO is empty or full.
    Fifo,
    /// The microthread is blocked.
    Blocked,
}

/// How many kinds there are, and their names in reports; the order is that of `Doing`.
pub const KINDS: [&str; 7] = [
    "idle",
    "code",
    "operation",
    "waits_for_input",
    "waits_for_output",
    "waits_for_fifo",
    "blocked",
];

/// The cycles of one compute element by what it did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cycles {
    pub by_kind: [u64; KINDS.len()],
    doing: Doing,
    since: u64,
}

impl Cycles {
    /// Begins something else.
    fn begin(&mut self, doing: Doing, cycle: u64) {
        let passed = cycle.saturating_sub(self.since);
        self.by_kind[self.doing as usize] += passed;
        self.since = self.since.max(cycle);
        self.doing = doing;
    }
}

/// The most wavelets a queue has held, and the first PE where it did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HighWater {
    pub level: u8,
    pub pe: u32,
}

impl HighWater {
    fn note(&mut self, level: u8, pe: PeIndex) {
        if level > self.level || level == self.level && pe.0 < self.pe {
            *self = HighWater { level, pe: pe.0 };
        }
    }
}

/// What has been counted.
#[derive(Clone, Debug)]
pub struct Usage {
    /// The rectangle.
    pub grid: Grid,
    /// The cycle up to which is counted.
    pub cycles: u64,
    /// Where the cycles of each compute element went.
    pub elements: Vec<Cycles>,
    /// Wavelets over the links of each router, in the order of `LINKS`, then up and down its ramp.
    pub links: Vec<[u32; 6]>,
    /// Wavelets over links by color.
    pub hops: [u64; COLORS],
    /// The most wavelets in a router's queue, by color.
    pub router_queues: [HighWater; COLORS],
    /// The most wavelets in an input queue, by its number.
    pub input_queues: [HighWater; 8],
    /// The most wavelets in an output queue, by its number.
    pub output_queues: [HighWater; 8],
    /// The compute element that has its turn works on elements of an operation.
    at_elements: bool,
}

/// Places in `Usage::links` behind those of the four links.
pub const UP: usize = 4;
pub const DOWN: usize = 5;

impl Usage {
    /// Counts at 0.
    pub fn new(grid: Grid) -> Usage {
        Usage {
            grid,
            cycles: 0,
            elements: vec![Cycles::default(); grid.len()],
            links: vec![[0; 6]; grid.len()],
            hops: [0; COLORS],
            router_queues: Default::default(),
            input_queues: Default::default(),
            output_queues: Default::default(),
            at_elements: false,
        }
    }

    /// What there is up to `cycle`.
    pub fn up_to(&self, cycle: u64) -> Usage {
        let mut all = self.clone();
        all.cycles = cycle;
        for element in &mut all.elements {
            element.begin(element.doing, cycle);
        }
        all
    }

    /// The color that used the links most, if any was used.
    pub fn hottest_color(&self) -> Option<usize> {
        let used = (0..COLORS).filter(|&color| self.hops[color] > 0);
        used.max_by_key(|&color| (self.hops[color], COLORS - color))
    }

    /// The link that carried most: PE, side, wavelets.
    pub fn hottest_link(&self) -> Option<(PeIndex, Direction, u32)> {
        let all = self.links.iter().enumerate().flat_map(|(n, counts)| {
            let sides = LINKS.into_iter().zip(counts);
            sides.map(move |(side, &count)| (PeIndex(n as u32), side, count))
        });
        let used = all.filter(|(_, _, count)| *count > 0);
        // The first of the largest.
        used.reduce(|best, next| if next.2 > best.2 { next } else { best })
    }

    /// Cycles of all compute elements by kind.
    pub fn totals(&self) -> [u64; KINDS.len()] {
        let mut totals = [0; KINDS.len()];
        for element in &self.elements {
            for (total, cycles) in totals.iter_mut().zip(element.by_kind) {
                *total += cycles;
            }
        }
        totals
    }
}

fn doing(cycle: u64, state: &Pe, plan: &PePlan) -> Doing {
    if state.main.busy_until() > cycle {
        return Doing::Code;
    }
    match waits(state, plan, cycle).first() {
        None => Doing::Idle,
        Some(Wait::Input { .. }) => Doing::Input,
        Some(Wait::Output { .. }) => Doing::Output,
        Some(Wait::Fifo) => Doing::Fifo,
        Some(Wait::Blocked { .. }) => Doing::Blocked,
    }
}

impl Observer for Usage {
    fn landed(&mut self, passage: Passage, _from: Direction) {
        let queue = self.router_queues.get_mut(usize::from(passage.color));
        if let Some(queue) = queue {
            queue.note(passage.level, passage.pe);
        }
    }

    fn left(&mut self, passage: Passage, over: Directions) {
        let links = &mut self.links[passage.pe.index()];
        for side in LINKS.into_iter().filter(|&side| over.has(side)) {
            links[side as usize] += 1;
            if let Some(hops) = self.hops.get_mut(usize::from(passage.color)) {
                *hops += 1;
            }
        }
    }
}

impl Probe for Usage {
    fn wants_code(&self) -> bool {
        true
    }

    fn executed(&mut self, _cycle: u64, _pe: PeIndex, _plan: &PePlan, code: &[Executed]) {
        let mut steps = code.iter();
        self.at_elements =
            steps.any(|step| matches!(step, Executed::Operation { .. } | Executed::Map { .. }));
    }

    fn turn(&mut self, cycle: u64, pe: PeIndex, state: &Pe, plan: &PePlan, turn: Turn) {
        let element = &mut self.elements[pe.index()];
        if turn == Turn::Nothing {
            return element.begin(doing(cycle, state, plan), cycle);
        }
        let began = if self.at_elements {
            Doing::Operation
        } else {
            Doing::Code
        };
        element.begin(began, cycle);
        // The main thread may be at an instruction that takes longer.
        let rest = if state.main.busy_until() > cycle + 1 {
            Doing::Code
        } else {
            doing(cycle + 1, state, plan)
        };
        element.begin(rest, cycle + 1);
        for queue in state.core.outputs.iter() {
            let place = usize::from(queue.id) % self.output_queues.len();
            self.output_queues[place].note(queue.ring.len(), pe);
        }
    }

    fn went_up(&mut self, passage: RampPassage) {
        self.links[passage.pe.index()][UP] += 1;
    }

    fn came_down(&mut self, passage: RampPassage) {
        self.links[passage.pe.index()][DOWN] += 1;
        let place = usize::from(passage.queue) % self.input_queues.len();
        self.input_queues[place].note(passage.level, passage.pe);
    }
}
