//! Arithmetic on rows of halves: by single floats, each result rounded once.
//!
//! Where the processor has them, its own instructions for the whole row: the library's conversions are calls
//! that take longer than the arithmetic.

use fabsim_program::program::Opcode;
use fabsim_program::rounding::{odd_sum, result};
use half::f16;
use half::slice::{HalfBitsSliceExt, HalfFloatSliceExt};

/// Halves that one instruction converts: rows are as many, or several times that.
#[cfg(target_arch = "x86_64")]
const AT_ONCE: usize = 8;

/// The sum, difference, product or product and sum (the first source is added) of each three.
#[inline]
pub fn combine<const N: usize>(opcode: Opcode, sources: [&[u16; N]; 3]) -> [u16; N] {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("f16c") {
        // SAFETY: the processor has what the function uses.
        return unsafe { combine_f16c(opcode, sources) };
    }
    combine_anywhere(opcode, sources)
}

fn combine_anywhere<const N: usize>(opcode: Opcode, sources: [&[u16; N]; 3]) -> [u16; N] {
    let mut values = [[0.0; N]; 3];
    for (bits, values) in sources.iter().zip(&mut values) {
        bits.reinterpret_cast::<f16>().convert_to_f32_slice(values);
    }
    let mut made = [f16::ZERO; N];
    made.convert_from_f32_slice(&arithmetic(opcode, &values));
    made.map(f16::to_bits)
}

/// # Safety
///
/// The processor has AVX2 and F16C.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,f16c")]
unsafe fn combine_f16c<const N: usize>(opcode: Opcode, sources: [&[u16; N]; 3]) -> [u16; N] {
    use std::arch::x86_64::{
        _mm256_cvtph_ps, _mm256_cvtps_ph, _mm256_loadu_ps, _mm256_storeu_ps, _mm_loadu_si128,
        _mm_storeu_si128, _MM_FROUND_TO_NEAREST_INT,
    };
    let mut values = [[0.0f32; N]; 3];
    for (bits, values) in sources.iter().zip(&mut values) {
        let eights = bits.chunks_exact(AT_ONCE);
        for (bits, values) in eights.zip(values.chunks_exact_mut(AT_ONCE)) {
            // SAFETY: eight halves are read, eight singles written, and a chunk has as many.
            unsafe {
                let bits = _mm_loadu_si128(bits.as_ptr().cast());
                _mm256_storeu_ps(values.as_mut_ptr(), _mm256_cvtph_ps(bits));
            }
        }
    }
    let values = arithmetic(opcode, &values);
    let mut made = [0; N];
    let eights = values.chunks_exact(AT_ONCE);
    for (values, made) in eights.zip(made.chunks_exact_mut(AT_ONCE)) {
        // SAFETY: eight singles are read, eight halves written, and a chunk has as many.
        unsafe {
            let values = _mm256_loadu_ps(values.as_ptr());
            let bits = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(values);
            _mm_storeu_si128(made.as_mut_ptr().cast(), bits);
        }
    }
    made
}

/// The same of singles; a product of two halves is exact in one.
#[inline(always)]
pub fn arithmetic<const N: usize>(opcode: Opcode, values: &[[f32; N]; 3]) -> [f32; N] {
    match opcode {
        Opcode::Fadds | Opcode::Faddh => each(values, |a, b, _| a + b),
        Opcode::Fsubs | Opcode::Fsubh => each(values, |a, b, _| a - b),
        Opcode::Fmuls | Opcode::Fmulh => each(values, |a, b, _| a * b),
        _ => each(values, |a, b, c| odd_sum(b * c, a)),
    }
}

#[inline(always)]
fn each<const N: usize>(
    [a, b, c]: &[[f32; N]; 3],
    arithmetic: impl Fn(f32, f32, f32) -> f32,
) -> [f32; N] {
    let mut made = [0.0; N];
    for (n, value) in made.iter_mut().enumerate() {
        *value = result(arithmetic(a[n], b[n], c[n]));
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pe::opcode::{element, Sources};

    /// Every pair of some halves, the odd ones among them, with every third.
    #[test]
    fn rows_come_out_as_their_elements_do_on_every_processor() {
        let some: [u16; 16] = [
            0, 0x8000, 1, 0x83ff, 0x0400, 0x3c00, 0xbc01, 0x3555, 0x7bff, 0xfbff, 0x7c00, 0xfc00,
            0x7e00, 0x6400, 0x1234, 0xd678,
        ];
        let opcodes = [Opcode::Faddh, Opcode::Fsubh, Opcode::Fmulh, Opcode::Fmach];
        for (opcode, a) in opcodes.iter().flat_map(|op| some.map(|a| (*op, a))) {
            for b in some {
                let rows = [[a; 16], [b; 16], some];
                let both = combine(opcode, rows.each_ref())
                    .into_iter()
                    .zip(combine_anywhere(opcode, rows.each_ref()));
                for (c, (made, anywhere)) in some.into_iter().zip(both) {
                    let sources = Sources {
                        bits: [a, b, c].map(u32::from),
                        bytes: [2; 3],
                        ..Sources::default()
                    };
                    let expected = element(opcode, &sources) as u16;
                    let place = format!("{opcode:?} {a:x} {b:x} {c:x}");
                    assert_eq!((made, anywhere), (expected, expected), "{place}");
                }
            }
        }
    }
}
