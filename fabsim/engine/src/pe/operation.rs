//! A running DSD operation: when it can go on, and what one instruction of it does.

use super::action::Action;
use super::fifo::End;
use super::lanes::Lanes;
use super::opcode::{element, Sources};
use super::plan::PePlan;
use super::port::{send, Port};
use super::rate::{in_same_banks, Pace};
use super::state::Core;
use crate::fault::{Fault, FaultKind};
use crate::timing::Timing;
use fabsim_program::program::{Dsr, Opcode, Priority, ScalarType, Slot, Span};
use fabsim_program::rounding::result;

/// The length of an operation that never ends.
pub const INFINITE: u32 = u32::MAX;
/// The extent of a DSD that never ends.
const ENDLESS_EXTENT: u16 = 0x7fff;

/// The number of elements an extent stands for.
pub fn elements(extent: u16) -> u32 {
    match extent {
        ENDLESS_EXTENT => INFINITE,
        finite => u32::from(finite),
    }
}

/// How the value of an element comes about: the commonest ways without a look into the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kernel {
    /// Not an element a cycle between queues and memory: FIFOs, several elements, SIMD modes, `@dfilt`.
    Special,
    /// By the table of operations.
    Any,
    /// The first source as it is.
    Copy,
    /// The sum of two sources of 32 bits.
    AddF32,
}

impl Kernel {
    /// The way for an operation with these ports; `grouped` ones take several elements at a time.
    pub fn of(opcode: Opcode, dest: &Port, sources: &[Port], grouped: bool) -> Kernel {
        let mut ports = sources.iter().chain([dest]);
        let fifo = ports.any(|port| matches!(port, Port::Fifo { .. }));
        if fifo || grouped || opcode == Opcode::Dfilt {
            return Kernel::Special;
        }
        let wide = sources.iter().all(|port| port.bytes() == 4);
        match (opcode, sources.len()) {
            (Opcode::Fmovs | Opcode::Mov32 | Opcode::Fmovh | Opcode::Mov16, 1) => Kernel::Copy,
            (Opcode::Fadds, 2) if wide => Kernel::AddF32,
            _ => Kernel::Any,
        }
    }
}

/// An operation that has been issued and not yet completed.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Running {
    // The first cache line: all that an element of two sources needs.
    /// Elements still to do; stays `INFINITE` where there is no end.
    pub remaining: u32,
    /// What is done with elements.
    pub opcode: Opcode,
    /// How many sources it has.
    pub source_count: u8,
    /// Elements one instruction takes.
    pub per_cycle: u8,
    /// Which microthreads it goes before.
    pub priority: Priority,
    /// Places of the fabric operands among the PE's input queues.
    pub inputs: [Option<u8>; 2],
    /// What the SIMD mode of its fabric operands makes of it, if that is more than an element.
    pub lanes: Option<Lanes>,
    /// How the value of an element comes about.
    pub kernel: Kernel,
    /// The microthread it runs on, if it is asynchronous.
    pub thread: u8,
    /// Where results go.
    pub dest: Port,
    /// Where operands come from.
    pub sources: [Port; 3],
    // From here on: what its beginning and end need.
    /// Elements at the beginning; `INFINITE` where there is no end.
    pub length: u32,
    /// What it passes a cycle, where that is not the same whole number every cycle.
    pub pace: Pace,
    /// What it has saved up of that.
    pub credit: u32,
    /// Where it is in the source.
    pub span: Span,
    /// The program's float format of 16 bits.
    pub half: ScalarType,
    /// What its end brings about.
    pub on_done: [Option<Action>; 4],
    /// What a control wavelet does to it.
    pub on_control: Option<Action>,
    /// DSRs that keep the address the operation ends at, by operand (destination, sources).
    pub saves: [Option<Dsr>; 4],
    /// FIFOs it reads and writes.
    pub fifos: [Option<(u8, End)>; 2],
    /// A synchronous operation stops at a full or empty FIFO, an asynchronous one waits.
    pub stops_at_fifo: bool,
    /// It was stopped by a FIFO.
    pub stopped: bool,
    /// Where a synchronous operation says whether it was stopped.
    pub result: Option<Slot>,
}

