//! Arithmetic on DSDs, which code holds packed in slots of 64 bits.

use fabsim_program::program::{Dsd, Inst, Slot};

/// Bytes of a packed DSD in memory.
pub const BYTES: u32 = 8;

/// What an instruction makes of a packed DSD, and the slot it goes to; none if it is of another kind.
pub fn changed(inst: &Inst, get: impl Fn(Slot) -> u64) -> Option<(Slot, u64)> {
    let (dst, source) = match *inst {
        Inst::DsdSetBase { dst, dsd, .. }
        | Inst::DsdSetLength { dst, dsd, .. }
        | Inst::DsdSetStride { dst, dsd, .. }
        | Inst::DsdAdvance { dst, dsd, .. } => (dst, dsd),
        _ => return None,
    };
    let mut dsd = Dsd::unpack(get(source));
    match *inst {
        Inst::DsdSetBase { address, .. } => dsd.base = get(address) as u16,
        Inst::DsdSetLength { length, .. } => dsd.extent = get(length) as u16,
        Inst::DsdSetStride { stride, .. } => dsd.stride = get(stride) as u16 as i16,
        Inst::DsdAdvance {
            by, element_bytes, ..
        } => {
            let bytes = (get(by) as u16).wrapping_mul(u16::from(element_bytes));
            dsd.base = dsd.base.wrapping_add(bytes);
        }
        _ => {}
    }
    Some((dst, dsd.pack()))
}
