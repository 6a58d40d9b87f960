//! What has a name: architectures, clocks, rules, releases.

use fabsim_program::program::{Arch, Clock};
use fabsim_program::rules;
use fabsim_program::sdk::Sdk;
use fabsim_program::switch::Switch;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::collections::BTreeMap;

pub fn arch_of(name: &str) -> PyResult<Arch> {
    match name {
        "wse2" => Ok(Arch::Wse2),
        "wse3" => Ok(Arch::Wse3),
        other => {
            let text = format!("unknown architecture {other:?}; there are wse2 and wse3");
            Err(PyValueError::new_err(text))
        }
    }
}

/// The clock of a name, or of a file with a table, and what the file says.
pub fn timing_of(
    py: Python<'_>,
    timing: &str,
    arch: Arch,
) -> PyResult<(Clock, Vec<(String, u64)>)> {
    if let Some(clock) = Clock::named(timing) {
        return Ok((clock, Vec::new()));
    }
    let files = py.import("fabsim.timing_table")?;
    let (name, numbers): (String, BTreeMap<String, u64>) = files
        .call_method1("read", (timing, arch_name(arch)))?
        .extract()?;
    let Some(clock) = Clock::named(&name) else {
        let text = format!("{timing}: there are no rates {name:?}");
        return Err(PyValueError::new_err(text));
    };
    let numbers: Vec<(String, u64)> = numbers.into_iter().collect();
    let table = fabsim_engine::timing::timing(clock, arch);
    table.check(&numbers).map_err(|fault| {
        let text = format!("{timing}, {}: {fault}", arch_name(arch));
        PyValueError::new_err(text)
    })?;
    Ok((clock, numbers))
}

pub fn arch_name(arch: Arch) -> &'static str {
    match arch {
        Arch::Wse2 => "wse2",
        Arch::Wse3 => "wse3",
    }
}

/// The numbers of a clock and an architecture, by name, in the order of the table.
#[pyfunction]
pub fn timing_numbers(timing: &str, arch: &str) -> PyResult<Vec<(&'static str, u64)>> {
    let arch = arch_of(arch)?;
    let Some(clock) = Clock::named(timing) else {
        let known: Vec<&str> = Clock::ALL.iter().map(|clock| clock.name()).collect();
        let text = format!("unknown timing {timing:?}; there are {}", known.join(", "));
        return Err(PyValueError::new_err(text));
    };
    Ok(fabsim_engine::timing::timing(clock, arch).numbers())
}

/// The rule of a name, if it can be switched off.
pub fn switched(name: &str) -> PyResult<&'static Switch> {
    rules::switch(name).ok_or_else(|| {
        let why = rules::fixed(name).unwrap_or("docs/machine.md has no such rule");
        PyValueError::new_err(format!("the rule {name} cannot be switched off: {why}"))
    })
}

/// Rules that can be switched off, with what a machine without each does where it is about more than
/// what is refused.
#[pyfunction]
pub fn switchable_rules() -> Vec<(&'static str, Option<&'static str>)> {
    let other = |switch: &Switch| switch.other.as_ref().map(|other| other.what);
    rules::switches()
        .map(|switch| (switch.rule, other(switch)))
        .collect()
}

/// Why a rule cannot be switched off; None if it can.
#[pyfunction]
pub fn fixed_rule(rule: &str) -> Option<&'static str> {
    rules::fixed(rule)
}

pub fn release(name: &str) -> PyResult<Sdk> {
    Sdk::named(name).ok_or_else(|| {
        let known = Sdk::ALL.map(Sdk::name).join(", ");
        PyValueError::new_err(format!("unknown SDK {name:?}; there are {known}"))
    })
}
