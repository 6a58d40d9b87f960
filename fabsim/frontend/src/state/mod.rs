//! What is known while a program is compiled, each part by itself. Nothing here needs the compiler:
//! what works on these parts together is `impl Compiler` elsewhere.

pub mod builder;
pub mod census;
pub mod layout;
pub mod memo;
pub mod messages;
pub mod module;
pub mod registers;
pub mod rule;
pub mod tile;
