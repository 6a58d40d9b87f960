//! What instructions cost: cycles of issue, and how long a result takes to be used.

use crate::graph::{Graph, Kind, Value};
use crate::scalar::cut;
use fabsim_program::program::{BinaryOp, Inst, ScalarType};

/// Declares `ScalarTiming` together with what finds its numbers by name.
macro_rules! scalar_timing {
    ($($(#[$about:meta])* $name:ident,)*) => {
        /// Cycles of scalar code.
        ///
        /// Sources as in the engine's `timing`: [study] is the instruction-level study of the WSE-3,
        /// [fit] chosen so that published cycles of scalar kernels come out, [guess] nothing is known.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub struct ScalarTiming {
            $($(#[$about])* pub $name: u64,)*
        }

        impl ScalarTiming {
            /// The numbers by name, in the order of the table.
            pub fn numbers(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name)),*]
            }

            /// Another number for one of them; false if there is none of that name.
            pub fn set(&mut self, name: &str, cycles: u64) -> bool {
                match name {
                    $(stringify!($name) => self.$name = cycles,)*
                    _ => return false,
                }
                true
            }
        }
    };
}

scalar_timing! {
    /// 0: code runs as the front end wrote it. 1: as a compiler would have it, with the passes of
    /// this crate.
    optimized,
    /// Issue of an instruction. [study]
    instruction_cycles,
    /// A jump that is taken; nothing is fetched ahead. [study]
    taken_jump_cycles,
    /// A conditional jump that is not taken. [study]
    untaken_jump_cycles,
    /// From the issue of a float instruction to that of one that needs its result. [study]
    float_result_cycles,
    /// From a load through a register to what needs its value. [fit] of seven kernels: a loop over an
    /// array has 2 cycles more than its instructions; a load from a fixed address has none [study].
    load_result_cycles,
    /// A call of what was not inlined: a jump. [guess]
    call_cycles,
    /// The return from it: another one. [guess]
    return_cycles,
    /// The end of a task. [guess]
    task_return_cycles,
    /// A division, done by a routine. [measured] of f32, about
    divide_cycles,
    /// A division of a whole number by a constant: shifts, or a product. [fit] of two stencils
    constant_divide_cycles,
    /// A sum, a comparison, a shift of whole numbers of 32 bits. [fit] of a histogram and a stencil
    wide_integer_cycles,
    /// A product of 32 bits. [guess]
    wide_product_cycles,
}

/// Code as the front end wrote it, one cycle an instruction. [guess]
pub const UNOPTIMIZED: ScalarTiming = ScalarTiming {
    optimized: 0,
    instruction_cycles: 1,
    taken_jump_cycles: 1,
    untaken_jump_cycles: 1,
    float_result_cycles: 1,
    load_result_cycles: 1,
    call_cycles: 1,
    return_cycles: 1,
    task_return_cycles: 1,
    divide_cycles: 50,
    constant_divide_cycles: 1,
    wide_integer_cycles: 1,
    wide_product_cycles: 1,
};

/// The pipeline that the study found on the WSE-3.
pub const PIPELINE: ScalarTiming = ScalarTiming {
    optimized: 1,
    instruction_cycles: 1,
    taken_jump_cycles: 6,
    untaken_jump_cycles: 3,
    float_result_cycles: 2,
    load_result_cycles: 3,
    call_cycles: 6,
    return_cycles: 6,
    task_return_cycles: 1,
    divide_cycles: 50,
    constant_divide_cycles: 8,
    wide_integer_cycles: 1,
    wide_product_cycles: 4,
};

/// The same for the WSE-2, which nobody has read instruction by instruction: [fit] a jump that is not
/// taken.
pub const PIPELINE_WSE2: ScalarTiming = ScalarTiming {
    untaken_jump_cycles: 2,
    ..PIPELINE
};

/// Cycles until the next instruction, and until a result can be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Latency {
    /// Cycles until the next instruction.
    pub issue: u64,
    /// Cycles until its result can be used.
    pub result: u64,
}

/// The cost of a value's instruction, operands at hand. Where only a run can tell (operations, calls
/// of the system), this is nothing.
pub fn latency(graph: &Graph, uses: &[u32], value: Value, table: &ScalarTiming) -> Latency {
    let plain = |issue| Latency {
        issue,
        result: issue,
    };
    let Some((inst, args)) = graph.op(value) else {
        return plain(0);
    };
    let one = table.instruction_cycles;
    match inst {
        Inst::Binary {
            op: BinaryOp::Div | BinaryOp::Rem,
            ..
        } if uses[value.index()] == 0 => plain(0),
        Inst::Binary {
            op: BinaryOp::Div | BinaryOp::Rem,
            ty,
            ..
        } if !ty.is_float() && graph.bits(args[1]).is_some() => plain(table.constant_divide_cycles),
        Inst::Binary {
            op: BinaryOp::Div | BinaryOp::Rem,
            ..
        } => plain(table.divide_cycles),
        Inst::Binary { ty, .. } | Inst::Unary { ty, .. } if ty.is_float() => Latency {
            issue: one,
            result: table.float_result_cycles,
        },
        Inst::Binary {
            op: BinaryOp::Mul,
            ty,
            ..
        } if ty.size_bytes() > 2 => plain(table.wide_product_cycles),
        Inst::Binary { op, ty, .. } => plain(halves(graph, (*op, *ty), args, table)),
        Inst::Unary { ty, .. } | Inst::Compare { ty, .. } => plain(words(*ty, table)),
        Inst::Convert { from, to, .. } => plain(conversion(*from, *to, table)),
        Inst::Load { .. } if uses[value.index()] == 0 => plain(0),
        Inst::Load { .. } if graph.bits(args[0]).is_none() => Latency {
            issue: one,
            result: table.load_result_cycles,
        },
        // `ld`, `st` for every two words.
        Inst::CopyMemory { bytes, .. } => plain(2 * one * u64::from(bytes.div_ceil(4))),
        Inst::Operation(_) | Inst::Map(_) | Inst::LoadDsr(_) | Inst::System { .. } => plain(0),
        _ => plain(one),
    }
}

