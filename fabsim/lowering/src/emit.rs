//! From values back to slots: layout of blocks, moves for phis, and the cycles of every instruction
//! as an in-order pipeline that issues one at a time takes them.

use crate::cfg::Origin;
use crate::code::{Code, Cost};
use crate::cost::{folded, latency, register_constant, Latency, ScalarTiming};
use crate::graph::{Exit, Graph, Value};
use crate::operands::{visit, written};
use crate::slots::Slots;
use fabsim_program::program::{BinaryOp, Inst, Slot};
use fabsim_program::quick_hash::{QuickMap, QuickSet};

/// Writes code for a graph; none if it needs too many slots.
pub fn run(graph: &Graph, table: &ScalarTiming) -> Option<Code> {
    let layout = graph.order();
    let slots = Slots::new(graph, &layout)?;
    let mut writer = Writer {
        graph,
        table,
        uses: graph.uses(),
        addresses: addresses(graph),
        folded: folded(graph),
        code: Code {
            slots: slots.count + 1, // the last one breaks cycles of moves
            params: graph.params,
            ..Code::default()
        },
        slots,
        constants: QuickMap::default(),
        starts: vec![0; graph.blocks.len()],
        jumps: Vec::new(),
    };
    for (at, &n) in layout.iter().enumerate() {
        writer.starts[n] = writer.code.insts.len() as u32;
        writer.block(n, layout.get(at + 1).copied());
    }
    writer.edges();
    let fits = usize::from(writer.code.slots) + writer.constants.len() < usize::from(u16::MAX);
    fits.then_some(writer.code)
}

fn addresses(graph: &Graph) -> Vec<bool> {
    let mut found = vec![false; graph.nodes.len()];
    for value in graph.blocks.iter().flat_map(|block| &block.body) {
        if let Some((Inst::Load { .. } | Inst::Store { .. }, args)) = graph.op(*value) {
            let sum = matches!(
                graph.op(args[0]),
                Some((
                    Inst::Binary {
                        op: BinaryOp::Add,
                        ..
                    },
                    _
                ))
            );
            found[args[0].index()] |= sum;
        }
    }
    found
}

struct Writer<'a> {
    graph: &'a Graph,
    table: &'a ScalarTiming,
    uses: Vec<u32>,
    /// Values that are addresses of loads and stores.
    addresses: Vec<bool>,
    folded: Vec<bool>,
    code: Code,
    slots: Slots,
    constants: QuickMap<u64, Slot>,
    /// The first instruction of every block.
    starts: Vec<u32>,
    /// Jumps to be led to a block along an edge: instruction, from, to.
    jumps: Vec<(usize, usize, usize)>,
}

