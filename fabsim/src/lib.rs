//! fabsim: compiles CSL programs and runs them on a cycle-level model of the WSE fabric.
//!
//! This crate only gathers the workspace under one name. In reading order: `csl` (fabsim-frontend)
//! turns text into a `program::Design` (fabsim-program); the engine (fabsim-engine) moves wavelets
//! and runs tasks; `host` (fabsim-host) copies, launches and reports; fabsim-binding is the only part
//! that knows Python.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

pub use fabsim_engine::{fabric, machine, pe, probe, report, timing, trace};
pub use fabsim_frontend as csl;
pub use fabsim_host as host;
pub use fabsim_program::{diagnostic, limits, program, rounding, rules, sdk};
