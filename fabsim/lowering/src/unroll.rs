//! Full unrolling of innermost loops whose number of turns is known, in the form with slots.

use crate::cfg::{Cfg, End};
use crate::dead::is_constant;
use crate::graph::{Exit, Graph, Kind, Value};
use crate::order::{dominators, loops, Loop};
use crate::scalar::{binary, compare, convert};
use fabsim_program::program::Inst;
use fabsim_program::quick_hash::QuickMap;

/// Instructions that a fully unrolled loop may have: LLVM's threshold at -O2. Loops of 8 and 16 turns
/// and of about 8 instructions were seen unrolled, loops of 256 and more were not.
const UNROLLED: usize = 150;

/// Unrolls one loop, if there is one to be unrolled; `graph` is the folded form of `cfg`.
pub fn one(cfg: &mut Cfg, graph: &Graph) -> bool {
    let order = graph.order();
    let before = graph.predecessors();
    let idom = dominators(&order, &before);
    let all = loops(&order, &before, &idom);
    for l in &all {
        let innermost = !all
            .iter()
            .any(|o| o.header != l.header && l.blocks.contains(&o.header));
        let size = size(graph, l);
        if !innermost || size == 0 || size > UNROLLED {
            continue;
        }
        if let Some(turns) = turns(graph, l, &before, UNROLLED / size + 2) {
            if size * turns.saturating_sub(1) <= UNROLLED && turns > 1 {
                copy(cfg, l, turns);
                return true;
            }
        }
    }
    false
}

/// What one turn executes, the loop's own control left out.
fn size(graph: &Graph, l: &Loop) -> usize {
    let values = |n: &usize| {
        graph.blocks[*n]
            .body
            .iter()
            .filter(|v| !is_constant(graph, **v))
            .count()
    };
    l.blocks
        .iter()
        .map(values)
        .sum::<usize>()
        .saturating_sub(1)
        .max(1)
}

/// How often the header is entered, if that follows from constants: at most `most`.
fn turns(graph: &Graph, l: &Loop, before: &[Vec<usize>], most: usize) -> Option<usize> {
    let [latch] = l.latches.as_slice() else {
        return None;
    };
    let Exit::Branch(condition, yes, no) = graph.blocks[l.header].exit else {
        return None;
    };
    let stays = match (l.blocks.contains(&yes), l.blocks.contains(&no)) {
        (true, false) => true,
        (false, true) => false,
        _ => return None,
    };
    let from = |p: &usize| !l.blocks.contains(p);
    let outer = before[l.header].iter().position(from)?;
    let inner = before[l.header].iter().position(|p| p == latch)?;
    if before[l.header].len() != 2 {
        return None;
    }
    let phis = &graph.blocks[l.header].phis;
    let start = |phi: &Value| Some((*phi, graph.bits(graph.nodes[phi.index()].args[outer])?));
    let mut state: QuickMap<Value, u64> = phis.iter().filter_map(start).collect();
    for turn in 1..=most {
        if (evaluate(graph, &state, condition, 8)? & 1 == 1) != stays {
            return Some(turn);
        }
        let next = |phi: &Value| {
            let value = graph.nodes[phi.index()].args[inner];
            Some((*phi, evaluate(graph, &state, value, 8)?))
        };
        state = state.keys().filter_map(next).collect();
    }
    None
}

/// The bits of a value, given those of a loop's phis.
fn evaluate(graph: &Graph, state: &QuickMap<Value, u64>, value: Value, depth: u32) -> Option<u64> {
    if let Some(bits) = state.get(&value).copied().or_else(|| graph.bits(value)) {
        return Some(bits);
    }
    let deeper = depth.checked_sub(1)?;
    let node = &graph.nodes[value.index()];
    let arg = |n: usize| evaluate(graph, state, node.args[n], deeper);
    match &node.kind {
        Kind::Op(Inst::Binary { op, ty, .. }) => binary(*op, *ty, arg(0)?, arg(1)?).ok(),
        Kind::Op(Inst::Compare { op, ty, .. }) => {
            Some(u64::from(compare(*op, *ty, arg(0)?, arg(1)?)))
        }
        Kind::Op(Inst::Convert { from, to, .. }) => Some(convert(*from, *to, arg(0)?)),
        _ => None,
    }
}

/// One copy of the loop for every time its header is entered; only the last one leaves.
fn copy(cfg: &mut Cfg, l: &Loop, turns: usize) {
    let blocks: Vec<usize> = l.blocks.iter().copied().collect();
    let place = |n: usize| blocks.iter().position(|&b| b == n);
    let first = cfg.blocks.len();
    let at = |turn: usize, n: usize| {
        if turn == 0 {
            blocks[n]
        } else {
            first + (turn - 1) * blocks.len() + n
        }
    };
    let originals: Vec<_> = blocks.iter().map(|&n| cfg.blocks[n].clone()).collect();
    for turn in 0..turns {
        for (n, original) in originals.iter().enumerate() {
            let mut block = original.clone();
            let next = if turn + 1 < turns { turn + 1 } else { turn };
            block.end.redirect(|to| match place(to) {
                Some(header) if to == l.header => at(next, header),
                Some(other) => at(turn, other),
                None => to,
            });
            if turn == 0 {
                cfg.blocks[blocks[n]] = block;
            } else {
                cfg.blocks.push(block);
            }
        }
    }
    debug_assert!(cfg
        .blocks
        .iter()
        .all(|b| !matches!(b.end, End::Jump(to) if to >= cfg.blocks.len())));
}
