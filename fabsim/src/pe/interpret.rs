//! The main thread: runs functions instruction by instruction.
//!
//! As long as no microthread shares the pipeline, a stretch of scalar code is run at once and
//! charged its cycles: nothing outside can see the difference, since only DSD operations touch
//! queues and each of them waits for its own cycle.

use super::core::{Core, LoadedDsr};
use super::issue::{block_target, control_action, done_action, issue};
use super::map::MapRun;
use super::operation::Running;
use super::plan::PePlan;
use super::scalar::{binary, compare, convert, cut, unary};
use super::{Env, Microthread, Next};
use crate::program::{
    BinaryOp, Dsd, DsdOperation, DsrLoad, FunctionId, Inst, MapOperation, Operand, ScalarType,
    Slot, Span,
};
use crate::report::Fault;

/// Instructions run at once at most, so that a loop without end still lets cycles pass.
const STRETCH: u32 = 4096;
/// Deeper calls mean recursion, which the machine's small stack does not survive.
const DEPTH: usize = 256;

/// What the main thread is at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Doing {
    #[default]
    Nothing,
    Code,
    /// A synchronous DSD operation.
    Operation,
    Map,
}

/// Where a function's result goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Caller {
    Task,
    Function(Option<Slot>),
    Map,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    function: u32,
    pc: u32,
    base: u32,
    caller: Caller,
}

/// The main thread.
#[derive(Clone, Debug, Default)]
pub struct Main {
    pub doing: Doing,
    /// The next instruction can be issued from this cycle on.
    ready_at: u64,
    frames: Vec<Frame>,
    slots: Vec<u64>,
    pub running: Option<Box<Running>>,
    pub maps: Vec<MapRun>,
    /// The operation at the program counter has paid for its operands.
    charged: bool,
    pub(super) system: super::system::SystemState,
}

/// What an instruction does to the flow.
enum Flow {
    Next(u64),
    Jump(u32),
    /// Frames changed.
    Moved,
    /// Comes back at the same instruction after so many cycles.
    Again(u64),
    /// The main thread is at something else now.
    Leave,
}

type Threads = Vec<Microthread>;

