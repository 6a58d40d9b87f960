//! The short way through code: instructions that concern nothing but a PE's own slots and memory,
//! one after the other without a look at anything else.

use super::interference::Interference;
use crate::fault::{Fault, FaultKind};
use crate::pe::main_thread::Main;
use crate::pe::packed;
use crate::pe::plan::PePlan;
use crate::pe::state::Core;
use fabsim_lowering::code::{Code, Cost};
use fabsim_lowering::scalar::{binary, compare, convert, cut, unary};
use fabsim_program::program::{Arch, Inst, ScalarType, Slot};

/// Byte address behind the data memory; on wse2 registers begin there.
const MEMORY_END: u64 = 48 * 1024;

/// What an instruction does to the program counter.
enum Go {
    Next,
    To(u32),
    /// It is for the long way.
    Stop,
}

impl Main {
    /// Runs up to `left` instructions of the function on top, as long as they are of the simple kinds.
    pub(crate) fn run_straight(
        &mut self,
        plan: &PePlan,
        core: &mut Core,
        time: &mut u64,
        left: &mut u32,
        others: &mut impl Interference,
    ) -> Result<(), Fault> {
        let Some((function, pc, slots)) = self.top() else {
            return Ok(());
        };
        let Some(code) = plan.code.get(function as usize) else {
            return Ok(());
        };
        let registers = match plan.arch {
            Arch::Wse2 => MEMORY_END,
            Arch::Wse3 => u64::MAX,
        };
        let mut at = pc;
        let ended = run(
            code,
            slots,
            (core, registers),
            (&mut at, time, left),
            others,
        );
        self.advance(at);
        ended.map_err(|kind| Fault::from(kind).at(self.span(plan).unwrap_or_default()))
    }
}

/// A function of its own, so that what surrounds it takes none of its registers.
#[inline(never)]
fn run(
    code: &Code,
    slots: &mut [u64],
    (core, registers): (&mut Core, u64),
    (from, since, most): (&mut u32, &mut u64, &mut u32),
    others: &mut impl Interference,
) -> Result<(), FaultKind> {
    let both = code.insts.len().min(code.costs.len());
    let (insts, costs): (&[Inst], &[Cost]) = (&code.insts[..both], &code.costs[..both]);
    let (mut at, mut time, mut left) = (*from, *since, *most);
    let mut ended = Ok(());
    while left > 0 {
        let place = at as usize;
        let Some(inst) = insts.get(place) else {
            break;
        };
        if others.is_full() {
            break;
        }
        let went = match step(inst, slots, core, registers, others) {
            Ok(Go::Stop) => step_packed(inst, slots, core, others),
            went => went,
        };
        match went {
            Ok(Go::Next) => {
                time += u64::from(costs[place].next);
                others.step(u64::from(costs[place].next));
                at += 1;
            }
            Ok(Go::To(to)) => {
                time += u64::from(costs[place].taken);
                others.step(u64::from(costs[place].taken));
                at = to;
            }
            Ok(Go::Stop) => break,
            Err(fault) => {
                ended = Err(fault);
                break;
            }
        }
        left -= 1;
    }
    (*from, *since, *most) = (at, time, left);
    ended
}

#[inline(always)]
fn step(
    inst: &Inst,
    slots: &mut [u64],
    core: &mut Core,
    registers: u64,
    others: &impl Interference,
) -> Result<Go, FaultKind> {
    let at = |slot: Slot| usize::from(slot.0);
    match *inst {
        Inst::Const { dst, bits } => slots[at(dst)] = bits,
        Inst::Copy { dst, src } => slots[at(dst)] = slots[at(src)],
        Inst::Unary { op, ty, dst, a } => slots[at(dst)] = unary(op, ty, slots[at(a)]),
        Inst::Binary { op, ty, dst, a, b } => {
            slots[at(dst)] = binary(op, ty, slots[at(a)], slots[at(b)])?;
        }
        Inst::Compare { op, ty, dst, a, b } => {
            slots[at(dst)] = u64::from(compare(op, ty, slots[at(a)], slots[at(b)]));
        }
        Inst::Convert { from, to, dst, a } => slots[at(dst)] = convert(from, to, slots[at(a)]),
        Inst::Select {
            dst,
            condition,
            a,
            b,
        } => {
            let chosen = if slots[at(condition)] & 1 == 1 { a } else { b };
            slots[at(dst)] = slots[at(chosen)];
        }
        Inst::Load { ty, dst, address } => {
            let address = slots[at(address)] & 0xffff;
            if address >= registers || !others.may_read(address, ty.size_bytes()) {
                return Ok(Go::Stop);
            }
            slots[at(dst)] = load(core, ty, address)?;
        }
        Inst::Store { ty, address, src } => {
            let address = slots[at(address)] & 0xffff;
            if address >= registers || !others.may_write(address, ty.size_bytes()) {
                return Ok(Go::Stop);
            }
            store(core, ty, address, cut(ty, slots[at(src)]))?;
        }
        Inst::Jump { to } => return Ok(Go::To(to)),
        Inst::Branch {
            condition,
            when,
            to,
        } if (slots[at(condition)] & 1 == 1) == when => return Ok(Go::To(to)),
        Inst::Branch { .. } => {}
        _ => return Ok(Go::Stop),
    }
    Ok(Go::Next)
}

/// The same of instructions on packed DSDs: apart, so that the loop of the others stays as it is.
#[cold]
fn step_packed(
    inst: &Inst,
    slots: &mut [u64],
    core: &mut Core,
    others: &impl Interference,
) -> Result<Go, FaultKind> {
    let at = |slot: Slot| usize::from(slot.0);
    match *inst {
        Inst::LoadDsd { dst, address } => {
            let address = slots[at(address)] & 0xffff;
            if !others.may_read(address, packed::BYTES) {
                return Ok(Go::Stop);
            }
            let read = core.memory.load(address, packed::BYTES);
            slots[at(dst)] = read.map_err(|fault| fault.kind)?;
        }
        Inst::StoreDsd { address, src } => {
            let address = slots[at(address)] & 0xffff;
            if !others.may_write(address, packed::BYTES) {
                return Ok(Go::Stop);
            }
            let stored = core.memory.store(address, packed::BYTES, slots[at(src)]);
            stored.map_err(|fault| fault.kind)?;
        }
        _ => match packed::changed(inst, |slot| slots[at(slot)]) {
            Some((dst, bits)) => slots[at(dst)] = bits,
            None => return Ok(Go::Stop),
        },
    }
    Ok(Go::Next)
}

#[inline]
fn load(core: &Core, ty: ScalarType, address: u64) -> Result<u64, FaultKind> {
    let bytes = ty.size_bytes();
    if address & 1 == 1 || !matches!(bytes, 2 | 4) {
        return core.memory.load(address, bytes).map_err(|fault| fault.kind);
    }
    let value = core.memory.element((address / 2) as i64, bytes as u8);
    value.map(u64::from).map_err(|fault| fault.kind)
}

#[inline]
fn store(core: &mut Core, ty: ScalarType, address: u64, bits: u64) -> Result<(), FaultKind> {
    let bytes = ty.size_bytes();
    let stored = if address & 1 == 1 || !matches!(bytes, 2 | 4) {
        core.memory.store(address, bytes, bits)
    } else {
        let word = (address / 2) as i64;
        let stored = core.memory.set_element(word, bytes as u8, bits as u32);
        // The long way names the first word that is outside.
        stored.or_else(|_| core.memory.store(address, bytes, bits))
    };
    stored.map_err(|fault| fault.kind)
}
