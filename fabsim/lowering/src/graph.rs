//! The typed representation: blocks of values in static single assignment form.
//!
//! A value is an instruction with its operands as values; its slots mean nothing any more. Constants
//! and parameters belong to no block. Copies do not exist.

use crate::cfg::{Cfg, End, Origin};
use crate::operands::{for_each_read, visit, written};
use crate::order::reverse_postorder;
use fabsim_program::program::{Inst, Slot};
use fabsim_program::quick_hash::QuickMap;

/// A value, by its place in `Graph::nodes`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Value(pub u32);

impl Value {
    /// Its place in `Graph::nodes`.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What makes a value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// A number known in advance.
    Const(u64),
    /// The argument of this number.
    Param(u16),
    /// One operand for each predecessor of its block, in their order.
    Phi,
    /// The slots of the instruction are those it had; its operands are the node's.
    Op(Inst),
}

/// A value's definition.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it does.
    pub kind: Kind,
    /// The values it takes.
    pub args: Vec<Value>,
    /// Where it was written.
    pub origin: Origin,
}

/// How a block of values ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Exit {
    /// Goes on with a block.
    Jump(usize),
    /// To the first block if the condition is true, else to the second.
    Branch(Value, usize, usize),
    /// Leaves the function, with a value if it has one.
    Return(Option<Value>),
}

