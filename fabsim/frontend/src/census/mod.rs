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

use super::compiler::Compiler;
use super::tile::TileState;
use super::value::{GlobalRef, ModuleId};
use call::Open;
use fabsim_program::diagnostic::Diagnostic;
use fabsim_program::program::{Dsr, Span};
use fabsim_program::quick_hash::QuickSet;
use operation::Operation;
use register::Load;
use std::collections::{BTreeMap, HashMap};

/// What has been seen, if a compilation was asked to keep it.
#[derive(Default)]
pub struct Census {
    /// Constructs with the first place of each.
    seen: BTreeMap<String, Span>,
    /// Calls of builtins whose arguments are being evaluated, the innermost last.
    open: Vec<Open>,
}

/// What has been seen in a tile program that is not complete yet.
#[derive(Default)]
pub struct TileCensus {
    constructs: HashMap<Construct, Span>,
    loads: HashMap<Load, Span>,
    operations: HashMap<Operation, Span>,
    /// Registers, where and in which module they were asked for first.
    taken: HashMap<Dsr, (Span, ModuleId)>,
}

/// A construct; what a variable is can be said when all assignments are known.
pub type Construct = Vec<Part>;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Part {
    Text(String),
    /// The word behind a DSD that is in a variable.
    Variable(GlobalRef),
}

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

impl Census {
    /// Of several places of one construct the first in the text is kept: the order of a program's
    /// files and functions does not matter.
    fn add(&mut self, construct: String, span: Span) {
        let order = |span: &Span| (span.file, span.line, span.column);
        let first = self.seen.entry(construct).or_insert(span);
        if order(&span) < order(first) {
            *first = span;
        }
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
