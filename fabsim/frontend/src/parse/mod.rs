//! From text to trees: `source` finds files (`library` has the standard modules), `lexer` makes tokens, `parser` with
//! `expressions` and `statements` makes an `ast`, whose names `intern` numbers.

pub(crate) mod ast;
pub(crate) mod expressions;
pub(crate) mod intern;
pub(crate) mod lexer;
pub(crate) mod library;
pub(crate) mod parser;
pub(crate) mod source;
pub(crate) mod statements;
