//! What the machine with a clock is given besides routers: what it takes, and what PEs execute.

use crate::machine::plan::{Advance, Given};

/// What the machine takes, in cycles, and the words that a router holds of a color.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// From a router to the next.
    pub hop: u64,
    /// From the slot of a word until the own router can send it on.
    pub ramp_up: u64,
    /// More of it where the operation receives nothing: the pipeline fills.
    pub pipeline_fill: u64,
    /// From leaving the router until an operation can take the word.
    pub ramp_down: u64,
    /// From the last load of a register to the issue of an operation.
    pub load_use: u64,
    /// From the end of a task to the first instruction of the next one, more than a cycle.
    pub between_tasks: u64,
    /// The first cycle of a task in a launch that follows the reset.
    pub first_task: u64,
    pub router_queue: usize,
}

/// What code does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// So many instructions, a slot each.
    Code(u32),
    /// So many cycles in which it waits: for the target of a jump, for a value.
    Wait(u32),
    /// So many registers of an operation are loaded, a slot each.
    Load {
        count: u32,
        op: u32,
    },
    /// Code waits until the registers of an operation can be used, which it executes itself.
    Settle(u32),
    /// An operation begins; its microthread has the slot when its turn comes.
    Issue(u32),
    /// What follows the end of the operations that activate a task.
    Follow {
        task: u32,
        code: u32,
    },
    Activate(u32),
    Block(u32),
    Unblock(u32),
    /// The PE sets its router for a phase on a color that was torn down.
    Set {
        color: u32,
        phase: u32,
    },
    /// Leaves out so many acts if some of these colors, as bits, are set and not yet torn down; they are
    /// some `of` those that are awaited together.
    Await {
        colors: u32,
        acts: u32,
        of: u32,
    },
    /// So many acts are left out.
    Skip(u32),
    /// The PE is told that a color is torn down. Goes on with other code if it is the last of those that are
    /// awaited.
    Told {
        color: u32,
        code: u32,
        of: u32,
    },
    /// Words are combined by a call-back, one by one: from each to the next as many cycles as every
    /// other one takes. What is sent leaves as the call returns.
    Call {
        op: u32,
        cycles: u32,
        other: u32,
    },
    /// Goes on with other code `count - 1` times, then with what comes next.
    Again {
        counter: u32,
        count: u32,
        code: u32,
    },
    /// Goes on with the next code of a list, and behind its last with the first.
    Turn(u32),
    /// A PE has come to one of the points whose last cycle is told, each time that a counter goes on to one
    /// that is so many further.
    Mark {
        point: u32,
        each: u32,
        counter: u32,
    },
    /// The PE has done its part.
    Done,
}

/// What the end of an operation does to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Nothing,
    Activates(u32),
    Unblocks(u32),
}

/// An operation: `words` are those of its first issue, of its second, and so on, and again from the
/// first; they are of so many `vectors`; so many are taken `at_once`, not fewer if it waits for `all`. With a `command` its one
/// word is that. It goes before others that `yield`.
#[derive(Clone, Debug)]
pub struct TimedOp {
    pub receive: Option<u32>,
    pub send: Option<u32>,
    pub output: u32,
    pub words: Vec<u32>,
    pub vectors: u32,
    pub at_once: u32,
    pub all: bool,
    pub yields: bool,
    pub command: Advance,
    pub advances: bool,
    pub end: End,
}

/// What PEs do: `codes` from the first on, which the launch begins, with those of tasks; the depths of
/// output queues, and the colors of input queues with their depths.
#[derive(Clone, Debug)]
pub struct Script {
    pub codes: Vec<Vec<Act>>,
    pub ops: Vec<TimedOp>,
    pub outputs: Vec<u32>,
    pub inputs: Vec<(u32, u32)>,
    /// Tasks that are blocked at first, as bits.
    pub blocked: u32,
    pub counters: u32,
    /// Code that follows code, as `Act::Turn` has it.
    pub turns: Vec<Vec<u32>>,
    /// The code that runs when a color is torn down, by color.
    pub handlers: Vec<(u32, u32)>,
}

