//! Operations between lines of memory, all elements at once.

use super::vector_arithmetic::{arithmetic, combine};
use crate::pe::memory::{reach, Memory};
use crate::pe::opcode::{element, Sources};
use crate::pe::operation::Running;
use crate::pe::plan::PePlan;
use crate::pe::port::Port;
use crate::pe::rate::{in_same_banks, PARTS};
use crate::pe::state::Core;
use fabsim_program::program::{Opcode, ScalarType};

/// Elements worked out at once.
const RUN: usize = 64;
/// Or so many, where there are no more.
const FEW: usize = 16;

impl Running {
    /// Whether it goes between scalars and lines that memory holds, so that it cannot fail and nobody
    /// else takes part.
    pub fn is_safe_in_memory(&self, core: &Core) -> bool {
        let count = self.remaining;
        let inside = |port: &Port| match *port {
            Port::Scalar { .. } => true,
            Port::Line { word, step, bytes } => core.memory.holds_line(word, step, bytes, count),
            _ => false,
        };
        let fits = !self.is_infinite() && !core.memory.is_watched();
        let writes = matches!(self.dest, Port::Line { .. });
        fits && writes
            && self.opcode != Opcode::Dfilt
            && inside(&self.dest)
            && self.used().iter().all(inside)
    }

    fn used(&self) -> &[Port] {
        &self.sources[..usize::from(self.source_count)]
    }

    /// Does what is left of it and completes it; the cycles that takes.
    pub fn run_in_memory(&mut self, core: &mut Core, plan: &PePlan) -> u64 {
        let cycles = self.all_in_memory(core, plan);
        self.complete(core, plan);
        cycles
    }

    /// Does what is left of it; the cycles that takes.
    pub fn all_in_memory(&mut self, core: &mut Core, plan: &PePlan) -> u64 {
        let cycles = self.cycles_in_memory(plan.timing.bank_conflict_cycles);
        let at_once = if self.feeds_itself() { 1 } else { RUN };
        self.take_all(&mut core.memory, at_once);
        cycles
    }

    /// The cycles that all its elements take, if that is the same wherever its vectors are.
    pub fn steady_cycles(&self) -> Option<u64> {
        let steady = self.per_cycle > 0 || !(self.pace.banked || self.pace.written);
        steady.then(|| self.cycles_in_memory(1))
    }

    /// Does what is left of one that does not feed itself.
    pub fn pass_in_memory(&mut self, memory: &mut Memory) {
        self.take_all(memory, RUN);
    }

    fn take_all(&mut self, memory: &mut Memory, at_once: usize) {
        while self.remaining > 0 {
            let count = at_once.min(self.remaining as usize);
            self.elements_in_memory(memory, count);
            self.remaining -= count as u32;
        }
    }

    /// The cycles that its elements take from now on, where one in conflicting banks takes `conflict`.
    fn cycles_in_memory(&self, conflict: u64) -> u64 {
        let left = u64::from(self.remaining);
        if self.per_cycle > 0 {
            return left.div_ceil(u64::from(self.per_cycle)).max(1);
        }
        let parts = u64::from(PARTS);
        let each = u64::from(self.pace.cost(false, conflict as u32));
        let whole = match self.pace.banked {
            true => left * each + self.elements_in_same_banks() * (conflict - 1) * parts,
            false => left * each,
        };
        let missing = whole.saturating_sub(u64::from(self.credit));
        missing.div_ceil(u64::from(self.pace.parts)).max(1)
    }

    /// How many of its elements have both sources in the same banks.
    fn elements_in_same_banks(&self) -> u64 {
        let mut sources = self.sources.clone();
        let used = usize::from(self.source_count);
        let steps: Vec<i32> = self.used().iter().filter_map(step_of_vector).collect();
        if let [a, b, ..] = steps[..] {
            if a == b {
                return u64::from(in_same_banks(self.used())) * u64::from(self.remaining);
            }
        }
        let mut same = 0;
        for _ in 0..self.remaining {
            same += u64::from(in_same_banks(&sources[..used]));
            sources[..used].iter_mut().for_each(|port| advance(port, 1));
        }
        same
    }

    /// Whether it writes what a later element of it reads.
    fn feeds_itself(&self) -> bool {
        let Port::Line { word, step, bytes } = self.dest else {
            return false;
        };
        let written = reach(word, step, bytes, self.remaining);
        self.used().iter().any(|source| match *source {
            Port::Line {
                word: from,
                step: by,
                bytes: size,
            } => {
                let in_place = (from, by, size) == (word, step, bytes)
                    && step.unsigned_abs() >= u32::from(bytes / 2);
                let read = reach(from, by, size, self.remaining);
                !in_place && read.0 < written.1 && written.0 < read.1
            }
            _ => false,
        })
    }

