//! Constant folding, copy propagation through phis, algebraic identities, and branches that are
//! decided. Everything keeps its bits: sums of floats are not reordered.

use crate::graph::{Exit, Graph, Kind, Value};
use crate::scalar::{binary, compare, convert, cut, unary};
use fabsim_program::program::{BinaryOp, Inst, ScalarType, Slot, UnaryOp};

/// Folds until nothing changes.
pub fn run(graph: &mut Graph) {
    let mut changed = true;
    while changed {
        changed = values(graph);
        changed |= branches(graph);
    }
}

fn values(graph: &mut Graph) -> bool {
    let mut instead: Vec<Value> = (0..graph.nodes.len() as u32).map(Value).collect();
    let mut changed = false;
    for n in graph.order() {
        let block = &graph.blocks[n];
        let all: Vec<Value> = block.phis.iter().chain(&block.body).copied().collect();
        for value in all {
            let args = graph.nodes[value.index()].args.iter_mut();
            args.for_each(|arg| *arg = last(&instead, *arg));
            let new = simpler(graph, value);
            instead.extend((instead.len() as u32..graph.nodes.len() as u32).map(Value));
            if let Some(new) = new {
                let new = last(&instead, new);
                if new != value {
                    instead[value.index()] = new;
                    changed = true;
                }
            }
        }
    }
    if changed {
        graph.replace(&instead);
    }
    changed
}

fn last(instead: &[Value], mut value: Value) -> Value {
    while instead[value.index()] != value {
        value = instead[value.index()];
    }
    value
}

/// A value that always equals this one, if there is one that is simpler.
fn simpler(graph: &mut Graph, value: Value) -> Option<Value> {
    let node = &graph.nodes[value.index()];
    let inst = match &node.kind {
        Kind::Phi => return only_one(&node.args, value),
        Kind::Op(inst) => inst,
        Kind::Const(_) | Kind::Param(_) => return None,
    };
    // What is folded has three operands at most.
    let count = node.args.len().min(3);
    let (mut args, mut known) = ([value; 3], [None; 3]);
    args[..count].copy_from_slice(&node.args[..count]);
    for (bits, arg) in known.iter_mut().zip(&args[..count]) {
        *bits = graph.bits(*arg);
    }
    let args = &args[..count];
    match (inst, &known[..count]) {
        (Inst::Unary { op, ty, .. }, [Some(a)]) => Some(graph.constant(unary(*op, *ty, *a))),
        (Inst::Binary { op, ty, .. }, [Some(a), Some(b)]) => {
            let bits = binary(*op, *ty, *a, *b).ok()?;
            Some(graph.constant(bits))
        }
        (Inst::Binary { op, ty, .. }, _) if !ty.is_float() => {
            let what = (*op, *ty);
            identity(graph, value, what, args)
        }
        (Inst::Compare { op, ty, .. }, [Some(a), Some(b)]) => {
            Some(graph.constant(u64::from(compare(*op, *ty, *a, *b))))
        }
        (Inst::Convert { from, to, .. }, [Some(a)]) => {
            Some(graph.constant(convert(*from, *to, *a)))
        }
        (Inst::Convert { from, to, .. }, _) => same_bits(graph, args[0], *from, *to),
        (Inst::Select { .. }, [Some(c), ..]) => Some(args[if c & 1 == 1 { 1 } else { 2 }]),
        (Inst::Select { .. }, _) if args[1] == args[2] => Some(args[1]),
        _ => None,
    }
}

fn only_one(args: &[Value], phi: Value) -> Option<Value> {
    let mut others = args.iter().filter(|&&arg| arg != phi);
    let first = *others.next()?;
    others.all(|&arg| arg == first).then_some(first)
}

/// A widening of an unsigned number, or a change of sign of one as wide: the bits stay.
fn same_bits(graph: &Graph, a: Value, from: ScalarType, to: ScalarType) -> Option<Value> {
    let whole = !from.is_float() && !to.is_float() && to != ScalarType::Bool;
    let (narrow, wide) = (from.size_bytes(), to.size_bytes());
    let stays = narrow == wide || narrow < wide && !from.is_signed();
    (whole && stays && is_clean(graph, a, from)).then_some(a)
}

/// Whether nothing lies above the bits of that type.
pub fn is_clean(graph: &Graph, value: Value, ty: ScalarType) -> bool {
    if let Some(bits) = graph.bits(value) {
        return cut(ty, bits) == bits;
    }
    let bytes = match graph.op(value) {
        Some((Inst::Binary { ty, .. } | Inst::Unary { ty, .. } | Inst::Load { ty, .. }, _)) => {
            ty.size_bytes()
        }
        Some((Inst::Convert { to, .. }, _)) => to.size_bytes(),
        Some((Inst::Compare { .. }, _)) => 1,
        _ => return false,
    };
    bytes <= ty.size_bytes() && ty != ScalarType::Bool
}

