//! Dead code: values that nobody uses and that do nothing.

use crate::graph::{Exit, Graph, Kind, Value};
use fabsim_program::program::{BinaryOp, Inst};

/// Whether an instruction only computes: it reads no memory, changes nothing and cannot fail.
pub fn is_pure(graph: &Graph, value: Value) -> bool {
    let Some((inst, args)) = graph.op(value) else {
        return true;
    };
    match inst {
        Inst::Binary { op, ty, .. } => {
            let divides = matches!(op, BinaryOp::Div | BinaryOp::Rem) && !ty.is_float();
            let bits = matches!(
                op,
                BinaryOp::Shl | BinaryOp::Shr | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor
            );
            let divisor = args.get(1).and_then(|&b| graph.bits(b));
            let fails = divides && divisor.map_or(true, |b| crate::scalar::cut(*ty, b) == 0);
            !(fails || bits && ty.is_float())
        }
        Inst::Unary { .. }
        | Inst::Compare { .. }
        | Inst::Convert { .. }
        | Inst::Select { .. }
        | Inst::DsdSetBase { .. }
        | Inst::DsdSetLength { .. }
        | Inst::DsdSetStride { .. }
        | Inst::DsdAdvance { .. } => true,
        _ => false,
    }
}

/// Drops what is not needed. Loads and divisions stay for what they check; unused, they are free.
pub fn run(graph: &mut Graph) {
    let mut needed = vec![false; graph.nodes.len()];
    let mut open: Vec<Value> = Vec::new();
    for block in &graph.blocks {
        open.extend(block.body.iter().filter(|&&value| !is_pure(graph, value)));
        match &block.exit {
            Exit::Branch(value, ..) | Exit::Return(Some(value)) => open.push(*value),
            Exit::Jump(_) | Exit::Return(None) => {}
        }
    }
    while let Some(value) = open.pop() {
        if !std::mem::replace(&mut needed[value.index()], true) {
            open.extend(&graph.nodes[value.index()].args);
        }
    }
    for block in &mut graph.blocks {
        block.phis.retain(|value| needed[value.index()]);
        block.body.retain(|value| needed[value.index()]);
    }
}

/// Whether a value is a constant.
pub fn is_constant(graph: &Graph, value: Value) -> bool {
    matches!(graph.nodes[value.index()].kind, Kind::Const(_))
}
