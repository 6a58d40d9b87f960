//! The operands of a running DSD operation.

use super::memory::Memory;
use super::queues::{InputQueue, Outputs};
use crate::fabric::ramp::{Entry, Tag};
use crate::fault::{Fault, FaultKind};

/// Where a running operation reads or writes an element.
#[derive(Clone, Debug)]
pub enum Port {
    /// A value that stays what it was when the operation began.
    Scalar {
        /// Its bits.
        bits: u32,
        /// Its size.
        bytes: u8,
    },
    /// A line of memory; a step of 0 stays on one element.
    Line {
        /// The word of the next element.
        word: i32,
        /// Words from an element to the next.
        step: i32,
        /// The size of an element.
        bytes: u8,
    },
    /// A block of memory of several dimensions.
    Tensor(Box<Tensor>),
    /// An input queue, by its place among the PE's input queues.
    Input {
        /// The place of the queue.
        queue: u8,
        /// The size of an element.
        bytes: u8,
    },
    /// An output queue.
    Output(Sender),
    /// An end of a FIFO, by its place among the PE's.
    Fifo {
        /// The place of the FIFO.
        fifo: u8,
        /// The size of an element.
        bytes: u8,
    },
}

/// A fabric destination.
#[derive(Clone, Copy, Debug)]
pub struct Sender {
    /// Place among the PE's output queues.
    pub queue: u8,
    /// The color of its wavelets.
    pub color: u8,
    /// It sends control wavelets.
    pub control: bool,
    /// The last wavelet moves the switch of the own router.
    pub advance_switch: bool,
    /// What goes into the high half of 16-bit elements.
    pub index: u16,
    /// The size of an element.
    pub bytes: u8,
}

impl Sender {
    /// What is sent for an element.
    #[inline]
    pub fn payload(&self, value: u32) -> u32 {
        if self.bytes == 2 && !self.control {
            value & 0xffff | u32::from(self.index) << 16
        } else {
            value
        }
    }
}

/// A memory operand of several dimensions.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// The word of the next element.
    pub word: i64,
    /// The size of an element.
    pub bytes: u8,
    /// Outermost first; steps in words, incremental.
    pub extents: Vec<u16>,
    /// What the address moves by in each dimension.
    pub steps: Vec<i32>,
    /// The index of the next element in each dimension.
    pub position: Vec<u16>,
}

impl Tensor {
    /// Words from the first element to the one with `n` before it.
    pub fn offset(&self, n: u32) -> i64 {
        let mut walk = Tensor {
            word: 0,
            position: vec![0; self.position.len()],
            ..self.clone()
        };
        (0..n).for_each(|_| walk.advance());
        walk.word
    }

    fn advance(&mut self) {
        for d in (0..self.extents.len()).rev() {
            self.position[d] += 1;
            if self.position[d] < self.extents[d] {
                self.word += i64::from(self.steps[d]);
                return;
            }
            self.position[d] = 0;
        }
    }
}

impl Port {
    /// The size of an element.
    pub fn bytes(&self) -> u8 {
        match self {
            Port::Scalar { bytes, .. }
            | Port::Line { bytes, .. }
            | Port::Input { bytes, .. }
            | Port::Fifo { bytes, .. } => *bytes,
            Port::Tensor(tensor) => tensor.bytes,
            Port::Output(sender) => sender.bytes,
        }
    }

    /// A copy, field by field where it is a line: what has just been written in parts cannot be read in other
    /// ones before it is in the cache.
    #[inline]
    pub fn copied(&self) -> Port {
        match *self {
            Port::Line { word, step, bytes } => Port::Line { word, step, bytes },
            _ => self.clone(),
        }
    }

    /// Whether it is a queue.
    pub fn is_fabric(&self) -> bool {
        matches!(self, Port::Input { .. } | Port::Output(_))
    }

    /// Whether it walks through memory.
    pub fn is_vector(&self) -> bool {
        match self {
            Port::Line { step, .. } => *step != 0,
            Port::Tensor(_) => true,
            _ => false,
        }
    }

