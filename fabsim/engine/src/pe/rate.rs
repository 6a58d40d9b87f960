//! How many elements of an operation in memory pass in a cycle.

use super::opcode::info;
use super::port::Port;
use crate::timing::Timing;
use fabsim_program::program::{Arch, Opcode};

/// Elements in so many cycles: rates are whole numbers of this part of an element a cycle.
pub const PARTS: u32 = 840;

/// Banks of memory repeat after so many bytes.
const BANK_BYTES: i64 = 16;

/// The pace of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pace {
    /// Elements a cycle, in `PARTS`.
    pub parts: u32,
    /// An element takes longer where the two sources are in the same banks.
    pub banked: bool,
    /// Every element does, since what it writes is in the banks that a source is read from.
    pub written: bool,
}

impl Pace {
    /// A whole number of elements a cycle.
    pub const fn whole(elements: u8) -> Pace {
        Pace {
            parts: PARTS * elements as u32,
            banked: false,
            written: false,
        }
    }

    /// What an element takes of the pace, given whether its sources are in the same banks: a bank is read or
    /// written once in a cycle, so each further access to one takes `conflict` cycles less one.
    pub fn cost(self, same: bool, conflict: u32) -> u32 {
        let further = u32::from(same && self.banked) + u32::from(self.written);
        PARTS * (1 + further * (conflict - 1))
    }

    /// What an operation begins with: its first element waits for no other one.
    pub fn at_start(self) -> u32 {
        PARTS.saturating_sub(self.parts)
    }

    /// The elements a cycle, if that is the same whole number every cycle.
    pub fn steady(self) -> Option<u8> {
        let even = !self.banked && !self.written;
        let whole = self.parts % PARTS == 0 && self.parts > 0 && even;
        whole.then_some((self.parts / PARTS).min(255) as u8)
    }
}

/// The pace of an operation with these operands, destination first: an element a cycle where the fabric
/// takes part, else what memory and arithmetic let through.
pub fn pace(timing: &Timing, arch: Arch, opcode: Opcode, ports: &[&Port]) -> Pace {
    if ports.iter().any(|port| port.is_fabric()) {
        return Pace::whole(1);
    }
    let fifo = ports.iter().any(|port| matches!(port, Port::Fifo { .. }));
    match timing.measured_rates > 0 && !fifo {
        true => measured(timing, arch, opcode, ports),
        false => Pace::whole(documented_rate(arch, opcode, ports).max(1)),
    }
}

/// The documented rate of an operation, lowered by the strides of its operands in memory.
pub fn documented_rate(arch: Arch, opcode: Opcode, ports: &[&Port]) -> u8 {
    let strides = ports.iter().filter_map(|port| {
        let wide = port.bytes() == 4;
        port.stride().map(|stride| stride_limit(stride, wide))
    });
    strides.fold(info(opcode).rate(arch), u8::min)
}

fn stride_limit(stride: i32, wide: bool) -> u8 {
    if stride == 0 || stride == 1 {
        return u8::MAX;
    }
    match stride.rem_euclid(8) {
        0 => 1,
        1 | 7 => 2,
        4 => {
            if wide {
                2
            } else {
                4
            }
        }
        _ => u8::MAX,
    }
}

/// Measured rates. Two sources in memory halve what the documentation says (f16 and i16 sums on the
/// WSE-3, f32 sums on both [study][meas]; the others by analogy), f32 products take a cycle an element and
/// more in conflicting banks; a result that is one word of memory takes an element a cycle, and more
/// where it is summed up; a stride spreads what a cycle can touch.
fn measured(timing: &Timing, arch: Arch, opcode: Opcode, ports: &[&Port]) -> Pace {
    let (dest, sources) = (ports[0], &ports[1..]);
    let in_memory = sources.iter().filter(|port| port.is_vector()).count();
    let full = u32::from(info(opcode).rate(arch)) * PARTS;
    let product = matches!(opcode, Opcode::Fmacs | Opcode::Fmuls);
    let shared = in_memory >= 2 && !product;
    let mut parts = match shared {
        true => full / timing.two_sources_cycles as u32,
        false => full,
    };
    parts = parts.min(memory_limit(timing, opcode, in_memory));
    for port in ports.iter().filter(|port| port.is_vector()) {
        parts = parts.min(stride_parts(port, timing.touched_words as u32));
    }
    if matches!(dest, Port::Line { step: 0, .. }) {
        let summed = sources.iter().any(|source| source.same_word(dest));
        let cycles = if summed { timing.sum_cycles as u32 } else { 1 };
        parts = parts.min(PARTS / cycles);
    }
    let banked = product && in_memory >= 2;
    let written = sources
        .iter()
        .any(|source| share_banks_all_along(dest, source));
    Pace {
        parts,
        banked,
        written,
    }
}

