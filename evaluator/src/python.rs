//! The module `collc_evaluator`: converts, and calls. `collc_evaluator.pyi` says what it takes.
//!
//! What is given are objects with attributes of the names that the structs here have.

mod step_tables;

use numpy::ndarray::{Array2, Array3, ArrayView1};
use numpy::{
    Element, IntoPyArray, PyArray1, PyArray2, PyArray3, PyReadonlyArray1, PyReadonlyArray2,
    PyReadonlyArray3, PyReadwriteArray2,
};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::line::{self, Action, Entry, Kind, Lane, Machine};
use crate::others::Stretch;
use crate::state::{Move, Task};
use crate::steps;
use crate::streams;
use crate::timing::{self, Budget, Failure};

create_exception!(
    collc_evaluator,
    StuckError,
    PyException,
    "PEs whose entries never end."
);

type Ints<'py> = PyReadonlyArray1<'py, i64>;
type Flags<'py> = PyReadonlyArray1<'py, bool>;

/// The kinds of entries.
#[derive(FromPyObject)]
struct KindGiven {
    prepared: Vec<Action>,
    actions: Vec<Action>,
    ends: bool,
}

/// By entry.
#[derive(FromPyObject)]
struct EntriesGiven<'py> {
    kind: Ints<'py>,
    into: Ints<'py>,
    out: Ints<'py>,
    passed: Ints<'py>,
    applying: Ints<'py>,
}

/// By lane; its entries are those from `start[lane]` to `start[lane + 1] - 1`, and so with links.
#[derive(FromPyObject)]
struct LanesGiven<'py> {
    start: Ints<'py>,
    beyond: Ints<'py>,
    target: Ints<'py>,
    links_start: Ints<'py>,
    links: Ints<'py>,
    begins: Ints<'py>,
}

impl FromPyObject<'_, '_> for Action {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let (name, number): (String, i64) = given.extract()?;
        match name.as_str() {
            "code" => Ok(Action::Code(number)),
            "wait" => Ok(Action::Wait(number)),
            "receive" => Ok(Action::Receive),
            "send" => Ok(Action::Send),
            "pass" => Ok(Action::Pass),
            "apply" => Ok(Action::Apply),
            other => Err(PyValueError::new_err(format!(
                "no action is called {other:?}"
            ))),
        }
    }
}

#[pyclass(frozen)]
struct Line(line::Line);

#[pymethods]
impl Line {
    #[new]
    fn new(
        machine: Machine,
        lanes_each: usize,
        beginning: i64,
        kinds: Vec<KindGiven>,
        entries: EntriesGiven,
        lanes: LanesGiven,
    ) -> PyResult<Line> {
        let kinds = kinds.into_iter().map(|kind| Kind {
            prepared: kind.prepared,
            actions: kind.actions,
            ends: kind.ends,
        });
        let line = line::Line::new(
            machine,
            lanes_each,
            beginning,
            kinds.collect(),
            entries_of(&entries)?,
            lanes_of(&lanes)?,
        );
        line.map(Line).map_err(PyValueError::new_err)
    }

    #[pyo3(signature = (called, deep, most, enough, others=None))]
    fn run(
        &self,
        py: Python,
        called: Ints,
        deep: Ints,
        most: i64,
        enough: i64,
        others: Option<PyReadonlyArray3<i64>>,
    ) -> PyResult<Timing> {
        let calls = self.calls(&called, &deep)?;
        let others = others.map(|given| self.others(&given)).transpose()?;
        followed(py, most, enough, |budget| {
            timing::run(&self.0, calls.given(), others, budget)
        })
        .map(Timing)
    }

    fn tasks(
        &self,
        py: Python,
        called: Ints,
        deep: Ints,
        most: i64,
        enough: i64,
    ) -> PyResult<Vec<TaskTold>> {
        let calls = self.calls(&called, &deep)?;
        let tasks = followed(py, most, enough, |budget| {
            timing::tasks(&self.0, calls.given(), budget)
        });
        Ok(tasks?.iter().map(told).collect())
    }

    fn code_of_beginning<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        timing::code_of_beginning(&self.0).into_pyarray(py)
    }
}

