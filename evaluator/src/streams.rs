//! Streams: a line of routers that multiplex the links, and PEs with a few long operations, cycle by cycle.
//!
//! A PE has one slot in a cycle, for an operation of the lowest rank that can go, round robin where
//! there are several; code behind an issue goes before operations of the last rank. What begins
//! behind another operation is issued by a task, and a PE runs one task at a time (`tasks`).
//!
//! A wavelet that is sent is in the PE's own router `ramp_up` cycles later, at the next one `hop`
//! later, and can be used `ramp_down` cycles after it has left a router for the PE. A router hands its
//! first wavelet on when every output has room and the next router lets it in (`routers`).
//!
//! Most routers do the same in every cycle for long; those sleep (`asleep`).

mod routers;
mod tasks;

use std::collections::VecDeque;

use crate::asleep::Sleepers;
use crate::streams::tasks::Code;

/// Cycles and, of queues, wavelets of the machine.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "python", derive(pyo3::FromPyObject))]
pub struct Machine {
    pub ramp_up: i64,
    /// More of it where the operation receives nothing: its pipeline fills.
    pub send_start: i64,
    pub ramp_down: i64,
    pub hop: i64,
    pub router_queue: usize,
    pub output_queue: usize,
    pub input_queue: usize,
    /// From the last instruction of a task to the issue of its operation, which waits for registers.
    pub issue: i64,
    /// From the issue of an operation that receives until it can have its slot.
    pub receives: i64,
    /// The same of one that only sends.
    pub returns: i64,
    /// From the end of a task to the beginning of the next, at least.
    pub between: i64,
}

impl Machine {
    /// From the issue of an operation until it can have its slot.
    fn to_slot(&self, one: &Operation) -> i64 {
        match one.receives {
            Some(_) => self.receives,
            None => self.returns,
        }
    }

    /// From the slot of a wavelet until it is in the PE's own router.
    fn way_up(&self, one: &Operation) -> i64 {
        match one.receives {
            Some(_) => self.ramp_up,
            None => self.ramp_up + self.send_start,
        }
    }
}

/// A side of a router: towards lower places, towards higher ones, or the PE.
pub const LOWER: usize = 0;
pub const HIGHER: usize = 1;
pub const RAMP: usize = 2;

/// What a router does with a color: from which side, to which (a bit for each), position by
/// position, which may follow each other in a ring; of a filter the period, its first count and how
/// many pass.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "python", derive(pyo3::FromPyObject))]
pub struct Router {
    pub positions: Vec<(usize, usize)>,
    pub filter: Option<(i64, i64, i64)>,
    pub ring: bool,
}

/// An operation of a PE: the colors it receives and sends on, its wavelets, the operation whose end
/// it waits for, the cycles from there (or from the common start) to its issue, and what follows its
/// last wavelet: the own router's next position, the first position of all routers on the way, or
/// commands for the next routers in a ring, each of which takes one off. Of those of a PE that can
/// go, one with the lowest `rank` does, 0 to `LAST`.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "python", derive(pyo3::FromPyObject))]
pub struct Operation {
    pub receives: Option<usize>,
    pub sends: Option<usize>,
    pub wavelets: i64,
    pub after: Option<usize>,
    pub begins: i64,
    pub advances: bool,
    pub resets: bool,
    pub commands: u8,
    pub rank: u8,
}

/// A place of the line: the routers of all colors, the PE's operations, and as `code` the
/// instructions from the last issue of those that begin at once to the return.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "python", derive(pyo3::FromPyObject))]
pub struct Place {
    pub routers: Vec<Router>,
    pub operations: Vec<Operation>,
    pub code: i64,
}

/// Of a place: the cycle in which the last wavelet of each operation is taken or sent, and the first
/// in which the PE may run another task.
pub type Ends = (Vec<i64>, i64);

/// Operations of these places wait for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck(pub Vec<usize>);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Wavelet {
    pub ready: i64,
    pub mark: Mark,
}

