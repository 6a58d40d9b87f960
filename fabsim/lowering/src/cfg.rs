//! Slot code as basic blocks, still with variables in slots: the form in which whole blocks are
//! copied (inlining, rotation of loops, unrolling).

use fabsim_program::program::{Function, FunctionId, Inst, Slot};

/// Where an instruction comes from: a function and a place in its code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Origin {
    /// The function it was written in; where that was inlined, still that one.
    pub function: u32,
    /// Its place in that function's code.
    pub at: u32,
}

/// How a block ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// Goes on with a block.
    Jump(usize),
    /// To the first block if the condition is true, else to the second.
    Branch(Slot, usize, usize),
    /// Leaves the function, with a value if it has one.
    Return(Option<Slot>),
}

impl End {
    /// The blocks that may follow.
    pub fn targets(&self) -> impl DoubleEndedIterator<Item = usize> {
        let (first, second) = match self {
            End::Jump(to) => (Some(*to), None),
            End::Branch(_, yes, no) => (Some(*yes), Some(*no)),
            End::Return(_) => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// Leads somewhere else where `change` says so.
    pub fn redirect(&mut self, change: impl Fn(usize) -> usize) {
        match self {
            End::Jump(to) => *to = change(*to),
            End::Branch(_, yes, no) => (*yes, *no) = (change(*yes), change(*no)),
            End::Return(_) => {}
        }
    }
}

/// Straight code with one entry and one end.
#[derive(Clone, Debug)]
pub struct Block {
    /// Its instructions, and where each was written.
    pub code: Vec<(Inst, Origin)>,
    /// What follows them.
    pub end: End,
    /// Where that was written.
    pub end_origin: Origin,
}

/// A function as blocks; execution begins at block 0.
#[derive(Clone, Debug)]
pub struct Cfg {
    /// In the order of the text; the first one is entered.
    pub blocks: Vec<Block>,
    /// How many slots hold arguments at entry.
    pub params: u16,
    /// How many slots there are.
    pub slots: u16,
}

impl Cfg {
    /// The blocks of a function. Block 0 has no predecessor.
    pub fn new(id: FunctionId, function: &Function) -> Cfg {
        let starts = leaders(function);
        let block_at = |at: u32| starts.partition_point(|&start| start < at) + 1;
        let origin = |at: usize| Origin {
            function: id.0,
            at: at as u32,
        };
        let entry = Block {
            code: Vec::new(),
            end: End::Jump(1),
            end_origin: origin(0),
        };
        let mut blocks = vec![entry];
        for (n, &start) in starts.iter().enumerate() {
            let stop = starts
                .get(n + 1)
                .map_or(function.code.len(), |&s| s as usize);
            let range = start as usize..stop;
            let last = range.clone().last();
            let end = match last.map(|at| &function.code[at]) {
                Some(Inst::Jump { to }) => Some(End::Jump(block_at(*to))),
                Some(Inst::Branch {
                    condition,
                    when,
                    to,
                }) => {
                    let (to, next) = (block_at(*to), n + 2);
                    let (yes, no) = if *when { (to, next) } else { (next, to) };
                    Some(End::Branch(*condition, yes, no))
                }
                Some(Inst::Return { src }) => Some(End::Return(*src)),
                _ => None,
            };
            let body = if end.is_some() {
                start as usize..stop - 1
            } else {
                range
            };
            blocks.push(Block {
                code: body
                    .map(|at| (function.code[at].clone(), origin(at)))
                    .collect(),
                end: end.unwrap_or(End::Jump(n + 2)),
                end_origin: origin(stop.saturating_sub(1)),
            });
        }
        // Falling off the end, or a jump there, returns.
        blocks.push(Block {
            code: Vec::new(),
            end: End::Return(None),
            end_origin: origin(function.code.len().saturating_sub(1)),
        });
        let last = blocks.len() - 1;
        blocks
            .iter_mut()
            .for_each(|block| block.end.redirect(|to| to.min(last)));
        Cfg {
            blocks,
            params: function.params,
            slots: function.slots.max(function.params),
        }
    }

    /// Predecessors of every block; one that leads twice to a block is there twice.
    pub fn predecessors(&self) -> Vec<Vec<usize>> {
        let mut found = vec![Vec::new(); self.blocks.len()];
        for (n, block) in self.blocks.iter().enumerate() {
            for to in block.end.targets() {
                found[to].push(n);
            }
        }
        found
    }

    /// Instructions, ends included.
    pub fn size(&self) -> usize {
        self.blocks.iter().map(|block| block.code.len() + 1).sum()
    }

    /// Drops blocks that nothing leads to and joins those that only follow one another.
    pub fn tidy(&mut self) {
        let order =
            crate::order::reverse_postorder(self.blocks.len(), |n| self.blocks[n].end.targets());
        let mut place = vec![usize::MAX; self.blocks.len()];
        for (n, &old) in order.iter().enumerate() {
            place[old] = n;
        }
        let mut blocks: Vec<Option<Block>> = self.blocks.drain(..).map(Some).collect();
        let kept = order.iter().filter_map(|&old| blocks[old].take());
        self.blocks.extend(kept);
        self.blocks
            .iter_mut()
            .for_each(|block| block.end.redirect(|to| place[to]));
    }
}

/// Where blocks begin, in order.
fn leaders(function: &Function) -> Vec<u32> {
    let mut starts = vec![0];
    for (at, inst) in function.code.iter().enumerate() {
        match inst {
            Inst::Jump { to } | Inst::Branch { to, .. } => starts.extend([*to, at as u32 + 1]),
            Inst::Return { .. } => starts.push(at as u32 + 1),
            _ => {}
        }
    }
    starts.sort_unstable();
    starts.dedup();
    starts.retain(|&start| (start as usize) < function.code.len() || start == 0);
    starts
}
