//! SIMD modes of fabric operands: how many elements and wavelets an instruction takes.

use super::opcode::info;
use super::port::Port;
use super::rate::documented_rate;
use crate::fault::{Fault, FaultKind};
use fabsim_program::program::{Arch, Opcode, Simd};

/// What a mode makes of an operation. Two bytes, since an operation has it where it has what every element
/// needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lanes {
    pub(crate) mode: Simd,
    /// Elements have 16 bits, two to a wavelet.
    pub(crate) halves: bool,
}

const _: () = assert!(std::mem::size_of::<Option<Lanes>>() == 2);

impl Lanes {
    /// Elements of a wavelet: two of 16 bits, one of 32.
    #[inline]
    pub fn elements(self) -> u8 {
        1 + u8::from(self.halves)
    }

    /// Wavelets of an instruction, at most.
    #[inline]
    pub fn wavelets(self) -> u8 {
        1 + u8::from(self.mode != Simd::Simd32)
    }

    /// It does not begin with fewer wavelets than it can take.
    #[inline]
    pub fn waits(self) -> bool {
        self.mode == Simd::Simd64
    }
}

/// The lanes of an operation whose fabric operands have these modes; none where it goes element by
/// element. What the documentation leaves open is refused.
pub fn lanes(
    arch: Arch,
    opcode: Opcode,
    mut modes: impl Iterator<Item = Simd>,
    ports: &[&Port],
) -> Result<Option<Lanes>, Fault> {
    let Some(mode) = modes.next() else {
        return Ok(None);
    };
    if modes.any(|other| other != mode) {
        return Err(FaultKind::SimdModesDiffer(opcode).into());
    }
    if mode == Simd::One {
        return Ok(None);
    }
    let row = info(opcode);
    let bytes = row.dest_bytes;
    let fifo = ports.iter().any(|port| matches!(port, Port::Fifo { .. }));
    let alike = !row.mixed && bytes == row.bytes_of_source(0) && bytes == row.bytes_of_source(1);
    if fifo || !alike || opcode == Opcode::Dfilt {
        return Err(FaultKind::SimdMode(opcode).into());
    }
    let lanes = Lanes {
        mode,
        halves: bytes == 2,
    };
    let group = lanes.elements() * lanes.wavelets();
    let width = documented_rate(arch, opcode, ports);
    if width < group {
        return Err(FaultKind::SimdWidth {
            opcode,
            width,
            group,
        }
        .into());
    }
    Ok((group > 1).then_some(lanes))
}
