//! Arithmetic on scalars: raw bits in, raw bits out.
//!
//! Operands are cut to their type first, so that what lies above it in a slot never matters (a
//! data task's single parameter gets all 32 bits of the payload, whatever its type).

use fabsim_program::program::{BinaryOp, CompareOp, ScalarType, UnaryOp};
use fabsim_program::rounding::{cb16_bits, cb16_from_bits, result, single_for_rounding};
use half::{bf16, f16};
use std::cmp::Ordering;

/// What has no result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Undefined {
    /// An integer is divided by zero.
    DivisionByZero,
    /// A bit operation on a floating-point number.
    BitsOfFloat,
}

/// The low bits that belong to the type.
#[inline]
pub fn cut(ty: ScalarType, bits: u64) -> u64 {
    match ty {
        ScalarType::Bool => bits & 1,
        _ => match ty.size_bytes() {
            1 => bits & 0xff,
            2 => bits & 0xffff,
            4 => bits & 0xffff_ffff,
            _ => bits,
        },
    }
}

/// The value of an integer type.
#[inline]
pub fn integer(ty: ScalarType, bits: u64) -> i128 {
    match ty {
        ScalarType::I8 => i128::from(bits as u8 as i8),
        ScalarType::I16 => i128::from(bits as u16 as i16),
        ScalarType::I32 => i128::from(bits as u32 as i32),
        ScalarType::I64 => i128::from(bits as i64),
        _ => i128::from(cut(ty, bits)),
    }
}

/// The value of a floating type; f32 holds all of them exactly.
#[inline]
pub fn float(ty: ScalarType, bits: u64) -> f32 {
    match ty {
        ScalarType::F16 => f16::from_bits(bits as u16).to_f32(),
        ScalarType::Bf16 => bf16::from_bits(bits as u16).to_f32(),
        ScalarType::Cb16 => cb16_from_bits(bits as u16) as f32,
        _ => f32::from_bits(bits as u32),
    }
}

/// Rounds to the nearest value of the type, ties to even.
#[inline]
pub fn float_bits(ty: ScalarType, value: f32) -> u64 {
    let value = result(value);
    match ty {
        ScalarType::F16 => u64::from(f16::from_f32(value).to_bits()),
        ScalarType::Bf16 => u64::from(bf16::from_f32(value).to_bits()),
        ScalarType::Cb16 => u64::from(cb16_bits(f64::from(value))),
        _ => u64::from(value.to_bits()),
    }
}

/// The result of an operation on one number.
#[inline]
pub fn unary(op: UnaryOp, ty: ScalarType, a: u64) -> u64 {
    let result = match op {
        UnaryOp::Negate if ty.is_float() => a ^ 1 << (8 * ty.size_bytes() - 1),
        UnaryOp::Negate => a.wrapping_neg(),
        UnaryOp::BitNot => !a,
        UnaryOp::Not => u64::from(cut(ty, a) == 0),
    };
    cut(ty, result)
}

/// The result of an operation on two integers that are held in a type wide enough for it, or that
/// leaves the bits right that are kept.
macro_rules! integers {
    ($op:expr, $ty:expr, $x:expr, $y:expr) => {{
        let (x, y) = ($x, $y);
        let bits = 8 * $ty.size_bytes();
        let shift = u32::try_from(y).unwrap_or(u32::MAX).min(bits);
        let result = match $op {
            BinaryOp::Add => x + y,
            BinaryOp::Sub => x - y,
            BinaryOp::Mul => x.wrapping_mul(y),
            BinaryOp::Div | BinaryOp::Rem if y == 0 => return Err(Undefined::DivisionByZero),
            BinaryOp::Div => x / y,
            BinaryOp::Rem => x % y,
            BinaryOp::Shl => x << shift,
            BinaryOp::Shr => x >> shift,
            BinaryOp::And => x & y,
            BinaryOp::Or => x | y,
            BinaryOp::Xor => x ^ y,
        };
        cut($ty, result as u64)
    }};
}

/// The result of an operation on two numbers.
#[inline]
pub fn binary(op: BinaryOp, ty: ScalarType, a: u64, b: u64) -> Result<u64, Undefined> {
    if ty.is_float() {
        return float_binary(op, ty, float(ty, a), float(ty, b));
    }
    // 64 bits suffice for most, and are fast.
    if ty.size_bytes() <= 4 {
        return Ok(integers!(
            op,
            ty,
            short_integer(ty, a),
            short_integer(ty, b)
        ));
    }
    Ok(integers!(op, ty, integer(ty, a), integer(ty, b)))
}

