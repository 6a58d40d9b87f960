//! The constructs that a program uses, for those who ask which of them other programs attest.
//!
//! A construct is a line of text: a builtin or a function of a standard module with the kinds of its
//! arguments and the part of the program it stands in, a field of a configuration, a form of an
//! operation by the kinds of its operands. It is as fine as the rules in doubt need (whether a fabric
//! DSD varies, what a register was loaded with) and no finer: numbers, names and element types are no
//! part of it, and operations of one form are alike.
//!
//! In reading order: `kind` is what an argument is, `call` takes down calls, `operation` and `register`
//! join operations to the loads of their registers, `syntax` walks what needs no evaluation.

mod call;
mod kind;
mod operation;
mod register;
mod syntax;

use crate::compiler::Compiler;
use crate::state::census::{Construct, Part};
use crate::state::tile::TileState;
use crate::types::value::GlobalRef;
use fabsim_program::diagnostic::Diagnostic;
use fabsim_program::program::Span;
use fabsim_program::quick_hash::QuickSet;

impl Compiler {
    /// Takes down a construct, if constructs are kept.
    fn see(&mut self, construct: Construct, span: Span) {
        if self.is_inside(span) {
            return;
        }
        match (&mut self.tile, &mut self.census) {
            (_, None) => {}
            (Some(tile), _) => {
                tile.census.constructs.entry(construct).or_insert(span);
            }
            (None, Some(census)) => census.add(text_of(&construct, &QuickSet::default()), span),
        }
    }

    fn see_text(&mut self, construct: String, span: Span) {
        self.see(vec![Part::Text(construct)], span);
    }

    /// Ends a tile program: variables and registers are known.
    pub fn census_tile(&mut self, tile: &TileState) {
        let Some(census) = &mut self.census else {
            return;
        };
        let assigned = &tile.registers.assigned;
        for (construct, span) in &tile.census.constructs {
            census.add(text_of(construct, assigned), *span);
        }
        for (construct, span) in operation::constructs(&tile.census) {
            census.add(text_of(&construct, assigned), span);
        }
    }

    /// Everything that was seen, as notes whose messages are the constructs.
    pub fn constructs(&mut self) -> Vec<Diagnostic> {
        self.census_syntax();
        let seen = self.census.take().unwrap_or_default().seen;
        let found = seen.into_iter();
        found
            .map(|(text, span)| Diagnostic::new(span, text))
            .collect()
    }
}

/// A construct as text, given the variables that are assigned to.
fn text_of(construct: &[Part], assigned: &QuickSet<GlobalRef>) -> String {
    let text = construct.iter().map(|part| match part {
        Part::Text(text) => text.as_str(),
        Part::Variable(global) if assigned.contains(global) => " (run time)",
        Part::Variable(_) => " (variable)",
    });
    text.collect()
}
