//! What makes the machine fast and changes nothing that it does: docs/shortcuts.md says why each is exact.
//!
//! - `turns`: a turn of a compute element with the shortcuts of its main thread, which are `straight_code` (a stretch
//!   of code in one turn) and `run_ahead` (turns to come that nobody else takes part in). The latter takes
//!   `whole_operations` at once, with `vector_arithmetic`; `map_calls` and `uniform_calls` are calls of a `@map`,
//!   `repeated_operation` what they need not issue again, `recent_results` what they have written.
//!   Beside microthreads `issue_schedule` has `issue_notes` of its turns, `microthread_memory` says
//!   what it must leave alone, and `interference` is both as code sees them. `pending` is what a
//!   compute element keeps of it.
//! - `zones` are the rows of each thread of a `thread_team`; `parallel_run_ahead` shares turns that run ahead out
//!   among them.
//! - `steady_tiles`: tiles that do the same every cycle are not visited for it.
//! - `prefetch` asks for memory before it is used, for the next turns by `prefetch_turns`; `large_pages` has memory
//!   on large pages.
//!
//! The rest of the crate names `turns`, `steady_tiles`, `zones` and `thread_team` where it joins the machine together, and
//! `pending` and `prefetch`; `Machine::reference` does without them.

pub(crate) mod interference;
mod issue_notes;
pub(crate) mod issue_schedule;
#[cfg(target_os = "linux")]
mod large_pages;
mod map_calls;
mod microthread_memory;
pub(crate) mod parallel_run_ahead;
pub(crate) mod pending;
pub(crate) mod prefetch;
mod prefetch_turns;
mod recent_results;
mod repeated_operation;
mod run_ahead;
pub(crate) mod steady_tiles;
mod straight_code;
pub(crate) mod thread_team;
pub(crate) mod turns;
mod uniform_calls;
mod vector_arithmetic;
mod whole_operations;
pub(crate) mod zones;
