//! Rotation of loops, in the form with slots: the condition is tested once before the loop and then
//! at its end, so that a turn takes one jump; and every loop gets a block before it.

use crate::cfg::{Block, Cfg, End};
use crate::order::{dominators, loops, reverse_postorder, Loop};

/// Instructions of a condition that are repeated at most.
const CONDITION: usize = 24;

/// Rotates what can be rotated.
pub fn run(cfg: &mut Cfg) {
    for l in found(cfg) {
        rotate(cfg, &l);
    }
    for l in found(cfg) {
        add_entry(cfg, &l);
    }
}

fn found(cfg: &Cfg) -> Vec<Loop> {
    let order = reverse_postorder(cfg.blocks.len(), |n| cfg.blocks[n].end.targets());
    let before = cfg.predecessors();
    loops(&order, &before, &dominators(&order, &before))
}

/// The header's test at the end of every block that jumps back.
fn rotate(cfg: &mut Cfg, l: &Loop) {
    let header = cfg.blocks[l.header].clone();
    let End::Branch(_, yes, no) = header.end else {
        return;
    };
    let leaves = l.blocks.contains(&yes) != l.blocks.contains(&no);
    if !leaves || l.latches.contains(&l.header) || header.code.len() > CONDITION {
        return;
    }
    for &latch in &l.latches {
        let block = &mut cfg.blocks[latch];
        if block.end == End::Jump(l.header) {
            block.code.extend(header.code.iter().cloned());
            block.end = header.end.clone();
            block.end_origin = header.end_origin;
        }
    }
}

/// An empty block that everything from outside comes through.
fn add_entry(cfg: &mut Cfg, l: &Loop) {
    let entry = cfg.blocks.len();
    let end_origin = cfg.blocks[l.header].end_origin;
    for n in 0..entry {
        if !l.blocks.contains(&n) {
            cfg.blocks[n]
                .end
                .redirect(|to| if to == l.header { entry } else { to });
        }
    }
    cfg.blocks.push(Block {
        code: Vec::new(),
        end: End::Jump(l.header),
        end_origin,
    });
}