/// What a wavelet does to routers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Data,
    Last, // of an operation that moves its own router on
    Reset,
    Commands(u8),
}

impl Mark {
    pub fn is_control(self) -> bool {
        matches!(self, Mark::Reset | Mark::Commands(_))
    }
}

/// A color at a place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Channel {
    pub position: usize,
    pub counted: i64,
    pub router: VecDeque<Wavelet>,
    pub output: VecDeque<Wavelet>,
    pub input: VecDeque<i64>,
}

pub(crate) struct Line<'a> {
    pub machine: &'a Machine,
    pub places: &'a [Place],
    pub colors: usize,
    pub channels: Vec<Channel>,
    pub left: Vec<Vec<i64>>,
    pub ends: Vec<Vec<i64>>,
    /// The first slot of every operation, `OPEN` until what it begins behind is over.
    pub starts: Vec<Vec<i64>>,
    pub code: Vec<Code>,
    /// Channels whose router takes its next position at the end of this cycle.
    advanced: Vec<usize>,
    /// Operations that have wavelets left.
    open: usize,
    /// Operations that have been issued and are not over, by place, in the order of their issue.
    running: Vec<Vec<usize>>,
    /// Which of these is asked first, by place.
    turn: Vec<usize>,
    /// The color whose wavelets leave a router first, by place.
    first: Vec<usize>,
    pub now: i64,
    pub sleepers: Sleepers,
}

pub(crate) const OPEN: i64 = i64::MAX;
/// The highest rank of an operation; code goes before it.
const LAST: u8 = 2;

/// When operations end and PEs may run other tasks, by place.
pub fn ends(machine: &Machine, places: &[Place]) -> Result<Vec<Ends>, Stuck> {
    followed(machine, places, true)
}

/// The same; only if routers `may_sleep` not every place is looked at in every cycle.
fn followed(machine: &Machine, places: &[Place], may_sleep: bool) -> Result<Vec<Ends>, Stuck> {
    let mut line = Line::new(machine, places, may_sleep);
    let patience = line.patience();
    let mut idle = 0;
    while line.open > 0 {
        let before = line.now;
        if line.cycle() {
            idle = 0;
        } else {
            line.skip_to_alarm();
            idle += line.now - before;
        }
        if idle > patience {
            return Err(line.stuck());
        }
    }
    let free = (0..places.len())
        .map(|at| line.free(at))
        .collect::<Vec<_>>();
    Ok(line.ends.into_iter().zip(free).collect())
}

fn numbers(places: &[Place], of: impl Fn(&Operation) -> i64 + Copy) -> Vec<Vec<i64>> {
    let each = |one: &Place| one.operations.iter().map(of).collect();
    places.iter().map(each).collect()
}

