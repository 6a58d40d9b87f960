//! The constructs that have been seen.

use crate::parse::ast::ExprId;
use crate::types::value::{GlobalRef, ModuleId};
use fabsim_program::program::{Dsr, Span};
use std::collections::{BTreeMap, HashMap};

/// What has been seen, if a compilation was asked to keep it.
#[derive(Default)]
pub struct Census {
    /// Constructs with the first place of each.
    pub seen: BTreeMap<String, Span>,
    /// Calls of builtins whose arguments are being evaluated, the innermost last.
    pub open: Vec<Open>,
}

/// What has been seen in a tile program that is not complete yet.
#[derive(Default)]
pub struct TileCensus {
    pub constructs: HashMap<Construct, Span>,
    pub loads: HashMap<Load, Span>,
    pub operations: HashMap<Operation, Span>,
    /// Registers, where and in which module they were asked for first.
    pub taken: HashMap<Dsr, (Span, ModuleId)>,
}

/// A construct; what a variable is can be said when all assignments are known.
pub type Construct = Vec<Part>;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Part {
    Text(String),
    /// The word behind a DSD that is in a variable.
    Variable(GlobalRef),
}

impl Census {
    /// Of several places of one construct the first in the text is kept: the order of a program's
    /// files and functions does not matter.
    pub fn add(&mut self, construct: String, span: Span) {
        let order = |span: &Span| (span.file, span.line, span.column);
        let first = self.seen.entry(construct).or_insert(span);
        if order(&span) < order(first) {
            *first = span;
        }
    }
}

/// A call whose arguments are being evaluated.
pub struct Open {
    pub arguments: Vec<(ExprId, Option<Seen>)>,
    /// What the structs among them configure, their fields, and the fields' kinds.
    pub fields: Vec<(&'static str, String, String)>,
}

impl Open {
    /// The fields but those that are false, which say as much as if they were left out.
    pub fn set_fields(&self) -> impl Iterator<Item = &(&'static str, String, String)> {
        self.fields.iter().filter(|(.., kind)| kind != "false")
    }
}

/// An argument that has been evaluated.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Seen {
    Dsd(SeenDsd),
    Dsr(Dsr),
    Other(String),
}

/// A DSD: its class with what makes it special, and what it does beyond moving data.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SeenDsd {
    pub class: Construct,
    pub flags: Vec<&'static str>,
}

/// An operation or a `@map`: its operands, the destination first.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Operation {
    pub is_map: bool,
    pub is_async: bool,
    pub operands: Vec<Operand>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    Scalar(&'static str),
    Dsd {
        class: Construct,
        name: String,
        flags: Vec<&'static str>,
    },
    /// A register and the name of its class.
    Dsr(Dsr, String),
}

/// What a register is loaded with somewhere.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Load {
    pub dsr: Dsr,
    /// The class of the DSD.
    pub class: String,
    pub flags: Vec<&'static str>,
    /// Names of the options that are set.
    pub options: Vec<String>,
}
