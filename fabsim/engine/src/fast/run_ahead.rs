//! Running ahead: what nobody else can see is done before its cycle comes.
//!
//! A main thread that works on its own memory, between a host command and the
//! `unblock_cmd_stream` that ends it, depends on nothing but itself: wavelets wait in their
//! queues, and the host's next command has to wait, too. So its scalar code, its `@map` and its operations in memory are carried out in one visit, cycle after cycle of its own. It
//! stops before whatever others take part in, and comes back to that in the right cycle. Microthreads
//! share the pipeline with it: how long it takes is noted for them (`issue_schedule`), and what uses the same
//! memory as they do waits for its cycle.

use super::interference::{Interference, Nobody};
use super::issue_schedule::IssueSchedule;
use super::recent_results::written;
use super::repeated_operation::RepeatedOperation;
use crate::fault::Fault;
use crate::pe::env::Env;
use crate::pe::issue::{issue, Issued};
use crate::pe::main_thread::{Doing, Flow, Main, Site, Threads};
use crate::pe::map::MapRun;
use crate::pe::operate::until_written;
use crate::pe::operation::Running;
use crate::pe::port::Port;
use crate::pe::settings::is_shared;
use crate::pe::shortcuts::Shortcuts;
use crate::pe::state::Core;
use fabsim_lowering::code::Cost;
use fabsim_program::program::{DsdOperation, Dsr, Inst, Operand, SystemCall};

/// Turns taken in one visit at most, so that a loop without end still lets cycles pass.
pub(crate) const TURNS: u64 = 4096;

