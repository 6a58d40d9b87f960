//! Rounding from f64 to formats of 16 bits, once.

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

#[cfg(test)]
mod tests {
    use super::*;
    use half::f16;

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