impl<'a> Line<'a> {
    fn new(machine: &'a Machine, places: &'a [Place], may_sleep: bool) -> Line<'a> {
        let colors = places.iter().map(|one| one.routers.len()).max();
        let colors = colors.unwrap_or(0);
        let left = numbers(places, |one| one.wavelets);
        let begins = |one: &Operation| one.begins + machine.to_slot(one);
        let mut line = Line {
            machine,
            places,
            colors,
            channels: vec![Channel::default(); places.len() * colors],
            open: left.iter().flatten().filter(|left| **left > 0).count(),
            left,
            ends: numbers(
                places,
                |one| if one.wavelets > 0 { OPEN } else { begins(one) },
            ),
            starts: numbers(places, |one| {
                if one.after.is_some() {
                    OPEN
                } else {
                    begins(one)
                }
            }),
            code: vec![Code::default(); places.len()],
            advanced: Vec::new(),
            running: vec![Vec::new(); places.len()],
            turn: vec![0; places.len()],
            first: vec![0; places.len()],
            now: 0,
            sleepers: Sleepers::new(places.len(), colors, may_sleep),
        };
        line.begin();
        line
    }

    /// Cycles without anything that moves after which nothing will.
    fn patience(&self) -> i64 {
        let begins = |one: &Place| one.operations.iter().map(|one| one.begins).sum::<i64>();
        let tasks = |one: &Place| one.operations.len() as i64 * (1 + self.machine.between);
        let waits = self
            .places
            .iter()
            .map(|one| begins(one) + tasks(one) + one.code)
            .max();
        let machine = self.machine;
        let way = machine.returns
            + machine.hop
            + machine.ramp_up
            + machine.send_start
            + machine.ramp_down;
        waits.unwrap_or(0) + way
    }

    fn stuck(&self) -> Stuck {
        let waits = |at: &usize| self.left[*at].iter().any(|left| *left > 0);
        Stuck((0..self.places.len()).filter(waits).collect())
    }

    /// One cycle; whether anything moved.
    fn cycle(&mut self) -> bool {
        self.wake_who_is_due();
        let mut moved = false;
        for index in 0..self.sleepers.awake.len() {
            let at = self.sleepers.awake[index];
            let busy = self.rise(at) | self.process(at);
            self.sleepers.busy[at] = busy;
            moved |= busy;
        }
        self.wake_whose_room_changes();
        for index in 0..self.sleepers.awake.len() {
            moved |= self.decide(self.sleepers.awake[index]);
        }
        moved |= self.wake_who_gets_otherwise();
        for index in 0..self.sleepers.awake.len() {
            let at = self.sleepers.awake[index];
            self.hand_on(at);
            self.take_from_sleepers(at);
        }
        for index in self.advanced.drain(..) {
            self.channels[index].position += 1;
        }
        self.fall_asleep();
        self.now += 1;
        moved
    }

    pub fn channel(&self, at: usize, color: usize) -> &Channel {
        &self.channels[at * self.colors + color]
    }

    /// The slot of a PE; whether somebody had it.
    fn process(&mut self, at: usize) -> bool {
        let operations = &self.places[at].operations;
        let count = self.running[at].len();
        for rank in 0..=LAST {
            if rank == LAST && self.code[at].left > 0 && self.code[at].from <= self.now {
                self.instruction(at);
                return true;
            }
            for step in 0..count {
                let index = (self.turn[at] + step) % count;
                let number = self.running[at][index];
                if operations[number].rank == rank && self.can_go(at, number) {
                    self.turn[at] = index + 1;
                    self.step(at, number);
                    return true;
                }
            }
        }
        false
    }

    /// Whether an operation has begun and has a wavelet to take, if it receives, and room for one, if
    /// it sends.
    fn can_go(&self, at: usize, number: usize) -> bool {
        let one = &self.places[at].operations[number];
        if self.left[at][number] == 0 || self.now < self.starts[at][number] {
            return false;
        }
        let there = one.receives.is_none_or(|color| {
            let first = self.channels[at * self.colors + color].input.front();
            first.is_some_and(|ready| *ready <= self.now)
        });
        there
            && one.sends.is_none_or(|color| {
                self.channels[at * self.colors + color].output.len() < self.machine.output_queue
            })
    }

    /// An operation has the slot: it takes or sends its next wavelet.
    fn step(&mut self, at: usize, number: usize) {
        let one = &self.places[at].operations[number];
        self.left[at][number] -= 1;
        let over = self.left[at][number] == 0;
        if over {
            self.ends[at][number] = self.now;
            self.open -= 1;
            self.running[at].retain(|one| *one != number);
            self.turn[at] -= 1;
            self.is_over(at, number);
        }
        if let Some(color) = one.receives {
            self.channels[at * self.colors + color].input.pop_front();
        }
        if let Some(color) = one.sends {
            let mark = match (over, one.resets, one.commands, one.advances) {
                (true, true, _, _) => Mark::Reset,
                (true, _, 1.., _) => Mark::Commands(one.commands),
                (true, _, _, true) => Mark::Last,
                _ => Mark::Data,
            };
            let ready = self.now + self.machine.way_up(one) - 1;
            let output = &mut self.channels[at * self.colors + color].output;
            output.push_back(Wavelet { ready, mark });
        }
    }
}

#[cfg(test)]
mod tests;