/// Identities of whole numbers: what adds or moves nothing, products and quotients of powers of
/// two, and `(x + c) * s`, which shares `x * s` with its neighbours.
fn identity(
    graph: &mut Graph,
    value: Value,
    (op, ty): (BinaryOp, ScalarType),
    args: &[Value],
) -> Option<Value> {
    let origin = graph.nodes[value.index()].origin;
    let (a, b) = (args[0], args[1]);
    let commutes = matches!(
        op,
        BinaryOp::Add | BinaryOp::Mul | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor
    );
    if commutes && graph.bits(a).is_some() {
        graph.nodes[value.index()].args = vec![b, a];
        return identity(graph, value, (op, ty), &[b, a]);
    }
    let c = cut(ty, graph.bits(b)?);
    let adds_nothing = match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Or | BinaryOp::Xor => c == 0,
        BinaryOp::Shl | BinaryOp::Shr => c == 0,
        BinaryOp::Mul | BinaryOp::Div => c == 1,
        BinaryOp::And | BinaryOp::Rem => false,
    };
    if adds_nothing && is_clean(graph, a, ty) {
        return Some(a);
    }
    let make = |graph: &mut Graph, op: BinaryOp, x: Value, c: u64| {
        let c = graph.constant(cut(ty, c));
        graph.nodes[value.index()].kind = Kind::Op(inst(op, ty));
        graph.nodes[value.index()].args = vec![x, c];
    };
    let power = c.is_power_of_two().then(|| u64::from(c.trailing_zeros()));
    match (op, power) {
        (BinaryOp::Mul, Some(shift)) => make(graph, BinaryOp::Shl, a, shift),
        (BinaryOp::Div, Some(shift)) if !ty.is_signed() => make(graph, BinaryOp::Shr, a, shift),
        (BinaryOp::Rem, Some(_)) if !ty.is_signed() => make(graph, BinaryOp::And, a, c - 1),
        (BinaryOp::Sub, _) => make(graph, BinaryOp::Add, a, c.wrapping_neg()),
        _ => {}
    }
    let (Inst::Binary { op, .. }, [x, factor]) = (graph.op(value)?.0.clone(), args) else {
        return None;
    };
    let (x, factor) = (*x, *factor);
    let factor = match op {
        BinaryOp::Shl => graph.nodes[value.index()].args[1],
        BinaryOp::Mul => factor,
        _ => return None,
    };
    distribute(graph, value, (op, ty), (x, factor), origin)
}

/// `(x + c) * s` as `x * s + c * s`.
fn distribute(
    graph: &mut Graph,
    value: Value,
    (op, ty): (BinaryOp, ScalarType),
    (sum, factor): (Value, Value),
    origin: crate::cfg::Origin,
) -> Option<Value> {
    let (x, c) = match graph.op(sum)? {
        (
            Inst::Binary {
                op: BinaryOp::Add,
                ty: of,
                ..
            },
            [x, c],
        ) if *of == ty => (*x, *c),
        _ => return None,
    };
    let scaled = binary(op, ty, graph.bits(c)?, graph.bits(factor)?).ok()?;
    let product = graph.node(Kind::Op(inst(op, ty)), vec![x, factor], origin);
    for block in &mut graph.blocks {
        if let Some(at) = block.body.iter().position(|&v| v == value) {
            block.body.insert(at, product);
        }
    }
    let scaled = graph.constant(scaled);
    graph.nodes[value.index()].kind = Kind::Op(inst(BinaryOp::Add, ty));
    graph.nodes[value.index()].args = vec![product, scaled];
    None
}

fn inst(op: BinaryOp, ty: ScalarType) -> Inst {
    let (dst, a, b) = (Slot(0), Slot(0), Slot(0));
    Inst::Binary { op, ty, dst, a, b }
}

/// Decides branches on constants and on negated conditions.
fn branches(graph: &mut Graph) -> bool {
    let mut changed = false;
    for n in 0..graph.blocks.len() {
        let Exit::Branch(condition, yes, no) = graph.blocks[n].exit else {
            continue;
        };
        if let Some(bits) = graph.bits(condition) {
            let (to, other) = if bits & 1 == 1 { (yes, no) } else { (no, yes) };
            graph.remove_edge(n, other);
            graph.blocks[n].exit = Exit::Jump(to);
            changed = true;
        } else if yes == no {
            graph.remove_edge(n, no);
            graph.blocks[n].exit = Exit::Jump(yes);
            changed = true;
        } else if let Some((
            Inst::Unary {
                op: UnaryOp::Not,
                ty: ScalarType::Bool,
                ..
            },
            args,
        )) = graph.op(condition)
        {
            graph.blocks[n].exit = Exit::Branch(args[0], no, yes);
            changed = true;
        }
    }
    if changed {
        graph.drop_unreachable();
    }
    changed
}
