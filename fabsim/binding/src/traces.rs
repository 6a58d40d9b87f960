//! Traces: their forms and scopes by name, and the text of a binary one.

use fabsim_engine::trace::{self, Region, Scope, TraceForm};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::io::ErrorKind;
use std::path::PathBuf;

pub fn trace_form_of(name: &str) -> PyResult<TraceForm> {
    match name {
        "text" => Ok(TraceForm::Text),
        "binary" => Ok(TraceForm::Binary),
        other => {
            let text = format!("unknown form of a trace {other:?}; there are text and binary");
            Err(PyValueError::new_err(text))
        }
    }
}

pub fn scope_of(region: Option<(u32, u32, u32, u32)>, window: Option<(u64, u64)>) -> Scope {
    let region = region.map(|(x, y, width, height)| Region {
        x,
        y,
        width,
        height,
    });
    Scope { region, window }
}

/// Writes the text form of a binary trace, or of a region and a window of it.
#[pyfunction]
#[pyo3(signature = (source, destination, *, region=None, window=None))]
pub fn convert_trace(
    py: Python<'_>,
    source: PathBuf,
    destination: PathBuf,
    region: Option<(u32, u32, u32, u32)>,
    window: Option<(u64, u64)>,
) -> PyResult<()> {
    let scope = scope_of(region, window);
    py.detach(|| trace::convert(&source, &destination, scope))
        .map_err(|error| match error.kind() {
            ErrorKind::InvalidData => PyValueError::new_err(error.to_string()),
            _ => PyErr::from(error),
        })
}