impl Running {
    /// Place of its fabric destination among the PE's output queues.
    #[inline]
    pub fn output(&self) -> Option<u8> {
        match &self.dest {
            Port::Output(sender) => Some(sender.queue),
            _ => None,
        }
    }

    /// Whether a queue is among its operands.
    #[inline]
    pub fn touches_fabric(&self) -> bool {
        self.inputs[0].is_some() || self.output().is_some()
    }

    /// Whether an instruction can be issued now.
    #[inline]
    pub fn can_step(&self, core: &Core, now: u64) -> bool {
        match (self.kernel, self.lanes) {
            // SIMD modes take no FIFO: nothing but the first cache line is looked at.
            (Kernel::Special, Some(lanes)) => return self.can_step_lanes(lanes, core, now),
            (Kernel::Special, None) if self.uses_fifo() && self.fifo_elements(core) == 0 => {
                return self.stops_at_fifo;
            }
            _ => {}
        }
        let room = match self.output() {
            Some(queue) => core.outputs[usize::from(queue)].ring.has_room(),
            None => true,
        };
        room && self
            .inputs
            .iter()
            .flatten()
            .all(|&queue| core.inputs[usize::from(queue)].ring.is_ready(now))
    }

    /// The sources it has.
    #[inline]
    pub fn used_sources(&self) -> &[Port] {
        &self.sources[..usize::from(self.source_count)]
    }

    /// The words that its operands are at, destination first; 0 for those that are no lines of memory.
    pub fn words(&self) -> [i32; 4] {
        let word = |port: &Port| match port {
            Port::Line { word, .. } => *word,
            _ => 0,
        };
        let [a, b, c] = &self.sources;
        [&self.dest, a, b, c].map(word)
    }

    /// Whether it has had a turn; one without an end counts as if it had.
    pub fn has_begun(&self) -> bool {
        self.is_infinite() || self.remaining < self.length
    }

    /// Whether it goes on until something stops it.
    #[inline]
    pub fn is_infinite(&self) -> bool {
        self.remaining == INFINITE
    }

    #[inline]
    fn uses_fifo(&self) -> bool {
        self.kernel == Kernel::Special && self.fifos[0].is_some()
    }

    /// How many elements its FIFOs let through now.
    fn fifo_elements(&self, core: &Core) -> u32 {
        let fifos = self.fifos.iter().flatten();
        let available = fifos.map(|&(n, end)| core.fifos[usize::from(n)].available(end));
        available.min().unwrap_or(u32::MAX)
    }

    /// Tells the FIFOs that hold the operation up that it waits for them.
    pub fn note_waiting(&self, core: &mut Core) {
        for &(n, end) in self.fifos.iter().flatten() {
            let fifo = &mut core.fifos[usize::from(n)];
            if fifo.available(end) == 0 {
                fifo.note_waiting(end);
            }
        }
    }

    /// The end of a synchronous operation at a full or empty FIFO, which keeps the rest as length.
    fn stop(&mut self, core: &mut Core, plan: &PePlan) {
        self.note_waiting(core);
        self.stopped = true;
        for &(n, end) in self.fifos.iter().flatten() {
            let length = core.fifos[usize::from(n)].length(end);
            if *length != 0 && !self.is_infinite() {
                *length = self.remaining as u16;
            }
        }
        self.complete(core, plan);
    }

