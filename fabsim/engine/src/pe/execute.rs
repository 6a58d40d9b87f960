//! What each instruction of a function does.

use super::clock_register::is_clock;
use super::company::Beside;
use super::interpret::{Caller, Doing, Flow, Main, Site, Threads};
use super::issue::{block_target, control_action, done_action, issue, Issued};
use super::map::MapRun;
use super::operation::Running;
use super::plan::PePlan;
use super::prepared::Prepared;
use super::scalar::{binary, compare, convert, cut, unary};
use super::settings::is_shared;
use super::state::{Core, LoadedDsr};
use super::Env;
use crate::fault::{Fault, FaultKind, Queue};
use fabsim_program::program::{
    Arch, Dsd, DsdOperation, DsdShape, DsrLoad, FunctionId, Inst, MapOperation, Operand, Slot, Span,
};

/// Beside microthreads, a result that an operation may have to wait for is at most so many cycles old.
const SLACK: u64 = 40;

/// Byte address behind the data memory of a PE.
const REGISTERS: u64 = 48 * 1024;

impl Main {
    pub(super) fn execute(
        &mut self,
        inst: &Inst,
        (site, time): (Site, u64),
        core: &mut Core,
        threads: &mut Threads,
        env: &mut Env,
    ) -> Result<Flow, Fault> {
        match inst {
            Inst::Jump { to } => Ok(Flow::Jump(*to)),
            Inst::Branch {
                condition,
                when,
                to,
            } => {
                let taken = (self.get(*condition) & 1 == 1) == *when;
                let here = Flow::Next(site.cost());
                Ok(if taken { Flow::Jump(*to) } else { here })
            }
            Inst::Call {
                function,
                args,
                dst,
            } => self.call(*function, args, *dst, env),
            Inst::CallPointer {
                function,
                args,
                dst,
            } => {
                let id = self.get(*function).checked_sub(1);
                let id = id.ok_or(FaultKind::NullFunction)?;
                self.call(FunctionId(id as u32), args, *dst, env)
            }
            Inst::Return { src } => {
                let value = src.map(|slot| self.get(slot));
                Ok(self.leave_function(value))
            }
            Inst::Load { dst, address, .. } if self.leads_to_register(*address, env) => {
                let (dst, address) = (*dst, *address);
                let read = Inst::ReadConfig { dst, address };
                self.through_pointer(&read, address, (site, time), core, (threads, env))
            }
            Inst::Store { src, address, .. } if self.leads_to_register(*address, env) => {
                let (src, address) = (*src, *address);
                let write = Inst::WriteConfig { address, src };
                self.through_pointer(&write, address, (site, time), core, (threads, env))
            }
            Inst::Operation(op) => self.operation(op, (site, time), core, threads, env),
            Inst::Map(map) => self.map(map, (site.span(), time), core, (threads, env)),
            // Registers are shared with the router: they are used in their own cycle.
            Inst::ReadConfig { .. } | Inst::WriteConfig { .. } if time > env.now => {
                Ok(Flow::Again(0))
            }
            Inst::System { call, .. } if time > env.now && is_shared(*call) => Ok(Flow::Again(0)),
            Inst::ReadConfig { dst, address } => {
                let address = self.get(*address) as u16;
                let value = match is_clock(env.plan, address) {
                    true => self.system.read_clock(address, time),
                    false => core.read_register(address, env)?,
                };
                self.set(*dst, u64::from(value));
                Ok(Flow::Next(site.cost()))
            }
            Inst::WriteConfig { address, src } => {
                let (address, value) = (self.get(*address) as u16, self.get(*src) as u16);
                match is_clock(env.plan, address) {
                    true => self.system.write_clock(address, value, time),
                    false => core.write_register(address, value, (threads, env))?,
                }
                Ok(Flow::Next(site.cost()))
            }
            straight => self
                .straight_instruction(straight, (site, time), core, env)
                .map(Flow::Next),
        }
    }

    /// Whether a pointer leads to a configuration register: on wse2 these lie above the memory.
    pub(super) fn leads_to_register(&self, address: Slot, env: &Env) -> bool {
        env.plan.arch == Arch::Wse2 && self.get(address) & 0xffff >= REGISTERS
    }