impl Writer<'_> {
    fn slot(&mut self, value: Value) -> Slot {
        let Some(bits) = self.graph.bits(value) else {
            return Slot(self.slots.of(value));
        };
        let next = Slot(self.code.slots + self.code.constants.len() as u16);
        let slot = *self.constants.entry(bits).or_insert(next);
        if slot == next {
            self.code.constants.push(bits);
        }
        slot
    }

    /// The constant operand that has to be in a register first, if it is one.
    fn needs_register(&self, value: Value, n: usize) -> Option<u64> {
        let base = self.graph.nodes[value.index()].args.get(n);
        let base = base.and_then(|&arg| self.graph.bits(arg));
        // Where variables lie is known to the linker only.
        match base.filter(|_| self.addresses[value.index()]) {
            Some(bits) => Some(bits),
            None => register_constant(self.graph, value, n),
        }
    }

    fn push(&mut self, inst: Inst, (next, taken): (u64, u64), origin: Origin) -> usize {
        let short = |cycles: u64| cycles.min(u64::from(u16::MAX)) as u16;
        self.code.insts.push(inst);
        self.code.costs.push(Cost {
            next: short(next),
            taken: short(taken),
        });
        self.code.origins.push(origin);
        self.code.insts.len() - 1
    }

    fn block(&mut self, n: usize, next: Option<usize>) {
        let mut pipeline = Pipeline::default();
        for &value in &self.graph.blocks[n].body {
            let node = &self.graph.nodes[value.index()];
            let crate::graph::Kind::Op(template) = &node.kind else {
                continue;
            };
            let cycles = pipeline.issue(self, value);
            let mut inst = template.clone();
            let mut args = node.args.iter();
            let mut read = |slot: &mut Slot| {
                if let Some(&arg) = args.next() {
                    *slot = self.slot(arg);
                }
            };
            visit(&mut inst, &mut read, &mut |_| {});
            if written(&inst).is_some() {
                let to = Slot(self.slots.of(value));
                visit(&mut inst, &mut |_| {}, &mut |slot| *slot = to);
            }
            let taken = match inst {
                Inst::Call { .. } | Inst::CallPointer { .. } => self.table.call_cycles,
                _ => 0,
            };
            self.push(inst, (cycles, taken), node.origin);
        }
        self.exit(n, next);
    }

    fn exit(&mut self, n: usize, next: Option<usize>) {
        let origin = self.graph.blocks[n].exit_origin;
        let (taken, untaken) = (self.table.taken_jump_cycles, self.table.untaken_jump_cycles);
        match self.graph.blocks[n].exit {
            Exit::Jump(to) if self.only_returns(to) => {
                self.moves(n, to, origin);
                self.exit(to, None);
            }
            Exit::Jump(to) => {
                self.moves(n, to, origin);
                if next != Some(to) {
                    let at = self.push(Inst::Jump { to: 0 }, (0, taken), origin);
                    self.jumps.push((at, usize::MAX, to));
                }
            }
            Exit::Branch(condition, yes, no) => {
                let condition = self.slot(condition);
                let follows = |writer: &Writer, to: usize| {
                    next == Some(to) && writer.needed_moves(n, to).is_empty()
                };
                let (when, to, other) = if follows(self, yes) {
                    (false, no, yes)
                } else {
                    (true, yes, no)
                };
                let at = self.push(
                    Inst::Branch {
                        condition,
                        when,
                        to: 0,
                    },
                    (untaken, taken),
                    origin,
                );
                self.jumps.push((at, n, to));
                if !follows(self, other) {
                    let at = self.push(Inst::Jump { to: 0 }, (0, taken), origin);
                    self.jumps.push((at, n, other));
                }
            }
            Exit::Return(value) => {
                let src = value.map(|value| self.slot(value));
                let cycles = (self.table.task_return_cycles, self.table.return_cycles);
                self.push(Inst::Return { src }, cycles, origin);
            }
        }
    }

    /// Whether a block does nothing but return: no jump leads there, but the return is repeated.
    fn only_returns(&self, n: usize) -> bool {
        let block = &self.graph.blocks[n];
        block.body.is_empty() && matches!(block.exit, Exit::Return(_))
    }

    /// Leads jumps to their blocks, through blocks of moves where an edge needs some.
    fn edges(&mut self) {
        for (at, from, to) in std::mem::take(&mut self.jumps) {
            let mut target = self.starts[to];
            if from != usize::MAX && !self.needed_moves(from, to).is_empty() {
                target = self.code.insts.len() as u32;
                let origin = self.graph.blocks[from].exit_origin;
                self.moves(from, to, origin);
                // The moves stand in for the end of the block before: their jump is that block's.
                self.push(
                    Inst::Jump {
                        to: self.starts[to],
                    },
                    (0, 0),
                    origin,
                );
            }
            if let Inst::Jump { to } | Inst::Branch { to, .. } = &mut self.code.insts[at] {
                *to = target;
            }
        }
    }

    /// Moves into the phis of `to` along an edge: (slot, value).
    fn needed_moves(&self, from: usize, to: usize) -> Vec<(u16, Value)> {
        let Some(at) = self.graph.blocks[to]
            .predecessors
            .iter()
            .position(|&p| p == from)
        else {
            return Vec::new();
        };
        let phis = self.graph.blocks[to].phis.iter();
        let move_of = |phi: &Value| (self.slots.of(*phi), self.graph.nodes[phi.index()].args[at]);
        phis.map(move_of)
            .filter(|(slot, arg)| self.graph.bits(*arg).is_some() || self.slots.of(*arg) != *slot)
            .collect()
    }

    /// All at once: a move waits while its target is still to be read; a cycle is broken.
    fn moves(&mut self, from: usize, to: usize, origin: Origin) {
        let needed = self.needed_moves(from, to);
        let mut open: Vec<(Slot, Slot)> = Vec::new();
        for (dst, value) in needed {
            open.push((Slot(dst), self.slot(value)));
        }
        let spare = Slot(self.code.slots - 1);
        let one = self.table.instruction_cycles;
        while !open.is_empty() {
            let free = open
                .iter()
                .position(|(dst, _)| open.iter().all(|(_, src)| src != dst));
            let (dst, src) = match free {
                Some(at) => open.swap_remove(at),
                None => {
                    let first = open[0].1;
                    open.iter_mut()
                        .filter(|(_, src)| *src == first)
                        .for_each(|m| m.1 = spare);
                    (spare, first)
                }
            };
            self.push(Inst::Copy { dst, src }, (one, 0), origin);
        }
    }
}