    /// Issues one instruction; true when the operation is complete.
    #[inline]
    pub fn step(&mut self, core: &mut Core, plan: &PePlan, now: u64) -> Result<bool, Fault> {
        if self.kernel == Kernel::Special || self.meets_control(core) {
            return self.step_any(core, plan, now);
        }
        self.remaining -= u32::from(!self.is_infinite());
        self.one(core, now + self.ramp_cycles(&plan.timing))?;
        if self.remaining > 0 {
            return Ok(false);
        }
        self.complete(core, plan);
        Ok(true)
    }

    /// `step` for whatever is not an element a cycle between queues and memory.
    fn step_any(&mut self, core: &mut Core, plan: &PePlan, now: u64) -> Result<bool, Fault> {
        if self.step_pairs(core, plan, now) {
            return Ok(self.ended(core, plan));
        }
        if self.opcode == Opcode::Dfilt {
            return self.filter_step(core, plan);
        }
        if self.inputs[0].is_some() {
            // A lenient machine takes it as an element where the program does not say what else.
            let told = |_: &u8| self.on_control.is_some() || !plan.lenient;
            if let Some(queue) = self.control_waiting(core, now).filter(told) {
                self.meet_control(core, plan, queue)?;
                return Ok(true);
            }
        }
        if let Some(lanes) = self.lanes {
            self.step_lanes(core, lanes, now, self.ramp_cycles(&plan.timing))?;
            return Ok(self.ended(core, plan));
        }
        if self.per_cycle == 0 {
            return self.step_in_memory(core, plan);
        }
        let ready = now + self.ramp_cycles(&plan.timing);
        let mut group = u32::from(self.per_cycle).min(self.remaining);
        if self.uses_fifo() {
            group = group.min(self.fifo_elements(core));
            if group == 0 {
                self.stop(core, plan);
                return Ok(true);
            }
        }
        for _ in 0..group {
            self.remaining -= u32::from(!self.is_infinite());
            self.one(core, ready)?;
        }
        if self.remaining > 0 {
            if self.uses_fifo() {
                self.note_waiting(core);
            }
            return Ok(false);
        }
        self.complete(core, plan);
        Ok(true)
    }

    /// From executing an element until it lands in the own router, if it is sent.
    #[inline]
    pub fn ramp_cycles(&self, timing: &Timing) -> u64 {
        match self.inputs[0] {
            Some(_) => timing.onramp_cycles,
            None => timing.onramp_cycles + timing.send_start_cycles,
        }
    }

    /// A cycle of an operation in memory whose pace is no whole number of elements.
    fn step_in_memory(&mut self, core: &mut Core, plan: &PePlan) -> Result<bool, Fault> {
        self.credit += self.pace.parts;
        while self.remaining > 0 {
            let sources = &self.sources[..usize::from(self.source_count)];
            let same = self.pace.banked && in_same_banks(sources);
            let cost = self
                .pace
                .cost(same, plan.timing.bank_conflict_cycles as u32);
            if self.credit < cost {
                return Ok(false);
            }
            self.credit -= cost;
            self.remaining -= u32::from(!self.is_infinite());
            self.one(core, 0)?;
        }
        self.complete(core, plan);
        Ok(true)
    }

    /// Whether a control wavelet is the next element, given that there is one.
    #[inline]
    fn meets_control(&self, core: &Core) -> bool {
        let mut queues = self.inputs.iter().flatten();
        queues.any(|&queue| {
            let head = core.inputs[usize::from(queue)].ring.first();
            head.is_some_and(|entry| entry.wavelet().control)
        })
    }

    #[inline]
    fn one(&mut self, core: &mut Core, ready: u64) -> Result<(), Fault> {
        let value = match self.kernel {
            Kernel::Any | Kernel::Special => self.value(core)?,
            Kernel::Copy => self.sources[0].read(&core.memory, &mut core.inputs)?,
            Kernel::AddF32 => {
                let a = self.sources[0].read(&core.memory, &mut core.inputs)?;
                let b = self.sources[1].read(&core.memory, &mut core.inputs)?;
                result(f32::from_bits(a) + f32::from_bits(b)).to_bits()
            }
        };
        if let Port::Output(sender) = self.dest {
            let last = self.remaining == 0;
            send(sender, value, last, ready, &mut core.outputs);
            return Ok(());
        }
        if let Port::Fifo { fifo, .. } = self.dest {
            let task = core.fifos[usize::from(fifo)].push(&mut core.memory, value)?;
            task.into_iter().for_each(|id| core.activate(id));
            return Ok(());
        }
        self.dest.write(&mut core.memory, value)
    }

