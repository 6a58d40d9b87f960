//! The machine, cycle by cycle.
//!
//! In reading order: `fabric` moves wavelets through routers; `pe` runs tasks and DSD operations;
//! `machine` joins them into cycles, `worker` what each of its threads does and `alarm` its calendar;
//! `timing` holds every cycle count; `fault` and `report` are what can go wrong (`report_text` in words), `probe`
//! where statistics look in, `trace` what they are. That is the machine. `fast` is what makes it fast: it may be
//! left out, by the reader as by `Machine::reference`.

#![deny(missing_docs)]

mod alarm;
pub mod fabric;
mod fast;
pub mod fault;
pub mod machine;
pub mod pe;
pub mod probe;
pub mod report;
mod report_text;
pub mod timing;
pub mod trace;
pub mod worker;
