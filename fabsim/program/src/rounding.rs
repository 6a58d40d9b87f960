//! The float formats of 16 bits: rounding to them once, and cb16, which no library has.

/// A result of arithmetic: all that are no numbers are the same one. Which of two operands' bits a processor hands
/// on depends on how a compiler has ordered them, and no source says what the machine does.
#[inline(always)]
pub fn result(value: f32) -> f32 {
    match value.is_nan() {
        true => f32::NAN,
        false => value,
    }
}

/// The larger of two: a NaN only where both are, and -0.0 is below 0.0. A maximum of the library leaves the sign of a
/// zero to the processor that it runs on.
#[inline(always)]
pub fn larger(a: f32, b: f32) -> f32 {
    if a > b || b.is_nan() {
        return a;
    }
    if b > a || a.is_nan() {
        return b;
    }
    // Equal: of two zeros the bits tell which is the larger, and all others are alike.
    f32::from_bits(a.to_bits() & b.to_bits())
}

/// An f32 that rounds to the same f16 or bf16 as the value does: toward zero, with the last bit set
/// where anything is lost, so that no tie is made that was none.
pub fn single_for_rounding(value: f64) -> f32 {
    let near = value as f32;
    if f64::from(near) == value || !near.is_finite() {
        return near;
    }
    let beyond = f64::from(near).abs() > value.abs();
    f32::from_bits((near.to_bits() - u32::from(beyond)) | 1)
}

/// The sum of two numbers, no overflow, rounded to odd: what it is rounded to next comes out as if the
/// exact sum had been rounded at once.
#[inline(always)]
pub fn odd_sum(a: f32, b: f32) -> f32 {
    let sum = a + b;
    let of_b = sum - a;
    // What rounding has lost, exactly; a NaN where the sum is none or infinite.
    let lost = (a - (sum - of_b)) + (b - of_b);
    let bits = sum.to_bits();
    let beyond = u32::from((lost < 0.0) != (sum < 0.0));
    match lost.abs() > 0.0 {
        true => f32::from_bits(bits.wrapping_sub(beyond) | 1),
        false => sum,
    }
}

/// One sign bit, six exponent bits with bias 42, nine fraction bits.
const CB16_BIAS: i32 = 42;

/// The nearest cb16, ties to even.
pub fn cb16_bits(value: f64) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    if value.is_nan() {
        return 0x7fff;
    }
    let magnitude = value.abs();
    let largest = 2f64.powi(62 - CB16_BIAS) * (2.0 - 1.0 / 512.0);
    if magnitude > largest * (1.0 + 1.0 / 2048.0) {
        return sign | 0x7e00;
    }
    let exponent = match magnitude == 0.0 {
        true => 1,
        false => (magnitude.log2().floor() as i32 + CB16_BIAS).max(1),
    };
    let scaled = magnitude / 2f64.powi(exponent - CB16_BIAS - 9);
    // Rounding up may carry into the exponent, which is what adding does.
    let fraction = round_half_even(scaled);
    let base = if fraction >= 512 {
        (exponent as u32 - 1) << 9
    } else {
        0
    };
    sign | (base + fraction) as u16
}

/// To the nearest integer, halves to the even one.
fn round_half_even(value: f64) -> u32 {
    let floor = value.floor();
    let rest = value - floor;
    let up = rest > 0.5 || (rest == 0.5 && floor % 2.0 == 1.0);
    floor as u32 + u32::from(up)
}

/// The value of a cb16.
pub fn cb16_from_bits(bits: u16) -> f64 {
    let exponent = i32::from(bits >> 9 & 0x3f);
    let fraction = f64::from(bits & 0x1ff);
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(1 - CB16_BIAS - 9),
        63 if fraction == 0.0 => f64::INFINITY,
        63 => f64::NAN,
        _ => (512.0 + fraction) * 2f64.powi(exponent - CB16_BIAS - 9),
    };
    if bits & 0x8000 != 0 {
        -magnitude
    } else {
        magnitude
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::f16;

    #[test]
    fn the_odd_sum_of_a_product_of_halves_and_a_half_rounds_as_the_exact_one() {
        let mut state = 1u64;
        let mut half = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            f16::from_bits((state >> 33) as u16)
        };
        for _ in 0..2_000_000 {
            let [a, b, c] = [half(), half(), half()];
            let exact = single_for_rounding(b.to_f64().mul_add(c.to_f64(), a.to_f64()));
            let odd = odd_sum(b.to_f32() * c.to_f32(), a.to_f32());
            let (exact, odd) = (f16::from_f32(exact), f16::from_f32(odd));
            let same = exact.to_bits() == odd.to_bits() || exact.is_nan() && odd.is_nan();
            assert!(same, "{a} + {b} * {c} = {exact}, not {odd}");
        }
    }

    #[test]
    fn the_larger_of_two_is_a_number_if_one_is_and_does_not_depend_on_their_order() {
        let nan = f32::from_bits(0xffc0_0001);
        let rising = [
            nan,
            f32::NEG_INFINITY,
            -1.0,
            -0.0,
            0.0,
            1e-45,
            f32::INFINITY,
        ];
        for (i, below) in rising.iter().enumerate() {
            for above in &rising[i..] {
                assert_eq!(larger(*below, *above).to_bits(), above.to_bits());
                assert_eq!(larger(*above, *below).to_bits(), above.to_bits());
            }
        }
    }

    #[test]
    fn what_is_beside_a_tie_is_not_rounded_as_one() {
        let half = |value| f16::from_f32(single_for_rounding(value)).to_f64();
        assert_eq!(half(2049.0), 2048.0);
        assert_eq!(half(2049.0 + 1e-9), 2050.0);
        assert_eq!(half(2051.0 - 1e-9), 2050.0);
        assert_eq!(half(-2049.0 - 1e-9), -2050.0);
        assert_eq!(half(1e300), f64::INFINITY);
        assert_eq!(half(0.1), f64::from(f16::from_f32(0.1)));
    }
}
