//! `<kernels/fft>`: the transform of small cubes against the sum that defines it.

use crate::csl_support::*;
use fabsim::csl::CompileOptions;
use fabsim::host::{SimOptions, Simulator};
use fabsim::program::{Arch, Design};
use std::f64::consts::PI;
use std::sync::Arc;

const LAYOUT: &str = r#"
param size: u16;
param side: u16;
param half: u16;
const memcpy = @import_module("<memcpy/get_params>", .{ .width = side, .height = side });
const fft = @import_module("<kernels/fft/fft3d_layout>", .{ .width = side, .memcpy = memcpy });
layout {
  @set_rectangle(side, side);
  fft.FFT_kernel(side, size, if (half == 1) f16 else f32);
}
"#;

type Complex = (f64, f64);

fn design(arch: Arch, size: usize, side: usize, half: bool) -> Result<Design, String> {
    let mut options = CompileOptions::new(arch);
    let params = [
        ("size", size as i64),
        ("side", side as i64),
        ("half", i64::from(half)),
    ];
    options.params = params.map(|(name, value)| (name.to_string(), value)).into();
    compile(&[("layout.csl", LAYOUT)], &options)
}

/// The number at (x, y, z) of the input.
fn number(x: usize, y: usize, z: usize) -> Complex {
    let n = (x * 7 + y * 5 + z * 3) % 11;
    (n as f64 / 4.0, (n * n % 7) as f64 / 8.0)
}

/// The defining sum at one frequency.
fn defined(size: usize, (u, v, w): (usize, usize, usize), sign: f64) -> Complex {
    let (mut real, mut imag) = (0.0, 0.0);
    for n in 0..size.pow(3) {
        let (x, y, z) = (n % size, n / size % size, n / size / size);
        let angle = sign * 2.0 * PI * ((u * x + v * y + w * z) % size) as f64 / size as f64;
        let (a, b) = number(x, y, z);
        real += a * angle.cos() - b * angle.sin();
        imag += a * angle.sin() + b * angle.cos();
    }
    (real, imag)
}

/// The words of all PEs, row by row, and where the parts of (x, y, z) are in them.
fn place(size: usize, side: usize, (x, y, z): (usize, usize, usize)) -> usize {
    let block = size / side;
    let pe = y / block * side + x / block;
    2 * ((pe * size + z) * block * block + y % block * block + x % block)
}

/// The bits of a number in half or single precision.
fn bits(value: f64, half: bool) -> u32 {
    match half {
        true => u32::from(half::f16::from_f64(value).to_bits()),
        false => (value as f32).to_bits(),
    }
}

fn from_bits(bits: u32, half: bool) -> f64 {
    match half {
        true => half::f16::from_bits(bits as u16).to_f64(),
        false => f32::from_bits(bits).into(),
    }
}

#[track_caller]
fn check(arch: Arch, size: usize, side: usize, norm: u32, inverse: bool) {
    for half in [false, true] {
        check_type(arch, size, side, norm, inverse, half);
    }
}

#[track_caller]
fn check_type(arch: Arch, size: usize, side: usize, norm: u32, inverse: bool, half: bool) {
    let made = Simulator::new(
        Arc::new(accepts(design(arch, size, side, half))),
        SimOptions::default(),
    );
    let mut sim = made.unwrap_or_else(|e| panic!("{e}"));
    let places = (0..size.pow(3)).map(|n| (n % size, n / size % size, n / size / size));
    let mut words = vec![0; 2 * size.pow(3)];
    for at in places.clone() {
        let (real, imag) = number(at.0, at.1, at.2);
        words[place(size, side, at)] = bits(real, half);
        words[place(size, side, at) + 1] = bits(imag, half);
    }
    let angles = (0..size / 2).map(|k| 2.0 * PI * k as f64 / size as f64);
    let roots: Vec<u32> = angles
        .flat_map(|a| [bits(a.cos(), half), bits(a.sin(), half)])
        .collect();
    let pes = side * side;
    let (width, per_pe) = (side as u16, words.len() / pes);
    sim.memcpy_h2d(
        "twiddle_array",
        0,
        0,
        width,
        width,
        size,
        &roots.repeat(pes),
        half,
        false,
    )
    .unwrap_or_else(|e| panic!("{e}"));
    sim.memcpy_h2d("X", 0, 0, width, width, per_pe, &words, half, false)
        .unwrap_or_else(|e| panic!("{e}"));
    sim.launch("csfftExecC2C", &[norm, u32::from(inverse)])
        .unwrap_or_else(|e| panic!("{e}"));
    let found = sim.memcpy_d2h("X", 0, 0, width, width, per_pe, half, false);
    let found = found.unwrap_or_else(|e| panic!("{e}"));
    let total = (size.pow(3)) as f64;
    let scale = match (norm, inverse) {
        (1, _) => total.sqrt(),
        (0, true) | (2, false) => total,
        _ => 1.0,
    };
    for at in places {
        let (real, imag) = defined(size, at, if inverse { 1.0 } else { -1.0 });
        for (n, wanted) in [real / scale, imag / scale].into_iter().enumerate() {
            let value = from_bits(found[place(size, side, at) + n], half);
            let slack = if half { 4e-3 } else { 1e-6 } * total / scale;
            assert!(
                (value - wanted).abs() < slack,
                "{at:?}: {value}, not {wanted}"
            );
        }
    }
    let times = sim.memcpy_d2h("fft_time", 0, 0, width, width, 2, false, false);
    let times = times.unwrap_or_else(|e| panic!("{e}"));
    assert!(times.chunks(2).all(|time| time[0] > 0 && time[1] == 0));
}

#[test]
fn cubes_are_transformed_as_the_sum_says() {
    for arch in BOTH {
        check(arch, 4, 2, 0, false);
        check(arch, 4, 4, 0, true);
        check(arch, 4, 1, 1, false);
    }
    check(Arch::Wse3, 8, 2, 2, false);
    check(Arch::Wse3, 2, 2, 1, true);
}

#[test]
fn sizes_that_do_not_fit_are_refused() {
    refuses(design(Arch::Wse3, 6, 2, false), "power of two");
    refuses(
        design(Arch::Wse3, 4, 3, false),
        "every PE holds as many numbers",
    );
}
