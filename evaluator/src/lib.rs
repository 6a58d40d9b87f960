//! Follows a line of PEs through the step tables of an exchange, for the compiler `collc`.
//!
//! In reading order: `line` (what is given), `state`, `wakes` (when PEs are looked at), `cycles` (what a PE does in a cycle), `code`
//! (what its code does), `others` (what else PEs run), `network` (routers of links that several PEs use), `steady` (long repetition is
//! skipped), `timing` (a whole run). `streams` follows lines whose routers
//! multiplex the links (`asleep`: those that do the same for long are not looked at). `machine` follows
//! lanes and routers of all plans without any clock; `steps` carries out the steps of a schedule,
//! `step_tables` lays transfers out as the rows of lanes, and `patterns` finds what repeats in them. `python` converts and calls.

#![forbid(unsafe_code)]

mod asleep;
pub mod code;
pub mod cycles;
pub mod line;
pub mod machine;
pub mod network;
pub mod others;
pub mod patterns;
#[cfg(feature = "python")]
mod python;
pub mod state;
pub mod steady;
pub mod step_tables;
pub mod steps;
pub mod streams;
pub mod timing;
pub mod wakes;
