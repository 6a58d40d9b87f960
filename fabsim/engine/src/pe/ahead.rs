//! Running ahead: what nobody else can see is done before its cycle comes.
//!
//! A main thread that works on its own memory, between a host command and the
//! `unblock_cmd_stream` that ends it, depends on nothing but itself: wavelets wait in their
//! queues, and the host's next command has to wait, too. So its scalar code, its `@map` and its operations in memory are carried out in one visit, cycle after cycle of its own. It
//! stops before whatever others take part in, and comes back to that in the right cycle. Microthreads
//! share the pipeline with it: how long it takes is noted for them (`company`), and what uses the same
//! memory as they do waits for its cycle.

use super::company::Company;
use super::main_thread::{Doing, Flow, Main, Threads};
use super::map::MapRun;
use super::operation::Running;
use super::settings::is_shared;
use super::state::Core;
use super::Env;
use crate::fault::Fault;
use fabsim_lowering::code::Cost;
use fabsim_program::program::{Dsr, Inst, Operand, SystemCall};

/// Turns taken in one visit at most, so that a loop without end still lets cycles pass.
pub(super) const TURNS: u64 = 4096;

/// Whether what an instruction does concerns its own PE alone, whatever its operands are.
pub(super) fn is_private(inst: &Inst) -> bool {
    match inst {
        Inst::ReadConfig { .. } | Inst::WriteConfig { .. } => false,
        Inst::System { call, .. } => {
            !is_shared(*call) && !matches!(call, SystemCall::PrintText | SystemCall::PrintNumber)
        }
        _ => true,
    }
}

/// What follows it is no part of the host's command.
fn ends_command(inst: &Inst) -> bool {
    let call = match inst {
        Inst::System { call, .. } => *call,
        _ => return false,
    };
    call == SystemCall::UnblockCmdStream
}

pub(super) fn register(operand: &Operand) -> Option<Dsr> {
    match operand {
        Operand::Dsr(dsr) => Some(*dsr),
        _ => None,
    }
}

/// What comes next has to wait for its cycle: a turn that is not over.
fn held(env: &mut Env) -> u64 {
    env.held = true;
    0
}

impl Main {
    /// Whether an instruction has to wait for its cycle.
    #[inline]
    pub(super) fn is_held(&self, inst: &Inst, time: u64, env: &Env) -> bool {
        if !env.ahead {
            return false;
        }
        let Some(beside) = &env.beside else {
            // A command that ends in the first instruction of a turn ends with it.
            let ends = ends_command(inst) && time == env.now;
            return ends || !is_private(inst) || self.uses_register(inst, env);
        };
        let free = match inst {
            Inst::Load { .. } | Inst::Store { .. } if self.uses_register(inst, env) => false,
            Inst::Load { ty, address, .. } => beside.may_read(self.get(*address), ty.size_bytes()),
            Inst::Store { ty, address, .. } => {
                beside.may_write(self.get(*address), ty.size_bytes())
            }
            Inst::LoadDsd { address, .. } => beside.may_read(self.get(*address), 8),
            Inst::StoreDsd { address, .. } => beside.may_write(self.get(*address), 8),
            // A microthread that ends may unblock the same task.
            Inst::Block { .. } | Inst::Unblock { .. } | Inst::CopyMemory { .. } => false,
            Inst::System { .. } => false,
            _ => is_private(inst),
        };
        !free || beside.is_full()
    }

    /// Whether a configuration register is read or written through a pointer.
    fn uses_register(&self, inst: &Inst, env: &Env) -> bool {
        match inst {
            Inst::Load { address, .. } | Inst::Store { address, .. } => {
                self.leads_to_register(*address, env)
            }
            _ => false,
        }
    }

    /// Whether something can come of running ahead: it is not at what others take part in.
    #[inline]
    pub(super) fn may_run_ahead(&self) -> bool {
        let alone = match self.doing {
            Doing::Code => true,
            Doing::Operation => !self.running.as_ref().is_some_and(|op| op.touches_fabric()),
            Doing::Map => self.maps.last().is_some_and(MapRun::is_private),
            Doing::Nothing | Doing::Failing => false,
        };
        alone && !self.waits
    }

    /// Goes on from a turn of this cycle for as long as it may. What goes wrong on the way is to be
    /// reported when its cycle comes.
    pub(super) fn run_ahead(
        &mut self,
        core: &mut Core,
        threads: &mut Threads,
        env: &mut Env,
    ) -> Result<(), Fault> {
        let now = env.now;
        let mut ended = Ok(());
        while self.may_go_on(env) && ended.is_ok() {
            env.now = self.busy_until().max(now + 1);
            ended = match self.turns_ahead(core, threads, env) {
                Ok(taken) => {
                    env.turns_ahead += taken;
                    if !env.held && self.busy_until() <= env.now {
                        self.set_ready(env.now + 1);
                        if let (Doing::Map, Some(beside)) = (self.doing, &mut env.beside) {
                            beside.step(1);
                        }
                    }
                    Ok(())
                }
                Err(fault) => {
                    self.doing = Doing::Failing;
                    Err(fault)
                }
            };
        }
        env.now = now;
        ended
    }