/// The PE, its lane or -1, what its code did.
type TaskTold = (usize, isize, Vec<(&'static str, i64)>);

fn told(task: &Task) -> TaskTold {
    let told = |next: &Move| match *next {
        Move::Code(cycles) => ("code", cycles),
        Move::Wait(cycles) => ("wait", cycles),
        Move::Take {
            elements,
            passing: true,
            ..
        } => ("pass", elements),
        Move::Take { elements, .. } => ("receive", elements),
        Move::Send { elements, .. } => ("send", elements),
        Move::Leave => ("leave", 0),
    };
    let lane = task.lane.map_or(-1, |lane| lane as isize);
    (task.pe, lane, task.moves.iter().map(told).collect())
}

struct Calls {
    called: Vec<i64>,
    deep: Vec<i64>,
}

impl Calls {
    fn given(&self) -> timing::Calls<'_> {
        timing::Calls {
            called: &self.called,
            deep: &self.deep,
        }
    }
}

impl Line {
    fn calls(&self, called: &Ints, deep: &Ints) -> PyResult<Calls> {
        let (called, deep) = (column(called), column(deep));
        if called.len() != self.0.pes() || deep.len() != self.0.pes() {
            return Err(PyValueError::new_err(
                "`called` and `deep` have an entry for each PE",
            ));
        }
        Ok(Calls { called, deep })
    }

    /// Code of others, by PE: [due begin end, which, PE].
    fn others(&self, given: &PyReadonlyArray3<i64>) -> PyResult<Vec<Vec<Stretch>>> {
        let given = given.as_array();
        let (times, count, pes) = given.dim();
        if times != 3 || pes != self.0.pes() {
            return Err(PyValueError::new_err(
                "code of others has three times for each PE",
            ));
        }
        let of = |pe, number| Stretch {
            due: given[(0, number, pe)],
            begin: given[(1, number, pe)],
            end: given[(2, number, pe)],
        };
        let of_pe = |pe| (0..count).map(|number| of(pe, number)).collect();
        Ok((0..pes).map(of_pe).collect())
    }
}

/// Follow a line without holding up other threads, until a signal raises something.
fn followed<T: Send>(
    py: Python,
    most: i64,
    enough: i64,
    follow: impl FnOnce(Budget) -> Result<T, Failure> + Send,
) -> PyResult<T> {
    let mut raised = None;
    let found = py.detach(|| {
        let mut is_interrupted = || {
            raised = Python::attach(|py| py.check_signals().err());
            raised.is_some()
        };
        follow(Budget {
            most,
            enough,
            is_interrupted: &mut is_interrupted,
        })
    });
    found.map_err(|failure| match failure {
        Failure::Stuck(pes) => StuckError::new_err(format!("PEs {pes:?} never end")),
        Failure::Interrupted => raised.unwrap_or_else(|| PyRuntimeError::new_err("interrupted")),
    })
}

#[pyclass(frozen)]
struct Timing(timing::Timing);

#[pymethods]
impl Timing {
    #[getter]
    fn free<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        PyArray1::from_slice(py, &self.0.free)
    }

    #[getter]
    fn ended<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        PyArray1::from_slice(py, &self.0.ended)
    }

    #[getter]
    fn stretches<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray3<i64>> {
        let of = &self.0.stretches;
        let count = of.iter().map(Vec::len).max().unwrap_or_default();
        let mut found = Array3::zeros((3, count, of.len()));
        for (pe, own) in of.iter().enumerate() {
            for (number, one) in own.iter().enumerate() {
                for (time, cycle) in [one.due, one.begin, one.end].into_iter().enumerate() {
                    found[(time, number, pe)] = cycle;
                }
            }
        }
        found.into_pyarray(py)
    }

    #[getter]
    fn looks(&self) -> i64 {
        self.0.looks
    }

    #[getter]
    fn extrapolated(&self) -> bool {
        self.0.extrapolated
    }
}

fn entries_of(given: &EntriesGiven) -> PyResult<Vec<Entry>> {
    let kind = indexes(&given.kind)?;
    let (into, out) = (column(&given.into), column(&given.out));
    let (passed, applying) = (column(&given.passed), column(&given.applying));
    same_length(&[
        kind.len(),
        into.len(),
        out.len(),
        passed.len(),
        applying.len(),
    ])?;
    let entry = |at: usize| Entry {
        kind: kind[at],
        into: into[at],
        out: out[at],
        passed: passed[at],
        applying: applying[at],
    };
    Ok((0..kind.len()).map(entry).collect())
}

fn lanes_of(given: &LanesGiven) -> PyResult<Vec<Lane>> {
    let (start, links_start) = (indexes(&given.start)?, indexes(&given.links_start)?);
    let (beyond, links) = (indexes(&given.beyond)?, indexes(&given.links)?);
    let (target, begins) = (targets(&given.target), column(&given.begins));
    same_length(&[
        beyond.len() + 1,
        target.len() + 1,
        begins.len() + 1,
        start.len(),
        links_start.len(),
    ])?;
    let lane = |at: usize| {
        let links = links.get(links_start[at]..links_start[at + 1]);
        let links =
            links.ok_or_else(|| PyValueError::new_err("a lane has links that are not given"))?;
        Ok(Lane {
            entries: start[at]..start[at + 1],
            beyond: beyond[at],
            target: target[at],
            links: links.to_vec(),
            begins: begins[at],
        })
    };
    (0..target.len()).map(lane).collect()
}

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

/// Lanes that lanes send to; a negative number is none.
fn targets(given: &Ints) -> Vec<Option<usize>> {
    given
        .as_array()
        .iter()
        .map(|number| usize::try_from(*number).ok())
        .collect()
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

/// When each operation of each place of a stream ends.
#[pyfunction]
fn stream_ends(
    py: Python,
    machine: streams::Machine,
    places: Vec<streams::Place>,
) -> PyResult<Vec<streams::Ends>> {
    py.detach(|| streams::ends(&machine, &places))
        .map_err(|stuck| StuckError::new_err(format!("places {:?} wait for ever", stuck.0)))
}

#[pymodule]
fn collc_evaluator(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("StuckError", module.py().get_type::<StuckError>())?;
    module.add_class::<Line>()?;
    module.add_class::<Timing>()?;
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
    module.add_function(wrap_pyfunction!(stream_ends, module)?)?;
    module.add_function(wrap_pyfunction!(step_tables::first_period, module)?)?;
    module.add_function(wrap_pyfunction!(step_tables::find_loops, module)?)
}