    /// Uses a register whose byte address is in a slot; `inst` wants its word address there.
    fn through_pointer(
        &mut self,
        inst: &Inst,
        address: Slot,
        at: (Site, u64),
        core: &mut Core,
        (threads, env): (&mut Threads, &mut Env),
    ) -> Result<Flow, Fault> {
        let byte = self.get(address);
        self.set(address, (byte & 0xffff) / 2);
        let flow = self.execute(inst, at, core, threads, env);
        self.set(address, byte);
        flow
    }

    /// An instruction that the next one follows; its cost.
    fn straight_instruction(
        &mut self,
        inst: &Inst,
        (site, time): (Site, u64),
        core: &mut Core,
        env: &mut Env,
    ) -> Result<u64, Fault> {
        let timing = env.plan.timing;
        match inst {
            Inst::Const { dst, bits } => {
                self.set(*dst, *bits);
            }
            Inst::Copy { dst, src } => self.set(*dst, self.get(*src)),
            Inst::Unary { op, ty, dst, a } => self.set(*dst, unary(*op, *ty, self.get(*a))),
            Inst::Binary { op, ty, dst, a, b } => {
                let result =
                    binary(*op, *ty, self.get(*a), self.get(*b)).map_err(FaultKind::from)?;
                self.set(*dst, result);
            }
            Inst::Select {
                dst,
                condition,
                a,
                b,
            } => {
                let chosen = if self.get(*condition) & 1 == 1 { a } else { b };
                self.set(*dst, self.get(*chosen));
            }
            Inst::Compare { op, ty, dst, a, b } => {
                let result = compare(*op, *ty, self.get(*a), self.get(*b));
                self.set(*dst, u64::from(result));
            }
            Inst::Convert { from, to, dst, a } => {
                self.set(*dst, convert(*from, *to, self.get(*a)));
            }
            Inst::LoadDsr(load) => {
                let mut loaded = self.loaded_dsr(load, site.span());
                let cycles = load_cycles(loaded.dsd.pack(), env.plan);
                loaded.usable = time + cycles + timing.dsr_use_cycles - 1;
                core.load_dsr(loaded);
                return Ok(cycles);
            }
            Inst::Activate { id } => core.activate(self.get(*id) as u8),
            Inst::Block { target, id } => {
                core.set_blocked(env.plan, block_target(*target, self.get(*id)), true);
            }
            Inst::Unblock { target, id } => {
                core.set_blocked(env.plan, block_target(*target, self.get(*id)), false);
            }
            Inst::System { call, args, dst } => {
                let args = self.args(args);
                let (result, cost) = self.system.call(*call, &args, time, core, env)?;
                if let Some(dst) = dst {
                    self.set(*dst, result);
                }
                return Ok(cost);
            }
            Inst::Assert { condition } => {
                if self.get(*condition) & 1 == 0 {
                    return Err(FaultKind::AssertionFails.into());
                }
            }
            memory => self.memory_instruction(memory, core)?,
        }
        Ok(site.cost())
    }

    /// Loads, stores and arithmetic on packed DSDs.
    fn memory_instruction(&mut self, inst: &Inst, core: &mut Core) -> Result<(), Fault> {
        let address = |main: &Main, slot: Slot| main.get(slot) & 0xffff;
        match inst {
            Inst::Load {
                ty,
                dst,
                address: at,
            } => {
                let bits = core.memory.load(address(self, *at), ty.size_bytes())?;
                self.set(*dst, bits);
            }
            Inst::Store {
                ty,
                address: at,
                src,
            } => {
                let bits = cut(*ty, self.get(*src));
                core.memory
                    .store(address(self, *at), ty.size_bytes(), bits)?;
            }
            Inst::LoadDsd { dst, address: at } => {
                let bits = core.memory.load(address(self, *at), 8)?;
                self.set(*dst, bits);
            }
            Inst::StoreDsd { address: at, src } => {
                core.memory.store(address(self, *at), 8, self.get(*src))?;
            }
            Inst::CopyMemory { to, from, bytes } => {
                core.memory
                    .copy(address(self, *to), address(self, *from), *bytes)?;
            }
            Inst::DsdSetBase {
                dst,
                dsd,
                address: at,
            } => {
                let base = address(self, *at) as u16;
                self.change_dsd(*dst, *dsd, |dsd| dsd.base = base);
            }
            Inst::DsdSetLength { dst, dsd, length } => {
                let extent = self.get(*length) as u16;
                self.change_dsd(*dst, *dsd, |dsd| dsd.extent = extent);
            }
            Inst::DsdSetStride { dst, dsd, stride } => {
                let stride = self.get(*stride) as u16 as i16;
                self.change_dsd(*dst, *dsd, |dsd| dsd.stride = stride);
            }
            Inst::DsdAdvance {
                dst,
                dsd,
                by,
                element_bytes,
            } => {
                let bytes = (self.get(*by) as u16).wrapping_mul(u16::from(*element_bytes));
                self.change_dsd(*dst, *dsd, |dsd| dsd.base = dsd.base.wrapping_add(bytes));
            }
            _ => return Err(FaultKind::UnknownInstruction.into()),
        }
        Ok(())
    }

