//! Operations of the main thread: their operands are loaded, they are issued, and they go on by
//! themselves or on a microthread.

use super::env::Env;
use super::issue::{issue, Issued};
use super::main_thread::{Doing, Flow, Main, Site, Threads};
use super::map::MapRun;
use super::operation::Running;
use super::plan::PePlan;
use super::shortcuts::Shortcuts;
use super::state::Core;
use crate::fault::{Fault, FaultKind, Queue};
use fabsim_program::program::{Dsd, DsdOperation, DsdShape, MapOperation, Operand, Span};

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
    pub(crate) fn loading<'a>(
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
    pub(crate) fn operation(
        &mut self,
        op: &DsdOperation,
        (site, time): (Site, u64),
        core: &mut Core,
        (threads, env): (&mut Threads, &mut Env),
        shortcuts: &mut impl Shortcuts,
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
        if let Some(carried_out) = shortcuts.operation(self, op, (site, time), core, env) {
            return carried_out;
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
                let running = &issued.running;
                core.recent
                    .begin(&running.dest, running.length, running.pace);
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

    pub(crate) fn map(
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

/// Bringing a DSD into a register: those of several dimensions are longer.
pub(crate) fn load_cycles(dsd: u64, plan: &PePlan) -> u64 {
    let shape = plan.program.shapes.get(usize::from(Dsd::unpack(dsd).shape));
    let timing = &plan.timing;
    match shape {
        Some(DsdShape::Mem4d { .. }) => timing.dsr_load_cycles + timing.tensor_load_cycles,
        _ => timing.dsr_load_cycles,
    }
}

/// Cycles from `now` until what operations before this one have written can be read.
pub(crate) fn until_written(running: &Running, now: u64, core: &Core, env: &Env) -> u64 {
    let after = env.plan.timing.memory_result_cycles;
    let at = core.recent.readable(running.used_sources(), now, after);
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
