//! Code as it is run: a flat array of instructions with the cycles of each.

use crate::cfg::Origin;
use crate::cost::ScalarTiming;
use crate::operands::{reads, written};
use fabsim_program::program::{BinaryOp, Function, Inst};

/// The function of an origin that is the function itself, whatever its number.
pub const OWN: u32 = u32::MAX;

/// Cycles of one instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cost {
    /// Where the next one follows.
    pub next: u16,
    /// Where it jumps, calls or returns.
    pub taken: u16,
}

/// A function ready to run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Code {
    /// In the order in which they follow each other.
    pub insts: Vec<Inst>,
    /// One for each instruction.
    pub costs: Vec<Cost>,
    /// Where each instruction was written; empty where that is its own place.
    pub origins: Vec<Origin>,
    /// Slots of a frame, those of `constants` left out.
    pub slots: u16,
    /// What the slots after those hold.
    pub constants: Vec<u64>,
    /// How many slots hold arguments at entry.
    pub params: u16,
}

impl Code {
    /// Where the instruction at a place of this function's code was written.
    pub fn origin(&self, function: u32, at: usize) -> Origin {
        let written = self.origins.get(at).copied();
        let own = written.unwrap_or(Origin {
            function: OWN,
            at: at as u32,
        });
        match own.function {
            OWN => Origin { function, ..own },
            _ => own,
        }
    }

    /// A function as the front end wrote it.
    pub fn plain(function: &Function, table: &ScalarTiming) -> Code {
        let most = function
            .code
            .iter()
            .flat_map(|inst| reads(inst).into_iter().chain(written(inst)));
        let most = most.map(|slot| slot.0 + 1).max().unwrap_or(0);
        Code {
            insts: function.code.clone(),
            costs: function
                .code
                .iter()
                .map(|inst| plain_cost(inst, table))
                .collect(),
            origins: Vec::new(),
            slots: function.slots.max(function.params).max(most),
            constants: Vec::new(),
            params: function.params,
        }
    }
}

/// A constant is an immediate of the instruction that uses it.
fn plain_cost(inst: &Inst, table: &ScalarTiming) -> Cost {
    let one = table.instruction_cycles as u16;
    let (next, taken) = match inst {
        Inst::Const { .. } => (0, 0),
        Inst::Binary {
            op: BinaryOp::Div,
            ty,
            ..
        } if ty.is_float() && ty.size_bytes() == 4 => (table.divide_cycles as u16, 0),
        Inst::Jump { .. } => (0, table.taken_jump_cycles as u16),
        Inst::Branch { .. } => (
            table.untaken_jump_cycles as u16,
            table.taken_jump_cycles as u16,
        ),
        Inst::Call { .. } | Inst::CallPointer { .. } => (0, table.call_cycles as u16),
        Inst::Return { .. } => (table.task_return_cycles as u16, table.return_cycles as u16),
        _ => (one, 0),
    };
    Cost { next, taken }
}
