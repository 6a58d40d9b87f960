//! Values of the current function's slots.

use fabsim_program::program::Slot;

/// Values of the current function's slots.
pub type Slots<'a> = &'a [u64];

pub(crate) fn value(slots: Slots, slot: Slot) -> u64 {
    slots.get(usize::from(slot.0)).copied().unwrap_or(0)
}
