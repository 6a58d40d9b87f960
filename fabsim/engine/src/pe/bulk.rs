//! Operations between lines of memory, all elements at once.

use super::beside::reach;
use super::memory::Memory;
use super::opcode::{element, Sources};
use super::operation::Running;
use super::plan::PePlan;
use super::port::Port;
use super::rate::{in_same_banks, PARTS};
use super::state::Core;
use fabsim_program::program::{Opcode, ScalarType};
use fabsim_program::rounding::odd_sum;
use half::f16;
use half::slice::{HalfBitsSliceExt, HalfFloatSliceExt};

/// Elements worked out at once.
const RUN: usize = 64;

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
        let cycles = self.cycles_in_memory(plan.timing.bank_conflict_cycles);
        let at_once = if self.feeds_itself() { 1 } else { RUN };
        while self.remaining > 0 {
            let count = at_once.min(self.remaining as usize);
            self.elements_in_memory(&mut core.memory, count);
            self.remaining -= count as u32;
        }
        self.complete(core, plan);
        cycles
    }

    /// The cycles that its elements take from now on, where one in conflicting banks takes `conflict`.
    fn cycles_in_memory(&self, conflict: u64) -> u64 {
        let left = u64::from(self.remaining);
        if self.per_cycle > 0 {
            return left.div_ceil(u64::from(self.per_cycle)).max(1);
        }
        let parts = u64::from(PARTS);
        let whole = match self.pace.banked {
            true => (left + self.elements_in_same_banks() * (conflict - 1)) * parts,
            false => left * parts,
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
        let mut results = [0; RUN];
        let results = &mut results[..count];
        if !self.floats_in_memory(memory, results) {
            self.any_in_memory(memory, results);
        }
        let used = usize::from(self.source_count);
        let ports = self.sources[..used].iter_mut();
        ports.for_each(|port| advance(port, count as i32));
        if let Port::Line { word, step, bytes } = self.dest {
            memory.write_line(i64::from(word), i64::from(step), bytes, results);
        }
        advance(&mut self.dest, count as i32);
    }

    /// Elements by the table of operations.
    fn any_in_memory(&self, memory: &Memory, results: &mut [u32]) {
        let mut values = [[0; RUN]; 3];
        let mut sources = Sources {
            half: self.half,
            ..Sources::default()
        };
        for (n, port) in self.used().iter().enumerate() {
            sources.bytes[n] = port.bytes();
            read(port, memory, &mut values[n][..results.len()]);
        }
        for (at, result) in results.iter_mut().enumerate() {
            sources.bits = [values[0][at], values[1][at], values[2][at]];
            *result = element(self.opcode, &sources);
        }
    }

    /// Elements of the commonest arithmetic of one format; false if it is none of that.
    fn floats_in_memory(&self, memory: &Memory, results: &mut [u32]) -> bool {
        let bytes = match self.opcode {
            Opcode::Fadds | Opcode::Fsubs | Opcode::Fmuls => 4,
            Opcode::Faddh | Opcode::Fsubh | Opcode::Fmulh | Opcode::Fmach => 2,
            _ => return false,
        };
        let fits = self.used().iter().all(|port| port.bytes() == bytes);
        if !fits || bytes == 2 && self.half != ScalarType::F16 {
            return false;
        }
        let count = results.len();
        let mut values = [[0.0; RUN]; 3];
        for (port, values) in self.used().iter().zip(&mut values) {
            read_floats(port, memory, &mut values[..count]);
        }
        let mut made = [0.0; RUN];
        match self.opcode {
            Opcode::Fadds | Opcode::Faddh => combine(&values, &mut made, |a, b, _| a + b),
            Opcode::Fsubs | Opcode::Fsubh => combine(&values, &mut made, |a, b, _| a - b),
            Opcode::Fmuls | Opcode::Fmulh => combine(&values, &mut made, |a, b, _| a * b),
            // The product of two halves is exact in an f32.
            _ => combine(&values, &mut made, |a, b, c| odd_sum(b * c, a)),
        }
        put_floats(bytes, &made[..count], results);
        true
    }
}

#[inline(always)]
fn combine(
    [a, b, c]: &[[f32; RUN]; 3],
    made: &mut [f32; RUN],
    arithmetic: impl Fn(f32, f32, f32) -> f32,
) {
    for (n, value) in made.iter_mut().enumerate() {
        *value = arithmetic(a[n], b[n], c[n]);
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

fn read_floats(port: &Port, memory: &Memory, into: &mut [f32]) {
    if port.bytes() == 2 {
        let mut bits = [0; RUN];
        let bits = &mut bits[..into.len()];
        match *port {
            Port::Line { word, step, .. } => memory.read_words(word as usize, step, bits),
            Port::Scalar { bits: all, .. } => bits.fill(all as u16),
            _ => {}
        }
        bits.reinterpret_cast::<f16>().convert_to_f32_slice(into);
        return;
    }
    let mut bits = [0; RUN];
    let bits = &mut bits[..into.len()];
    read(port, memory, bits);
    for (value, bits) in into.iter_mut().zip(bits) {
        *value = f32::from_bits(*bits);
    }
}

fn put_floats(bytes: u8, made: &[f32], results: &mut [u32]) {
    if bytes == 2 {
        let mut halves = [f16::ZERO; RUN];
        let halves = &mut halves[..made.len()];
        halves.convert_from_f32_slice(made);
        for (result, half) in results.iter_mut().zip(halves) {
            *result = u32::from(half.to_bits());
        }
        return;
    }
    for (result, value) in results.iter_mut().zip(made) {
        *result = value.to_bits();
    }
}