    /// The next elements, fewer than feed each other.
    fn elements_in_memory(&mut self, memory: &mut Memory, count: usize) {
        match (self.width_of_floats(), count <= FEW) {
            (None, _) => self.any_in_memory(memory, count),
            (Some(2), true) => self.halves_in_memory::<FEW>(memory, count),
            (Some(2), false) => self.halves_in_memory::<RUN>(memory, count),
            (Some(_), true) => self.singles_in_memory::<FEW>(memory, count),
            (Some(_), false) => self.singles_in_memory::<RUN>(memory, count),
        }
        let used = usize::from(self.source_count);
        let ports = self.sources[..used].iter_mut().chain([&mut self.dest]);
        ports.for_each(|port| advance(port, count as i32));
    }

    /// Elements by the table of operations.
    fn any_in_memory(&self, memory: &mut Memory, count: usize) {
        let mut values = [[0; RUN]; 3];
        let mut results = [0; RUN];
        let mut sources = Sources {
            half: self.half,
            ..Sources::default()
        };
        for (n, port) in self.used().iter().enumerate() {
            sources.bytes[n] = port.bytes();
            read(port, memory, &mut values[n][..count]);
        }
        for (at, result) in results[..count].iter_mut().enumerate() {
            sources.bits = [values[0][at], values[1][at], values[2][at]];
            *result = element(self.opcode, &sources);
        }
        if let Port::Line { word, step, bytes } = self.dest {
            memory.write_line(i64::from(word), i64::from(step), bytes, &results[..count]);
        }
    }

    /// The width of its elements, if it is of the commonest arithmetic of one format.
    fn width_of_floats(&self) -> Option<u8> {
        let bytes = match self.opcode {
            Opcode::Fadds | Opcode::Fsubs | Opcode::Fmuls => 4,
            Opcode::Faddh | Opcode::Fsubh | Opcode::Fmulh | Opcode::Fmach => 2,
            _ => return None,
        };
        let mut ports = self.used().iter().chain([&self.dest]);
        let fits = ports.all(|port| port.bytes() == bytes);
        (fits && (bytes == 4 || self.half == ScalarType::F16)).then_some(bytes)
    }

    /// Elements of that of 16 bits, `N` at most.
    fn halves_in_memory<const N: usize>(&self, memory: &mut Memory, count: usize) {
        let [first, second, third] = &mut [[0; N]; 3];
        let [a, b, c] = &self.sources;
        let rows = [
            row_of(a, memory, first, count),
            row_of(b, memory, second, count),
            row_of(c, memory, third, count),
        ];
        let made = combine(self.opcode, rows);
        let Port::Line { word, step, .. } = self.dest else {
            return;
        };
        let row = memory.row_mut::<N>(word as usize);
        match row.filter(|_| step == 1 && count == N) {
            Some(row) => *row = made,
            None => memory.write_words(word as usize, step, &made[..count]),
        }
    }

    /// The same of 32 bits.
    fn singles_in_memory<const N: usize>(&self, memory: &mut Memory, count: usize) {
        let mut values = [[0.0; N]; 3];
        let mut bits = [0; N];
        for (port, values) in self.used().iter().zip(&mut values) {
            read(port, memory, &mut bits[..count]);
            *values = bits.map(f32::from_bits);
        }
        let made = arithmetic(self.opcode, &values).map(f32::to_bits);
        if let Port::Line { word, step, bytes } = self.dest {
            memory.write_line(i64::from(word), i64::from(step), bytes, &made[..count]);
        }
    }
}

/// The step of a line that walks.
fn step_of_vector(port: &Port) -> Option<i32> {
    match port {
        Port::Line { step, .. } if *step != 0 => Some(*step),
        _ => None,
    }
}

fn advance(port: &mut Port, count: i32) {
    if let Port::Line { word, step, .. } = port {
        *word = word.wrapping_add(step.wrapping_mul(count));
    }
}

fn read(port: &Port, memory: &Memory, into: &mut [u32]) {
    match *port {
        Port::Line { word, step, bytes } => {
            memory.read_line(i64::from(word), i64::from(step), bytes, into);
        }
        Port::Scalar { bits, .. } => into.fill(bits),
        _ => {}
    }
}

/// A source's elements: where they lie, or copied.
#[inline]
fn row_of<'a, const N: usize>(
    port: &Port,
    memory: &'a Memory,
    copy: &'a mut [u16; N],
    count: usize,
) -> &'a [u16; N] {
    match *port {
        Port::Scalar { bits, .. } => *copy = [bits as u16; N],
        Port::Line { word, step, .. } => {
            let row = memory.row(word as usize);
            if let Some(row) = row.filter(|_| step == 1 && count == N) {
                return row;
            }
            memory.read_words(word as usize, step, &mut copy[..count]);
        }
        _ => {}
    }
    copy
}
