//! The main thread: runs functions instruction by instruction.
//!
//! As long as no microthread shares the pipeline, a stretch of scalar code is run at once and
//! charged its cycles: nothing outside can see the difference, since only DSD operations touch
//! queues and each of them waits for its own cycle.

use super::company::Alone;
use super::event::Executed;
use super::frames::{enter, refuse_deep_calls, Caller, Frame};
use super::map::MapRun;
use super::operation::Running;
use super::plan::PePlan;
use super::state::Core;
use super::{Env, Next};
use crate::fault::{Fault, FaultKind};
use fabsim_lowering::cfg::Origin;
use fabsim_lowering::code::Code;
use fabsim_program::program::{FunctionId, Span};

/// Instructions run at once at most, so that a loop without end still lets cycles pass.
const STRETCH: u32 = 4096;
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
    pub(super) system: super::system::SystemState,
    pub(super) frames: Vec<Frame>,
    pub(super) slots: Vec<u64>,
    pub maps: Vec<MapRun>,
    // At the end: used every cycle.
    pub running: Option<Box<Running>>,
    /// The next instruction can be issued from this cycle on.
    ready_at: u64,
    pub doing: Doing,
    /// The operation at the program counter has paid for its operands.
    pub(super) charged: bool,
    /// It has begun with the code of its task.
    entered: bool,
    /// It waits for a queue or microthread that is in use.
    pub(super) waits: bool,
    /// Until `ready_at` it does what is worked out, and leaves some cycles to microthreads.
    pub(super) has_run_ahead: bool,
    /// Its next turn is the rest of one in which a `@map` took its elements.
    pub(super) called: bool,
}

/// Where an instruction stands. Few ask for its place in the source.
#[derive(Clone, Copy)]
pub(super) struct Site<'a> {
    plan: &'a PePlan,
    code: &'a Code,
    pub(super) function: u32,
    pub(super) at: usize,
}

impl Site<'_> {
    pub(super) fn span(self) -> Span {
        let Origin { function, at } = self.code.origin(self.function, self.at);
        let function = self.plan.program.functions.get(function as usize);
        let span = function.and_then(|function| function.spans.get(at as usize));
        span.copied().unwrap_or_default()
    }

    /// Cycles of the instruction where the next one follows it.
    pub(super) fn cost(self) -> u64 {
        u64::from(self.code.costs[self.at].next)
    }
}

/// What an instruction does to the flow.
pub(super) enum Flow {
    Next(u64),
    Jump(u32),
    /// Frames changed.
    Moved,
    /// Comes back at the same instruction after so many cycles.
    Again(u64),
    /// The main thread is at something else now.
    Leave,
}

