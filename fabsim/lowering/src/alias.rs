//! What a memory access may touch.
//!
//! An address is a constant and something added to it. The constant says which variable it leads
//! into, and an index is taken to stay in its array, as the vendor's compiler takes it.

use crate::graph::{Graph, Value};
use fabsim_program::program::{BinaryOp, Inst, Variable};
use std::hash::{Hash, Hasher};

/// Bytes of memory on a PE; on the WSE-2 addresses above are registers.
const MEMORY_BYTES: u64 = 48 * 1024;

/// The variables of a program, by address.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    ranges: Vec<(u64, u64)>,
}

/// The place of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// What is added to the constant part, if anything.
    rest: Option<Value>,
    offset: u64,
    bytes: u64,
    /// The variable, where it is known.
    variable: Option<usize>,
}

impl Variables {
    /// Looks up addresses among these variables.
    pub fn new(variables: &[Variable]) -> Variables {
        let ends = |v: &Variable| (u64::from(v.address), u64::from(v.address + v.bytes));
        let mut ranges: Vec<(u64, u64)> = variables.iter().map(ends).collect();
        ranges.sort_unstable();
        ranges.dedup();
        // A variable inside another one is part of it.
        let mut outer: Vec<(u64, u64)> = Vec::new();
        for range in ranges {
            match outer.last_mut() {
                Some(last) if range.0 < last.1 => last.1 = last.1.max(range.1),
                _ => outer.push(range),
            }
        }
        Variables { ranges: outer }
    }

    /// Equal for equal places of variables.
    pub fn identity(&self) -> u64 {
        let mut hasher = std::collections::hash_map::DefaultHasher::new();
        self.ranges.hash(&mut hasher);
        hasher.finish()
    }

    /// The place an address leads to.
    pub fn place(&self, graph: &Graph, address: Value, bytes: u32) -> Place {
        let (rest, offset) = match (graph.bits(address), graph.op(address)) {
            (Some(bits), _) => (None, bits),
            (
                None,
                Some((
                    Inst::Binary {
                        op: BinaryOp::Add, ..
                    },
                    [x, c],
                )),
            ) => {
                // A constant stands second since folding.
                match graph.bits(*c) {
                    Some(c) => (Some(*x), c),
                    None => (Some(address), 0),
                }
            }
            _ => (Some(address), 0),
        };
        let is_index = rest.map_or(true, |rest| is_index(graph, rest, 4));
        let after = self.ranges.partition_point(|range| range.0 <= offset);
        let inside = after.checked_sub(1);
        let inside = inside.filter(|&n| is_index && offset < self.ranges[n].1);
        Place {
            rest,
            offset,
            bytes: u64::from(bytes),
            variable: inside,
        }
    }
}

/// Whether a value is an index times the size of an element, or a sum of such: it cannot be a pointer,
/// to which the constant beside it would be the index.
fn is_index(graph: &Graph, value: Value, depth: u32) -> bool {
    let (Some(deeper), Some((inst, args))) = (depth.checked_sub(1), graph.op(value)) else {
        return graph.bits(value).is_some();
    };
    match inst {
        Inst::Binary {
            op: BinaryOp::Shl | BinaryOp::Mul,
            ..
        } => graph.bits(args[1]).is_some(),
        Inst::Binary {
            op: BinaryOp::Add, ..
        } => args.iter().all(|&arg| is_index(graph, arg, deeper)),
        _ => false,
    }
}

impl Place {
    /// Whether it is memory for certain, not a register.
    pub fn is_memory(&self) -> bool {
        self.variable.is_some() || self.rest.is_none() && self.offset < MEMORY_BYTES
    }

    /// Whether the two may share a byte.
    pub fn may_meet(&self, other: &Place) -> bool {
        if self.rest == other.rest {
            let (a, b) = (self.offset, other.offset);
            return a < b + other.bytes && b < a + self.bytes;
        }
        match (self.variable, other.variable) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        }
    }
}

/// What an instruction does to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// It neither reads nor writes it.
    None,
    /// It reads there.
    Reads(Place),
    /// It writes there.
    Writes(Place),
    /// Anything may be read and written.
    All,
}

/// The effect of a value's instruction.
pub fn effect(graph: &Graph, variables: &Variables, value: Value) -> Effect {
    let Some((inst, args)) = graph.op(value) else {
        return Effect::None;
    };
    match inst {
        Inst::Load { ty, .. } => Effect::Reads(variables.place(graph, args[0], ty.size_bytes())),
        Inst::LoadDsd { .. } => Effect::Reads(variables.place(graph, args[0], 8)),
        Inst::Store { ty, .. } => Effect::Writes(variables.place(graph, args[0], ty.size_bytes())),
        Inst::StoreDsd { .. } => Effect::Writes(variables.place(graph, args[0], 8)),
        Inst::CopyMemory { bytes, .. } => Effect::Writes(variables.place(graph, args[0], *bytes)),
        Inst::Assert { .. }
        | Inst::Activate { .. }
        | Inst::Block { .. }
        | Inst::Unblock { .. }
        | Inst::LoadDsr(_)
        | Inst::ReadConfig { .. } => Effect::None,
        _ if crate::dead::is_pure(graph, value) => Effect::None,
        Inst::Binary { .. } => Effect::None,
        _ => Effect::All,
    }
}
