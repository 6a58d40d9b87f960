//! Operands made ready: the ports that DSDs, registers and scalars stand for.

use super::fifo::End;
use super::memory::word_address;
use super::operation::{elements, INFINITE};
use super::plan::PePlan;
use super::port::{Port, Sender, Tensor};
use super::slots::{value, Slots};
use super::state::{Core, LoadedDsr};
use crate::fault::{Fault, FaultKind, Queue};
use fabsim_lowering::scalar::cut;
use fabsim_program::program::{Dsd, DsdShape, Operand, Priority, Simd};

/// One operand made ready.
#[derive(Clone)]
pub(crate) struct Ready<'a> {
    pub port: Port,
    /// Elements; none for scalars and pointers.
    pub extent: Option<u32>,
    pub dsr: Option<&'a LoadedDsr>,
    pub priority: Option<Priority>,
    /// Of a fabric operand.
    pub simd: Option<Simd>,
}

/// Makes ports of operands.
pub struct Operands<'a> {
    pub plan: &'a PePlan,
    pub core: &'a Core,
    pub slots: Slots<'a>,
    pub index: u16,
    /// Memory operands are as wide as they were declared, not as the operation says.
    pub mixed: bool,
}

impl<'a> Operands<'a> {
    pub(crate) fn ready(&self, operand: &Operand, bytes: u8) -> Result<Ready<'a>, Fault> {
        match *operand {
            Operand::Dsd(slot) => {
                let dsd = Dsd::unpack(value(self.slots, slot));
                let (port, extent) = self.port(dsd, bytes)?;
                Ok(Ready {
                    port,
                    extent: Some(extent),
                    dsr: None,
                    priority: self.priority(dsd),
                    simd: self.simd(dsd),
                })
            }
            Operand::Dsr(dsr) => {
                let loaded = self.core.dsr(dsr).ok_or(FaultKind::DsrNotLoaded(dsr))?;
                let (port, extent) = self.port(loaded.dsd, bytes)?;
                Ok(Ready {
                    port,
                    extent: Some(extent),
                    dsr: Some(loaded),
                    priority: self.priority(loaded.dsd),
                    simd: self.simd(loaded.dsd),
                })
            }
            Operand::Scalar(slot, ty) => Ok(Ready {
                port: Port::Scalar {
                    bits: cut(ty, value(self.slots, slot)) as u32,
                    bytes: ty.size_bytes().clamp(2, 4) as u8,
                },
                extent: None,
                dsr: None,
                priority: None,
                simd: None,
            }),
            Operand::Pointer(slot, ty) => Ok(Ready {
                port: Port::Line {
                    word: word_address(value(self.slots, slot) & 0xffff)? as i32,
                    step: 0,
                    bytes: ty.size_bytes().clamp(2, 4) as u8,
                },
                extent: None,
                dsr: None,
                priority: None,
                simd: None,
            }),
        }
    }

    /// The port of any operand and its extent, for `@map`.
    pub fn any(&self, operand: &Operand, bytes: u8) -> Result<(Port, Option<u32>), Fault> {
        let ready = self.ready(operand, bytes)?;
        if ready.simd.is_some_and(|mode| mode != Simd::One) {
            return Err(FaultKind::SimdInMap.into());
        }
        Ok((ready.port, ready.extent))
    }

    /// The elements of an operand, if it is a FIFO whose length is set.
    pub(crate) fn fifo_extent(&self, port: &Port, end: End) -> Option<u32> {
        let Port::Fifo { fifo, .. } = port else {
            return None;
        };
        let fifo = &self.core.fifos[usize::from(*fifo)];
        Some(elements(match end {
            End::Read => fifo.read_length,
            End::Write => fifo.write_length,
        }))
    }

    fn port(&self, dsd: Dsd, bytes: u8) -> Result<(Port, u32), Fault> {
        let program = &self.plan.program;
        let shape = program
            .shapes
            .get(usize::from(dsd.shape))
            .ok_or(FaultKind::NoDsd)?;
        let extent = elements(dsd.extent);
        match shape {
            // A DSD has no element type: the operation says how wide its elements are.
            DsdShape::Mem1d {
                element_bytes,
                wavelet_index_offset,
            } => {
                let bytes = if self.mixed { *element_bytes } else { bytes };
                let words = i32::from(bytes / 2).max(1);
                let port = Port::Line {
                    word: self.start(dsd, *wavelet_index_offset)? as i32,
                    step: i32::from(dsd.stride) * words,
                    bytes,
                };
                Ok((port, extent))
            }
            DsdShape::Mem4d {
                element_bytes,
                extents,
                strides,
                wavelet_index_offset,
            } => {
                let bytes = if self.mixed { *element_bytes } else { bytes };
                let words = i32::from(bytes / 2).max(1);
                let tensor = Tensor {
                    word: self.start(dsd, *wavelet_index_offset)?,
                    bytes,
                    extents: extents.clone(),
                    steps: strides.iter().map(|s| i32::from(*s) * words).collect(),
                    position: vec![0; extents.len()],
                };
                let count = extents
                    .iter()
                    .fold(1u64, |n, &e| n.saturating_mul(u64::from(e)));
                // A product is never endless, whatever it comes to.
                let count = count.min(u64::from(INFINITE - 1)) as u32;
                Ok((Port::Tensor(Box::new(tensor)), count))
            }
            DsdShape::FabIn { queue, color, .. } => {
                Ok((self.input(*queue, *color, bytes)?, extent))
            }
            DsdShape::FabOut { .. } => Ok((self.output(shape, bytes)?, extent)),
            DsdShape::Fifo { fifo } => {
                let known = self.core.fifos.get(usize::from(*fifo));
                let known = known.ok_or(FaultKind::NoFifo)?;
                let (fifo, bytes) = (*fifo, known.bytes);
                Ok((Port::Fifo { fifo, bytes }, 0))
            }
        }
    }

    /// What a fabric DSD says of operations on it.
    fn priority(&self, dsd: Dsd) -> Option<Priority> {
        let shape = self.plan.program.shapes.get(usize::from(dsd.shape))?;
        shape.priority()
    }

    fn simd(&self, dsd: Dsd) -> Option<Simd> {
        let shape = self.plan.program.shapes.get(usize::from(dsd.shape))?;
        shape.simd()
    }

    fn start(&self, dsd: Dsd, indexed: bool) -> Result<i64, Fault> {
        let offset = if indexed { i64::from(self.index) } else { 0 };
        Ok(word_address(u64::from(dsd.base))? + offset)
    }

    fn input(&self, id: u8, color: Option<u8>, bytes: u8) -> Result<Port, Fault> {
        let queue = self
            .plan
            .input(id)
            .ok_or(FaultKind::QueueUnbound(Queue::Input(id.into())))?;
        let bound = self.core.inputs[usize::from(queue)].color;
        match color {
            Some(named) if named != bound => Err(FaultKind::QueueOfOtherColor {
                queue: id,
                bound,
                named,
            }
            .into()),
            _ => Ok(Port::Input { queue, bytes }),
        }
    }

    fn output(&self, shape: &DsdShape, bytes: u8) -> Result<Port, Fault> {
        let DsdShape::FabOut {
            queue: id,
            color,
            control,
            advance_switch,
            wavelet_index_offset,
            simd,
            ..
        } = shape
        else {
            return Err(FaultKind::NotFabout.into());
        };
        if *simd != Simd::One && (*control || *wavelet_index_offset) {
            return Err(FaultKind::SimdWithControl.into());
        }
        let missing = FaultKind::QueueMissing(*id);
        let queue = self.plan.output(*id).ok_or(missing)?;
        let plan = &self.plan.outputs[usize::from(queue)];
        if plan.depth == 0 {
            return Err(missing.into());
        }
        let bound = self.core.outputs[usize::from(queue)].color;
        let color = color
            .or(bound)
            .ok_or(FaultKind::QueueUnbound(Queue::Output((*id).into())))?;
        Ok(Port::Output(Sender {
            queue,
            color,
            control: *control,
            advance_switch: *advance_switch,
            index: if *wavelet_index_offset { self.index } else { 0 },
            bytes,
        }))
    }
}