/// When results of a block can be used.
#[derive(Default)]
struct Pipeline {
    now: u64,
    ready: QuickMap<Value, u64>,
    /// When a store can follow: it takes a float later than arithmetic does.
    storable: QuickMap<Value, u64>,
    /// Constants that are in registers.
    loaded: QuickSet<u64>,
    /// What has been divided by what: quotient and remainder are two results of one routine.
    divided: QuickSet<(Value, Value)>,
}

impl Pipeline {
    /// Cycles until the next instruction can follow this one, which waits for its operands first.
    fn issue(&mut self, writer: &Writer, value: Value) -> u64 {
        let args = &writer.graph.nodes[value.index()].args;
        let inputs = self.inputs(writer, value);
        if writer.folded[value.index()] {
            self.ready.insert(value, inputs);
            return 0;
        }
        let mut latency = latency(writer.graph, &writer.uses, value, writer.table);
        if self.is_other_result(writer, value) {
            let issue = latency.issue.min(2 * writer.table.instruction_cycles);
            latency = Latency {
                issue,
                result: issue,
            };
        }
        let mut issue = latency.issue;
        for n in 0..args.len().min(2) {
            if let Some(bits) = writer.needs_register(value, n) {
                let offset = folded_offset(writer, args);
                if self.loaded.insert(bits.wrapping_add(offset)) {
                    issue += writer.table.instruction_cycles;
                }
            }
        }
        // Constants are loaded while an operand is on its way.
        let start = self.now;
        self.now = (start + issue).max(inputs + latency.issue);
        let done = self.now - latency.issue + latency.result;
        self.ready.insert(value, done);
        if is_float_arithmetic(writer, value) {
            self.storable.insert(value, self.now);
        }
        self.now - start
    }

    /// When the operands of an instruction can be used.
    fn inputs(&self, writer: &Writer, value: Value) -> u64 {
        let stores = matches!(writer.graph.op(value), Some((Inst::Store { .. }, _)));
        let args = writer.graph.nodes[value.index()].args.iter().enumerate();
        let times = args.filter_map(|(n, arg)| {
            let stored = self.storable.get(arg).filter(|_| stores && n == 1);
            stored.or_else(|| self.ready.get(arg)).copied()
        });
        times.max().unwrap_or(0)
    }

    /// Whether the same numbers have been divided before: a product and a difference remain to be done.
    fn is_other_result(&mut self, writer: &Writer, value: Value) -> bool {
        match writer.graph.op(value) {
            Some((
                Inst::Binary {
                    op: BinaryOp::Div | BinaryOp::Rem,
                    ty,
                    ..
                },
                [a, b],
            )) if !ty.is_float() => !self.divided.insert((*a, *b)),
            _ => false,
        }
    }
}

fn is_float_arithmetic(writer: &Writer, value: Value) -> bool {
    match writer.graph.op(value) {
        Some((Inst::Binary { ty, .. } | Inst::Unary { ty, .. }, _)) => ty.is_float(),
        _ => false,
    }
}

/// The constant that an operand, part of this sum, adds to its base.
fn folded_offset(writer: &Writer, args: &[Value]) -> u64 {
    let inner = args.iter().find(|arg| writer.folded[arg.index()]);
    let constant = inner
        .and_then(|&inner| writer.graph.op(inner))
        .and_then(|(_, args)| args.get(1));
    constant.and_then(|&c| writer.graph.bits(c)).unwrap_or(0)
}