impl Main {
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
        self.ready_at = at;
    }

    /// Enters a function with ready argument values.
    fn push_frame(&mut self, plan: &PePlan, function: FunctionId, args: &[u64], caller: Caller) {
        let base = self.slots.len();
        let known = plan.program.functions.get(function.0 as usize);
        let count = known.map_or(0, |f| usize::from(f.slots.max(f.params)));
        self.slots.resize(base + count.max(args.len()), 0);
        self.slots[base..base + args.len()].copy_from_slice(args);
        self.frames.push(Frame {
            function: function.0,
            pc: 0,
            base: base as u32,
            caller,
        });
    }

    #[inline]
    pub fn can_step(&self, core: &Core, now: u64) -> bool {
        if self.ready_at > now {
            return false;
        }
        match self.doing {
            Doing::Nothing => false,
            Doing::Code => true,
            Doing::Operation => self.running.as_ref().is_some_and(|r| r.can_step(core, now)),
            Doing::Map => self.maps.last().is_some_and(|m| m.can_step(core, now)),
        }
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
            self.run(core, threads, env)?;
            if self.ready_at > env.now || !self.can_step(core, env.now) {
                return Ok(());
            }
        }
        match self.doing {
            Doing::Operation => self.step_operation(core, env),
            Doing::Map => self.step_map(core, env),
            Doing::Nothing | Doing::Code => Ok(()),
        }
    }

    fn step_operation(&mut self, core: &mut Core, env: &mut Env) -> Result<(), Fault> {
        let Some(running) = &mut self.running else {
            return Ok(());
        };
        let span = running.span;
        let fabric = running.inputs[0].is_some() || running.output.is_some();
        let done = running
            .step(core, env.plan, env.now)
            .map_err(|f| f.at(span))?;
        env.queues_changed |= fabric;
        self.ready_at = env.now + 1;
        if done {
            self.running = None;
            self.doing = Doing::Code;
        }
        Ok(())
    }

    fn step_map(&mut self, core: &mut Core, env: &mut Env) -> Result<(), Fault> {
        let Some(map) = self.maps.last_mut() else {
            return Ok(());
        };
        let span = map.span;
        env.queues_changed |= map.touches_fabric();
        self.ready_at = env.now + 1;
        let args = map.step(core, env.now + env.plan.timing.onramp_cycles);
        match args.map_err(|f| f.at(span))? {
            Some(args) => {
                let function = map.function;
                self.push_frame(env.plan, function, &args, Caller::Map);
                self.doing = Doing::Code;
            }
            None => self.leave_map_if_done(),
        }
        Ok(())
    }

    fn leave_map_if_done(&mut self) {
        if self.maps.last().is_some_and(MapRun::is_done) {
            self.maps.pop();
            self.doing = Doing::Code;
        }
    }

    /// Runs code until something else must happen first.
    fn run(&mut self, core: &mut Core, threads: &mut Threads, env: &mut Env) -> Result<(), Fault> {
        let mut time = env.now;
        for _ in 0..STRETCH {
            if time > env.now && !threads.is_empty() {
                break;
            }
            let Some(frame) = self.frames.last().copied() else {
                self.doing = Doing::Nothing;
                break;
            };
            let plan = env.plan;
            let function = plan.program.functions.get(frame.function as usize);
            let function = function.ok_or_else(|| Fault::new("a call to no function"))?;
            let at = frame.pc as usize;
            let span = function.spans.get(at).copied().unwrap_or_default();
            let flow = match function.code.get(at) {
                Some(inst) => self.execute(inst, (span, time), core, threads, env),
                None => Ok(self.leave_function(None)),
            };
            match flow.map_err(|fault| fault.at(span))? {
                Flow::Next(cost) => {
                    self.advance(at as u32 + 1);
                    time += cost;
                }
                Flow::Jump(to) => {
                    self.advance(to);
                    time += plan.timing.scalar_cycles;
                }
                Flow::Moved => time += plan.timing.scalar_cycles,
                Flow::Again(cost) => {
                    time += cost;
                    break;
                }
                Flow::Leave => self.advance(at as u32 + 1),
            }
            if self.doing != Doing::Code {
                break;
            }
        }
        self.ready_at = time;
        Ok(())
    }

    fn advance(&mut self, pc: u32) {
        if let Some(frame) = self.frames.last_mut() {
            frame.pc = pc;
        }
    }

    fn base(&self) -> usize {
        self.frames.last().map_or(0, |frame| frame.base as usize)
    }

    #[inline]
    fn get(&self, slot: Slot) -> u64 {
        let at = self.base() + usize::from(slot.0);
        self.slots.get(at).copied().unwrap_or(0)
    }

    #[inline]
    fn set(&mut self, slot: Slot, bits: u64) {
        let at = self.base() + usize::from(slot.0);
        if at >= self.slots.len() {
            self.slots.resize(at + 1, 0);
        }
        self.slots[at] = bits;
    }

    fn args(&self, slots: &[Slot]) -> Vec<u64> {
        slots.iter().map(|&slot| self.get(slot)).collect()
    }

    fn current_slots(&self) -> &[u64] {
        &self.slots[self.base()..]
    }

    fn execute(
        &mut self,
        inst: &Inst,
        (span, time): (Span, u64),
        core: &mut Core,
        threads: &mut Threads,
        env: &mut Env,
    ) -> Result<Flow, Fault> {
        let timing = env.plan.timing;
        let scalar = Ok(Flow::Next(timing.scalar_cycles));
        match inst {
            // An immediate of the instruction that uses it.
            Inst::Const { dst, bits } => {
                self.set(*dst, *bits);
                return Ok(Flow::Next(0));
            }
            Inst::Copy { dst, src } => self.set(*dst, self.get(*src)),
            Inst::Unary { op, ty, dst, a } => self.set(*dst, unary(*op, *ty, self.get(*a))),
            Inst::Binary { op, ty, dst, a, b } => {
                let result = binary(*op, *ty, self.get(*a), self.get(*b))?;
                self.set(*dst, result);
                if *op == BinaryOp::Div && *ty == ScalarType::F32 {
                    return Ok(Flow::Next(timing.float_divide_cycles));
                }
            }
            Inst::Compare { op, ty, dst, a, b } => {
                let result = compare(*op, *ty, self.get(*a), self.get(*b));
                self.set(*dst, u64::from(result));
            }
            Inst::Convert { from, to, dst, a } => {
                self.set(*dst, convert(*from, *to, self.get(*a)));
            }
            Inst::Jump { to } => return Ok(Flow::Jump(*to)),
            Inst::Branch {
                condition,
                when,
                to,
            } => {
                if (self.get(*condition) & 1 == 1) == *when {
                    return Ok(Flow::Jump(*to));
                }
            }
            Inst::Call {
                function,
                args,
                dst,
            } => return self.call(*function, args, *dst, env),
            Inst::CallPointer {
                function,
                args,
                dst,
            } => {
                let id = self.get(*function).checked_sub(1);
                let id = id.ok_or_else(|| Fault::new("a null function pointer is called"))?;
                return self.call(FunctionId(id as u32), args, *dst, env);
            }
            Inst::Return { src } => {
                let value = src.map(|slot| self.get(slot));
                return Ok(self.leave_function(value));
            }
            Inst::Operation(op) => return self.operation(op, span, core, threads, env),
            Inst::Map(map) => return self.map(map, span, core, env),
            Inst::LoadDsr(load) => {
                core.load_dsr(self.loaded_dsr(load, span));
                return Ok(Flow::Next(timing.dsr_load_cycles));
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
                return Ok(Flow::Next(cost));
            }
            Inst::Assert { condition } => {
                if self.get(*condition) & 1 == 0 {
                    return Err(Fault::new("an assertion does not hold"));
                }
            }
            Inst::ReadConfig { .. } | Inst::WriteConfig { .. } => {
                return Err(Fault::new(
                    "fabsim does not support configuration registers yet",
                ));
            }
            memory => self.memory_instruction(memory, core, env.plan)?,
        }
        scalar
    }

    /// Loads, stores and arithmetic on packed DSDs.
    fn memory_instruction(
        &mut self,
        inst: &Inst,
        core: &mut Core,
        plan: &PePlan,
    ) -> Result<(), Fault> {
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
            _ => {
                let _ = plan;
                return Err(Fault::new("an instruction the engine does not know"));
            }
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
        if self.frames.len() >= DEPTH {
            return Err(Fault::new(format!("calls are nested {DEPTH} deep")));
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.pc += 1;
        }
        let args = self.args(args);
        self.push_frame(env.plan, function, &args, Caller::Function(dst));
        Ok(Flow::Moved)
    }

    fn leave_function(&mut self, value: Option<u64>) -> Flow {
        let Some(frame) = self.frames.pop() else {
            self.doing = Doing::Nothing;
            return Flow::Moved;
        };
        self.slots.truncate(frame.base as usize);
        match frame.caller {
            Caller::Task => self.doing = Doing::Nothing,
            Caller::Function(Some(dst)) => self.set(dst, value.unwrap_or(0)),
            Caller::Function(None) => {}
            Caller::Map => {
                self.doing = Doing::Map;
                if let Some(map) = self.maps.last_mut() {
                    map.returned(value.unwrap_or(0));
                }
                self.leave_map_if_done();
            }
        }
        Flow::Moved
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
            span,
        }
    }

    /// An operation first pays for loading its DSD operands, then begins.
    fn operation(
        &mut self,
        op: &DsdOperation,
        span: Span,
        core: &mut Core,
        threads: &mut Threads,
        env: &mut Env,
    ) -> Result<Flow, Fault> {
        if !std::mem::replace(&mut self.charged, true) {
            let operands = std::iter::once(&op.dest).chain(&op.sources);
            return Ok(Flow::Again(issue_cost(operands, env)));
        }
        self.charged = false;
        let issued = issue(op, span, env.plan, core, self.current_slots())?;
        refuse_shared_queue(&issued.running, threads, env.plan)?;
        if let Some(slot) = op.result {
            self.set(slot, 1);
        }
        if issued.running.length == 0 {
            issued.running.complete(core, env.plan);
            return Ok(Flow::Next(0));
        }
        let Some(id) = issued.thread else {
            self.running = Some(Box::new(issued.running));
            self.doing = Doing::Operation;
            return Ok(Flow::Leave);
        };
        refuse_reentry(id, threads)?;
        threads.push(Microthread {
            id,
            priority: issued.priority,
            running: issued.running,
        });
        Ok(Flow::Next(0))
    }

    fn map(
        &mut self,
        map: &MapOperation,
        span: Span,
        core: &mut Core,
        env: &mut Env,
    ) -> Result<Flow, Fault> {
        if !std::mem::replace(&mut self.charged, true) {
            let operands = map
                .inputs
                .iter()
                .chain(&map.output)
                .map(|(operand, _)| operand);
            return Ok(Flow::Again(issue_cost(operands, env)));
        }
        self.charged = false;
        let run = MapRun::new(map, span, env.plan, core, self.current_slots())?;
        self.maps.push(run);
        self.doing = Doing::Map;
        self.leave_map_if_done();
        Ok(Flow::Leave)
    }

    /// Where the main thread is in the source.
    pub fn span(&self, plan: &PePlan) -> Option<Span> {
        let frame = self.frames.last()?;
        let function = plan.program.functions.get(frame.function as usize)?;
        let at = (frame.pc as usize).min(function.spans.len().checked_sub(1)?);
        function.spans.get(at).copied()
    }
}

