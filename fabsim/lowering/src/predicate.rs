//! If-conversion: a short `if` that only computes becomes predicated moves, without a jump.

use crate::dead::is_pure;
use crate::graph::{Exit, Graph, Kind, Value};
use fabsim_program::program::{BinaryOp, Inst, Slot};

/// Computations of a side that are done in any case rather than jumped over. LLVM's limit for folding
/// two-entry phis is 4 cheap instructions; the study saw sides of one move predicated.
const CHEAP: usize = 4;

/// Converts until no short `if` is left.
pub fn run(graph: &mut Graph) {
    let mut changed = true;
    while changed {
        changed = false;
        for n in graph.order() {
            changed |= convert(graph, n);
        }
        if changed {
            graph.drop_unreachable();
        }
    }
}

fn convert(graph: &mut Graph, n: usize) -> bool {
    let Exit::Branch(condition, yes, no) = graph.blocks[n].exit else {
        return false;
    };
    let (side_yes, side_no) = (side(graph, n, yes), side(graph, n, no));
    let (join, from_yes, from_no) = match (side_yes, side_no) {
        (Some(a), Some(b)) if a == b => (a, yes, no),
        (Some(a), _) if a == no => (a, yes, n),
        (_, Some(b)) if b == yes => (b, n, no),
        _ => return false,
    };
    let at = |graph: &Graph, from: usize| {
        graph.blocks[join]
            .predecessors
            .iter()
            .position(|&p| p == from)
    };
    let (Some(a), Some(b)) = (at(graph, from_yes), at(graph, from_no)) else {
        return false;
    };
    if join == n || a == b {
        return false;
    }
    for from in [from_yes, from_no] {
        if from != n {
            let body = std::mem::take(&mut graph.blocks[from].body);
            graph.blocks[n].body.extend(body);
        }
    }
    for phi in graph.blocks[join].phis.clone() {
        let args = graph.nodes[phi.index()].args.clone();
        let (x, y) = (args[a], args[b]);
        let chosen = if x == y {
            x
        } else {
            select(graph, n, [condition, x, y])
        };
        graph.nodes[phi.index()].args[a] = chosen;
    }
    graph.blocks[join].predecessors[a] = n;
    for phi in graph.blocks[join].phis.clone() {
        graph.nodes[phi.index()].args.remove(b);
    }
    graph.blocks[join].predecessors.remove(b);
    for from in [from_yes, from_no].into_iter().filter(|&from| from != n) {
        graph.blocks[from].predecessors.clear();
        graph.blocks[from].exit = Exit::Return(None);
    }
    graph.blocks[n].exit = Exit::Jump(join);
    true
}

fn select(graph: &mut Graph, n: usize, args: [Value; 3]) -> Value {
    let (dst, condition, a, b) = (Slot(0), Slot(0), Slot(0), Slot(0));
    let inst = Inst::Select {
        dst,
        condition,
        a,
        b,
    };
    let origin = graph.blocks[n].exit_origin;
    let value = graph.node(Kind::Op(inst), args.to_vec(), origin);
    graph.blocks[n].body.push(value);
    value
}

/// Where a side of an `if` leads, if it is short and harmless.
fn side(graph: &Graph, from: usize, block: usize) -> Option<usize> {
    let body = &graph.blocks[block];
    let Exit::Jump(to) = body.exit else {
        return None;
    };
    let cheap = body
        .body
        .iter()
        .all(|&value| is_pure(graph, value) && !is_slow(graph, value));
    let alone = body.predecessors == [from] && body.phis.is_empty() && block != 0;
    (alone && cheap && body.body.len() <= CHEAP && to != block).then_some(to)
}

fn is_slow(graph: &Graph, value: Value) -> bool {
    matches!(
        graph.op(value),
        Some((
            Inst::Binary {
                op: BinaryOp::Div | BinaryOp::Rem,
                ..
            },
            _
        ))
    )
}
