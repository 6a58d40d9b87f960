//! Instances of modules and their globals.

use crate::builtins::signature;
use crate::parse::ast::Ast;
use crate::parse::intern::Sym;
use crate::types::kinds::Ty;
use crate::types::value::Value;
use fabsim_program::program::Span;
use std::path::PathBuf;
use std::rc::Rc;

pub struct Module {
    pub ast: Rc<Ast>,
    pub path: PathBuf,
    /// One of the embedded standard modules: these may use intrinsics.
    pub standard: bool,
    /// What users may name of a standard module.
    pub rows: Option<&'static signature::Module>,
    /// Index of a global by name; `u32::MAX` is none.
    pub names: Vec<u32>,
    pub globals: Vec<Global>,
    pub bindings: Vec<(Sym, Value)>,
    /// Where it is imported or made the code of a PE; line 0 for the root.
    pub imported: Span,
    /// For a standard module, where users' text imports it, also through others.
    pub caller: Option<Span>,
}

#[derive(Clone, Debug)]
pub struct Global {
    pub state: GlobalState,
    /// Address in the PE's memory, once something needs it there.
    pub address: Option<u32>,
}

#[derive(Clone, Debug)]
pub enum GlobalState {
    Unknown,
    InProgress,
    /// Its error has been reported.
    Failed,
    /// Constants have their value, variables their initial one.
    Known(Value, Ty),
}

impl Module {
    pub fn find(&self, name: Sym) -> Option<u32> {
        self.names
            .get(name.0 as usize)
            .copied()
            .filter(|index| *index != u32::MAX)
    }
}
