//! The DSD operations: names, element widths, rates, and what each does to one element.

use fabsim_lowering::scalar::{float, float_bits};
use fabsim_program::program::{Arch, Opcode, ScalarType};
use fabsim_program::rounding::{larger, result, single_for_rounding};

/// What the table below says of an operation.
#[derive(Clone, Copy, Debug)]
pub struct OpcodeInfo {
    /// Widths of the elements; where they are `mixed`, memory operands bring their own.
    pub mixed: bool,
    /// The size of a result.
    pub dest_bytes: u8,
    source_bytes: u8,
    /// Of the first source, where it is another one.
    first_bytes: Option<u8>,
    /// Elements per cycle where no operand is in the fabric, as documented; operations the
    /// documentation does not list run one a cycle.
    wse2_rate: u8,
    wse3_rate: u8,
    /// The engine has it.
    pub supported: bool,
}

impl OpcodeInfo {
    /// Element width of source `n`.
    pub fn bytes_of_source(&self, n: usize) -> u8 {
        match (n, self.first_bytes) {
            (0, Some(bytes)) => bytes,
            _ => self.source_bytes,
        }
    }

    /// Elements a cycle between lines of memory, as documented.
    pub fn rate(&self, arch: Arch) -> u8 {
        match arch {
            Arch::Wse2 => self.wse2_rate,
            Arch::Wse3 => self.wse3_rate,
        }
    }
}

const fn row(dest: u8, source: u8, rates: (u8, u8)) -> OpcodeInfo {
    OpcodeInfo {
        mixed: false,
        dest_bytes: dest,
        source_bytes: source,
        first_bytes: None,
        wse2_rate: rates.0,
        wse3_rate: rates.1,
        supported: true,
    }
}

/// Some sources are halves and some singles.
const fn mixed(rates: (u8, u8)) -> OpcodeInfo {
    OpcodeInfo {
        mixed: true,
        ..row(4, 2, rates)
    }
}

const fn missing() -> OpcodeInfo {
    OpcodeInfo {
        supported: false,
        ..row(2, 2, (1, 1))
    }
}

/// The row of an operation.
pub fn info(opcode: Opcode) -> OpcodeInfo {
    match opcode {
        Opcode::Add16 => row(2, 2, (4, 8)),
        Opcode::Addc16 => missing(),
        Opcode::And16 => row(2, 2, (4, 8)),
        Opcode::Or16 => row(2, 2, (4, 8)),
        Opcode::Xor16 => row(2, 2, (4, 8)),
        Opcode::Sar16 => row(2, 2, (1, 4)),
        Opcode::Sll16 => row(2, 2, (1, 4)),
        Opcode::Slr16 => row(2, 2, (1, 4)),
        Opcode::Sub16 => row(2, 2, (4, 8)),
        Opcode::Clz => row(2, 2, (1, 1)),
        Opcode::Ctz => row(2, 2, (1, 1)),
        Opcode::Popcnt => row(2, 2, (1, 1)),
        Opcode::Mov16 => row(2, 2, (4, 8)),
        Opcode::Mov32 => row(4, 4, (2, 4)),
        Opcode::Fmovh => row(2, 2, (4, 8)),
        Opcode::Fmovs => row(4, 4, (2, 4)),
        Opcode::Faddh => row(2, 2, (4, 8)),
        Opcode::Fadds => row(4, 4, (2, 4)),
        Opcode::Fsubh => row(2, 2, (4, 8)),
        Opcode::Fsubs => row(4, 4, (2, 4)),
        Opcode::Fmulh => row(2, 2, (4, 8)),
        Opcode::Fmuls => row(4, 4, (1, 1)),
        Opcode::Fmaxh => row(2, 2, (1, 8)),
        Opcode::Fmaxs => row(4, 4, (1, 4)),
        Opcode::Faddhs => mixed((2, 4)),
        Opcode::Fmach => row(2, 2, (4, 8)),
        Opcode::Fmacs => row(4, 4, (1, 1)),
        Opcode::Fmachs => OpcodeInfo {
            first_bytes: Some(4),
            ..mixed((2, 4))
        },
        Opcode::Fabsh => row(2, 2, (4, 8)),
        Opcode::Fabss => row(4, 4, (2, 4)),
        Opcode::Fnegh => row(2, 2, (4, 8)),
        Opcode::Fnegs => row(4, 4, (2, 4)),
        Opcode::Fnormh => missing(),
        Opcode::Fnorms => missing(),
        Opcode::Fscaleh => row(2, 2, (4, 8)),
        Opcode::Fscales => row(4, 4, (2, 4)),
        Opcode::Fh2s => row(4, 2, (1, 4)),
        Opcode::Fs2h => row(2, 4, (1, 4)),
        Opcode::Fh2xp16 => row(2, 2, (1, 8)),
        Opcode::Fs2xp16 => row(2, 4, (1, 4)),
        Opcode::Xp162fh => row(2, 2, (1, 8)),
        Opcode::Xp162fs => row(4, 2, (1, 4)),
        Opcode::Dfilt => row(4, 4, (1, 1)),
    }
}

/// Source values of one element and the widths they came with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sources {
    /// The program's float format of 16 bits.
    pub half: ScalarType,
    /// Their bits.
    pub bits: [u32; 3],
    /// Their sizes.
    pub bytes: [u8; 3],
}

