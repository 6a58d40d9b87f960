//! The machine with a clock: what PEs execute, and where their words are, cycle by cycle.
//!
//! Routers, their positions, filters and commands are those of the machine without a clock. PEs have
//! *scripts*: the code of their tasks as emission printed it, of which only how long it takes counts, and
//! the operations that it issues. Queues hold as many words as those of the target.
//!
//! In reading order: `given` (what is given), `state` (queues, routers, PEs), `fabric` (up the ramp, over
//! links, down the ramp), `pe` (who has the slot of a PE), `walk` (the cycles), `trace` (what is
//! told of them).

mod fabric;
pub mod given;
mod pe;
mod runs;
mod state;
#[cfg(test)]
mod tests;
mod trace;
mod walk;

pub use given::check;
pub use trace::Piece;
pub use walk::{timed, Followed, Timed};
