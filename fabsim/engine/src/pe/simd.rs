//! Operations whose fabric operands name a SIMD mode: what one instruction of them takes.

use super::lanes::Lanes;
use super::opcode::{element, Sources};
use super::operation::Running;
use super::plan::PePlan;
use super::port::{Port, Sender};
use super::state::Core;
use crate::fabric::ramp::{Entry, Tag};
use crate::fault::{Fault, FaultKind};
use fabsim_program::program::Opcode;

/// Wavelets that an operation has, those its next instruction needs, and the bits of that.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Supply {
    /// Wavelets that are there, no more than are needed.
    pub have: u8,
    /// Wavelets without which it does not begin.
    pub need: u8,
    /// The bits that an instruction takes at most.
    pub bits: u8,
}

/// Whether a result is the first source as it is.
fn copies(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::Mov16 | Opcode::Mov32 | Opcode::Fmovh | Opcode::Fmovs
    )
}

impl Running {
    /// Wavelets of a queue that this cycle has, and those the next instruction needs.
    pub fn supply(&self, core: &Core, queue: u8, now: u64) -> Supply {
        let ring = &core.inputs[usize::from(queue)].ring;
        let (need, bits) = match self.lanes {
            None => (1, 1),
            Some(lanes) => (self.needed(lanes), 32 * lanes.wavelets()),
        };
        let have = ring.ready_count(now).min(need);
        Supply { have, need, bits }
    }

    /// Room for as many wavelets as the next instruction needs.
    #[inline]
    pub fn has_room(&self, core: &Core) -> bool {
        let need = self.lanes.map_or(1, |lanes| self.needed(lanes));
        match self.output() {
            Some(queue) => core.outputs[usize::from(queue)].ring.room() >= need,
            None => true,
        }
    }

    /// `can_step` for SIMD modes; a command at the head of a queue is met at once.
    #[inline]
    pub(crate) fn can_step_lanes(&self, lanes: Lanes, core: &Core, now: u64) -> bool {
        let need = self.needed(lanes);
        let mut can = match self.output() {
            Some(queue) => core.outputs[usize::from(queue)].ring.room() >= need,
            None => true,
        };
        for queue in self.inputs {
            // The first place is taken first.
            let Some(queue) = queue else {
                break;
            };
            let ring = &core.inputs[usize::from(queue)].ring;
            let ready = ring.ready_count(now);
            if ready > 0 && ring.is_control_first() {
                return true;
            }
            can &= ready >= need;
        }
        can
    }

    /// Wavelets that the next instruction does not begin without.
    #[inline]
    fn needed(&self, lanes: Lanes) -> u8 {
        if lanes.waits() {
            self.wanted(lanes)
        } else {
            1
        }
    }

    /// The most wavelets that the next instruction takes.
    fn wanted(&self, lanes: Lanes) -> u8 {
        let left = match lanes.halves {
            true => self.remaining / 2 + self.remaining % 2,
            false => self.remaining,
        };
        left.min(u32::from(lanes.wavelets())) as u8
    }

    /// One instruction of the commonest kind, if this is one: as many pairs as it can take, none of them a
    /// command, are copied between a queue and memory.
    #[inline]
    pub(crate) fn step_pairs(&mut self, core: &mut Core, plan: &PePlan, now: u64) -> bool {
        let Some(lanes) = self.lanes else {
            return false;
        };
        let count = lanes.wavelets();
        let enough = match (&self.sources[0], &self.dest) {
            (Port::Input { queue, .. }, _) => {
                core.inputs[usize::from(*queue)].ring.has_data(count, now)
            }
            (_, Port::Output(sender)) => {
                core.outputs[usize::from(sender.queue)].ring.room() >= count
            }
            _ => false,
        };
        if !enough || !self.copies_pairs(core, lanes, count) {
            return false;
        }
        self.copy_pairs(core, count, now + self.ramp_cycles(&plan.timing));
        true
    }

    /// One instruction, given that there is enough for one and that no command is first.
    pub(crate) fn step_lanes(
        &mut self,
        core: &mut Core,
        lanes: Lanes,
        now: u64,
        onramp: u64,
    ) -> Result<(), Fault> {
        let mut count = self.wanted(lanes);
        for &queue in self.inputs.iter().flatten() {
            let ring = &core.inputs[usize::from(queue)].ring;
            let is_command = |n| ring.get(n).is_some_and(|entry| entry.wavelet().control);
            if is_command(1) && lanes.waits() && count > 1 {
                return Err(FaultKind::SimdSecondCommand(self.opcode).into());
            }
            count = count.min(if is_command(1) {
                1
            } else {
                ring.ready_count(now)
            });
        }
        if let Some(queue) = self.output() {
            count = count.min(core.outputs[usize::from(queue)].ring.room());
        }
        if self.copies_pairs(core, lanes, count) {
            self.copy_pairs(core, count, now + onramp);
            return Ok(());
        }
        for n in 0..count {
            let ready = now + onramp + u64::from(n);
            match copies(self.opcode) {
                true => self.copy_wavelet(core, lanes, ready)?,
                false => self.one_wavelet(core, lanes, ready)?,
            }
        }
        Ok(())
    }

