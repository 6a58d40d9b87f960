//! Inlining of functions, in the form with slots.

use crate::cfg::{Block, Cfg, End, Origin};
use fabsim_program::program::{Function, FunctionId, Inst, Slot};
use std::sync::Arc;

/// Instructions of a function that is put in the place of its calls. LLVM's default limit at -O2 is a
/// cost of 225 at 5 an instruction.
const SMALL: usize = 45;
/// A function that is called at one place only goes there whatever its size, up to this.
const LARGE: usize = 4_000;
/// Slots a function may need.
const SLOTS: usize = 20_000;

/// The functions of a program, which functions each of them calls, once a call, and how often each
/// is called.
#[derive(Debug)]
pub struct Callees<'a> {
    functions: &'a [Arc<Function>],
    called: Vec<Vec<FunctionId>>,
    calls: Vec<u32>,
}

impl<'a> Callees<'a> {
    /// Looks for the calls of all functions.
    pub fn new(functions: &'a [Arc<Function>]) -> Callees<'a> {
        let known = |inst: &Inst| match inst {
            Inst::Call { function, .. } if (function.0 as usize) < functions.len() => {
                Some(*function)
            }
            _ => None,
        };
        let called: Vec<Vec<FunctionId>> = functions
            .iter()
            .map(|function| function.code.iter().filter_map(known).collect())
            .collect();
        let mut calls = vec![0; functions.len()];
        for id in called.iter().flatten() {
            calls[id.0 as usize] += 1;
        }
        Callees {
            functions,
            called,
            calls,
        }
    }

    /// The function of this id.
    pub fn function(&self, id: FunctionId) -> &'a Function {
        &self.functions[id.0 as usize]
    }

    /// A function and all that it calls, by where they are: the same list is the same code.
    pub fn identity(&self, id: FunctionId) -> Vec<usize> {
        let mut found = vec![id];
        let mut is_found = vec![false; self.functions.len()];
        is_found[id.0 as usize] = true;
        let mut next = 0;
        while next < found.len() {
            for function in &self.called[found[next].0 as usize] {
                if !std::mem::replace(&mut is_found[function.0 as usize], true) {
                    found.push(*function);
                }
            }
            next += 1;
        }
        let place = |id: &FunctionId| Arc::as_ptr(&self.functions[id.0 as usize]) as usize;
        let often = |id: &FunctionId| self.calls[id.0 as usize].min(2) as usize;
        found.iter().flat_map(|id| [place(id), often(id)]).collect()
    }

    fn wanted(&self, id: FunctionId) -> Option<&'a Function> {
        let function = self.functions.get(id.0 as usize)?;
        let works = |inst: &&Inst| !matches!(inst, Inst::Const { .. } | Inst::Copy { .. });
        let size = function.code.iter().filter(works).count();
        let limit = if self.calls[id.0 as usize] == 1 {
            LARGE
        } else {
            SMALL
        };
        (size <= limit).then_some(function)
    }
}

/// The blocks of a function with its calls inlined; a function never into itself.
pub fn expand(callees: &Callees, id: FunctionId) -> Cfg {
    within(callees, &mut vec![id])
}

fn within(callees: &Callees, path: &mut Vec<FunctionId>) -> Cfg {
    let id = path[path.len() - 1];
    let mut cfg = Cfg::new(id, &callees.functions[id.0 as usize]);
    let mut n = 0;
    while n < cfg.blocks.len() {
        let wanted = cfg.blocks[n].code.iter().position(|(inst, _)| match inst {
            Inst::Call { function, .. } => {
                !path.contains(function) && callees.wanted(*function).is_some()
            }
            _ => false,
        });
        if let Some(at) = wanted {
            let Inst::Call { function, .. } = &cfg.blocks[n].code[at].0 else {
                break;
            };
            path.push(*function);
            let body = within(callees, path);
            path.pop();
            if usize::from(cfg.slots) + usize::from(body.slots) < SLOTS
                && cfg.size() + body.size() < LARGE * 2
            {
                splice(&mut cfg, (n, at), body);
                continue; // what follows the call is a block of its own, further on
            }
            return cfg;
        }
        n += 1;
    }
    cfg
}

/// Puts the blocks of a function in the place of a call.
fn splice(cfg: &mut Cfg, (n, at): (usize, usize), mut body: Cfg) {
    let base = cfg.slots;
    let first = cfg.blocks.len();
    let rest_at = first + body.blocks.len();
    let mut rest = cfg.blocks[n].code.split_off(at);
    let (call, origin) = rest.remove(0);
    let Inst::Call { args, dst, .. } = call else {
        return;
    };
    let end = std::mem::replace(&mut cfg.blocks[n].end, End::Jump(first));
    let end_origin = std::mem::replace(&mut cfg.blocks[n].end_origin, origin);
    enter(&mut cfg.blocks[n].code, (&args, base, &body), origin);
    for block in &mut body.blocks {
        shift(block, base, first);
        if let End::Return(src) = block.end {
            leave(block, src, dst);
            block.end = End::Jump(rest_at);
        }
    }
    cfg.slots += body.slots;
    cfg.blocks.append(&mut body.blocks);
    cfg.blocks.push(Block {
        code: rest,
        end,
        end_origin,
    });
}

/// Arguments into the slots of parameters; all others begin as zero.
fn enter(code: &mut Vec<(Inst, Origin)>, (args, base, body): (&[Slot], u16, &Cfg), origin: Origin) {
    for n in 0..body.slots {
        let dst = Slot(base + n);
        let inst = match args.get(usize::from(n)) {
            Some(&src) => Inst::Copy { dst, src },
            None => Inst::Const { dst, bits: 0 },
        };
        code.push((inst, origin));
    }
}

fn leave(block: &mut Block, src: Option<Slot>, dst: Option<Slot>) {
    let Some(dst) = dst else { return };
    let inst = match src {
        Some(src) => Inst::Copy { dst, src },
        None => Inst::Const { dst, bits: 0 },
    };
    block.code.push((inst, block.end_origin));
}

fn shift(block: &mut Block, base: u16, first: usize) {
    for (inst, _) in &mut block.code {
        crate::operands::visit(inst, &mut |s| s.0 += base, &mut |s| s.0 += base);
    }
    block.end.redirect(|to| to + first);
    match &mut block.end {
        End::Branch(slot, ..) | End::Return(Some(slot)) => slot.0 += base,
        End::Jump(_) | End::Return(None) => {}
    }
}