/// The value of an integer of at most 32 bits.
#[inline]
fn short_integer(ty: ScalarType, bits: u64) -> i64 {
    match ty {
        ScalarType::I8 => i64::from(bits as u8 as i8),
        ScalarType::I16 => i64::from(bits as u16 as i16),
        ScalarType::I32 => i64::from(bits as u32 as i32),
        _ => cut(ty, bits) as i64,
    }
}

/// f32 is wide enough that rounding its result again to 16 bits is the correctly rounded one.
fn float_binary(op: BinaryOp, ty: ScalarType, a: f32, b: f32) -> Result<u64, Undefined> {
    let result = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div => a / b,
        BinaryOp::Rem => a % b,
        _ => return Err(Undefined::BitsOfFloat),
    };
    Ok(float_bits(ty, result))
}

/// Whether a comparison holds; with a NaN only `Ne` does.
#[inline]
pub fn compare(op: CompareOp, ty: ScalarType, a: u64, b: u64) -> bool {
    let order = if ty.is_float() {
        float(ty, a).partial_cmp(&float(ty, b))
    } else if ty.size_bytes() <= 4 {
        Some(short_integer(ty, a).cmp(&short_integer(ty, b)))
    } else {
        Some(integer(ty, a).cmp(&integer(ty, b)))
    };
    match op {
        CompareOp::Eq => order == Some(Ordering::Equal),
        CompareOp::Ne => order != Some(Ordering::Equal),
        CompareOp::Lt => order == Some(Ordering::Less),
        CompareOp::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        CompareOp::Gt => order == Some(Ordering::Greater),
        CompareOp::Ge => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    }
}

/// `@as`: between integers the low bits, to floats the nearest value, to integers toward zero and
/// saturating.
pub fn convert(from: ScalarType, to: ScalarType, bits: u64) -> u64 {
    match (from.is_float(), to.is_float()) {
        (true, true) => float_bits(to, float(from, bits)),
        (false, true) => int_to_float(integer(from, bits), to),
        (true, false) => float_to_int(float(from, bits), to),
        (false, false) if to == ScalarType::Bool => u64::from(cut(from, bits) != 0),
        (false, false) => cut(to, integer(from, bits) as u64),
    }
}

fn int_to_float(value: i128, to: ScalarType) -> u64 {
    match to {
        ScalarType::F16 | ScalarType::Bf16 => float_bits(to, single_for_rounding(value as f64)),
        ScalarType::Cb16 => u64::from(cb16_bits(value as f64)),
        _ => float_bits(to, value as f32),
    }
}

fn float_to_int(value: f32, to: ScalarType) -> u64 {
    if to == ScalarType::Bool {
        return u64::from(value != 0.0);
    }
    let bits = 8 * to.size_bytes();
    let (low, high) = if to.is_signed() {
        (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
    } else {
        (0, (1i128 << bits) - 1)
    };
    cut(to, (value as i128).clamp(low, high) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_sums_round_to_nearest_even() {
        let bits = |v: f32| u64::from(f16::from_f32(v).to_bits());
        let add = |a, b| binary(BinaryOp::Add, ScalarType::F16, bits(a), bits(b));
        // Between 2048 and 4096 halves are 2 apart: 2049 ties to 2048, 2051 to 2052.
        assert_eq!(add(2048.0, 1.0), Ok(bits(2048.0)));
        assert_eq!(add(2050.0, 1.0), Ok(bits(2052.0)));
        assert_eq!(add(65504.0, 32.0), Ok(bits(f32::INFINITY)));
    }

    #[test]
    fn integers_wrap_at_their_width_and_ignore_bits_above_it() {
        let dirty = 0xffff_0000_0000_7fff;
        let sum = binary(BinaryOp::Add, ScalarType::I16, dirty, 1);
        assert_eq!(sum, Ok(0x8000));
        assert_eq!(
            binary(BinaryOp::Shr, ScalarType::I16, 0x8000, 15),
            Ok(0xffff)
        );
        assert_eq!(binary(BinaryOp::Shl, ScalarType::U16, 1, 16), Ok(0));
        assert!(binary(BinaryOp::Div, ScalarType::U16, 1, 0).is_err());
        assert!(compare(CompareOp::Lt, ScalarType::I16, 0xffff, 0));
    }

    #[test]
    fn conversions_to_integers_truncate_and_saturate() {
        let bits = u64::from((-3.7f32).to_bits());
        assert_eq!(convert(ScalarType::F32, ScalarType::I16, bits), 0xfffd);
        assert_eq!(convert(ScalarType::F32, ScalarType::U16, bits), 0);
        assert_eq!(
            convert(ScalarType::I16, ScalarType::I32, 0xffff),
            0xffff_ffff
        );
    }
}