impl Sources {
    /// Source `n` as a number, half or single by its width.
    #[inline]
    fn float(&self, n: usize) -> f32 {
        if self.bytes[n] == 2 {
            float(self.half, u64::from(self.bits[n]))
        } else {
            f32::from_bits(self.bits[n])
        }
    }

    #[inline]
    fn double(&self, n: usize) -> f64 {
        f64::from(self.float(n))
    }

    #[inline]
    fn word(&self, n: usize) -> u16 {
        self.bits[n] as u16
    }
}

/// Rounds to the 16 bits of `s`. f32 arithmetic on halves followed by this is the correctly rounded
/// half operation.
#[inline]
fn rounded(s: &Sources, value: f32) -> u32 {
    float_bits(s.half, value) as u32
}

#[inline]
fn single(value: f32) -> u32 {
    result(value).to_bits()
}

/// One element of an operation.
#[inline]
pub fn element(opcode: Opcode, s: &Sources) -> u32 {
    match opcode {
        Opcode::Fadds | Opcode::Faddhs => single(s.float(0) + s.float(1)),
        Opcode::Faddh => rounded(s, s.float(0) + s.float(1)),
        Opcode::Fmovs | Opcode::Mov32 | Opcode::Fmovh | Opcode::Mov16 => s.bits[0],
        Opcode::Fsubs => single(s.float(0) - s.float(1)),
        Opcode::Fsubh => rounded(s, s.float(0) - s.float(1)),
        Opcode::Fmuls => single(s.float(0) * s.float(1)),
        Opcode::Fmulh => rounded(s, s.float(0) * s.float(1)),
        Opcode::Fmaxs => single(larger(s.float(0), s.float(1))),
        Opcode::Fmaxh => rounded(s, larger(s.float(0), s.float(1))),
        // Multiply-accumulate rounds once; f64 is wide enough for that with halves, f32 is not.
        Opcode::Fmacs | Opcode::Fmachs => single(s.float(1).mul_add(s.float(2), s.float(0))),
        Opcode::Fmach => half_of(s, s.double(1).mul_add(s.double(2), s.double(0))),
        Opcode::Fabss => s.bits[0] & 0x7fff_ffff,
        Opcode::Fabsh => s.bits[0] & 0x7fff,
        Opcode::Fnegs => s.bits[0] ^ 0x8000_0000,
        Opcode::Fnegh => s.bits[0] ^ 0x8000,
        Opcode::Fscales => single((s.double(0) * power_of_two(s.word(1))) as f32),
        Opcode::Fscaleh => half_of(s, s.double(0) * power_of_two(s.word(1))),
        Opcode::Fh2s => single(s.float(0)),
        Opcode::Fs2h => rounded(s, s.float(0)),
        Opcode::Xp162fs => f32::from(s.word(0) as i16).to_bits(),
        Opcode::Xp162fh => rounded(s, f32::from(s.word(0) as i16)),
        Opcode::Fs2xp16 | Opcode::Fh2xp16 => u32::from(nearest_integer(s.float(0)) as u16),
        _ => u32::from(integer_element(opcode, s.word(0), s.word(1))),
    }
}

fn half_of(s: &Sources, value: f64) -> u32 {
    rounded(s, single_for_rounding(value))
}

/// What is beyond the bound is zero or infinite for every f32.
fn power_of_two(exponent: u16) -> f64 {
    2f64.powi(i32::from(exponent as i16).clamp(-1000, 1000))
}

/// Ties to even; what is out of range gives the nearest integer, a NaN 0.
fn nearest_integer(value: f32) -> i16 {
    value.round_ties_even() as i16
}

fn integer_element(opcode: Opcode, a: u16, b: u16) -> u16 {
    let shift = u32::from(b);
    match opcode {
        Opcode::Add16 => a.wrapping_add(b),
        Opcode::Sub16 => a.wrapping_sub(b),
        Opcode::And16 => a & b,
        Opcode::Or16 => a | b,
        Opcode::Xor16 => a ^ b,
        Opcode::Sar16 => ((a as i16) >> shift.min(15)) as u16,
        Opcode::Sll16 => a.checked_shl(shift).unwrap_or(0),
        Opcode::Slr16 => a.checked_shr(shift).unwrap_or(0),
        Opcode::Clz => a.leading_zeros() as u16,
        Opcode::Ctz => a.trailing_zeros() as u16,
        Opcode::Popcnt => a.count_ones() as u16,
        // Refused at load.
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::f16;

    fn halves(values: [f32; 3]) -> Sources {
        Sources {
            bits: values.map(|v| u32::from(f16::from_f32(v).to_bits())),
            bytes: [2; 3],
            ..Sources::default()
        }
    }

    #[test]
    fn half_operations_round_to_nearest_even() {
        let half = |v: f32| u32::from(f16::from_f32(v).to_bits());
        let sum = element(Opcode::Faddh, &halves([2048.0, 1.0, 0.0]));
        assert_eq!(sum, half(2048.0));
        let sum = element(Opcode::Faddh, &halves([2050.0, 1.0, 0.0]));
        assert_eq!(sum, half(2052.0));
    }

    #[test]
    fn a_mixed_operation_takes_each_source_by_its_own_width() {
        let mut sources = halves([1.5, 2.5, 0.0]);
        sources.bits[0] = 1.0f32.to_bits();
        sources.bytes[0] = 4;
        assert_eq!(element(Opcode::Faddhs, &sources), 3.5f32.to_bits());
    }
}
