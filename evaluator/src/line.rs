//! What is evaluated: a line of PEs, the step tables of their lanes, and what the machine takes.

use std::collections::HashMap;
use std::ops::Range;

/// Cycles and, of queues, wavelets of the machine.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "python", derive(pyo3::FromPyObject))]
pub struct Machine {
    pub ramp_up: i64,
    /// More of it, where an operation sends that receives nothing.
    pub send_start: i64,
    pub ramp_down: i64,
    pub hop: i64,
    pub router_queue: i64,
    pub output_queue: i64,
    pub input_queue: i64,
    /// Wavelets that one instruction takes.
    pub group: i64,
    /// From an activation to the task's first instruction.
    pub task: i64,
    /// In which a task that several phases have finds out whose it is.
    pub dispatch: i64,
    /// From the end of a task to the next one, at least.
    pub between: i64,
    /// The return of a task.
    pub frame: i64,
    pub code: Code,
}

/// Cycles of the pieces of code that belong to no entry of a step table.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "python", derive(pyo3::FromPyObject))]
pub struct Code {
    /// A jump that is taken, and one that is not.
    pub jump: i64,
    pub no_jump: i64,
    pub counter: i64,
    pub step_begun: i64,
    pub step_over: i64,
    /// A task of a PE with one lane returns, an entry being under way: to where the returns of
    /// several phases meet.
    pub meet: i64,
}

/// What the code that starts an entry does, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Cycles of code, in which no operation has a slot.
    Code(i64),
    /// Cycles in which the code waits for what an instruction before finds out, such as where it
    /// jumps to; operations may have them.
    Wait(i64),
    Receive,
    Send,
    /// Let pass what others send.
    Pass,
    /// Take what is staged into the vector.
    Apply,
}

/// Entries of a kind are started by the same code.
#[derive(Clone, Debug)]
pub struct Kind {
    /// What prepares an entry: code and waits.
    pub prepared: Vec<Action>,
    pub actions: Vec<Action>,
    /// Whether an entry ends its lane's part in a step.
    pub ends: bool,
}

impl Kind {
    /// How many operations an entry has under way.
    pub fn operations(&self) -> usize {
        let on_fabric =
            |action: &&Action| matches!(action, Action::Receive | Action::Send | Action::Pass);
        self.actions.iter().filter(on_fabric).count()
    }
}

/// An entry of a step table: wavelets that come in, go out and are let pass, and the cycles in
/// which what is staged is applied.
#[derive(Clone, Copy, Debug, Default)]
pub struct Entry {
    pub kind: usize,
    pub into: i64,
    pub out: i64,
    pub passed: i64,
    pub applying: i64,
}

/// A lane of a PE before its wiring is worked out.
#[derive(Clone, Debug, Default)]
pub struct Lane {
    pub entries: Range<usize>,
    /// The kind of what the code finds behind the last entry.
    pub beyond: usize,
    /// The lane that gets what this one sends.
    pub target: Option<usize>,
    /// The links on the way there, one after the other.
    pub links: Vec<usize>,
    /// Cycles until the first entry is prepared.
    pub begins: i64,
}

/// How the elements of a lane travel, worked out once.
#[derive(Clone, Debug, Default)]
pub struct Wiring {
    pub target: Option<usize>,
    pub source: Option<usize>,
    pub hops: i64,
    /// Cycles from the sender's way up the ramp until an element has arrived here.
    pub delay: i64,
    /// Wavelets that there is room for on the way to the target; where links are shared, in the
    /// sender's own router.
    pub room: i64,
}

/// A line of PEs; lanes are numbered PE * `lanes_each` + lane.
#[derive(Clone, Debug)]
pub struct Line {
    pub machine: Machine,
    /// Lanes of a PE: one, or one in each direction.
    pub lanes_each: usize,
    /// What a phase begins with, before any entry is prepared.
    pub beginning: i64,
    pub kinds: Vec<Kind>,
    pub entries: Vec<Entry>,
    pub lanes: Vec<Lane>,
    pub wiring: Vec<Wiring>,
    pub shares_links: bool,
}