fn issue_cost<'a>(operands: impl Iterator<Item = &'a Operand>, env: &Env) -> u64 {
    let timing = env.plan.timing;
    let loads = operands
        .filter(|operand| matches!(operand, Operand::Dsd(_)))
        .count();
    timing.operation_issue_cycles + timing.dsr_load_cycles * loads as u64
}

fn refuse_reentry(id: u8, threads: &Threads) -> Result<(), Fault> {
    match threads.iter().find(|thread| thread.id == id) {
        None => Ok(()),
        Some(busy) => Err(Fault::new(format!(
            "re-entry of microthread {id}: it still runs the {} of line {}",
            super::opcode::info(busy.running.opcode).name,
            busy.running.span.line
        ))),
    }
}

/// Two operations on one queue would take each other's wavelets.
fn refuse_shared_queue(new: &Running, threads: &Threads, plan: &PePlan) -> Result<(), Fault> {
    for thread in threads {
        let old = &thread.running;
        let shared_input = new
            .inputs
            .iter()
            .flatten()
            .find(|q| old.inputs.contains(&Some(**q)));
        let name = if let Some(queue) = shared_input {
            format!("input queue {}", plan.inputs[usize::from(*queue)].id)
        } else if new.output.is_some() && new.output == old.output {
            let queue = usize::from(new.output.unwrap_or(0));
            format!("output queue {}", plan.outputs[queue].id)
        } else {
            continue;
        };
        return Err(Fault::new(format!(
            "two operations use {name} at once: microthread {} (re-entry) still runs the {} of line {}",
            thread.id,
            super::opcode::info(old.opcode).name,
            old.span.line
        )));
    }
    Ok(())
}
