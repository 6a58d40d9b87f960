//! `fabsim.LaunchReport`.

use fabsim_host::LaunchReport;
use pyo3::prelude::*;

/// What a launch took, in cycles.
#[pyclass(frozen, name = "LaunchReport", module = "fabsim")]
pub struct Report(pub LaunchReport);

#[pymethods]
impl Report {
    #[getter]
    fn start_cycle(&self) -> u64 {
        self.0.start_cycle
    }

    #[getter]
    fn end_cycle(&self) -> u64 {
        self.0.end_cycle
    }

    #[getter]
    fn cycles(&self) -> u64 {
        self.0.cycles()
    }

    #[getter]
    fn tile_cycles(&self) -> u64 {
        self.0.tile_cycles
    }

    fn __repr__(&self) -> String {
        format!(
            "LaunchReport(start_cycle={}, end_cycle={}, tile_cycles={})",
            self.0.start_cycle, self.0.end_cycle, self.0.tile_cycles
        )
    }
}