impl Line {
    /// Refused, in words, where a number leads to a part that is not given.
    pub fn new(
        machine: Machine,
        lanes_each: usize,
        beginning: i64,
        kinds: Vec<Kind>,
        entries: Vec<Entry>,
        lanes: Vec<Lane>,
    ) -> Result<Line, &'static str> {
        let mut line = Line {
            machine,
            lanes_each,
            beginning,
            kinds,
            entries,
            lanes,
            wiring: Vec::new(),
            shares_links: false,
        };
        line.check()?;
        line.shares_links = shares_links(lanes_each, &line.lanes);
        line.wiring = line.wired();
        Ok(line)
    }

    /// What is wrong with numbers that lead from one part to another, in words.
    fn check(&self) -> Result<(), &'static str> {
        let kinds = self.entries.iter().map(|entry| entry.kind);
        let is_right = |lane: &Lane| {
            lane.entries.start <= lane.entries.end
                && lane.entries.end <= self.entries.len()
                && lane.target.is_none_or(|target| target < self.lanes.len())
        };
        if !matches!(self.lanes_each, 1 | 2) || self.lanes.len() % self.lanes_each > 0 {
            return Err("a PE has one lane or two");
        }
        if kinds
            .chain(self.lanes.iter().map(|lane| lane.beyond))
            .any(|kind| kind >= self.kinds.len())
        {
            return Err("an entry is of a kind that is not given");
        }
        if !self.lanes.iter().all(is_right) {
            return Err("a lane has entries or a target that are not given");
        }
        Ok(())
    }

    pub fn pes(&self) -> usize {
        self.lanes.len() / self.lanes_each
    }

    pub fn lanes_of(&self, pe: usize) -> Range<usize> {
        pe * self.lanes_each..(pe + 1) * self.lanes_each
    }

    pub fn has_entries(&self, lane: usize) -> bool {
        !self.lanes[lane].entries.is_empty()
    }

    /// The entry with a number within its lane, if there is one.
    pub fn entry(&self, lane: usize, number: usize) -> Option<&Entry> {
        self.entries[self.lanes[lane].entries.clone()].get(number)
    }

    /// The kind of an entry, or of what is behind the last.
    pub fn kind(&self, lane: usize, number: usize) -> &Kind {
        let beyond = self.lanes[lane].beyond;
        &self.kinds[self.entry(lane, number).map_or(beyond, |entry| entry.kind)]
    }

    /// Whether an entry ends its lane's part in a step; the last one of two lanes always does.
    pub fn ends(&self, lane: usize, number: usize) -> bool {
        let last = self.lanes_each > 1 && number + 1 >= self.lanes[lane].entries.len();
        last || self.kind(lane, number).ends
    }

    fn wired(&self) -> Vec<Wiring> {
        let machine = &self.machine;
        let mut found = vec![Wiring::default(); self.lanes.len()];
        for (number, lane) in self.lanes.iter().enumerate() {
            let hops = lane.links.len() as i64;
            found[number].hops = hops;
            found[number].target = lane.target;
            found[number].room = match self.shares_links {
                true => machine.router_queue,
                false => machine.router_queue * (hops + 1) + machine.input_queue,
            };
            if let Some(target) = lane.target {
                found[target].source = Some(number);
                found[target].delay = latency(machine) + machine.hop * hops;
            }
        }
        found
    }

    /// Whether it is counted what a PE's input queue holds, usable or not. Where an instruction takes
    /// two elements it waits for the second, and in a router others wait for one that cannot leave.
    pub fn counts_held(&self) -> bool {
        self.machine.group > 1 || self.shares_links
    }

    /// Cycles from the instruction that writes an element to its way up the ramp.
    pub fn rise(&self) -> i64 {
        self.machine.ramp_up - 1
    }
}

/// Cycles from the way up one ramp to the way down another, without hops.
fn latency(machine: &Machine) -> i64 {
    // of several wavelets that an instruction takes, the way down the ramp is counted by itself
    1 + if machine.group > 1 {
        0
    } else {
        machine.ramp_down
    }
}

/// Whether lanes of several PEs use one link.
fn shares_links(lanes_each: usize, lanes: &[Lane]) -> bool {
    let mut users = HashMap::new();
    let both = lanes.iter().enumerate();
    let mut used = both.flat_map(|(lane, given)| given.links.iter().map(move |link| (lane, link)));
    used.any(|(lane, link)| {
        let own = lane / lanes_each;
        *users.entry(*link).or_insert(own) != own
    })
}
