//! Operations of the main thread: their operands are loaded, they are issued, and they go on by
//! themselves, on a microthread, or at once where the thread runs ahead.

use super::beside::Beside;
use super::issue::{issue, Issued};
use super::main_thread::{Doing, Flow, Main, Site, Threads};
use super::map::MapRun;
use super::operation::Running;
use super::plan::PePlan;
use super::prepared::Prepared;
use super::recent::Written;
use super::state::Core;
use super::Env;
use crate::fault::{Fault, FaultKind, Queue};
use fabsim_program::program::{Dsd, DsdOperation, DsdShape, MapOperation, Operand, Span};

/// Beside microthreads, a result that an operation may have to wait for is at most so many cycles old.
pub(super) const SLACK: u64 = 40;

impl Main {
    /// Cycles from `time` until the operands of an operation are in registers that can be used.
    fn until_loaded<'a>(
        &self,
        operands: impl Iterator<Item = &'a Operand> + Clone,
        time: u64,
        core: &Core,
        env: &Env,
    ) -> u64 {
        let usable = operands.clone().filter_map(|operand| match operand {
            Operand::Dsr(dsr) => core.dsr(*dsr).map(|loaded| loaded.usable),
            _ => None,
        });
        let usable = usable.fold(time, u64::max);
        self.loading(operands, env.plan).max(usable - time)
    }

    /// The part of that for operands that are DSDs, which are loaded one by one; a destination that is
    /// the DSD of the first source shares its register.
    pub(super) fn loading<'a>(
        &self,
        operands: impl Iterator<Item = &'a Operand>,
        plan: &PePlan,
    ) -> u64 {
        let timing = &plan.timing;
        let mut loading = 0;
        let mut dest = None;
        for (n, operand) in operands.enumerate() {
            if let Operand::Dsd(slot) = *operand {
                let bits = Some(self.get(slot));
                let shared = n == 1 && bits == dest && timing.measured_rates > 0;
                if !shared {
                    loading += load_cycles(self.get(slot), plan);
                }
                dest = bits;
            }
        }
        match loading {
            0 => 0,
            _ => loading + timing.dsr_use_cycles - 1,
        }
    }

    /// An operation first pays for loading its DSD operands, then begins.
    pub(super) fn operation(
        &mut self,
        op: &DsdOperation,
        (site, time): (Site, u64),
        core: &mut Core,
        threads: &mut Threads,
        env: &mut Env,
    ) -> Result<Flow, Fault> {
        if !std::mem::replace(&mut self.charged, true) {
            let operands = std::iter::once(&op.dest).chain(&op.sources);
            let wait = self.until_loaded(operands, time, core, env);
            let wait = wait + env.plan.timing.operation_issue_cycles;
            if wait > 0 || time > env.now {
                return Ok(Flow::Again(wait));
            }
        }
        if env.plan.shares_inputs {
            self.bind_queues(op, core, env)?;
        }
        if env.ahead {
            return self.operation_ahead(op, (site, time), core, env);
        }
        let issued = issue(op, site.span(), env.plan, core, self.current_slots())?;
        if let Err(fault) = refuse_busy(&issued, threads, env.plan) {
            return self.wait_for_thread(fault, env);
        }
        let held = until_written(&issued.running, env.now, core, env);
        if held > 0 {
            return Ok(Flow::Again(held));
        }
        self.charged = false;
        if let Some(slot) = op.result {
            self.set(slot, 1);
        }
        if issued.running.length == 0 {
            issued.running.complete(core, env.plan);
            return Ok(Flow::Next(0));
        }
        if !issued.is_async {
            if env.plan.timing.memory_result_cycles > 1 {
                core.recent.begin(&issued.running);
            }
            self.running = Some(Box::new(issued.running));
            self.doing = Doing::Operation;
            return Ok(Flow::Leave);
        }
        issued.running.note_waiting(core);
        core.note_priority(issued.running.priority);
        threads.push(issued.running);
        Ok(Flow::Next(env.plan.timing.async_issue_cycles))
    }

    /// An operation of a main thread that runs ahead: all of it, or it waits for its cycle.
    fn operation_ahead(
        &mut self,
        op: &DsdOperation,
        (site, time): (Site, u64),
        core: &mut Core,
        env: &mut Env,
    ) -> Result<Flow, Fault> {
        let place = (site.function, site.at);
        let mut kept = match self.maps.is_empty() {
            true => None,
            false => core.prepared.take(),
        };
        let slots = self.current_slots();
        let usable = kept.as_mut().is_some_and(|kept| {
            kept.again(op, place, core, slots) && concerns_memory(&kept.running, core, env)
        });
        if let Some(again) = kept.as_mut().filter(|_| usable) {
            let flow = self.run_ahead_of(op, &mut again.running, time, core, env);
            core.prepared = kept;
            return Ok(flow);
        }
        let Issued {
            mut running,
            is_async,
        } = issue(op, site.span(), env.plan, core, slots)?;
        if is_async || !concerns_memory(&running, core, env) {
            env.held = true;
            return Ok(Flow::Again(0));
        }
        if !self.maps.is_empty() {
            let new = Prepared::of(op, place, &running, core);
            core.prepared = match (kept, new) {
                // In the place of the one before it, since every `@map` has another one.
                (Some(mut old), Some(new)) => {
                    *old = new;
                    Some(old)
                }
                (_, new) => new.map(Box::new),
            };
        }
        Ok(self.run_ahead_of(op, &mut running, time, core, env))
    }

    /// All of an operation that concerns nobody but the main thread.
    fn run_ahead_of(
        &mut self,
        op: &DsdOperation,
        running: &mut Running,
        time: u64,
        core: &mut Core,
        env: &mut Env,
    ) -> Flow {
        let held = until_written(running, time, core, env);
        let slack = if env.beside.is_some() { SLACK } else { 0 };
        if slack > 0 && until_written(running, time.saturating_sub(slack), core, env) > 0 {
            env.held = true;
            return Flow::Again(0);
        }
        if held > 0 {
            return Flow::Again(held);
        }
        self.charged = false;
        if let Some(slot) = op.result {
            self.set(slot, 1);
        }
        if running.length == 0 {
            running.complete(core, env.plan);
            return Flow::Next(0);
        }
        // A turn that takes elements of a `@map` takes none of an operation.
        let begins = time + u64::from(env.called && time == env.now);
        let after = env.plan.timing.memory_result_cycles;
        let written = Written::ahead(running, &env.plan.timing);
        let cycles = running.run_in_memory(core, env.plan);
        let noted = env.beside.as_mut().map(|beside| beside.turns(cycles));
        core.recent.pass(written, begins + cycles - 1, after, noted);
        let all = begins + cycles - time;
        // This turn is counted where it ends.
        env.turns_ahead += all - 1;
        env.turn_is_over = true;
        Flow::Next(all)
    }

    /// An operation whose queue or microthread is in use is a fault; a lenient machine waits until it is
    /// free, and says so.
    fn wait_for_thread(&mut self, fault: Fault, env: &mut Env) -> Result<Flow, Fault> {
        if !env.plan.lenient {
            return Err(fault);
        }
        self.waits = true;
        env.log
            .push((env.now, env.index, format!("waits: {}", fault.kind)));
        Ok(Flow::Again(1))
    }

    /// Binds the input queues of an operation to the colors that its operands name.
    fn bind_queues(&self, op: &DsdOperation, core: &mut Core, env: &mut Env) -> Result<(), Fault> {
        for source in &op.sources {
            let dsd = match source {
                Operand::Dsd(slot) => Some(Dsd::unpack(self.get(*slot))),
                Operand::Dsr(dsr) => core.dsr(*dsr).map(|loaded| loaded.dsd),
                _ => None,
            };
            let shapes = &env.plan.program.shapes;
            let shape = dsd.and_then(|dsd| shapes.get(usize::from(dsd.shape)));
            if let Some(DsdShape::FabIn {
                queue,
                color: Some(color),
                ..
            }) = shape
            {
                core.bind_to_operand(*queue, *color, env)?;
            }
        }
        Ok(())
    }

    pub(super) fn map(
        &mut self,
        map: &MapOperation,
        (span, time): (Span, u64),
        core: &mut Core,
        (threads, env): (&Threads, &mut Env),
    ) -> Result<Flow, Fault> {
        if !std::mem::replace(&mut self.charged, true) {
            let operands = map
                .inputs
                .iter()
                .chain(&map.output)
                .map(|(operand, _)| operand);
            let wait = self.until_loaded(operands, time, core, env);
            return Ok(Flow::Again(wait + env.plan.timing.operation_issue_cycles));
        }
        self.charged = false;
        let run = MapRun::new(map, span, env.plan, core, self.current_slots())?;
        let (inputs, output) = run.queues();
        refuse_shared_queue((&inputs, output), threads, env.plan)?;
        self.maps.push(run);
        self.doing = Doing::Map;
        self.leave_map_if_done();
        Ok(Flow::Leave)
    }
}

