//! What every part of fabsim shares: the compiled program, its limits, messages and rounding.
//!
//! `program` is what the front end hands to the engine; `diagnostic` is a message about source
//! text; `limits` holds the machine's sizes; `rounding` the float formats of 16
//! bits; `clock` names the tables of cycle costs, `sdk` the releases whose CSL differs; `direction`,
//! `opcode` and `scalar_type` are the small types that `program` is made of; `rules` and `readings` say,
//! a `switch` a row, what changes where a rule of docs/machine.md is switched off; `quick_hash` makes maps quick.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

pub mod clock;
pub mod diagnostic;
pub mod direction;
pub mod limits;
pub mod opcode;
pub mod program;
pub mod quick_hash;
pub mod readings;
pub mod rounding;
pub mod rules;
pub mod scalar_type;
pub mod sdk;
pub mod switch;