impl Script {
    /// What is wrong with its numbers, in words.
    pub fn check(&self, colors: usize, phases: usize) -> Result<(), &'static str> {
        let code = |code: &u32| (*code as usize) < self.codes.len();
        let op = |op: &u32| (*op as usize) < self.ops.len();
        let good = |act: &Act| match act {
            Act::Issue(of) | Act::Settle(of) | Act::Load { op: of, .. } => op(of),
            Act::Call { op: of, .. } => op(of),
            Act::Follow { task, code: of } => *task < 32 && code(of),
            Act::Activate(task) | Act::Block(task) | Act::Unblock(task) => *task < 32,
            Act::Set { color, phase } => (*color as usize) < colors && (*phase as usize) < phases,
            Act::Told {
                color, code: of, ..
            } => (*color as usize) < colors && code(of),
            Act::Again {
                counter, code: of, ..
            } => *counter < self.counters && code(of),
            Act::Turn(list) => (*list as usize) < self.turns.len(),
            Act::Mark { each, counter, .. } => *each == 0 || *counter < self.counters,
            _ => true,
        };
        let lists = |list: &Vec<u32>| !list.is_empty() && list.iter().all(code);
        let handlers = |(color, of): &(u32, u32)| (*color as usize) < colors && code(of);
        if !self.turns.iter().all(lists) || !self.handlers.iter().all(handlers) {
            return Err("code leads to code, operations and tasks that are given");
        }
        let within = |of: &Vec<Act>| {
            of.iter().enumerate().all(|(at, act)| match act {
                Act::Await { acts, .. } | Act::Skip(acts) => at + (*acts as usize) < of.len(),
                _ => true,
            })
        };
        if !self.codes.iter().all(within) {
            return Err("code leaves out acts that it has");
        }
        if self.codes.is_empty() || !self.codes.iter().flatten().all(good) {
            return Err("code leads to code, operations and tasks that are given");
        }
        let known = |color: Option<u32>| color.is_none_or(|color| (color as usize) < colors);
        let op = |op: &TimedOp| {
            let queue = op.send.is_none() || (op.output as usize) < self.outputs.len();
            let input = op
                .receive
                .is_none_or(|color| self.inputs.iter().any(|(of, _)| *of == color));
            let task = match op.end {
                End::Nothing => true,
                End::Activates(task) | End::Unblocks(task) => task < 32,
            };
            let words = !op.words.is_empty() && op.at_once > 0;
            known(op.send) && queue && input && task && words
        };
        let inputs = self.inputs.iter().all(|(color, _)| known(Some(*color)));
        let depths = self
            .outputs
            .iter()
            .chain(self.inputs.iter().map(|(_, depth)| depth));
        if !self.ops.iter().all(op) || !inputs || depths.into_iter().any(|depth| *depth > 8) {
            return Err("operations have queues, of at most eight words, and words to move");
        }
        Ok(())
    }
}

/// What is wrong with what is given, in words.
pub fn check(
    given: &Given,
    timing: Timing,
    scripts: &[Script],
    script_at: &[u32],
    numbers: &[i64],
    starts: &[i64],
) -> Result<(), &'static str> {
    let (pes, colors) = (given.pes(), given.colors.len());
    if script_at.len() != pes || starts.len() != pes || numbers.len() != colors || colors > 32 {
        return Err("each PE has a script and a start, each of at most 32 colors a number");
    }
    if starts.iter().any(|start| *start < 0) || !(1..=4).contains(&timing.router_queue) {
        return Err("PEs begin in cycle 0 or later, a router holds one to four words");
    }
    if script_at
        .iter()
        .any(|script| *script as usize >= scripts.len())
    {
        return Err("a PE has a script that is not given");
    }
    scripts
        .iter()
        .try_for_each(|script| script.check(colors, given.phases.len()))
}