/// Whether two vectors stay in the same banks from element to element: where one of them moves on, an access
/// that has to wait finds its bank free in the next cycle, and nothing is lost.
fn share_banks_all_along(a: &Port, b: &Port) -> bool {
    let stays = |port: &Port| match *port {
        Port::Line { word, step, .. } if step != 0 && i64::from(2 * step) % BANK_BYTES == 0 => {
            Some(i64::from(word))
        }
        _ => None,
    };
    matches!((stays(a), stays(b)), (Some(a), Some(b)) if (2 * (a - b)) % BANK_BYTES == 0)
}

/// What memory lets through where that is less: of copies of 16 and 32 bits, and of arithmetic of 16 bits
/// with two sources.
fn memory_limit(timing: &Timing, opcode: Opcode, in_memory: usize) -> u32 {
    let hundredths = match (info(opcode).dest_bytes, in_memory) {
        (4, 2..) => 0,
        (_, 2..) => timing.half_sum_hundredths,
        (4, _) => timing.word_copy_hundredths,
        _ => timing.half_copy_hundredths,
    };
    match hundredths {
        0 => u32::MAX,
        limit => PARTS * limit as u32 / 100,
    }
}

/// A cycle touches `touched` words in a row, so a stride of n words leaves that through the n-th part of it, but
/// an element a cycle at least.
fn stride_parts(port: &Port, touched: u32) -> u32 {
    let Some(stride) = port.stride() else {
        return u32::MAX;
    };
    let words = u32::from(port.bytes() / 2).max(1) * stride.unsigned_abs().max(1);
    (touched * PARTS / words).max(PARTS)
}

/// Whether the next elements of the first two sources in memory are in the same banks.
pub fn in_same_banks(sources: &[Port]) -> bool {
    let mut words = sources.iter().filter_map(Port::next_word);
    match (words.next(), words.next()) {
        (Some(a), Some(b)) => (2 * (a - b)).rem_euclid(BANK_BYTES) == 0,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timing::timing;
    use fabsim_program::clock::Clock;

    fn line(word: i32, bytes: u8) -> Port {
        Port::Line {
            word,
            step: i32::from(bytes / 2),
            bytes,
        }
    }

    fn elements(opcode: Opcode, arch: Arch, ports: &[&Port]) -> f64 {
        let timing = timing(Clock::Simfabric, arch);
        f64::from(pace(&timing, arch, opcode, ports).parts) / f64::from(PARTS)
    }

    #[test]
    fn copies_and_sums_run_at_the_published_rates() {
        let (half, single) = (line(0, 2), line(0, 4));
        let wse3 = Arch::Wse3;
        assert_eq!(elements(Opcode::Fmovh, wse3, &[&half, &half]), 8.0);
        assert_eq!(elements(Opcode::Fmovs, wse3, &[&single, &single]), 4.0);
        assert_eq!(elements(Opcode::Faddh, wse3, &[&half, &half, &half]), 4.0);
        assert_eq!(elements(Opcode::Add16, wse3, &[&half, &half, &half]), 4.0);
        let sum = [&single, &single, &single];
        assert_eq!(elements(Opcode::Fadds, wse3, &sum), 2.0);
        assert_eq!(elements(Opcode::Fadds, Arch::Wse2, &sum), 1.0);
    }

    #[test]
    fn a_stride_of_four_words_leaves_two_elements_a_cycle() {
        let strided = Port::Line {
            word: 0,
            step: 4,
            bytes: 2,
        };
        let dense = line(0, 2);
        assert_eq!(
            elements(Opcode::Fmovh, Arch::Wse3, &[&dense, &strided]),
            2.0
        );
    }

    #[test]
    fn a_sum_into_one_word_takes_two_cycles_an_element_and_a_copy_into_it_one() {
        let word = Port::Line {
            word: 40,
            step: 0,
            bytes: 2,
        };
        let vector = line(0, 2);
        assert_eq!(
            elements(Opcode::Faddh, Arch::Wse3, &[&word, &word, &vector]),
            0.5
        );
        assert_eq!(elements(Opcode::Fmovh, Arch::Wse3, &[&word, &vector]), 1.0);
    }

    #[test]
    fn banks_repeat_after_sixteen_bytes() {
        assert!(in_same_banks(&[line(0, 4), line(8, 4)]));
        assert!(!in_same_banks(&[line(0, 4), line(10, 4)]));
        assert!(in_same_banks(&[line(30, 4), line(6, 4)]));
    }
}