    /// Notes for the microthreads what an instruction has cost.
    #[inline]
    pub(super) fn note(&self, inst: Option<&Inst>, (flow, cost): (&Flow, Cost), env: &mut Env) {
        let Some(beside) = &mut env.beside else {
            return;
        };
        match (inst, flow) {
            (Some(Inst::LoadDsr(load)), Flow::Next(cycles)) => {
                let usable = env.plan.timing.dsr_use_cycles - 1;
                beside.load(load.dsr, *cycles, cycles + usable);
            }
            (Some(Inst::Operation(op)), Flow::Again(all)) if !env.held => {
                let operands = || std::iter::once(&op.dest).chain(&op.sources);
                let issue = env.plan.timing.operation_issue_cycles;
                let cycles = self.loading(operands(), env.plan) + issue;
                beside.wait(*all, cycles, operands().filter_map(register));
            }
            (Some(Inst::Map(map)), Flow::Again(all)) => {
                let operands = || {
                    map.inputs
                        .iter()
                        .chain(&map.output)
                        .map(|(operand, _)| operand)
                };
                let issue = env.plan.timing.operation_issue_cycles;
                let cycles = self.loading(operands(), env.plan) + issue;
                // It begins in another turn than the one that it waits in.
                beside.wait(*all, cycles.max(1), operands().filter_map(register));
            }
            // Noted where it was carried out.
            (Some(Inst::Operation(_)), Flow::Next(cycles)) if *cycles > 0 => {}
            (_, Flow::Next(cycles)) => beside.step(*cycles),
            (_, Flow::Again(_)) => {}
            (_, Flow::Jump(_)) => beside.step(cost.taken.into()),
            // The next task has another turn than the end of this one.
            (_, Flow::Moved) if self.doing == Doing::Nothing => {
                let cycles = u64::from(cost.next) + env.plan.timing.between_tasks_cycles;
                beside.task_end(cycles.max(1));
            }
            (_, Flow::Moved) if self.doing == Doing::Map => {
                beside.step(env.plan.timing.map_return_cycles);
            }
            (_, Flow::Moved) if self.doing != Doing::Code => beside.step(cost.next.into()),
            (_, Flow::Moved) => beside.step(cost.taken.into()),
            (_, Flow::Leave) => beside.step(0),
        }
    }

    fn may_go_on(&self, env: &Env) -> bool {
        let at_it = matches!(self.doing, Doing::Code | Doing::Operation | Doing::Map);
        let in_command = env.unblocked_at.is_none();
        at_it && in_command && env.turns_ahead < TURNS && !env.held && !self.waits
    }

    /// The turn of the cycle `env.now` and those of an operation that begins in it.
    fn turns_ahead(
        &mut self,
        core: &mut Core,
        threads: &mut Threads,
        env: &mut Env,
    ) -> Result<u64, Fault> {
        if self.doing == Doing::Code {
            self.run(core, threads, env)?;
            if self.busy_until() > env.now {
                return Ok(1);
            }
        }
        match self.doing {
            Doing::Operation => Ok(self.finish_in_memory(core, env)),
            Doing::Map => {
                self.repeat_calls(core, env);
                match self.doing {
                    // The last call has its return before it.
                    Doing::Code => self.turns_ahead(core, threads, env),
                    _ if self.may_map(env) => self.map_ahead(core, threads, env),
                    _ => Ok(held(env)),
                }
            }
            // What comes next has its turn in the next cycle at the earliest.
            Doing::Code | Doing::Nothing if !env.held => Ok(1),
            _ => Ok(held(env)),
        }
    }

    /// Takes the elements of a call, which begins at once where that costs nothing.
    fn map_ahead(
        &mut self,
        core: &mut Core,
        threads: &mut Threads,
        env: &mut Env,
    ) -> Result<u64, Fault> {
        let now = env.now;
        if let Err(fault) = self.step_map(core, env) {
            self.set_ready(now);
            return Err(fault);
        }
        if self.doing == Doing::Code && self.busy_until() <= now {
            env.called = true;
            let ran = self.run(core, threads, env);
            env.called = false;
            ran?;
            self.called = env.held && self.busy_until() <= now;
        }
        Ok(1)
    }

    /// Whether the next element of the `@map` is between scalars and memory that nobody else uses.
    fn may_map(&self, env: &mut Env) -> bool {
        let Some(map) = self.maps.last() else {
            return false;
        };
        let Some(beside) = &mut env.beside else {
            return map.is_private();
        };
        let may = !beside.is_full() && map.is_private() && map.is_clear(beside.as_ref());
        if may {
            beside.elements(env.plan.timing.map_cycles);
        }
        may
    }

    /// All that is left of an operation, if it is one in memory that cannot fail; its cycles.
    fn finish_in_memory(&mut self, core: &mut Core, env: &mut Env) -> u64 {
        let beside = env.beside.as_ref();
        let may_run = |running: &Running| {
            let clear = beside.map_or(true, |b| b.may_run(running));
            clear && running.is_safe_in_memory(core)
        };
        let Some(running) = self.running.as_mut().filter(|running| may_run(running)) else {
            return held(env);
        };
        let cycles = running.run_in_memory(core, env.plan);
        let after = env.plan.timing.memory_result_cycles;
        let noted = env.beside.as_mut().map(|beside| beside.turns(cycles));
        core.recent.end(env.now + cycles - 1, after, noted);
        self.running = None;
        self.doing = Doing::Code;
        self.set_ready(env.now + cycles);
        cycles
    }
}
