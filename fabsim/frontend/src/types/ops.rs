//! Arithmetic on known numbers, with the results the machine would give: fixed integers wrap,
//! floats round to their type. `comptime_int` must stay within 64 bits and does not wrap.

use crate::parse::ast::Arith;
use crate::types::kinds::Ty;
use crate::types::value::Value;
use fabsim_program::program::CompareOp;
use fabsim_program::rounding::{cb16_bits, cb16_from_bits, single_for_rounding};
use half::{bf16, f16};

/// What a value of a fixed integer type is after it has lost the bits that do not fit.
pub fn wrap(value: i128, ty: Ty) -> i128 {
    if !ty.is_int() {
        return value;
    }
    let bits = ty.bits();
    let low = value & ((1i128 << bits) - 1);
    match ty.is_signed() && (low >> (bits - 1)) & 1 == 1 {
        true => low - (1i128 << bits),
        false => low,
    }
}

/// `value` rounded to float type `ty`.
pub fn round(value: f64, ty: Ty) -> f64 {
    match ty {
        Ty::F32 => f64::from(value as f32),
        Ty::F16 => f16::from_f32(single_for_rounding(value)).to_f64(),
        Ty::BF16 => bf16::from_f32(single_for_rounding(value)).to_f64(),
        Ty::CB16 => cb16_from_bits(cb16_bits(value)),
        _ => value,
    }
}

/// The raw bits of a number of float type `ty`.
pub fn float_bits(value: f64, ty: Ty) -> u64 {
    match ty {
        Ty::F16 => u64::from(f16::from_f32(single_for_rounding(value)).to_bits()),
        Ty::BF16 => u64::from(bf16::from_f32(single_for_rounding(value)).to_bits()),
        Ty::CB16 => u64::from(cb16_bits(value)),
        Ty::F32 => u64::from((value as f32).to_bits()),
        _ => value.to_bits(),
    }
}

pub fn float_from_bits(bits: u64, ty: Ty) -> f64 {
    match ty {
        Ty::F16 => f16::from_bits(bits as u16).to_f64(),
        Ty::BF16 => bf16::from_bits(bits as u16).to_f64(),
        Ty::CB16 => cb16_from_bits(bits as u16),
        Ty::F32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

/// `a op b` for two numbers of one type; the shift count may have another integer type.
pub fn arith(op: Arith, a: &Value, b: &Value) -> Result<Value, String> {
    match (a, b) {
        (Value::Int(a, ty), Value::Int(b, _)) => int_arith(op, *a, *b, *ty),
        (Value::Float(a, ty), Value::Float(b, _)) => {
            let result = match op {
                Arith::Add => a + b,
                Arith::Sub => a - b,
                Arith::Mul => a * b,
                Arith::Div => a / b,
                _ => return Err("this operator is not defined on floats".into()),
            };
            Ok(Value::Float(round(result, *ty), *ty))
        }
        _ => Err("this operator needs numbers".into()),
    }
}

fn int_arith(op: Arith, a: i128, b: i128, ty: Ty) -> Result<Value, String> {
    if matches!(op, Arith::Div | Arith::Rem) && b == 0 {
        return Err("division by zero".into());
    }
    let too_large = || "integer overflow: the result does not fit 64 bits".to_string();
    let result = match op {
        Arith::Add => a + b,
        Arith::Sub => a - b,
        Arith::Mul => a.checked_mul(b).ok_or_else(too_large)?,
        Arith::Div => a / b,
        Arith::Rem => a % b,
        Arith::And => a & b,
        Arith::Or => a | b,
        Arith::Xor => a ^ b,
        Arith::Shl | Arith::Shr => return shift(op, a, b, ty),
    };
    fit(result, ty)
}

fn shift(op: Arith, a: i128, count: i128, ty: Ty) -> Result<Value, String> {
    let width = if ty.is_int() { ty.bits() } else { 64 };
    if count < 0 || count >= i128::from(width) {
        return Err(format!(
            "shift count {count} is not between 0 and {}",
            width - 1
        ));
    }
    match op {
        Arith::Shl if ty.is_int() => fit(a << count, ty),
        // Shifting must not push bits out of the 128 in which it is computed.
        Arith::Shl => match a.checked_mul(1i128 << count) {
            Some(value) => fit(value, ty),
            None => Err("integer overflow: the result does not fit 64 bits".into()),
        },
        _ => fit(a >> count, ty),
    }
}

fn fit(value: i128, ty: Ty) -> Result<Value, String> {
    if ty.is_int() {
        return Ok(Value::Int(wrap(value, ty), ty));
    }
    if value > i128::from(u64::MAX) || value < i128::from(i64::MIN) {
        return Err("integer overflow: the result does not fit 64 bits".into());
    }
    Ok(Value::Int(value, ty))
}

/// `a op b`; `None` if the two cannot be compared so.
pub fn compare(op: CompareOp, a: &Value, b: &Value) -> Option<bool> {
    let ordering = match (a, b) {
        (Value::Int(a, _), Value::Int(b, _)) => Some(a.cmp(b)),
        (Value::Float(a, _), Value::Float(b, _)) => {
            // NaN is unequal to everything and unordered.
            return Some(match op {
                CompareOp::Eq => a == b,
                CompareOp::Ne => a != b,
                CompareOp::Lt => a < b,
                CompareOp::Le => a <= b,
                CompareOp::Gt => a > b,
                CompareOp::Ge => a >= b,
            });
        }
        _ => None,
    };
    if let Some(ordering) = ordering {
        return Some(match op {
            CompareOp::Eq => ordering.is_eq(),
            CompareOp::Ne => ordering.is_ne(),
            CompareOp::Lt => ordering.is_lt(),
            CompareOp::Le => ordering.is_le(),
            CompareOp::Gt => ordering.is_gt(),
            CompareOp::Ge => ordering.is_ge(),
        });
    }
    match op {
        CompareOp::Eq => Some(a == b),
        CompareOp::Ne => Some(a != b),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_integers_wrap_and_comptime_integers_do_not() {
        let int = |v, ty| Value::Int(v, ty);
        let sum = arith(Arith::Add, &int(65535, Ty::U16), &int(2, Ty::U16)).unwrap();
        assert_eq!(sum, int(1, Ty::U16));
        let low = arith(Arith::Sub, &int(-32768, Ty::I16), &int(1, Ty::I16)).unwrap();
        assert_eq!(low, int(32767, Ty::I16));
        let large = Value::int(i128::from(u64::MAX));
        assert!(arith(Arith::Add, &large, &Value::int(1)).is_err());
    }

    #[test]
    fn division_by_zero_and_wide_shifts_are_errors() {
        let one = Value::Int(1, Ty::U16);
        assert!(arith(Arith::Div, &one, &Value::Int(0, Ty::U16)).is_err());
        assert!(arith(Arith::Shl, &one, &Value::int(16)).is_err());
        assert!(arith(Arith::Shl, &one, &Value::int(15)).is_ok());
    }

    #[test]
    fn subtraction_associates_to_the_left_and_shifts_of_negatives_keep_the_sign() {
        let low = arith(Arith::Shr, &Value::Int(-8, Ty::I16), &Value::int(1)).unwrap();
        assert_eq!(low, Value::Int(-4, Ty::I16));
    }

    #[test]
    fn cb16_agrees_with_the_documented_value_of_six() {
        assert_eq!(float_bits(6.0, Ty::CB16), 0x5900);
        assert_eq!(float_from_bits(0x5900, Ty::CB16), 6.0);
        assert_eq!(float_bits(0.0, Ty::CB16), 0);
    }
}
