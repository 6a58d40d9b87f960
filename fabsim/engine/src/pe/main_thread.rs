//! The main thread: what it is at, and where in its code.

use super::event::Next;
use super::map::MapRun;
use super::operation::Running;
use super::plan::PePlan;
use super::state::Core;
use fabsim_lowering::cfg::Origin;
use fabsim_lowering::code::Code;
use fabsim_program::program::{Slot, Span};

/// Where a function's result goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Caller {
    Task,
    Function(Option<Slot>),
    Map,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) function: u32,
    pub(crate) pc: u32,
    pub(crate) base: u32,
    pub(crate) caller: Caller,
}

/// What the main thread is at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Doing {
    /// Nothing: no task runs.
    #[default]
    Nothing,
    /// The code of a task or host command.
    Code,
    /// A synchronous DSD operation.
    Operation,
    /// A `@map`.
    Map,
    /// It has run ahead of its cycle into what is to be reported in it.
    Failing,
}

/// The main thread.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Main {
    pub(crate) system: super::system::SystemState,
    pub(crate) frames: Vec<Frame>,
    pub(crate) slots: Vec<u64>,
    /// The `@map`s under way, one in the call-back of the other.
    pub maps: Vec<MapRun>,
    // At the end: used every cycle.
    /// The synchronous operation under way.
    pub running: Option<Box<Running>>,
    /// The next instruction can be issued from this cycle on.
    pub(crate) ready_at: u64,
    /// What it is at.
    pub doing: Doing,
    /// The operation at the program counter has paid for its operands.
    pub(crate) charged: bool,
    /// It has begun with the code of its task.
    pub(crate) entered: bool,
    /// It waits for a queue or microthread that is in use.
    pub(crate) waits: bool,
    /// Until `ready_at` it does what is worked out, and leaves some cycles to microthreads.
    pub(crate) has_run_ahead: bool,
    /// Its next turn is the rest of one in which a `@map` took its elements.
    pub(crate) called: bool,
    /// Its task follows another one without a cycle in between: a microthread goes before its first turn.
    pub(crate) gives_way: bool,
}

/// Where an instruction stands. Few ask for its place in the source.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    pub(crate) plan: &'a PePlan,
    pub(crate) code: &'a Code,
    pub(crate) function: u32,
    pub(crate) at: usize,
}

impl Site<'_> {
    pub(crate) fn span(self) -> Span {
        let Origin { function, at } = self.code.origin(self.function, self.at);
        let function = self.plan.program.functions.get(function as usize);
        let span = function.and_then(|function| function.spans.get(at as usize));
        span.copied().unwrap_or_default()
    }

    /// Cycles of the instruction where the next one follows it.
    pub(crate) fn cost(self) -> u64 {
        u64::from(self.code.costs[self.at].next)
    }
}

/// What an instruction does to the flow.
pub enum Flow {
    /// The next instruction follows after so many cycles.
    Next(u64),
    /// Another one follows.
    Jump(u32),
    /// Frames changed.
    Moved,
    /// Comes back at the same instruction after so many cycles.
    Again(u64),
    /// The main thread is at something else now.
    Leave,
}

/// The running asynchronous operations.
pub type Threads = Vec<Running>;

impl Main {
    /// Executing until this cycle.
    pub fn busy_until(&self) -> u64 {
        self.ready_at
    }

    /// It has run ahead beside microthreads, and its notes say when it goes on.
    pub fn is_ahead(&self) -> bool {
        self.has_run_ahead
    }

    /// The next instruction can be issued from that cycle on.
    pub fn set_ready(&mut self, at: u64) {
        self.ready_at = at;
    }

    /// A microthread has ended, which the main thread may have waited for.
    pub fn stop_waiting(&mut self) {
        self.waits = false;
    }

    /// No task runs, and the next one may start.
    pub fn is_free(&self, now: u64) -> bool {
        self.doing == Doing::Nothing && self.ready_at <= now
    }

    /// Whether an instruction can be issued now.
    #[inline]
    pub fn can_step(&self, core: &Core, now: u64) -> bool {
        if self.ready_at > now {
            return false;
        }
        match self.doing {
            Doing::Failing => true,
            Doing::Nothing => false,
            Doing::Code => !self.waits,
            Doing::Operation => self.running.as_ref().is_some_and(|r| r.can_step(core, now)),
            Doing::Map => self.maps.last().is_some_and(|m| m.can_step(core, now)),
        }
    }

    /// Whether it keeps the pipeline to itself although it issues nothing: within a task it waits, but
    /// for nothing from outside.
    #[inline]
    pub fn holds(&self, now: u64) -> bool {
        self.doing == Doing::Code && self.entered && !self.waits && self.ready_at > now
    }

    /// When to try again if nothing arrives meanwhile.
    pub fn wake_time(&self, now: u64) -> Next {
        if self.ready_at > now + 1 {
            Next::At(self.ready_at)
        } else if self.ready_at > now {
            Next::Soon
        } else {
            Next::Woken
        }
    }

    /// Where the main thread is in the source.
    pub fn span(&self, plan: &PePlan) -> Option<Span> {
        let frame = self.frames.last()?;
        let code = plan.code.get(frame.function as usize)?;
        let at = (frame.pc as usize).min(code.insts.len().checked_sub(1)?);
        let function = frame.function;
        Some(
            Site {
                plan,
                code,
                function,
                at,
            }
            .span(),
        )
    }
}
