//! Runs plans for the compiler `collc`, and lays out step tables.
//!
//! `machine` follows lanes and routers of all plans without any clock, and its `clock` what is printed of
//! them, cycle by cycle; `steps` carries out the steps of a schedule, `step_tables` lays transfers out as
//! the rows of lanes, and `patterns` finds what repeats in them. `python` converts and calls.

#![forbid(unsafe_code)]

pub mod machine;
pub mod patterns;
#[cfg(feature = "python")]
mod python;
pub mod step_tables;
pub mod steps;
