//! The state of a line while it is evaluated.

use std::collections::VecDeque;

use crate::line::Line;
use crate::network::Network;
use crate::others::{Others, Stretch};
use crate::wakes::{Wakes, NEVER};

/// What is due at a lane in a later cycle: an element reaches its router, there is room for one
/// again at the receiver, one may go up the ramp, one can be used.
#[derive(Clone, Copy, Debug)]
pub enum Due {
    Lands,
    Freed,
    Rises,
    Usable,
}

pub const DUES: [Due; 4] = [Due::Lands, Due::Freed, Due::Rises, Due::Usable];

/// Wavelets of a lane: at its router, room for more on the way, those that may go up the ramp, those
/// that can be taken, those in the output queue, and what the input queue holds, usable or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stock {
    pub landed: i64,
    pub room: i64,
    pub leaving: i64,
    pub arrived: i64,
    pub queued: i64,
    pub held: i64,
}

/// How far a lane is in its step table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Entries that have begun.
    pub begun: usize,
    /// Operations of the last one that have not ended.
    pub runs: usize,
    /// Whether these have ended and the task has not begun.
    pub pending: bool,
    /// Whether what is taken is let pass.
    pub passing: bool,
}

/// A lane; what its operations have left to take and to send is apart, as it changes when all else
/// repeats.
#[derive(Clone, Debug, Default)]
pub struct LaneState {
    pub stock: Stock,
    pub progress: Progress,
    pub to_take: i64,
    pub to_send: i64,
    /// When its last task was due.
    pub due: i64,
    /// For each `Due`, the cycles, in order.
    pub dues: [VecDeque<i64>; 4],
}

/// What an operation does with its lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Takes,
    Sends,
}

/// An operation under way: which of the PE's lanes it is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    pub lane: usize,
    pub way: Way,
}

/// What the code that runs does, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    Code(i64),
    Wait(i64),
    Take {
        lane: usize,
        elements: i64,
        passing: bool,
    },
    Send {
        lane: usize,
        elements: i64,
    },
    /// What follows the phase is called.
    Leave,
}

/// A PE's code, and whose turn it is where two lanes could go on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeState {
    /// Cycles that the code has left up to its next operation, those of them behind its present
    /// move, and which move that is; when it begins, and when the PE may have another task.
    pub slots: i64,
    pub behind: i64,
    pub at: usize,
    pub ready: i64,
    pub idle: i64,
    pub active: bool,
    pub operations: Vec<Operation>,
    pub turn: usize,
    pub down_first: usize,
    pub up_first: usize,
    /// Lanes that are within a step; the one whose task ran last, at first the last one: tasks take
    /// turns by their numbers, and begin with the lowest (docs/machine.md, M3-8).
    pub running: usize,
    pub last: usize,
    pub moves: Vec<Move>,
    pub next: usize,
    /// When what follows was called, and the last busy cycle.
    pub free: i64,
    pub ended: i64,
}

impl Move {
    /// How long it takes, if nothing comes between.
    pub fn cycles(self) -> i64 {
        match self {
            Move::Code(cycles) | Move::Wait(cycles) => cycles,
            _ => 0,
        }
    }
}

/// A task as it was when it started: its PE, its lane within the PE (none for the code that begins
/// the phase), and what its code does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    pub pe: usize,
    pub lane: Option<usize>,
    pub moves: Vec<Move>,
}

/// A line while it is evaluated.
pub struct Evaluation<'line> {
    pub line: &'line Line,
    pub now: i64,
    /// Looks at a PE that may be taken yet.
    pub budget: i64,
    /// Wavelets that operations have left at least, when repetition is looked for.
    pub enough: i64,
    /// Operations and codes under way.
    pub under_way: usize,
    pub lanes: Vec<LaneState>,
    pub pes: Vec<PeState>,
    /// The cycle in which something may happen at each PE, and the one of the last look. The code
    /// has had the slots between.
    pub wakes: Wakes,
    pub seen: Vec<i64>,
    pub network: Network,
    pub others: Others,
    /// By PE, when tasks have run, if somebody wants to know.
    pub stretches: Option<Vec<Vec<Stretch>>>,
    /// The tasks that have started, if somebody wants to know.
    pub tasks: Option<Vec<Task>>,
}

impl<'line> Evaluation<'line> {
    /// Before the first cycle: the phase is called at `called[pe]`, by code from which `deep[pe]`
    /// cycles of returning lead to the task's end.
    pub fn new(line: &'line Line, called: &[i64], deep: &[i64]) -> Self {
        let begins = |pe| line.lanes_of(pe).any(|lane| line.has_entries(lane));
        let now = called.iter().copied().min().unwrap_or(NEVER);
        let wakes = called.iter().enumerate();
        let wakes = wakes.map(|(pe, &cycle)| if begins(pe) { cycle } else { NEVER });
        let mut made = Evaluation {
            line,
            now,
            budget: 0,
            enough: 1,
            under_way: 0,
            lanes: line
                .wiring
                .iter()
                .map(|wire| LaneState::with_room(wire.room))
                .collect(),
            pes: called
                .iter()
                .map(|&cycle| PeState::called(cycle, line.lanes_each))
                .collect(),
            wakes: Wakes::new(wakes.collect(), now),
            seen: called.iter().map(|cycle| cycle - 1).collect(),
            network: Network::new(line),
            others: Others::new(Vec::new()),
            stretches: None,
            tasks: None,
        };
        made.begin(deep);
        made
    }

    /// Something is due at a lane so many cycles from now.
    pub fn enter(&mut self, due: Due, cycles: i64, lane: usize) {
        let cycle = self.now + cycles;
        let own = &mut self.lanes[lane];
        own.dues[due as usize].push_back(cycle);
        if own.waits_for(due) {
            self.wakes.hurry(lane / self.line.lanes_each, cycle);
        }
    }
}

impl LaneState {
    /// Whether something may happen in the next cycle, whatever is due.
    pub fn may_go_on(&self) -> bool {
        let Stock {
            landed,
            room,
            leaving,
            arrived,
            ..
        } = self.stock;
        landed > 0
            || (leaving > 0 && room > 0)
            || (self.to_take > 0 && arrived > 0)
            || self.to_send > 0
    }

    /// Whether the lane can do something when this is due. Room on the way is counted whenever the
    /// PE is looked at next, unless it is all that is missing.
    pub fn waits_for(&self, due: Due) -> bool {
        match due {
            Due::Freed => self.stock.queued >= self.stock.room,
            _ => true,
        }
    }

    fn with_room(room: i64) -> Self {
        LaneState {
            stock: Stock {
                room,
                ..Stock::default()
            },
            ..LaneState::default()
        }
    }
}

impl PeState {
    /// Whether the code only waits in its next cycle.
    pub fn waits(&mut self) -> bool {
        while self.slots <= self.behind && self.behind > 0 {
            self.at += 1;
            self.behind -= self.moves[self.at].cycles();
        }
        self.slots > self.behind && matches!(self.moves.get(self.at), Some(Move::Wait(_)))
    }

    fn called(cycle: i64, lanes: usize) -> Self {
        PeState {
            last: lanes - 1,
            ready: cycle,
            free: cycle,
            ended: cycle,
            ..PeState::default()
        }
    }
}
