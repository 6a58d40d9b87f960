//! What the conformance suite consists of, in reading order: `program` reads a file, `outcome` compiles and
//! runs it, `expect` compares values, `check` compares all of it, `refresh` writes messages anew,
//! `rules` reads the numbers of docs/machine.md.

pub mod check;
pub mod expect;
pub mod outcome;
pub mod program;
pub mod refresh;
pub mod rules;