/// Whether what an instruction does concerns its own PE alone, whatever its operands are.
pub(crate) fn is_private(inst: &Inst) -> bool {
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

pub(crate) fn register(operand: &Operand) -> Option<Dsr> {
    match operand {
        Operand::Dsr(dsr) => Some(*dsr),
        _ => None,
    }
}

/// Beside microthreads, a result that an operation may have to wait for is at most so many cycles old.
pub(crate) const SLACK: u64 = 40;

/// A main thread that runs ahead; `now` of its surroundings is a cycle to come.
#[derive(Debug, Default)]
pub struct RunAhead {
    /// It has come to something that others take part in.
    pub held: bool,
    /// The turn has taken elements of a `@map`.
    called: bool,
    /// An operation was carried out ahead: what comes next has another turn.
    turn_is_over: bool,
    /// Turns it has taken in advance.
    pub turns: u64,
    /// The microthreads it does so beside, if there are any.
    pub schedule: Option<Box<IssueSchedule>>,
    /// The last operation that a call of a `@map` has carried out.
    pub repeated: Option<Box<RepeatedOperation>>,
}

impl Shortcuts for RunAhead {
    #[inline(always)]
    fn is_noted(&self) -> bool {
        self.schedule.is_some()
    }

    #[inline(always)]
    fn straight(
        &mut self,
        main: &mut Main,
        core: &mut Core,
        _threads: &Threads,
        (time, left): (&mut u64, &mut u32),
        env: &Env,
    ) -> Result<(), Fault> {
        match &mut self.schedule {
            Some(schedule) => main.run_straight(env.plan, core, time, left, schedule.as_mut()),
            None => main.run_straight(env.plan, core, time, left, &mut Nobody),
        }
    }

    #[inline]
    fn holds(&mut self, main: &Main, inst: &Inst, time: u64, env: &Env) -> bool {
        let holds = self.has_to_wait(main, inst, time, env);
        self.held |= holds;
        holds
    }

    fn operation(
        &mut self,
        main: &mut Main,
        op: &DsdOperation,
        at: (Site, u64),
        core: &mut Core,
        env: &Env,
    ) -> Option<Result<Flow, Fault>> {
        Some(self.operation_ahead(main, op, at, core, env))
    }

    #[inline]
    fn carried_out(&mut self, main: &Main, inst: Option<&Inst>, did: (&Flow, Cost), env: &Env) {
        if self.schedule.is_some() {
            self.note(main, inst, did, env);
        }
    }

    #[inline]
    fn ends_turn(&mut self) -> bool {
        std::mem::take(&mut self.turn_is_over)
    }

    /// Beside microthreads an instruction has a turn of its own, and so has one that fails.
    fn fails_at(&self, time: u64, now: u64) -> u64 {
        match self.schedule {
            Some(_) => time,
            None => now,
        }
    }
}

/// Whether a configuration register is read or written through a pointer.
fn uses_register(main: &Main, inst: &Inst, env: &Env) -> bool {
    match inst {
        Inst::Load { address, .. } | Inst::Store { address, .. } => {
            main.leads_to_register(*address, env)
        }
        _ => false,
    }
}

/// Whether something can come of running ahead: it is not at what others take part in.
#[inline]
pub fn may_run_ahead(main: &Main) -> bool {
    let alone = match main.doing {
        Doing::Code => true,
        Doing::Operation => !main.running.as_ref().is_some_and(|op| op.touches_fabric()),
        Doing::Map => main.maps.last().is_some_and(MapRun::is_private),
        Doing::Nothing | Doing::Failing => false,
    };
    alone && !main.waits
}

/// Whether microthreads leave the memory of the next element of a `@map` alone.
pub(crate) fn leaves_alone(map: &MapRun, others: &impl Interference) -> bool {
    let bytes = |port: &Port| u32::from(port.bytes());
    let byte = |port: &Port| match port {
        Port::Line { word, .. } => Some(2 * u64::from(*word as u32)),
        _ => None,
    };
    let clear = |port: &Port| byte(port).map_or(true, |at| others.may_read(at, bytes(port)));
    let mut output = map.output.iter();
    map.inputs.iter().all(clear)
        && output.all(|port| byte(port).map_or(true, |at| others.may_write(at, bytes(port))))
}

/// The same beside microthreads.
#[inline(never)]
fn has_to_wait_beside(schedule: &IssueSchedule, main: &Main, inst: &Inst, env: &Env) -> bool {
    let free = match inst {
        Inst::Load { .. } | Inst::Store { .. } if uses_register(main, inst, env) => false,
        Inst::Load { ty, address, .. } => schedule.may_read(main.get(*address), ty.size_bytes()),
        Inst::Store { ty, address, .. } => schedule.may_write(main.get(*address), ty.size_bytes()),
        Inst::LoadDsd { address, .. } => schedule.may_read(main.get(*address), 8),
        Inst::StoreDsd { address, .. } => schedule.may_write(main.get(*address), 8),
        // A microthread that ends may unblock the same task.
        Inst::Block { .. } | Inst::Unblock { .. } | Inst::CopyMemory { .. } => false,
        Inst::System { .. } => false,
        _ => is_private(inst),
    };
    !free || schedule.is_full()
}

impl RunAhead {
    /// What comes next has to wait for its cycle: a turn that is not over.
    fn hold(&mut self) -> u64 {
        self.held = true;
        0
    }

    /// Whether an instruction has to wait for its cycle.
    #[inline]
    fn has_to_wait(&self, main: &Main, inst: &Inst, time: u64, env: &Env) -> bool {
        if let Some(schedule) = &self.schedule {
            return has_to_wait_beside(schedule, main, inst, env);
        }
        // A command that ends in the first instruction of a turn ends with it.
        let ends = ends_command(inst) && time == env.now;
        ends || !is_private(inst) || uses_register(main, inst, env)
    }

    /// Goes on from a turn of this cycle for as long as it may. What goes wrong on the way is to be
    /// reported when its cycle comes.
    pub(crate) fn run(
        &mut self,
        main: &mut Main,
        core: &mut Core,
        threads: &mut Threads,
        env: &mut Env,
    ) -> Result<(), Fault> {
        let now = env.now;
        let mut ended = Ok(());
        while self.may_go_on(main, env) && ended.is_ok() {
            env.now = main.busy_until().max(now + 1);
            ended = match self.turns_ahead(main, core, threads, env) {
                Ok(taken) => {
                    self.turns += taken;
                    if !self.held && main.busy_until() <= env.now {
                        main.set_ready(env.now + 1);
                        if let (Doing::Map, Some(schedule)) = (main.doing, &mut self.schedule) {
                            schedule.step(1);
                        }
                    }
                    Ok(())
                }
                Err(fault) => {
                    main.doing = Doing::Failing;
                    Err(fault)
                }
            };
        }
        env.now = now;
        ended
    }

    /// Notes for the microthreads what an instruction has cost.
    #[inline(never)]
    fn note(&mut self, main: &Main, inst: Option<&Inst>, (flow, cost): (&Flow, Cost), env: &Env) {
        let Some(schedule) = &mut self.schedule else {
            return;
        };
        match (inst, flow) {
            (Some(Inst::LoadDsr(load)), Flow::Next(cycles)) => {
                let usable = env.plan.timing.dsr_use_cycles - 1;
                schedule.load(load.dsr, *cycles, cycles + usable);
            }
            (Some(Inst::Operation(op)), Flow::Again(all)) if !self.held => {
                let operands = || std::iter::once(&op.dest).chain(&op.sources);
                let issue = env.plan.timing.operation_issue_cycles;
                let cycles = main.loading(operands(), env.plan) + issue;
                schedule.wait(*all, cycles, operands().filter_map(register));
            }
            (Some(Inst::Map(map)), Flow::Again(all)) => {
                let operands = || {
                    map.inputs
                        .iter()
                        .chain(&map.output)
                        .map(|(operand, _)| operand)
                };
                let issue = env.plan.timing.operation_issue_cycles;
                let cycles = main.loading(operands(), env.plan) + issue;
                // It begins in another turn than the one that it waits in.
                schedule.wait(*all, cycles.max(1), operands().filter_map(register));
            }
            // Noted where it was carried out.
            (Some(Inst::Operation(_)), Flow::Next(cycles)) if *cycles > 0 => {}
            (_, Flow::Next(cycles)) => schedule.step(*cycles),
            (_, Flow::Again(_)) => {}
            (_, Flow::Jump(_)) => schedule.step(cost.taken.into()),
            // The next task has another turn than the end of this one.
            (_, Flow::Moved) if main.doing == Doing::Nothing => {
                let cycles = u64::from(cost.next) + env.plan.timing.between_tasks_cycles;
                schedule.task_end(cycles.max(1));
            }
            (_, Flow::Moved) if main.doing == Doing::Map => {
                schedule.step(env.plan.timing.map_return_cycles);
            }
            (_, Flow::Moved) if main.doing != Doing::Code => schedule.step(cost.next.into()),
            (_, Flow::Moved) => schedule.step(cost.taken.into()),
            (_, Flow::Leave) => schedule.step(0),
        }
    }

    fn may_go_on(&self, main: &Main, env: &Env) -> bool {
        let at_it = matches!(main.doing, Doing::Code | Doing::Operation | Doing::Map);
        let in_command = env.unblocked_at.is_none();
        at_it && in_command && self.turns < TURNS && !self.held && !main.waits
    }

    /// The turn of the cycle `env.now` and those of an operation that begins in it.
    fn turns_ahead(
        &mut self,
        main: &mut Main,
        core: &mut Core,
        threads: &mut Threads,
        env: &mut Env,
    ) -> Result<u64, Fault> {
        if main.doing == Doing::Code {
            main.run(core, threads, env, self)?;
            if main.busy_until() > env.now {
                return Ok(1);
            }
        }
        match main.doing {
            Doing::Operation => Ok(self.finish_in_memory(main, core, env)),
            Doing::Map => {
                self.repeat_calls(main, core, env);
                match main.doing {
                    // The last call has its return before it.
                    Doing::Code => self.turns_ahead(main, core, threads, env),
                    _ if self.may_map(main, env) => self.map_ahead(main, core, threads, env),
                    _ => Ok(self.hold()),
                }
            }
            // What comes next has its turn in the next cycle at the earliest.
            Doing::Code | Doing::Nothing if !self.held => Ok(1),
            _ => Ok(self.hold()),
        }
    }

    /// Takes the elements of a call, which begins at once where that costs nothing.
    fn map_ahead(
        &mut self,
        main: &mut Main,
        core: &mut Core,
        threads: &mut Threads,
        env: &mut Env,
    ) -> Result<u64, Fault> {
        let now = env.now;
        if let Err(fault) = main.step_map(core, env) {
            main.set_ready(now);
            return Err(fault);
        }
        if main.doing == Doing::Code && main.busy_until() <= now {
            self.called = true;
            let ran = main.run(core, threads, env, self);
            self.called = false;
            ran?;
            main.called = self.held && main.busy_until() <= now;
        }
        Ok(1)
    }

    /// Whether the next element of the `@map` is between scalars and memory that nobody else uses.
    fn may_map(&mut self, main: &Main, env: &Env) -> bool {
        let Some(map) = main.maps.last() else {
            return false;
        };
        let Some(schedule) = &mut self.schedule else {
            return map.is_private();
        };
        let may = !schedule.is_full() && map.is_private() && leaves_alone(map, schedule.as_ref());
        if may {
            schedule.elements(env.plan.timing.map_cycles);
        }
        may
    }

    /// All that is left of an operation, if it is one in memory that cannot fail; its cycles.
    fn finish_in_memory(&mut self, main: &mut Main, core: &mut Core, env: &mut Env) -> u64 {
        let schedule = self.schedule.as_ref();
        let may_run = |running: &Running| {
            let clear = schedule.map_or(true, |schedule| schedule.may_run(running));
            clear && running.is_safe_in_memory(core)
        };
        let Some(running) = main.running.as_mut().filter(|running| may_run(running)) else {
            return self.hold();
        };
        let cycles = running.run_in_memory(core, env.plan);
        let after = env.plan.timing.memory_result_cycles;
        let noted = self
            .schedule
            .as_mut()
            .map(|schedule| schedule.turns(cycles));
        core.recent.end(env.now + cycles - 1, after, noted);
        main.running = None;
        main.doing = Doing::Code;
        main.set_ready(env.now + cycles);
        cycles
    }

    /// All of an operation, or it waits for its cycle.
    fn operation_ahead(
        &mut self,
        main: &mut Main,
        op: &DsdOperation,
        (site, time): (Site, u64),
        core: &mut Core,
        env: &Env,
    ) -> Result<Flow, Fault> {
        let place = (site.function, site.at);
        let mut kept = match main.maps.is_empty() {
            true => None,
            false => self.repeated.take(),
        };
        let slots = main.current_slots();
        let usable = kept.as_mut().is_some_and(|kept| {
            kept.again(op, place, core, slots) && self.concerns_memory(&kept.running, core)
        });
        if let Some(again) = kept.as_mut().filter(|_| usable) {
            let flow = self.all_of(main, op, &mut again.running, time, core, env);
            self.repeated = kept;
            return Ok(flow);
        }
        let Issued {
            mut running,
            is_async,
        } = issue(op, site.span(), env.plan, core, slots)?;
        if is_async || !self.concerns_memory(&running, core) {
            self.held = true;
            return Ok(Flow::Again(0));
        }
        if !main.maps.is_empty() {
            let new = RepeatedOperation::of(op, place, &running, core);
            self.repeated = match (kept, new) {
                // In the place of the one before it, since every `@map` has another one.
                (Some(mut old), Some(new)) => {
                    *old = new;
                    Some(old)
                }
                (_, new) => new.map(Box::new),
            };
        }
        Ok(self.all_of(main, op, &mut running, time, core, env))
    }

    /// All of an operation that concerns nobody but the main thread.
    fn all_of(
        &mut self,
        main: &mut Main,
        op: &DsdOperation,
        running: &mut Running,
        time: u64,
        core: &mut Core,
        env: &Env,
    ) -> Flow {
        let held = until_written(running, time, core, env);
        let slack = if self.schedule.is_some() { SLACK } else { 0 };
        if slack > 0 && until_written(running, time.saturating_sub(slack), core, env) > 0 {
            self.held = true;
            return Flow::Again(0);
        }
        if held > 0 {
            return Flow::Again(held);
        }
        main.charged = false;
        if let Some(slot) = op.result {
            main.set(slot, 1);
        }
        if running.length == 0 {
            running.complete(core, env.plan);
            return Flow::Next(0);
        }
        // A turn that takes elements of a `@map` takes none of an operation.
        let begins = time + u64::from(self.called && time == env.now);
        let after = env.plan.timing.memory_result_cycles;
        let written = written(running, &env.plan.timing);
        let cycles = running.run_in_memory(core, env.plan);
        let noted = self
            .schedule
            .as_mut()
            .map(|schedule| schedule.turns(cycles));
        core.recent.pass(written, begins + cycles - 1, after, noted);
        let all = begins + cycles - time;
        // This turn is counted where it ends.
        self.turns += all - 1;
        self.turn_is_over = true;
        Flow::Next(all)
    }

    /// Whether an operation concerns nobody but its own main thread.
    fn concerns_memory(&self, running: &Running, core: &Core) -> bool {
        let clear = |schedule: &IssueSchedule| schedule.may_run(running);
        running.is_safe_in_memory(core) && self.schedule.as_deref().map_or(true, clear)
    }
}