pub(super) type Threads = Vec<Running>;

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

    pub fn is_free(&self, now: u64) -> bool {
        self.doing == Doing::Nothing && self.ready_at <= now
    }

    /// Enters a function as a task or a host command.
    pub fn start(&mut self, plan: &PePlan, function: FunctionId, args: &[u64], at: u64) {
        self.frames.clear();
        self.slots.clear();
        self.maps.clear();
        self.push_frame(plan, function, args, Caller::Task);
        self.doing = Doing::Code;
        self.entered = false;
        self.ready_at = at;
    }

    /// Enters a function with ready argument values.
    pub(super) fn push_frame(
        &mut self,
        plan: &PePlan,
        function: FunctionId,
        args: &[u64],
        caller: Caller,
    ) {
        enter(
            plan,
            function,
            args,
            caller,
            (&mut self.frames, &mut self.slots),
        );
    }

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

    pub fn step(
        &mut self,
        core: &mut Core,
        threads: &mut Threads,
        env: &mut Env,
    ) -> Result<(), Fault> {
        if self.doing == Doing::Code {
            let called = std::mem::take(&mut self.called);
            self.run(core, threads, env)?;
            if called || self.ready_at > env.now || !self.can_step(core, env.now) {
                return Ok(());
            }
        }
        match self.doing {
            Doing::Operation => self.step_operation(core, env),
            Doing::Map => {
                self.step_map(core, env)?;
                // Where taking an element costs nothing, the call begins at once.
                match self.doing == Doing::Code && self.ready_at <= env.now {
                    true => self.run(core, threads, env),
                    false => Ok(()),
                }
            }
            Doing::Nothing | Doing::Code | Doing::Failing => Ok(()),
        }
    }

    fn step_operation(&mut self, core: &mut Core, env: &mut Env) -> Result<(), Fault> {
        let Some(running) = &mut self.running else {
            return Ok(());
        };
        let span = running.span;
        if let Some(executed) = &mut env.executed {
            executed.push(Executed::Operation {
                thread: None,
                opcode: running.opcode,
                span,
            });
        }
        let fabric = running.inputs[0].is_some() || running.output().is_some();
        let done = running
            .step(core, env.plan, env.now)
            .map_err(|f| f.at(span))?;
        env.queues_changed |= fabric;
        self.ready_at = env.now + 1;
        if done {
            let stopped = running.result.filter(|_| running.stopped);
            self.running = None;
            core.recent
                .end(env.now, env.plan.timing.memory_result_cycles, None);
            self.doing = Doing::Code;
            if let Some(slot) = stopped {
                self.set(slot, 0);
            }
        }
        Ok(())
    }

    pub(super) fn step_map(&mut self, core: &mut Core, env: &mut Env) -> Result<(), Fault> {
        let Some(map) = self.maps.last_mut() else {
            return Ok(());
        };
        let span = map.span;
        env.queues_changed |= map.touches_fabric();
        if let Some(executed) = &mut env.executed {
            executed.push(Executed::Map { span });
        }
        self.ready_at = env.now + env.plan.timing.map_cycles;
        let function = map.function;
        let args = map.step(core, env.now + env.plan.timing.onramp_cycles);
        let Some(args) = args.map_err(|f| f.at(span))? else {
            self.leave_map_if_done();
            return Ok(());
        };
        refuse_deep_calls(self.frames.len()).map_err(|f| f.at(span))?;
        let (frames, slots) = (&mut self.frames, &mut self.slots);
        enter(env.plan, function, args, Caller::Map, (frames, slots));
        self.doing = Doing::Code;
        Ok(())
    }

    pub(super) fn leave_map_if_done(&mut self) {
        if self.maps.last().is_some_and(MapRun::is_done) {
            self.maps.pop();
            self.doing = Doing::Code;
        }
    }

    /// Runs code until something else must happen first.
    pub(super) fn run(
        &mut self,
        core: &mut Core,
        threads: &mut Threads,
        env: &mut Env,
    ) -> Result<(), Fault> {
        let mut time = env.now;
        let ran = self.run_from(&mut time, core, threads, env);
        // Beside microthreads an instruction has a turn of its own, and so has one that fails.
        let failing = if env.beside.is_some() { time } else { env.now };
        self.ready_at = if ran.is_ok() { time } else { failing };
        ran
    }

    fn run_from(
        &mut self,
        time: &mut u64,
        core: &mut Core,
        threads: &mut Threads,
        env: &mut Env,
    ) -> Result<(), Fault> {
        let mut left = STRETCH;
        self.entered = true;
        while left > 0 {
            left -= 1;
            match &mut env.beside {
                Some(beside) => self.dash(env.plan, core, time, &mut left, beside.as_mut())?,
                None if *time > env.now && !threads.is_empty() => break,
                None if threads.is_empty() && env.executed.is_none() => {
                    self.dash(env.plan, core, time, &mut left, &mut Alone)?;
                }
                None => {}
            }
            let Some(frame) = self.frames.last().copied() else {
                self.doing = Doing::Nothing;
                break;
            };
            let plan = env.plan;
            let code = plan.code.get(frame.function as usize);
            let code: &Code = code.ok_or(FaultKind::NoFunction)?;
            let at = frame.pc as usize;
            let function = frame.function;
            let site = Site {
                plan,
                code,
                function,
                at,
            };
            if let Some(executed) = &mut env.executed {
                let origin = code.origin(function, at);
                executed.push(Executed::Instruction {
                    cycle: *time,
                    function: origin.function,
                    pc: origin.at,
                    issuing: self.charged,
                });
            }
            let flow = match code.insts.get(at) {
                Some(inst) if self.is_held(inst, *time, env) => {
                    env.held = true;
                    break;
                }
                Some(inst) => self.execute(inst, (site, *time), core, threads, env),
                None => Ok(self.leave_function(None)),
            };
            let cost = code.costs.get(at).copied().unwrap_or_default();
            let flow = flow.map_err(|fault| fault.at(site.span()))?;
            if env.ahead {
                self.note(code.insts.get(at), (&flow, cost), env);
            }
            match flow {
                Flow::Next(cost) => {
                    self.advance(at as u32 + 1);
                    *time += cost;
                }
                Flow::Jump(to) => {
                    self.advance(to);
                    *time += u64::from(cost.taken);
                }
                Flow::Moved if self.doing == Doing::Map => {
                    *time += plan.timing.map_return_cycles;
                }
                // A task that ends does not jump back.
                Flow::Moved if self.doing != Doing::Code => *time += u64::from(cost.next),
                Flow::Moved => *time += u64::from(cost.taken),
                Flow::Again(cost) => {
                    *time += cost;
                    break;
                }
                Flow::Leave => self.advance(at as u32 + 1),
            }
            if self.doing != Doing::Code || std::mem::take(&mut env.turn_is_over) {
                break;
            }
        }
        if self.doing == Doing::Nothing {
            *time += env.plan.timing.between_tasks_cycles;
        }
        Ok(())
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
