//! The machine, cycle by cycle.
//!
//! In reading order: `fabric` moves wavelets through routers; `pe` runs tasks and DSD operations;
//! `flow` takes long streams in one stride; `prefetch` asks for memory before it is used, `pages` has it on large
//! pages; `machine` joins them into cycles, `worker` what each of its threads does and `alarm` its calendar;
//! `timing` holds every cycle count; `fault` and `report` are what can go wrong (`report_text` in words), `probe`
//! where statistics look in, `trace` what they are.

#![deny(missing_docs)]

mod alarm;
pub mod fabric;
pub mod fault;
mod flow;
pub mod machine;
#[cfg(target_os = "linux")]
mod pages;
pub mod pe;
mod prefetch;
pub mod probe;
pub mod report;
mod report_text;
pub mod timing;
pub mod trace;
pub mod worker;
