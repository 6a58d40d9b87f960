//! FIFOs: rings of elements in a PE's memory, between operations that run side by side.

use super::memory::Memory;
use crate::fault::{Fault, FaultKind};
use fabsim_program::program::FifoSetup;

/// The state of one FIFO.
#[derive(Clone, Debug)]
pub struct Fifo {
    /// First word of the buffer.
    word: i64,
    /// The size of an element.
    pub bytes: u8,
    /// In elements.
    capacity: u32,
    head: u32,
    count: u32,
    /// Lengths of operations that read and write it; 0 leaves the length to the other operands.
    pub read_length: u16,
    /// The length that bounds an operation that writes; 0 bounds none.
    pub write_length: u16,
    activate_pop: Option<u8>,
    activate_push: Option<u8>,
    /// An operation has found it full, or empty.
    was_full: bool,
    was_empty: bool,
}

/// Which end of a FIFO an operand is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Where elements are taken out.
    Read,
    /// Where elements are put in.
    Write,
}

impl Fifo {
    /// An empty FIFO.
    pub fn new(setup: &FifoSetup) -> Fifo {
        Fifo {
            word: i64::from(setup.buffer / 2),
            bytes: setup.element_bytes,
            capacity: setup.bytes / u32::from(setup.element_bytes.max(1)),
            head: 0,
            count: 0,
            read_length: 0,
            write_length: 0,
            activate_pop: setup.activate_pop,
            activate_push: setup.activate_push,
            was_full: false,
            was_empty: false,
        }
    }

    /// How many elements can be taken from, or put into, an end.
    pub fn available(&self, end: End) -> u32 {
        match end {
            End::Read => self.count,
            End::Write => self.capacity - self.count,
        }
    }

    /// An operation would go on but cannot.
    pub fn note_waiting(&mut self, end: End) {
        match end {
            End::Read => self.was_empty = true,
            End::Write => self.was_full = true,
        }
    }

    fn place(&self, n: u32) -> i64 {
        let words = i64::from(self.bytes / 2).max(1);
        self.word + i64::from((self.head + n) % self.capacity.max(1)) * words
    }

    /// Takes the oldest element; the second result is the task to activate.
    pub fn pop(&mut self, memory: &Memory) -> Result<(u32, Option<u8>), Fault> {
        if self.count == 0 {
            return Err(FaultKind::EmptyFifo.into());
        }
        let value = memory.element(self.place(0), self.bytes)?;
        self.head = (self.head + 1) % self.capacity.max(1);
        self.count -= 1;
        let after_full = std::mem::take(&mut self.was_full);
        Ok((value, self.activate_pop.filter(|_| after_full)))
    }

    /// Appends an element; the result is the task to activate.
    pub fn push(&mut self, memory: &mut Memory, value: u32) -> Result<Option<u8>, Fault> {
        if self.count >= self.capacity {
            return Err(FaultKind::FullFifo.into());
        }
        memory.set_element(self.place(self.count), self.bytes, value)?;
        self.count += 1;
        let after_empty = std::mem::take(&mut self.was_empty);
        Ok(self.activate_push.filter(|_| after_empty))
    }

    /// The length an operand at this end has.
    pub fn length(&mut self, end: End) -> &mut u16 {
        match end {
            End::Read => &mut self.read_length,
            End::Write => &mut self.write_length,
        }
    }
}
