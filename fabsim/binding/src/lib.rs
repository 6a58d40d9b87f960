//! The Python module `fabsim`. It converts and calls; it decides nothing.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod arguments;
mod arrays;
mod compilation;
mod environment;
mod errors;
mod names;
mod program;
mod report;
mod simulator;
mod traces;
mod watch;

use compilation::compile;
use errors::{CslError, SimulationError};
use names::{fixed_rule, switchable_rules, timing_numbers};
use program::Program;
use pyo3::prelude::*;
use report::Report;
use simulator::PySimulator;
use traces::convert_trace;

/// A cycle-level simulator of the Cerebras WSE fabric that compiles and runs CSL.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(compile, module)?)?;
    module.add_function(wrap_pyfunction!(convert_trace, module)?)?;
    module.add_function(wrap_pyfunction!(timing_numbers, module)?)?;
    module.add_function(wrap_pyfunction!(switchable_rules, module)?)?;
    module.add_function(wrap_pyfunction!(fixed_rule, module)?)?;
    module.add_class::<Program>()?;
    module.add_class::<PySimulator>()?;
    module.add_class::<Report>()?;
    module.add("CslError", module.py().get_type::<CslError>())?;
    module.add("SimulationError", module.py().get_type::<SimulationError>())?;
    Ok(())
}