/// Whether an operation concerns nobody but its own main thread.
fn concerns_memory(running: &Running, core: &Core, env: &Env) -> bool {
    let clear = |beside: &Beside| beside.may_run(running);
    running.is_safe_in_memory(core) && env.beside.as_deref().map_or(true, clear)
}

/// Bringing a DSD into a register: those of several dimensions are longer.
pub(super) fn load_cycles(dsd: u64, plan: &PePlan) -> u64 {
    let shape = plan.program.shapes.get(usize::from(Dsd::unpack(dsd).shape));
    let timing = &plan.timing;
    match shape {
        Some(DsdShape::Mem4d { .. }) => timing.dsr_load_cycles + timing.tensor_load_cycles,
        _ => timing.dsr_load_cycles,
    }
}

/// Cycles from `now` until what operations before this one have written can be read.
pub(super) fn until_written(running: &Running, now: u64, core: &Core, env: &Env) -> u64 {
    let after = env.plan.timing.memory_result_cycles;
    let at = core.recent.readable(running, now, after);
    at.map_or(0, |at| at.saturating_sub(now))
}

/// Whether the queues and the microthread of an operation are free.
fn refuse_busy(issued: &Issued, threads: &Threads, plan: &PePlan) -> Result<(), Fault> {
    let queues = (issued.running.inputs.as_slice(), issued.running.output());
    refuse_shared_queue(queues, threads, plan)?;
    match issued.is_async && issued.running.length > 0 {
        true => refuse_reentry(issued.running.thread, threads),
        false => Ok(()),
    }
}

fn refuse_reentry(id: u8, threads: &Threads) -> Result<(), Fault> {
    match threads.iter().find(|busy| busy.thread == id) {
        None => Ok(()),
        Some(busy) => Err(FaultKind::MicrothreadBusy {
            thread: id,
            running: busy.opcode,
            line: busy.span.line,
        }
        .into()),
    }
}

/// Two operations on one queue would take each other's wavelets.
fn refuse_shared_queue(
    (inputs, output): (&[Option<u8>], Option<u8>),
    threads: &Threads,
    plan: &PePlan,
) -> Result<(), Fault> {
    for old in threads {
        let shared_input = inputs
            .iter()
            .flatten()
            .find(|q| old.inputs.contains(&Some(**q)));
        let queue = if let Some(queue) = shared_input {
            Queue::Input(plan.inputs[usize::from(*queue)].id.into())
        } else if output.is_some() && output == old.output() {
            let queue = usize::from(output.unwrap_or(0));
            Queue::Output(plan.outputs[queue].id.into())
        } else {
            continue;
        };
        return Err(FaultKind::QueueBusy {
            queue,
            thread: old.thread,
            running: old.opcode,
            line: old.span.line,
        }
        .into());
    }
    Ok(())
}
