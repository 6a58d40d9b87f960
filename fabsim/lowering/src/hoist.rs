//! Loop-invariant motion: what a loop computes anew each time from values that do not change moves
//! before it; loads only where they are sure to be executed and nothing in the loop writes there.

use crate::alias::{effect, Effect, Variables};
use crate::dead::is_pure;
use crate::graph::{Exit, Graph, Kind, Value};
use crate::order::{dominates, dominators, loops, Loop};
use fabsim_program::program::Inst;

/// Moves what is invariant into the block before each loop, inner loops first.
pub fn run(graph: &mut Graph, variables: &Variables) {
    let order = graph.order();
    let before = graph.predecessors();
    let idom = dominators(&order, &before);
    for l in loops(&order, &before, &idom) {
        let outside: Vec<usize> = before[l.header]
            .iter()
            .copied()
            .filter(|p| !l.blocks.contains(p))
            .collect();
        let [entry] = outside.as_slice() else {
            continue;
        };
        if graph.blocks[*entry].exit == Exit::Jump(l.header) {
            move_out(graph, variables, &l, *entry, (&order, &idom));
        }
    }
}

fn move_out(
    graph: &mut Graph,
    variables: &Variables,
    l: &Loop,
    entry: usize,
    (order, idom): (&[usize], &[Option<usize>]),
) {
    let mut inside = vec![false; graph.nodes.len()];
    let mut effects = Vec::new();
    for &n in &l.blocks {
        for value in graph.blocks[n].phis.iter().chain(&graph.blocks[n].body) {
            inside[value.index()] = true;
            effects.push(effect(graph, variables, *value));
        }
    }
    let waits = only_waits(graph, variables, l, (order, &inside, &effects));
    for &n in order.iter().filter(|n| l.blocks.contains(n)) {
        let always = l.latches.iter().all(|&latch| dominates(idom, n, latch));
        for value in graph.blocks[n].body.clone() {
            let fixed = graph.nodes[value.index()]
                .args
                .iter()
                .all(|arg| !inside[arg.index()]);
            // A comparison stays with its jump: there are few condition flags.
            let compares = matches!(graph.op(value), Some((Inst::Compare { .. }, _)));
            if fixed
                && !compares
                && (is_pure(graph, value)
                    || always && !waits && is_fixed_load(graph, variables, value, &effects))
            {
                graph.blocks[n].body.retain(|&v| v != value);
                graph.blocks[entry].body.push(value);
                inside[value.index()] = false;
            }
        }
    }
}

/// Whether nothing in a loop changes what it ends by: it waits for memory that an asynchronous operation
/// writes, and has to read it every time.
fn only_waits(
    graph: &Graph,
    variables: &Variables,
    l: &Loop,
    (order, inside, effects): (&[usize], &[bool], &[Effect]),
) -> bool {
    let mut changes = inside.to_vec();
    for &n in order.iter().filter(|n| l.blocks.contains(n)) {
        for &value in &graph.blocks[n].body {
            let mut args = graph.nodes[value.index()].args.iter();
            let same = is_pure(graph, value) || is_fixed_load(graph, variables, value, effects);
            changes[value.index()] = !same || args.any(|arg| changes[arg.index()]);
        }
    }
    l.blocks.iter().all(|&n| match graph.blocks[n].exit {
        Exit::Branch(condition, yes, no) => {
            let leaves = !l.blocks.contains(&yes) || !l.blocks.contains(&no);
            !leaves || !changes[condition.index()]
        }
        Exit::Jump(_) => true,
        Exit::Return(_) => false,
    })
}

fn is_fixed_load(graph: &Graph, variables: &Variables, value: Value, effects: &[Effect]) -> bool {
    let Effect::Reads(place) = effect(graph, variables, value) else {
        return false;
    };
    debug_assert!(matches!(graph.nodes[value.index()].kind, Kind::Op(_)));
    place.is_memory()
        && effects.iter().all(|effect| match effect {
            Effect::None | Effect::Reads(_) => true,
            Effect::Writes(other) => !place.may_meet(other),
            Effect::All => false,
        })
}