    /// Whether so many wavelets are pairs that are copied between a queue and neighbouring words of memory.
    #[inline]
    fn copies_pairs(&self, core: &Core, lanes: Lanes, count: u8) -> bool {
        let halves = 2 * u32::from(count);
        let line = match (&self.sources[0], &self.dest) {
            (Port::Input { .. }, line) | (line, Port::Output(_)) => line,
            _ => return false,
        };
        let inside = match *line {
            Port::Line { word, step, bytes } => {
                (step, bytes) == (1, 2) && core.memory.holds_line(word, step, bytes, halves)
            }
            _ => false,
        };
        inside
            && lanes.halves
            && self.remaining >= halves
            && copies(self.opcode)
            && !core.memory.is_watched()
    }

    /// Copies them: what lies in two words is an element of 32 bits.
    #[inline]
    fn copy_pairs(&mut self, core: &mut Core, count: u8, ready: u64) {
        let halves = 2 * u32::from(count);
        if !self.is_infinite() {
            self.remaining -= halves;
        }
        match (&mut self.sources[0], &mut self.dest) {
            (Port::Input { queue, .. }, Port::Line { word, .. }) => {
                let ring = &mut core.inputs[usize::from(*queue)].ring;
                for _ in 0..count {
                    let payload = ring.pop().map_or(0, |entry| entry.payload);
                    core.memory.set_pair(*word, payload);
                    *word += 2;
                }
            }
            (Port::Line { word, .. }, Port::Output(sender)) => {
                for n in 1..=count {
                    let payload = core.memory.pair(*word);
                    *word += 2;
                    let advances = n == count && self.remaining == 0 && sender.advance_switch;
                    let tag = Tag::new(sender.color, sender.control, advances);
                    let ready = ready + u64::from(n) - 1;
                    core.outputs
                        .push(sender.queue, Entry { payload, tag }, ready);
                }
            }
            _ => {}
        }
    }

    /// `one_wavelet` where results are the source as it is: what arrives is written, what is read is sent.
    #[inline]
    fn copy_wavelet(&mut self, core: &mut Core, lanes: Lanes, ready: u64) -> Result<(), Fault> {
        let pair = lanes.halves && self.remaining > 1;
        let payload = match &mut self.sources[0] {
            Port::Input { queue, .. } if pair => {
                let arrived = core.inputs[usize::from(*queue)].ring.pop();
                arrived.map_or(0, |entry| entry.payload)
            }
            port => {
                let mask = if lanes.halves { 0xffff } else { u32::MAX };
                let low = port.read(&core.memory, &mut core.inputs)? & mask;
                match pair {
                    true => low | port.read(&core.memory, &mut core.inputs)? << 16,
                    false => low,
                }
            }
        };
        if !self.is_infinite() {
            self.remaining -= 1 + u32::from(pair);
        }
        if let Port::Output(sender) = self.dest {
            let advances = self.remaining == 0 && sender.advance_switch;
            let tag = Tag::new(sender.color, sender.control, advances);
            core.outputs
                .push(sender.queue, Entry { payload, tag }, ready);
            return Ok(());
        }
        self.dest.write(&mut core.memory, payload)?;
        match pair {
            true => self.dest.write(&mut core.memory, payload >> 16),
            false => Ok(()),
        }
    }

    /// The elements of one wavelet, the first one in its low half; the last wavelet of an operation
    /// may have one where two would fit.
    fn one_wavelet(&mut self, core: &mut Core, lanes: Lanes, ready: u64) -> Result<(), Fault> {
        let mut arrived = [0u32; 3];
        for (payload, port) in arrived.iter_mut().zip(&self.sources) {
            if let Port::Input { queue, .. } = port {
                let entry = core.inputs[usize::from(*queue)].ring.pop();
                *payload = entry.map_or(0, |entry| entry.payload);
            }
        }
        let mut sent = 0;
        let count = self.remaining.min(u32::from(lanes.elements()));
        for n in 0..count {
            self.remaining -= u32::from(!self.is_infinite());
            let value = self.value_of_lane(core, &arrived, 16 * n)?;
            match self.dest {
                Port::Output(Sender { bytes: 2, .. }) => sent |= (value & 0xffff) << (16 * n),
                Port::Output(_) => sent = value,
                _ => self.dest.write(&mut core.memory, value)?,
            }
        }
        if let Port::Output(sender) = self.dest {
            let advances = self.remaining == 0 && sender.advance_switch;
            let tag = Tag::new(sender.color, sender.control, advances);
            let entry = Entry { payload: sent, tag };
            core.outputs.push(sender.queue, entry, ready);
        }
        Ok(())
    }

    fn value_of_lane(
        &mut self,
        core: &mut Core,
        arrived: &[u32; 3],
        shift: u32,
    ) -> Result<u32, Fault> {
        let mut sources = Sources {
            half: self.half,
            ..Sources::default()
        };
        let ports = self.sources.iter_mut().zip(arrived);
        for (n, (port, payload)) in ports.take(usize::from(self.source_count)).enumerate() {
            sources.bytes[n] = port.bytes();
            sources.bits[n] = match port {
                Port::Input { bytes: 2, .. } => payload >> shift & 0xffff,
                Port::Input { .. } => *payload,
                _ => port.read(&core.memory, &mut core.inputs)?,
            };
        }
        Ok(element(self.opcode, &sources))
    }
}
