//! fabsim: compiles CSL programs and runs them on a cycle-level model of the WSE fabric.
//!
//! In reading order: `csl` turns text into a `program::Design`; `fabric` moves wavelets through
//! routers; `pe` runs tasks and DSD operations; `machine` joins the two into cycles; `host`
//! copies, launches and reports; `probe` is where statistics look in, `trace` what they are; `std`
//! holds the standard modules; `python` is the only part that knows Python.

mod alarm;
pub mod csl;
pub mod diagnostic;
pub mod fabric;
mod flow;
pub mod host;
pub mod limits;
pub mod machine;
pub mod pe;
pub mod probe;
pub mod program;
#[cfg(feature = "python")]
pub mod python;
pub mod report;
mod rounding;
pub mod std;
pub mod timing;
pub mod trace;
pub mod worker;
