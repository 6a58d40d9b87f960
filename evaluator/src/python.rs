//! The module `collc_evaluator`: converts, and calls. `collc_evaluator.pyi` says what it takes.
//!
//! What is given are objects with attributes of the names that the structs here have.

mod step_tables;

use numpy::ndarray::{Array2, ArrayView1};
use numpy::{
    Element, IntoPyArray, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyReadwriteArray2,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::steps;

type Ints<'py> = PyReadonlyArray1<'py, i64>;
type Flags<'py> = PyReadonlyArray1<'py, bool>;

/// The transfers of the steps of a phase, one after the other; step s has those up to `ends[s]`.
#[derive(FromPyObject)]
struct StepsGiven<'py> {
    source: Ints<'py>,
    destination: Ints<'py>,
    slice: Ints<'py>,
    into: Ints<'py>,
    count: Ints<'py>,
    combines: Flags<'py>,
    ends: Ints<'py>,
}

/// See `steps::carry_out`.
#[pyfunction]
fn carry_out(
    mut held: PyReadwriteArray2<u64>,
    sizes: Ints,
    pes: PyReadonlyArray2<i64>,
    bounds: PyReadonlyArray2<i64>,
    steps: StepsGiven,
) -> PyResult<()> {
    let (source, destination) = (indexes(&steps.source)?, indexes(&steps.destination)?);
    let (slice, into, count) = (
        indexes(&steps.slice)?,
        indexes(&steps.into)?,
        indexes(&steps.count)?,
    );
    let combines = column(&steps.combines);
    same_length(&[
        source.len(),
        destination.len(),
        slice.len(),
        into.len(),
        count.len(),
        combines.len(),
    ])?;
    let transfer = |at: usize| steps::Transfer {
        source: source[at],
        destination: destination[at],
        slice: slice[at],
        into: into[at],
        count: count[at],
        combines: combines[at],
    };
    let transfers: Vec<_> = (0..source.len()).map(transfer).collect();
    let (ends, sizes) = (indexes(&steps.ends)?, column(&sizes));
    let mut held = held.as_array_mut();
    if held.ncols() != sizes.len() {
        return Err(PyValueError::new_err(
            "what is held has a number for each atom",
        ));
    }
    let values = held
        .as_slice_mut()
        .ok_or_else(|| PyValueError::new_err("what is held lies in rows"))?;
    let mut held = steps::Held {
        values,
        sizes: &sizes,
    };
    let (pes, bounds) = (pes.as_array(), bounds.as_array());
    if bounds.nrows() != pes.nrows() && bounds.nrows() != 1 {
        return Err(PyValueError::new_err(
            "slices of all lines are cut, or alike",
        ));
    }
    for (at, places) in pes.outer_iter().enumerate() {
        let line = steps::Line {
            pes: row_of(&places)?,
            bounds: row_of(&bounds.row(at.min(bounds.nrows() - 1)))?,
        };
        steps::carry_out(&mut held, &line, &transfers, &ends).map_err(PyValueError::new_err)?;
    }
    Ok(())
}

fn column<T: Element + Copy>(given: &PyReadonlyArray1<T>) -> Vec<T> {
    given.as_array().iter().copied().collect()
}

fn indexes(given: &Ints) -> PyResult<Vec<usize>> {
    row_of(&given.as_array())
}

fn row_of(given: &ArrayView1<i64>) -> PyResult<Vec<usize>> {
    let index = |number: &i64| {
        usize::try_from(*number).map_err(|_| PyValueError::new_err(format!("{number} is no index")))
    };
    given.iter().map(index).collect()
}

fn same_length(lengths: &[usize]) -> PyResult<()> {
    if lengths.windows(2).all(|pair| pair[0] == pair[1]) {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "columns differ in length: {lengths:?}"
    )))
}

fn matrix<T: Element>(
    py: Python<'_>,
    rows: usize,
    columns: usize,
    flat: Vec<T>,
) -> PyResult<Bound<'_, PyArray2<T>>> {
    let array = Array2::from_shape_vec((rows, columns), flat);
    Ok(array
        .map_err(|error| PyValueError::new_err(error.to_string()))?
        .into_pyarray(py))
}

#[pymodule]
fn collc_evaluator(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(
        crate::machine::python::run_machine,
        module
    )?)?;
    module.add_function(wrap_pyfunction!(
        crate::machine::python::time_machine,
        module
    )?)?;
    module.add_function(wrap_pyfunction!(carry_out, module)?)?;
    module.add_function(wrap_pyfunction!(step_tables::step_rows, module)?)?;
    module.add_function(wrap_pyfunction!(step_tables::first_period, module)?)?;
    module.add_function(wrap_pyfunction!(step_tables::find_loops, module)?)
}