impl Exit {
    /// The blocks that may follow.
    pub fn targets(&self) -> impl DoubleEndedIterator<Item = usize> {
        let (first, second) = match self {
            Exit::Jump(to) => (Some(*to), None),
            Exit::Branch(_, yes, no) => (Some(*yes), Some(*no)),
            Exit::Return(_) => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// The value it looks at.
    pub fn value(&mut self) -> Option<&mut Value> {
        match self {
            Exit::Branch(value, ..) | Exit::Return(Some(value)) => Some(value),
            Exit::Jump(_) | Exit::Return(None) => None,
        }
    }
}

/// A block of values.
#[derive(Clone, Debug)]
pub struct Block {
    /// Values that depend on where it is entered from.
    pub phis: Vec<Value>,
    /// The others, in the order in which they are worked out.
    pub body: Vec<Value>,
    /// What follows it.
    pub exit: Exit,
    /// Where that was written.
    pub exit_origin: Origin,
    /// The blocks it is entered from.
    pub predecessors: Vec<usize>,
}

/// A function in static single assignment form. Block 0 is the entry; blocks that cannot be reached
/// are empty.
#[derive(Clone, Debug)]
pub struct Graph {
    /// All values, by number.
    pub nodes: Vec<Node>,
    /// All blocks; the first one is entered.
    pub blocks: Vec<Block>,
    /// How many arguments the function takes.
    pub params: u16,
    constants: QuickMap<u64, Value>,
}

impl Graph {
    /// The form of blocks with slots; both number blocks alike.
    pub fn new(cfg: &Cfg) -> Graph {
        let mut graph = Graph {
            nodes: Vec::new(),
            blocks: Vec::new(),
            params: cfg.params,
            constants: QuickMap::default(),
        };
        let order = reverse_postorder(cfg.blocks.len(), |n| cfg.blocks[n].end.targets());
        graph.add_blocks(cfg, &order);
        let live = live_at_start(cfg);
        let params =
            (0..cfg.params).map(|n| graph.node(Kind::Param(n), Vec::new(), Origin::default()));
        let params: Vec<Value> = params.collect();
        let zero = graph.constant(0);
        let mut ends: Vec<Vec<Value>> = vec![Vec::new(); cfg.blocks.len()];
        let mut phi_slots: Vec<Vec<usize>> = vec![Vec::new(); cfg.blocks.len()];
        for &n in &order {
            let mut slots = match graph.blocks[n].predecessors.as_slice() {
                [] => {
                    let mut slots = vec![zero; usize::from(cfg.slots)];
                    slots[..params.len()].copy_from_slice(&params);
                    slots
                }
                // Comes before: it is on the only way here.
                [single] => graph.handed_on(cfg, *single, n, &mut ends),
                _ => {
                    let mut slots = vec![zero; usize::from(cfg.slots)];
                    phi_slots[n] = (0..slots.len()).filter(|&s| has(&live[n], s)).collect();
                    for &slot in &phi_slots[n] {
                        let origin = cfg.blocks[n].end_origin;
                        slots[slot] = graph.node(Kind::Phi, Vec::new(), origin);
                        graph.blocks[n].phis.push(slots[slot]);
                    }
                    slots
                }
            };
            graph.add_code(cfg, n, &mut slots);
            ends[n] = slots;
        }
        for &n in &order {
            for (at, &slot) in phi_slots[n].iter().enumerate() {
                let before = graph.blocks[n].predecessors.iter();
                let args = before.map(|&p| ends[p][slot]).collect();
                let phi = graph.blocks[n].phis[at];
                graph.nodes[phi.index()].args = args;
            }
        }
        graph
    }

    /// What the slots hold at the end of the one block before this: itself, if nobody else will ask for
    /// it, else a copy.
    fn handed_on(&self, cfg: &Cfg, from: usize, to: usize, ends: &mut [Vec<Value>]) -> Vec<Value> {
        let mut others = cfg.blocks[from].end.targets().filter(|&other| other != to);
        match others.next() {
            None => std::mem::take(&mut ends[from]),
            Some(_) => ends[from].clone(),
        }
    }

    fn add_blocks(&mut self, cfg: &Cfg, order: &[usize]) {
        let mut reached = vec![false; cfg.blocks.len()];
        order.iter().for_each(|&n| reached[n] = true);
        let predecessors = cfg.predecessors();
        for (n, before) in predecessors.into_iter().enumerate() {
            self.blocks.push(Block {
                phis: Vec::new(),
                body: Vec::new(),
                exit: Exit::Return(None),
                exit_origin: cfg.blocks[n].end_origin,
                predecessors: before.into_iter().filter(|&p| reached[p]).collect(),
            });
        }
    }

    fn add_code(&mut self, cfg: &Cfg, n: usize, slots: &mut [Value]) {
        for (inst, origin) in &cfg.blocks[n].code {
            match inst {
                Inst::Const { dst, bits } => slots[usize::from(dst.0)] = self.constant(*bits),
                Inst::Copy { dst, src } => slots[usize::from(dst.0)] = slots[usize::from(src.0)],
                _ => {
                    let (blank, args, to) = operation(inst, slots);
                    let value = self.node(Kind::Op(blank), args, *origin);
                    self.blocks[n].body.push(value);
                    if let Some(to) = to {
                        slots[usize::from(to.0)] = value;
                    }
                }
            }
        }
        let of = |slot: &Slot| slots[usize::from(slot.0)];
        self.blocks[n].exit = match &cfg.blocks[n].end {
            End::Jump(to) => Exit::Jump(*to),
            End::Branch(condition, yes, no) => Exit::Branch(of(condition), *yes, *no),
            End::Return(src) => Exit::Return(src.as_ref().map(of)),
        };
    }

    /// A new value.
    pub fn node(&mut self, kind: Kind, args: Vec<Value>, origin: Origin) -> Value {
        self.nodes.push(Node { kind, args, origin });
        Value(self.nodes.len() as u32 - 1)
    }

    /// The value of these bits.
    pub fn constant(&mut self, bits: u64) -> Value {
        if let Some(known) = self.constants.get(&bits) {
            return *known;
        }
        let value = self.node(Kind::Const(bits), Vec::new(), Origin::default());
        self.constants.insert(bits, value);
        value
    }

    /// The bits of a constant.
    pub fn bits(&self, value: Value) -> Option<u64> {
        match self.nodes[value.index()].kind {
            Kind::Const(bits) => Some(bits),
            _ => None,
        }
    }

    /// The instruction behind a value, and its operands.
    pub fn op(&self, value: Value) -> Option<(&Inst, &[Value])> {
        match &self.nodes[value.index()] {
            Node {
                kind: Kind::Op(inst),
                args,
                ..
            } => Some((inst, args)),
            _ => None,
        }
    }

    /// Blocks that can be reached, in reverse postorder.
    pub fn order(&self) -> Vec<usize> {
        reverse_postorder(self.blocks.len(), |n| self.blocks[n].exit.targets())
    }

    /// Predecessors of every block.
    pub fn predecessors(&self) -> Vec<Vec<usize>> {
        self.blocks.iter().map(|b| b.predecessors.clone()).collect()
    }

    /// Puts other values in the place of some; `instead[v]` is `v` itself where it stays.
    pub fn replace(&mut self, instead: &[Value]) {
        let last = |mut value: Value| {
            while instead
                .get(value.index())
                .is_some_and(|&next| next != value)
            {
                value = instead[value.index()];
            }
            value
        };
        for node in &mut self.nodes {
            node.args.iter_mut().for_each(|arg| *arg = last(*arg));
        }
        for block in &mut self.blocks {
            if let Some(value) = block.exit.value() {
                *value = last(*value);
            }
            let stays = |v: &Value| instead.get(v.index()).map_or(true, |to| to == v);
            block.phis.retain(stays);
            block.body.retain(stays);
        }
    }

    /// `from` no longer leads to `to` by one of its edges.
    pub fn remove_edge(&mut self, from: usize, to: usize) {
        let Some(at) = self.blocks[to].predecessors.iter().position(|&p| p == from) else {
            return;
        };
        self.blocks[to].predecessors.remove(at);
        for phi in self.blocks[to].phis.clone() {
            self.nodes[phi.index()].args.remove(at);
        }
    }

    /// Empties what can no longer be reached.
    pub fn drop_unreachable(&mut self) {
        let mut reached = vec![false; self.blocks.len()];
        self.order().iter().for_each(|&n| reached[n] = true);
        for n in (0..self.blocks.len()).filter(|&n| !reached[n]) {
            for to in self.blocks[n].exit.targets() {
                self.remove_edge(n, to);
            }
            self.blocks[n].exit = Exit::Return(None);
            self.blocks[n].body.clear();
            self.blocks[n].phis.clear();
        }
    }

    /// How often each value is used.
    pub fn uses(&self) -> Vec<u32> {
        let mut uses = vec![0; self.nodes.len()];
        for block in &self.blocks {
            for value in block.phis.iter().chain(&block.body) {
                for arg in &self.nodes[value.index()].args {
                    uses[arg.index()] += 1;
                }
            }
            if let Some(value) = block.exit.clone().value() {
                uses[value.index()] += 1;
            }
        }
        uses
    }
}

/// The instruction with all its slots made alike, so that equal operations are equal; the values it
/// reads, and the slot it writes.
fn operation(inst: &Inst, slots: &[Value]) -> (Inst, Vec<Value>, Option<Slot>) {
    let (mut inst, mut args, mut to) = (inst.clone(), Vec::new(), None);
    let mut read = |slot: &mut Slot| {
        args.push(slots[usize::from(slot.0)]);
        *slot = Slot(0);
    };
    let mut write = |slot: &mut Slot| to = Some(std::mem::replace(slot, Slot(0)));
    visit(&mut inst, &mut read, &mut write);
    (inst, args, to)
}

fn has(bits: &[u64], slot: usize) -> bool {
    bits[slot / 64] >> (slot % 64) & 1 == 1
}

/// The slots that a block reads before it writes them, and those it writes: a bit each.
fn read_and_written(block: &crate::cfg::Block, words: usize) -> (Vec<u64>, Vec<u64>) {
    let (mut first_read, mut all_written) = (vec![0; words], vec![0; words]);
    let place = |slot: Slot| (usize::from(slot.0) / 64, 1u64 << (slot.0 % 64));
    let mut read = |slot: Slot, written: &[u64]| {
        let (word, bit) = place(slot);
        first_read[word] |= bit & !written[word];
    };
    for (inst, _) in &block.code {
        for_each_read(inst, |slot| read(slot, &all_written));
        if let Some(slot) = written(inst) {
            let (word, bit) = place(slot);
            all_written[word] |= bit;
        }
    }
    match &block.end {
        End::Branch(slot, ..) | End::Return(Some(slot)) => read(*slot, &all_written),
        End::Jump(_) | End::Return(None) => {}
    }
    (first_read, all_written)
}

/// For every block a bit per slot that is read before it is written from there on.
fn live_at_start(cfg: &Cfg) -> Vec<Vec<u64>> {
    let words = usize::from(cfg.slots).div_ceil(64).max(1);
    let blocks = cfg.blocks.iter();
    let own: Vec<_> = blocks.map(|block| read_and_written(block, words)).collect();
    let mut live = vec![vec![0u64; words]; cfg.blocks.len()];
    let mut bits = vec![0u64; words];
    let mut changed = true;
    while changed {
        changed = false;
        for (n, (read, written)) in own.iter().enumerate().rev() {
            bits.fill(0);
            for to in cfg.blocks[n].end.targets() {
                let next = live[to].iter();
                bits.iter_mut()
                    .zip(next)
                    .for_each(|(bit, next)| *bit |= next);
            }
            let own = read.iter().zip(written);
            let all = bits.iter_mut().zip(own);
            all.for_each(|(bit, (read, written))| *bit = *bit & !written | read);
            if bits != live[n] {
                live[n].copy_from_slice(&bits);
                changed = true;
            }
        }
    }
    live
}
