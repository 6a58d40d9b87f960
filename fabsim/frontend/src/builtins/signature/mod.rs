//! What every builtin and every name of the standard modules takes and gives: the one table that calls
//! are checked by. The rows are text, `signatures/*.txt`, so that they read like the vendor's pages.
//!
//! In reading order: `kind` is what an argument may be, `parse` reads the rows, `table` finds them,
//! `check` and `forms` hold a call against them, `outside` says what fits users' places, `page` writes
//! docs/csl-signatures.md.

mod check;
mod forms;
mod kind;
mod outside;
mod page;
mod parse;
mod remedy;
mod table;
#[cfg(test)]
mod tests;

pub use check::Wanted;
pub use page::page;
pub use table::table;

use fabsim_program::program::Arch;
use kind::Alternative;

/// One form of a call.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The name without `@`.
    pub name: &'static str,
    pub arguments: Vec<Argument>,
    /// Fewest and, where there is a limit, most arguments.
    pub arity: (usize, Option<usize>),
    pub result: Vec<Alternative>,
    pub place: Place,
    /// The only target that has it.
    pub target: Option<Arch>,
    /// First and last release whose public text or programs have it.
    pub since: &'static str,
    pub until: Option<&'static str>,
    /// Its value depends on its arguments alone, and it does nothing else.
    pub pure: bool,
    /// Known and refused.
    pub unsupported: bool,
    pub source: &'static str,
}

/// Where a call may stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    Anywhere,
    Layout,
    /// A top-level `comptime` block.
    Comptime,
    /// The initialiser of a global.
    Global,
    /// Code that runs on a PE.
    Run,
}

/// One argument of a form.
#[derive(Clone, Debug)]
pub struct Argument {
    pub name: &'static str,
    pub presence: Presence,
    pub knowledge: Knowledge,
    pub kinds: Vec<Alternative>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Presence {
    One,
    Optional,
    Repeated,
}

/// What the compiler must know of an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Knowledge {
    Any,
    /// Its value.
    Known,
    /// Its value, computing calls.
    Comptime,
}

/// A name of a standard module.
#[derive(Clone, Debug)]
pub enum Member {
    Function(Signature),
    /// Name, type of the numbers, members.
    Enum(&'static str, &'static str, Vec<&'static str>),
    /// Name and what it is: a constant, a type, a parameter.
    Other(&'static str, &'static str),
}

/// A standard module and what users may name of it.
#[derive(Clone, Debug)]
pub struct Module {
    /// Without the angled brackets.
    pub name: &'static str,
    pub source: &'static str,
    pub members: Vec<Member>,
}

impl Signature {
    pub fn takes(&self, count: usize) -> bool {
        let (low, high) = self.arity;
        count >= low && high.map_or(true, |high| count <= high)
    }

    /// The argument that stands at a place of the call.
    pub fn argument(&self, at: usize) -> Option<&Argument> {
        match self.arguments.get(at) {
            Some(argument) => Some(argument),
            None => self
                .arguments
                .last()
                .filter(|last| last.presence == Presence::Repeated),
        }
    }
}

impl Member {
    pub fn name(&self) -> &'static str {
        match self {
            Member::Function(signature) => signature.name,
            Member::Enum(name, ..) | Member::Other(name, _) => name,
        }
    }
}