    fn change_dsd(&mut self, dst: Slot, src: Slot, change: impl FnOnce(&mut Dsd)) {
        let mut dsd = Dsd::unpack(self.get(src));
        change(&mut dsd);
        self.set(dst, dsd.pack());
    }

    fn call(
        &mut self,
        function: FunctionId,
        args: &[Slot],
        dst: Option<Slot>,
        env: &Env,
    ) -> Result<Flow, Fault> {
        self.refuse_deep_calls()?;
        if let Some(frame) = self.frames.last_mut() {
            frame.pc += 1;
        }
        let args = self.args(args);
        self.push_frame(env.plan, function, &args, Caller::Function(dst));
        Ok(Flow::Moved)
    }

    fn loaded_dsr(&self, load: &DsrLoad, span: Span) -> LoadedDsr {
        let slots = self.current_slots();
        LoadedDsr {
            dsr: load.dsr,
            dsd: Dsd::unpack(self.get(load.dsd)),
            is_async: load.options.is_async,
            on_done: done_action(&load.options, slots),
            on_control: control_action(&load.options, slots),
            ut_id: load.options.ut_id.map(|slot| self.get(slot) as u8),
            save_address: load.save_address,
            usable: 0,
            span,
        }
    }

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
    fn operation(
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
        let mut kept = self.maps.last_mut().and_then(|map| map.prepared.take());
        let slots = self.current_slots();
        let usable = kept.as_mut().is_some_and(|kept| {
            kept.again(op, place, core, slots) && concerns_memory(&kept.running, core, env)
        });
        if let Some(again) = kept.as_mut().filter(|_| usable) {
            let flow = self.run_ahead_of(op, &mut again.running, time, core, env);
            self.keep(kept);
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
            self.keep(Prepared::of(op, place, &running, core).map(Box::new));
        }
        Ok(self.run_ahead_of(op, &mut running, time, core, env))
    }

    fn keep(&mut self, prepared: Option<Box<Prepared>>) {
        if let Some(map) = self.maps.last_mut() {
            map.prepared = prepared;
        }
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
        if after > 1 {
            core.recent.begin(running);
        }
        let cycles = running.run_in_memory(core, env.plan);
        let noted = env.beside.as_mut().map(|beside| beside.turns(cycles));
        core.recent.end(begins + cycles - 1, after, noted);
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

    fn map(
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
fn load_cycles(dsd: u64, plan: &PePlan) -> u64 {
    let shape = plan.program.shapes.get(usize::from(Dsd::unpack(dsd).shape));
    let timing = &plan.timing;
    match shape {
        Some(DsdShape::Mem4d { .. }) => timing.dsr_load_cycles + timing.tensor_load_cycles,
        _ => timing.dsr_load_cycles,
    }
}

/// Cycles from `now` until what operations before this one have written can be read.
fn until_written(running: &Running, now: u64, core: &Core, env: &Env) -> u64 {
    let after = env.plan.timing.memory_result_cycles;
    let at = core.recent.readable(running, after);
    at.saturating_sub(now)
}

/// Whether the queues and the microthread of an operation are free.
fn refuse_busy(issued: &Issued, threads: &Threads, plan: &PePlan) -> Result<(), Fault> {
    let queues = (issued.running.inputs.as_slice(), issued.running.output);
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
        } else if output.is_some() && output == old.output {
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
