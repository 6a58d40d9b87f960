//! Follows a line of PEs through the step tables of an exchange, for the compiler `collc`.
//!
//! In reading order: `line` (what is given), `state`, `cycles` (what a PE does in a cycle), `code`
//! (what its code does), `links` (links that several PEs use), `steady` (long repetition is leapt
//! over), `timing` (a whole run). `transfers` moves the data of the same tables without any clock,
//! and `relays` lays out the tables of lanes that relay. `python` converts and calls.

pub mod code;
pub mod cycles;
pub mod line;
pub mod links;
#[cfg(feature = "python")]
mod python;
pub mod relays;
pub mod state;
pub mod steady;
pub mod timing;
pub mod transfers;