/// Instructions for an operation on whole numbers; the high half of a masked value may not matter.
fn halves(
    graph: &Graph,
    (op, ty): (BinaryOp, ScalarType),
    args: &[Value],
    table: &ScalarTiming,
) -> u64 {
    let mask = args.get(1).and_then(|&b| graph.bits(b)).map(|b| cut(ty, b));
    match (op, mask) {
        (BinaryOp::And, Some(mask)) if mask <= 0xffff => table.instruction_cycles,
        _ => words(ty, table),
    }
}

fn words(ty: ScalarType, table: &ScalarTiming) -> u64 {
    if ty.is_float() || ty.size_bytes() <= 2 {
        return table.instruction_cycles;
    }
    table.wide_integer_cycles * u64::from(ty.size_bytes() / 4)
}

/// Between whole numbers only a sign that is extended takes an instruction.
fn conversion(from: ScalarType, to: ScalarType, table: &ScalarTiming) -> u64 {
    let whole = !from.is_float() && !to.is_float();
    let extends = from.is_signed() && to.size_bytes() > from.size_bytes();
    if whole && !extends {
        0
    } else {
        table.instruction_cycles
    }
}

/// Values that are part of the instructions that use them: a product with one or minus one in a sum, a
/// constant added to an index where a base follows, a DSD loaded for an operation.
pub fn folded(graph: &Graph) -> Vec<bool> {
    let mut folds = vec![true; graph.nodes.len()];
    let mut used = vec![false; graph.nodes.len()];
    for block in &graph.blocks {
        for &user in block.phis.iter().chain(&block.body) {
            for &arg in &graph.nodes[user.index()].args {
                used[arg.index()] = true;
                folds[arg.index()] &= folds_into(graph, arg, user);
            }
        }
        if let Some(value) = block.exit.clone().value() {
            folds[value.index()] = false;
        }
    }
    folds
        .iter()
        .zip(&used)
        .map(|(folds, used)| *folds && *used)
        .collect()
}

fn folds_into(graph: &Graph, value: Value, user: Value) -> bool {
    let (Some((inst, args)), Some((into, with))) = (graph.op(value), graph.op(user)) else {
        return false;
    };
    match (inst, into) {
        (
            Inst::Binary {
                op: BinaryOp::Mul,
                ty,
                ..
            },
            Inst::Binary {
                op: BinaryOp::Add | BinaryOp::Sub,
                ..
            },
        ) if ty.is_float() => {
            let one = |v: &Value| graph.bits(*v).is_some_and(|bits| is_one(*ty, bits));
            args.iter().any(one)
        }
        (
            Inst::Binary {
                op: BinaryOp::Add,
                ty,
                ..
            },
            Inst::Binary {
                op: BinaryOp::Add, ..
            },
        ) if !ty.is_float() && ty.size_bytes() == 2 => {
            let (Some(c), Some(_)) = (graph.bits(args[1]), graph.bits(with[1])) else {
                return false;
            };
            // An `or` to the compiler, which stays apart from the base.
            let disjoint = cut(*ty, c) >> zeros(graph, args[0], 6) == 0;
            with[0] == value && !disjoint
        }
        (Inst::LoadDsd { .. }, Inst::Operation(_) | Inst::LoadDsr(_) | Inst::Map(_)) => true,
        _ => false,
    }
}

fn is_one(ty: ScalarType, bits: u64) -> bool {
    let value = crate::scalar::float(ty, bits);
    value == 1.0 || value == -1.0
}

/// Low bits that are zero for certain.
fn zeros(graph: &Graph, value: Value, depth: u32) -> u64 {
    if let Some(bits) = graph.bits(value) {
        return u64::from(bits.trailing_zeros()).min(63);
    }
    let (Some(deeper), Some((inst, args))) = (depth.checked_sub(1), graph.op(value)) else {
        return 0;
    };
    let of = |n: usize| zeros(graph, args[n], deeper);
    match inst {
        Inst::Binary {
            op: BinaryOp::Add, ..
        } => of(0).min(of(1)),
        Inst::Binary {
            op: BinaryOp::Mul, ..
        } => (of(0) + of(1)).min(63),
        Inst::Binary {
            op: BinaryOp::Shl, ..
        } => match graph.bits(args[1]) {
            Some(shift) => (of(0) + shift.min(63)).min(63),
            None => 0,
        },
        _ => 0,
    }
}

/// A constant that takes an instruction of its own to get into a register: one that is stored. Those of
/// sums and comparisons are immediates. [fit]
pub fn register_constant(graph: &Graph, user: Value, n: usize) -> Option<u64> {
    let node = &graph.nodes[user.index()];
    let bits = graph.bits(*node.args.get(n)?)?;
    let stored = matches!(node.kind, Kind::Op(Inst::Store { .. })) && n == 1;
    stored.then_some(bits)
}
