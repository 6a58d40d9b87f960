//! Orders, dominators and natural loops of a control-flow graph given by its edges.

use std::collections::BTreeSet;

/// Blocks that can be reached from block 0, each before those it leads to, but for back edges.
pub fn reverse_postorder<T: DoubleEndedIterator<Item = usize>>(
    count: usize,
    targets: impl Fn(usize) -> T,
) -> Vec<usize> {
    let mut seen = vec![false; count];
    let mut order = Vec::with_capacity(count);
    let mut stack = vec![(0, targets(0))];
    seen[0] = true;
    while let Some((block, to)) = stack.last_mut() {
        // The last target first, so that the first follows its block in the result.
        let Some(target) = to.next_back() else {
            order.push(*block);
            stack.pop();
            continue;
        };
        if !std::mem::replace(&mut seen[target], true) {
            stack.push((target, targets(target)));
        }
    }
    order.reverse();
    order
}

/// The immediate dominator of every block that can be reached; block 0 and others have none.
pub fn dominators(order: &[usize], predecessors: &[Vec<usize>]) -> Vec<Option<usize>> {
    let mut rank = vec![usize::MAX; predecessors.len()];
    for (n, &block) in order.iter().enumerate() {
        rank[block] = n;
    }
    let mut idom: Vec<Option<usize>> = vec![None; predecessors.len()];
    let meet = |idom: &[Option<usize>], mut a: usize, mut b: usize| {
        while a != b {
            while rank[a] > rank[b] {
                a = idom[a].unwrap_or(0);
            }
            while rank[b] > rank[a] {
                b = idom[b].unwrap_or(0);
            }
        }
        a
    };
    let mut changed = true;
    while changed {
        changed = false;
        for &block in order.iter().skip(1) {
            let known = predecessors[block].iter().copied();
            let mut known = known.filter(|&p| p == 0 || idom[p].is_some());
            let Some(first) = known.next() else { continue };
            let new = known.fold(first, |a, b| meet(&idom, a, b));
            if idom[block] != Some(new) {
                idom[block] = Some(new);
                changed = true;
            }
        }
    }
    idom
}

/// Whether `a` is on every way to `b`.
pub fn dominates(idom: &[Option<usize>], a: usize, b: usize) -> bool {
    let mut at = Some(b);
    while let Some(block) = at {
        if block == a {
            return true;
        }
        at = idom[block];
    }
    false
}

/// A natural loop: its header, the blocks that jump back to it, and all its blocks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loop {
    /// The block it is entered by.
    pub header: usize,
    /// The blocks that go back to it.
    pub latches: Vec<usize>,
    /// All blocks of it.
    pub blocks: BTreeSet<usize>,
}

/// The loops of a graph, inner ones first; one a header.
pub fn loops(order: &[usize], predecessors: &[Vec<usize>], idom: &[Option<usize>]) -> Vec<Loop> {
    let mut found = Vec::new();
    for &header in order {
        let back = predecessors[header].iter().copied();
        let mut latches: Vec<usize> = back
            .filter(|&latch| {
                (latch == 0 || idom[latch].is_some()) && dominates(idom, header, latch)
            })
            .collect();
        latches.dedup();
        if latches.is_empty() {
            continue;
        }
        let mut blocks = BTreeSet::from([header]);
        let mut open = latches.clone();
        while let Some(block) = open.pop() {
            if blocks.insert(block) {
                open.extend(
                    predecessors[block]
                        .iter()
                        .filter(|&&p| p == 0 || idom[p].is_some()),
                );
            }
        }
        found.push(Loop {
            header,
            latches,
            blocks,
        });
    }
    found.sort_by_key(|l| l.blocks.len());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0 -> 1 -> 2 -> 1, 1 -> 3, and 4 unreachable.
    const EDGES: [&[usize]; 5] = [&[1], &[2, 3], &[1], &[], &[1]];

    #[test]
    fn a_loop_is_found_by_its_back_edge_and_dead_blocks_do_not_count() {
        let order = reverse_postorder(5, |n| EDGES[n].iter().copied());
        assert_eq!(order, [0, 1, 2, 3]);
        let predecessors = vec![vec![], vec![0, 2, 4], vec![1], vec![1], vec![]];
        let idom = dominators(&order, &predecessors);
        assert_eq!(idom, [None, Some(0), Some(1), Some(1), None]);
        let found = loops(&order, &predecessors, &idom);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].latches, [2]);
        assert_eq!(found[0].blocks, BTreeSet::from([1, 2]));
    }
}