    /// The value of an element, by the table of operations.
    fn value(&mut self, core: &mut Core) -> Result<u32, Fault> {
        let mut sources = Sources {
            half: self.half,
            ..Sources::default()
        };
        for n in 0..usize::from(self.source_count) {
            let port = &mut self.sources[n];
            sources.bytes[n] = port.bytes();
            sources.bits[n] = match *port {
                Port::Fifo { fifo, .. } => {
                    let (bits, task) = core.fifos[usize::from(fifo)].pop(&core.memory)?;
                    task.into_iter().for_each(|id| core.activate(id));
                    bits
                }
                _ => port.read(&core.memory, &mut core.inputs)?,
            };
        }
        Ok(element(self.opcode, &sources))
    }

    /// `@dfilt` drops wavelets until it has seen as many control wavelets as it has elements.
    fn filter_step(&mut self, core: &mut Core, plan: &PePlan) -> Result<bool, Fault> {
        let Some(queue) = self.inputs[0] else {
            return Err(FaultKind::FilterWithoutFabin.into());
        };
        let arrived = core.inputs[usize::from(queue)].ring.pop();
        if arrived.is_some_and(|entry| entry.wavelet().control) && !self.is_infinite() {
            self.remaining -= 1;
        }
        if self.remaining > 0 {
            return Ok(false);
        }
        self.complete(core, plan);
        Ok(true)
    }

    /// Completes it if nothing is left to do.
    fn ended(&self, core: &mut Core, plan: &PePlan) -> bool {
        if self.remaining == 0 {
            self.complete(core, plan);
        }
        self.remaining == 0
    }

    #[inline]
    fn control_waiting(&self, core: &Core, now: u64) -> Option<u8> {
        let mut queues = self.inputs.iter().flatten().copied();
        queues.find(|&queue| {
            let head = core.inputs[usize::from(queue)].head(now);
            head.is_some_and(|wavelet| wavelet.control)
        })
    }

    /// A control wavelet at the head of a fabin operand ends the operation, if it says so.
    fn meet_control(&self, core: &mut Core, plan: &PePlan, queue: u8) -> Result<(), Fault> {
        let color = core.inputs[usize::from(queue)].color;
        let Some(action) = self.on_control else {
            return Err(FaultKind::ControlAtOperand {
                color,
                opcode: self.opcode,
            }
            .into());
        };
        core.inputs[usize::from(queue)].ring.pop();
        if action == Action::Terminate {
            self.complete(core, plan);
        } else {
            core.act(plan, action);
        }
        Ok(())
    }

    /// What the end of an operation brings about. An operation of length 0 has one, too.
    pub fn complete(&self, core: &mut Core, plan: &PePlan) {
        let ports = std::iter::once(&self.dest).chain(&self.sources);
        for (dsr, port) in self.saves.iter().zip(ports) {
            let known = dsr.and_then(|dsr| core.dsrs.iter_mut().find(|k| k.dsr == dsr));
            if let (Some(known), Port::Line { word, .. }) = (known, port) {
                known.dsd.base = word.wrapping_mul(2) as u16;
            }
        }
        for action in self.on_done.iter().flatten() {
            core.act(plan, *action);
        }
    }
}

// Operands lie in the first cache line.
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(std::mem::size_of::<Port>() == 16);
    assert!(std::mem::offset_of!(Running, sources) == 32);
    assert!(std::mem::offset_of!(Running, dest) == 16);
};
