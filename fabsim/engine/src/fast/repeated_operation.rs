//! An operation that comes again and again, as one in the call-back of a `@map` does: what differs
//! from the last time is where its vectors are and what its scalars hold.

use crate::pe::issue::is_swapped;
use crate::pe::operation::Running;
use crate::pe::port::Port;
use crate::pe::slots::Slots;
use crate::pe::state::{Core, LoadedDsr};
use fabsim_lowering::scalar::cut;
use fabsim_program::program::{Dsd, DsdOperation, OpOptions, Operand};

/// Where an operation is in the code: its function and place.
pub type Place = (u32, usize);

/// An operation between registers that hold lines of memory, and scalars, as it was issued last.
#[derive(Clone, Debug)]
pub struct RepeatedOperation {
    place: Place,
    /// What its registers held, destination first, but for the addresses.
    held: [Option<Held>; 4],
    pub running: Running,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Held {
    dsd: Dsd,
    save_address: bool,
}

impl Held {
    /// None where more than addresses may have to be thought of.
    fn of(loaded: &LoadedDsr) -> Option<Held> {
        let plain = !loaded.is_async && loaded.on_done.is_none() && loaded.on_control.is_none();
        plain.then_some(Held {
            dsd: Dsd {
                base: 0,
                ..loaded.dsd
            },
            save_address: loaded.save_address,
        })
    }
}

impl RepeatedOperation {
    /// An operation that has been issued and concerns memory alone; none if the next time may differ
    /// in more than addresses and scalars.
    pub fn of(
        op: &DsdOperation,
        place: Place,
        running: &Running,
        core: &Core,
    ) -> Option<RepeatedOperation> {
        let walks = !matches!(
            running.dest,
            Port::Line { step: 0, .. } | Port::Scalar { .. }
        );
        if op.options != OpOptions::default() || is_swapped(op) || !walks || op.sources.len() > 3 {
            return None;
        }
        let mut held = [None; 4];
        for (place, operand) in held.iter_mut().zip(operands(op)) {
            match operand {
                Operand::Scalar(..) => {}
                Operand::Dsr(dsr) => *place = Some(Held::of(core.dsr(*dsr)?)?),
                _ => return None,
            }
        }
        Some(RepeatedOperation {
            place,
            held,
            running: running.clone(),
        })
    }

    /// Issues it with what its operands hold now; false if it is another operation or has become one.
    pub fn again(&mut self, op: &DsdOperation, place: Place, core: &Core, slots: Slots) -> bool {
        if self.place != place {
            return false;
        }
        let running = &mut self.running;
        running.remaining = running.length;
        let ports = std::iter::once(&mut running.dest).chain(&mut running.sources);
        let mut all = operands(op).zip(ports).zip(&self.held);
        all.all(|((operand, port), held)| renew(operand, port, *held, core, slots))
    }
}

/// Destination first.
pub(crate) fn operands(op: &DsdOperation) -> impl Iterator<Item = &Operand> {
    std::iter::once(&op.dest).chain(&op.sources)
}

/// Puts into a port what its operand holds now; false if that is more than an address or a scalar.
fn renew(
    operand: &Operand,
    port: &mut Port,
    held: Option<Held>,
    core: &Core,
    slots: Slots,
) -> bool {
    match (operand, port) {
        (Operand::Scalar(slot, ty), Port::Scalar { bits, .. }) => {
            let value = slots.get(usize::from(slot.0)).copied().unwrap_or(0);
            *bits = cut(*ty, value) as u32;
            true
        }
        (Operand::Dsr(dsr), Port::Line { word, .. }) => {
            let Some(loaded) = core.dsr(*dsr) else {
                return false;
            };
            *word = i32::from(loaded.dsd.base / 2);
            loaded.dsd.base & 1 == 0 && Held::of(loaded) == held
        }
        _ => false,
    }
}
