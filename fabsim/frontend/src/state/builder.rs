//! The code of a function while it is lowered.

use crate::{err, Res};
use fabsim_program::program::{Function, Inst, Slot, Span};

/// More instructions than this in one function are refused: no PE could hold them.
const MAX_CODE: usize = 200_000;

#[derive(Debug, Default)]
pub struct Builder {
    pub code: Vec<Inst>,
    pub spans: Vec<Span>,
    next: u16,
    most: u16,
    /// The function keeps locals in static memory, so it must not call itself.
    pub uses_memory: bool,
    pub callees: Vec<u32>,
}

impl Builder {
    pub fn slot(&mut self, span: Span) -> Res<Slot> {
        let slot = Slot(self.next);
        self.next = match self.next.checked_add(1) {
            Some(next) => next,
            None => return err(span, "this function needs too many variables"),
        };
        self.most = self.most.max(self.next);
        Ok(slot)
    }

    /// Slots made after `mark` are free again after `release(mark)`.
    pub fn mark(&self) -> u16 {
        self.next
    }

    pub fn release(&mut self, mark: u16) {
        self.next = mark;
    }

    pub fn push(&mut self, inst: Inst, span: Span) -> Res<usize> {
        if self.code.len() >= MAX_CODE {
            return err(span, "this function is too large");
        }
        self.code.push(inst);
        self.spans.push(span);
        Ok(self.code.len() - 1)
    }

    pub fn here(&self) -> u32 {
        self.code.len() as u32
    }

    pub fn constant(&mut self, bits: u64, span: Span) -> Res<Slot> {
        let dst = self.slot(span)?;
        self.push(Inst::Const { dst, bits }, span)?;
        Ok(dst)
    }

    /// Lets the jumps at `from` lead to the next instruction.
    pub fn land(&mut self, from: &[usize]) {
        let here = self.here();
        for at in from {
            self.land_at(*at, here);
        }
    }

    pub fn land_at(&mut self, at: usize, target: u32) {
        if let Some(Inst::Jump { to } | Inst::Branch { to, .. }) = self.code.get_mut(at) {
            *to = target;
        }
    }

    pub fn finish(mut self, name: String, params: u16, span: Span) -> Function {
        // Falling off the end returns; jumps may lead here.
        self.code.push(Inst::Return { src: None });
        self.spans.push(span);
        Function {
            name,
            params,
            slots: self.most,
            code: self.code,
            spans: self.spans,
        }
    }
}