    /// Whether both stay on the same word of memory.
    pub fn same_word(&self, other: &Port) -> bool {
        match (self, other) {
            (
                Port::Line {
                    word: a, step: 0, ..
                },
                Port::Line {
                    word: b, step: 0, ..
                },
            ) => a == b,
            _ => false,
        }
    }

    /// The word of the next element of one that walks through memory.
    pub fn next_word(&self) -> Option<i64> {
        match self {
            Port::Line { word, step, .. } if *step != 0 => Some(i64::from(*word)),
            Port::Tensor(tensor) => Some(tensor.word),
            _ => None,
        }
    }

    /// The word of the next element in memory.
    pub fn word(&self) -> Option<i64> {
        match self {
            Port::Line { word, .. } => Some(i64::from(*word)),
            Port::Tensor(tensor) => Some(tensor.word),
            _ => None,
        }
    }

    /// Passes over an element in memory.
    pub fn skip(&mut self) {
        match self {
            Port::Line { word, step, .. } => *word = word.wrapping_add(*step),
            Port::Tensor(tensor) => tensor.advance(),
            _ => {}
        }
    }

    /// The stride that limits how many elements one instruction can take, if in memory.
    pub fn stride(&self) -> Option<i32> {
        let words = |bytes: u8| i32::from(bytes / 2).max(1);
        match self {
            Port::Line { step, bytes, .. } => Some(step / words(*bytes)),
            Port::Tensor(t) => t.steps.last().map(|step| step / words(t.bytes)),
            _ => None,
        }
    }

    /// The next element as a source.
    #[inline(always)]
    pub fn read(&mut self, memory: &Memory, inputs: &mut [InputQueue]) -> Result<u32, Fault> {
        match self {
            Port::Scalar { bits, .. } => Ok(*bits),
            Port::Line { word, step, bytes } => {
                let value = memory.element(i64::from(*word), *bytes)?;
                *word = word.wrapping_add(*step);
                Ok(value)
            }
            Port::Tensor(tensor) => {
                let value = memory.element(tensor.word, tensor.bytes)?;
                tensor.advance();
                Ok(value)
            }
            Port::Input { queue, bytes } => {
                let arrived = inputs[usize::from(*queue)].ring.pop();
                let payload = arrived.map_or(0, |entry| entry.payload);
                Ok(if *bytes == 2 {
                    payload & 0xffff
                } else {
                    payload
                })
            }
            Port::Output(_) => Err(FaultKind::FaboutRead.into()),
            Port::Fifo { .. } => Err(FaultKind::FifoInMap.into()),
        }
    }

    /// Puts the next element into memory.
    #[inline(always)]
    pub fn write(&mut self, memory: &mut Memory, value: u32) -> Result<(), Fault> {
        match self {
            Port::Line { word, step, bytes } => {
                memory.set_element(i64::from(*word), *bytes, value)?;
                *word = word.wrapping_add(*step);
                Ok(())
            }
            Port::Tensor(tensor) => {
                memory.set_element(tensor.word, tensor.bytes, value)?;
                tensor.advance();
                Ok(())
            }
            _ => Err(FaultKind::NotWritable.into()),
        }
    }
}

/// Sends one element; the queue has room.
#[inline]
pub fn send(sender: Sender, value: u32, last: bool, ready: u64, outputs: &mut Outputs) {
    let payload = sender.payload(value);
    let advance_switch = last && sender.advance_switch;
    let tag = Tag::new(sender.color, sender.control, advance_switch);
    outputs.push(sender.queue, Entry { payload, tag }, ready);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tensor_walks_the_documented_example() {
        // A[2*i + j] over {5, 5}: innermost stride 1, outer stride -2.
        let mut tensor = Tensor {
            word: 0,
            bytes: 2,
            extents: vec![5, 5],
            steps: vec![-2, 1],
            position: vec![0, 0],
        };
        for i in 0..5 {
            for j in 0..5 {
                assert_eq!(tensor.word, 2 * i + j);
                tensor.advance();
            }
        }
    }
}
