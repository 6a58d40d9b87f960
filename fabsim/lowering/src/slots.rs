//! Slots for values: phis share one with their operands where both are never needed at once.

use crate::graph::{Graph, Kind, Value};

/// A stretch of code in which a value is needed, both ends included.
type Range = (u32, u32);

/// Which values share a slot, and which slot.
#[derive(Debug)]
pub struct Slots {
    class: Vec<u32>,
    slot: Vec<u16>,
    /// How many are in use.
    pub count: u16,
}

impl Slots {
    /// Slots for the values of a graph laid out in this order; none if there are too many.
    pub fn new(graph: &Graph, layout: &[usize]) -> Option<Slots> {
        let mut classes = Classes::new(graph, layout);
        for &n in layout {
            for &phi in &graph.blocks[n].phis {
                for &arg in &graph.nodes[phi.index()].args {
                    if graph.bits(arg).is_none() {
                        classes.join(phi.0, arg.0);
                    }
                }
            }
        }
        let mut slot = vec![u16::MAX; graph.nodes.len()];
        for (n, node) in graph.nodes.iter().enumerate() {
            if let Kind::Param(param) = node.kind {
                slot[classes.find(n as u32) as usize] = param;
            }
        }
        let mut next = graph.params;
        let values = layout
            .iter()
            .flat_map(|&n| graph.blocks[n].phis.iter().chain(&graph.blocks[n].body));
        for value in values {
            let class = classes.find(value.0) as usize;
            if slot[class] == u16::MAX {
                slot[class] = next;
                next = next.checked_add(1).filter(|&n| n < 30_000)?;
            }
        }
        let class = (0..graph.nodes.len() as u32)
            .map(|n| classes.find(n))
            .collect();
        Some(Slots {
            class,
            slot,
            count: next,
        })
    }

    /// The slot of a value that is no constant.
    pub fn of(&self, value: Value) -> u16 {
        self.slot[self.class[value.index()] as usize]
    }
}

struct Classes {
    parent: Vec<u32>,
    ranges: Vec<Vec<Range>>,
    pinned: Vec<bool>,
}

impl Classes {
    fn new(graph: &Graph, layout: &[usize]) -> Classes {
        let pinned = graph
            .nodes
            .iter()
            .map(|node| matches!(node.kind, Kind::Param(_)));
        Classes {
            parent: (0..graph.nodes.len() as u32).collect(),
            ranges: ranges(graph, layout),
            pinned: pinned.collect(),
        }
    }

    fn find(&mut self, value: u32) -> u32 {
        let mut root = value;
        while self.parent[root as usize] != root {
            root = self.parent[root as usize];
        }
        self.parent[value as usize] = root;
        root
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        let both = self.pinned[a as usize] && self.pinned[b as usize];
        if a == b || both || meet(&self.ranges[a as usize], &self.ranges[b as usize]) {
            return;
        }
        let more = std::mem::take(&mut self.ranges[b as usize]);
        self.ranges[a as usize].extend(more);
        self.ranges[a as usize].sort_unstable();
        self.pinned[a as usize] |= self.pinned[b as usize];
        self.parent[b as usize] = a;
    }
}

/// Whether two sorted lists of ranges share a point.
fn meet(a: &[Range], b: &[Range]) -> bool {
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        if x.1 < y.0 {
            i += 1;
        } else if y.1 < x.0 {
            j += 1;
        } else {
            return true;
        }
    }
    false
}

/// Where every value is needed, by places in the layout: an instruction reads at an even place and
/// writes at the odd one after it.
fn ranges(graph: &Graph, layout: &[usize]) -> Vec<Vec<Range>> {
    let live = live_at_end(graph, layout);
    let mut found: Vec<Vec<Range>> = vec![Vec::new(); graph.nodes.len()];
    let mut place = 0u32;
    for &n in layout {
        let block = &graph.blocks[n];
        let start = place;
        let end = start + 2 * (block.body.len() as u32 + 1);
        place = end + 2;
        let mut until: std::collections::BTreeMap<u32, u32> =
            bits(&live[n]).map(|v| (v, end)).collect();
        if let Some(value) = block.exit.clone().value() {
            until.entry(value.0).or_insert(end);
        }
        for (at, value) in block.body.iter().enumerate().rev() {
            let at = start + 2 * (at as u32 + 1);
            let last = until.remove(&value.0).unwrap_or(at + 1);
            found[value.index()].push((at + 1, last));
            for arg in &graph.nodes[value.index()].args {
                until.entry(arg.0).or_insert(at);
            }
        }
        for phi in &block.phis {
            until.entry(phi.0).or_insert(start);
        }
        for (value, last) in until {
            found[value as usize].push((start, last));
        }
    }
    found.iter_mut().for_each(|ranges| ranges.sort_unstable());
    found
}

fn bits(words: &[u64]) -> impl Iterator<Item = u32> + '_ {
    let ones = |(n, word): (usize, &u64)| {
        let word = *word;
        (0..64)
            .filter(move |bit| word >> bit & 1 == 1)
            .map(move |bit| (n * 64 + bit) as u32)
    };
    words.iter().enumerate().flat_map(ones)
}

/// Values needed at the end of each block, operands of the next blocks' phis included.
fn live_at_end(graph: &Graph, layout: &[usize]) -> Vec<Vec<u64>> {
    let words = graph.nodes.len().div_ceil(64);
    // Blocks that cannot be reached have none.
    let mut ends = vec![Vec::new(); graph.blocks.len()];
    layout.iter().for_each(|&n| ends[n] = vec![0u64; words]);
    let mut starts = ends.clone();
    let set = |bits: &mut [u64], v: Value| bits[v.index() / 64] |= 1 << (v.index() % 64);
    let clear = |bits: &mut [u64], v: Value| bits[v.index() / 64] &= !(1 << (v.index() % 64));
    let mut changed = true;
    while changed {
        changed = false;
        for &n in layout.iter().rev() {
            let block = &graph.blocks[n];
            let mut live = vec![0u64; words];
            for to in block.exit.targets() {
                let mut next = starts[to].clone();
                graph.blocks[to]
                    .phis
                    .iter()
                    .for_each(|&phi| clear(&mut next, phi));
                live.iter_mut()
                    .zip(&next)
                    .for_each(|(all, more)| *all |= more);
                let edges = graph.blocks[to].predecessors.iter().enumerate();
                for (at, _) in edges.filter(|(_, &p)| p == n) {
                    for phi in &graph.blocks[to].phis {
                        let arg = graph.nodes[phi.index()].args[at];
                        if graph.bits(arg).is_none() {
                            set(&mut live, arg);
                        }
                    }
                }
            }
            ends[n].copy_from_slice(&live);
            if let Some(value) = block.exit.clone().value() {
                set(&mut live, *value);
            }
            for &value in block.body.iter().rev() {
                clear(&mut live, value);
                graph.nodes[value.index()]
                    .args
                    .iter()
                    .for_each(|&arg| set(&mut live, arg));
            }
            block.phis.iter().for_each(|&phi| set(&mut live, phi));
            changed |= live != starts[n];
            starts[n] = live;
        }
    }
    ends
}
