//! The main thread: runs functions instruction by instruction.
//!
//! As long as no microthread shares the pipeline, a stretch of scalar code is one turn and is
//! charged its cycles: nothing outside can see the difference, since only DSD operations touch
//! queues and each of them waits for its own cycle. Beside microthreads an instruction that costs cycles ends
//! the turn.

use super::env::Env;
use super::event::Executed;
use super::frames::{enter, refuse_deep_calls};
use super::main_thread::{Caller, Doing, Flow, Main, Site, Threads};
use super::map::MapRun;
use super::plan::PePlan;
use super::shortcuts::Shortcuts;
use super::state::Core;
use crate::fault::{Fault, FaultKind};
use fabsim_lowering::code::Code;
use fabsim_program::program::FunctionId;

/// Instructions of a turn at most, so that a loop without end still lets cycles pass.
const MOST_OF_A_TURN: u32 = 4096;

impl Main {
    /// Enters a function as a task or a host command.
    pub fn start(&mut self, plan: &PePlan, function: FunctionId, args: &[u64], at: u64) {
        self.frames.clear();
        self.slots.clear();
        self.maps.clear();
        self.push_frame(plan, function, args, Caller::Task);
        self.doing = Doing::Code;
        self.entered = false;
        self.gives_way = false;
        self.ready_at = at;
    }

    /// Enters a function with ready argument values.
    pub(crate) fn push_frame(
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

    /// A turn.
    pub fn step(
        &mut self,
        core: &mut Core,
        threads: &mut Threads,
        env: &mut Env,
        shortcuts: &mut impl Shortcuts,
    ) -> Result<(), Fault> {
        if self.doing == Doing::Code {
            let called = std::mem::take(&mut self.called);
            self.run(core, threads, env, shortcuts)?;
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
                    true => self.run(core, threads, env, shortcuts),
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
        let fabric = running.touches_fabric();
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

    pub(crate) fn step_map(&mut self, core: &mut Core, env: &mut Env) -> Result<(), Fault> {
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

    pub(crate) fn leave_map_if_done(&mut self) {
        if self.maps.last().is_some_and(MapRun::is_done) {
            self.maps.pop();
            self.doing = Doing::Code;
        }
    }

    /// Runs code until something else must happen first.
    pub(crate) fn run(
        &mut self,
        core: &mut Core,
        threads: &mut Threads,
        env: &mut Env,
        shortcuts: &mut impl Shortcuts,
    ) -> Result<(), Fault> {
        let mut time = env.now;
        let ran = self.run_from(&mut time, core, (threads, env), shortcuts);
        self.ready_at = match ran {
            Ok(()) => time,
            Err(_) => shortcuts.fails_at(time, env.now),
        };
        ran
    }

    fn run_from(
        &mut self,
        time: &mut u64,
        core: &mut Core,
        (threads, env): (&mut Threads, &mut Env),
        shortcuts: &mut impl Shortcuts,
    ) -> Result<(), Fault> {
        let mut left = MOST_OF_A_TURN;
        self.entered = true;
        while left > 0 {
            left -= 1;
            if *time > env.now && !threads.is_empty() && !shortcuts.is_noted() {
                break;
            }
            shortcuts.straight(self, core, threads, (time, &mut left), env)?;
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
                Some(inst) if shortcuts.holds(self, inst, *time, env) => break,
                Some(inst) => self.execute(inst, (site, *time), core, (threads, env), shortcuts),
                None => Ok(self.leave_function(None)),
            };
            let cost = code.costs.get(at).copied().unwrap_or_default();
            let flow = flow.map_err(|fault| fault.at(site.span()))?;
            shortcuts.carried_out(self, code.insts.get(at), (&flow, cost), env);
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
            if self.doing != Doing::Code || shortcuts.ends_turn() {
                break;
            }
        }
        if self.doing == Doing::Nothing {
            *time += env.plan.timing.between_tasks_cycles;
        }
        Ok(())
    }
}
