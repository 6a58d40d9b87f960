//! Errors as exceptions of Python, with their data as attributes.

use fabsim_engine::report::SimError;
use fabsim_program::diagnostic::Diagnostic;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

create_exception!(
    fabsim,
    CslError,
    PyException,
    "The program does not compile."
);
create_exception!(fabsim, SimulationError, PyException, "The run went wrong.");

pub fn csl_error(py: Python<'_>, diagnostics: &[Diagnostic]) -> PyErr {
    let texts: Vec<String> = diagnostics.iter().map(Diagnostic::render).collect();
    let error = CslError::new_err(texts.join("\n"));
    let list = || -> PyResult<Bound<'_, PyList>> {
        let list = PyList::empty(py);
        for diagnostic in diagnostics {
            let entry = PyDict::new(py);
            let file = diagnostic.places.first().map_or("", |place| &place.file);
            entry.set_item("file", file)?;
            entry.set_item("line", diagnostic.span.line)?;
            entry.set_item("column", diagnostic.span.column)?;
            entry.set_item("message", &diagnostic.message)?;
            list.append(entry)?;
        }
        Ok(list)
    };
    with_attribute(py, error, "diagnostics", list())
}

pub fn simulation_error(py: Python<'_>, error: &SimError) -> PyErr {
    let raised = SimulationError::new_err(error.to_string());
    let raised = with_attribute(py, raised, "kind", Ok(error.kind()));
    let raised = with_attribute(py, raised, "code", Ok(error.code()));
    let raised = with_attribute(py, raised, "pe", Ok(error.site.pe));
    let raised = with_attribute(py, raised, "color", Ok(error.site.color));
    let raised = with_attribute(py, raised, "cycle", Ok(error.site.cycle));
    let place = error.site.place.as_ref();
    let place = place.map(|place| (place.file.clone(), place.line, place.column));
    with_attribute(py, raised, "place", Ok(place))
}

/// `error` with one more attribute, or what went wrong in making it.
fn with_attribute<'py, T: IntoPyObject<'py>>(
    py: Python<'py>,
    error: PyErr,
    name: &str,
    value: PyResult<T>,
) -> PyErr {
    let set = value.and_then(|value| error.value(py).setattr(name, value));
    match set {
        Ok(()) => error,
        Err(other) => other,
    }
}
