//! Frames of functions, and the slots in them.

use super::main_thread::{Caller, Doing, Flow, Frame, Main};
use super::plan::PePlan;
use crate::fault::{Fault, FaultKind};
use fabsim_program::program::{FunctionId, Slot};
use smallvec::SmallVec;

/// Deeper calls mean recursion, which the machine's small stack does not survive.
const DEPTH: usize = 256;
/// Room for so many slots is kept from task to task: most code needs fewer, and asks for them often. What a large
/// function needs is given back, since every PE may have called it once.
const KEPT_SLOTS: usize = 256;

impl Main {
    pub(crate) fn refuse_deep_calls(&self) -> Result<(), Fault> {
        refuse_deep_calls(self.frames.len())
    }

    /// The function on top, its program counter and its slots.
    pub(crate) fn top(&mut self) -> Option<(u32, u32, &mut [u64])> {
        let frame = self.frames.last()?;
        let slots = self.slots.get_mut(frame.base as usize..)?;
        Some((frame.function, frame.pc, slots))
    }

    pub(crate) fn advance(&mut self, pc: u32) {
        if let Some(frame) = self.frames.last_mut() {
            frame.pc = pc;
        }
    }

    fn base(&self) -> usize {
        self.frames.last().map_or(0, |frame| frame.base as usize)
    }

    #[inline]
    pub(crate) fn get(&self, slot: Slot) -> u64 {
        let at = self.base() + usize::from(slot.0);
        self.slots.get(at).copied().unwrap_or(0)
    }

    #[inline]
    pub(crate) fn set(&mut self, slot: Slot, bits: u64) {
        let at = self.base() + usize::from(slot.0);
        if at >= self.slots.len() {
            self.slots.resize(at + 1, 0);
        }
        self.slots[at] = bits;
    }

    pub(crate) fn args(&self, slots: &[Slot]) -> SmallVec<[u64; 8]> {
        slots.iter().map(|&slot| self.get(slot)).collect()
    }

    pub(crate) fn current_slots(&self) -> &[u64] {
        &self.slots[self.base()..]
    }

    pub(crate) fn leave_function(&mut self, value: Option<u64>) -> Flow {
        let Some(frame) = self.frames.pop() else {
            self.doing = Doing::Nothing;
            return Flow::Moved;
        };
        self.slots.truncate(frame.base as usize);
        match frame.caller {
            Caller::Task => {
                self.doing = Doing::Nothing;
                self.slots.shrink_to(KEPT_SLOTS);
            }
            Caller::Function(Some(dst)) => self.set(dst, value.unwrap_or(0)),
            Caller::Function(None) => {}
            Caller::Map => {
                self.doing = Doing::Map;
                if let Some(map) = self.maps.last_mut() {
                    map.returned(value.unwrap_or(0));
                }
                self.leave_map_if_done();
            }
        }
        Flow::Moved
    }
}

pub(crate) fn refuse_deep_calls(depth: usize) -> Result<(), Fault> {
    if depth < DEPTH {
        return Ok(());
    }
    Err(FaultKind::CallDepth(DEPTH).into())
}

/// Puts a frame on top, with ready argument values.
pub(crate) fn enter(
    plan: &PePlan,
    function: FunctionId,
    args: &[u64],
    caller: Caller,
    (frames, slots): (&mut Vec<Frame>, &mut Vec<u64>),
) {
    let base = slots.len();
    if let Some(code) = plan.code.get(function.0 as usize) {
        let own = usize::from(code.slots);
        slots.reserve_exact(own + code.constants.len());
        slots.resize(base + own, 0);
        slots.extend_from_slice(&code.constants);
        let args = &args[..args.len().min(usize::from(code.slots))];
        slots[base..base + args.len()].copy_from_slice(args);
    }
    frames.push(Frame {
        function: function.0,
        pc: 0,
        base: base as u32,
        caller,
    });
}
