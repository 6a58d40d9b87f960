//! Operations whose fabric operands name a SIMD mode: what one instruction of them takes.

use super::opcode::{element, info, Sources};
use super::operation::Running;
use super::port::{Port, Sender};
use super::rate::documented_rate;
use super::state::Core;
use crate::fabric::ramp::{Entry, Tag};
use crate::fault::{Fault, FaultKind};
use fabsim_program::program::{Arch, Opcode, Simd};

/// What a mode makes of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lanes {
    /// Of a wavelet: two of 16 bits, one of 32.
    pub elements: u8,
    /// Of an instruction, at most.
    pub wavelets: u8,
    /// It does not begin with fewer wavelets than it can take.
    pub waits: bool,
    /// A result is the first source as it is.
    pub copies: bool,
}

/// Wavelets that an operation has, those its next instruction needs, and the bits of that.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Supply {
    pub have: u8,
    pub need: u8,
    pub bits: u8,
}

/// The lanes of an operation whose fabric operands have these modes; none where it goes element by
/// element. What the documentation leaves open is refused.
pub fn lanes(
    arch: Arch,
    opcode: Opcode,
    mut modes: impl Iterator<Item = Simd>,
    ports: &[&Port],
) -> Result<Option<Lanes>, Fault> {
    let Some(mode) = modes.next() else {
        return Ok(None);
    };
    if modes.any(|other| other != mode) {
        return Err(FaultKind::SimdModesDiffer(opcode).into());
    }
    if mode == Simd::One {
        return Ok(None);
    }
    let row = info(opcode);
    let bytes = row.dest_bytes;
    let fifo = ports.iter().any(|port| matches!(port, Port::Fifo { .. }));
    let alike = !row.mixed && bytes == row.bytes_of_source(0) && bytes == row.bytes_of_source(1);
    if fifo || !alike || opcode == Opcode::Dfilt {
        return Err(FaultKind::SimdMode(opcode).into());
    }
    let lanes = Lanes {
        elements: if bytes == 2 { 2 } else { 1 },
        wavelets: if mode == Simd::Simd32 { 1 } else { 2 },
        waits: mode == Simd::Simd64,
        copies: matches!(
            opcode,
            Opcode::Mov16 | Opcode::Mov32 | Opcode::Fmovh | Opcode::Fmovs
        ),
    };
    let group = lanes.elements * lanes.wavelets;
    let width = documented_rate(arch, opcode, ports);
    if width < group {
        return Err(FaultKind::SimdWidth {
            opcode,
            width,
            group,
        }
        .into());
    }
    Ok((group > 1).then_some(lanes))
}

impl Running {
    /// Wavelets of a queue that this cycle has, and those the next instruction needs.
    pub fn supply(&self, core: &Core, queue: u8, now: u64) -> Supply {
        let ring = &core.inputs[usize::from(queue)].ring;
        let (need, bits) = match self.lanes {
            None => (1, 1),
            Some(lanes) => (self.needed(lanes), 32 * lanes.wavelets),
        };
        let have = ring.ready_count(now).min(need);
        Supply { have, need, bits }
    }

    /// Room for as many wavelets as the next instruction needs.
    pub fn has_room(&self, core: &Core) -> bool {
        let need = self.lanes.map_or(1, |lanes| self.needed(lanes));
        match self.output {
            Some(queue) => core.outputs[usize::from(queue)].ring.room() >= need,
            None => true,
        }
    }

    fn needed(&self, lanes: Lanes) -> u8 {
        if lanes.waits {
            self.wanted(lanes)
        } else {
            1
        }
    }

    /// The most wavelets that the next instruction takes.
    fn wanted(&self, lanes: Lanes) -> u8 {
        let left = self.remaining.div_ceil(u32::from(lanes.elements));
        left.min(u32::from(lanes.wavelets)) as u8
    }

    /// One instruction, given that there is enough for one and that no command is first.
    pub(super) fn step_lanes(
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
            if is_command(1) && lanes.waits && count > 1 {
                return Err(FaultKind::SimdSecondCommand(self.opcode).into());
            }
            count = count.min(if is_command(1) {
                1
            } else {
                ring.ready_count(now)
            });
        }
        if let Some(queue) = self.output {
            count = count.min(core.outputs[usize::from(queue)].ring.room());
        }
        for n in 0..count {
            let ready = now + onramp + u64::from(n);
            self.one_wavelet(core, lanes, ready)?;
        }
        Ok(())
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
        let count = self.remaining.min(u32::from(lanes.elements));
        for n in 0..count {
            self.remaining -= u32::from(!self.is_infinite());
            let value = self.value_of_lane(core, &arrived, (16 * n, lanes.copies))?;
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
            let ring = &mut core.outputs[usize::from(sender.queue)].ring;
            ring.push(entry, ready.max(ring.last_ready()));
        }
        Ok(())
    }

    fn value_of_lane(
        &mut self,
        core: &mut Core,
        arrived: &[u32; 3],
        (shift, copies): (u32, bool),
    ) -> Result<u32, Fault> {
        if copies {
            return match &mut self.sources[0] {
                Port::Input { bytes: 2, .. } => Ok(arrived[0] >> shift & 0xffff),
                Port::Input { .. } => Ok(arrived[0]),
                port => port.read(&core.memory, &mut core.inputs),
            };
        }
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
