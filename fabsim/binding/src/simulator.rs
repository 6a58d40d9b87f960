//! `fabsim.Simulator`: a program on a simulated machine.

use super::arguments::{bits_of, parameters};
use super::arrays::{array_of, element_bytes, format_of, words_of};
use super::environment::{reference_by_environment, thread_count};
use super::errors::simulation_error;
use super::program::Program;
use super::report::Report;
use super::traces::{scope_of, trace_form_of};
use super::watch::Watch;
use fabsim_engine::trace::{Told, TraceOptions, TraceSize, Watched};
use fabsim_host::{Area, LateStarts, SimOptions, Simulator, TransferId, VisitOrder};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A program on a simulated machine. `visit_seed` visits the PEs in random orders: nothing may
/// change by it, and tests check that.
#[pyclass(name = "Simulator", module = "fabsim")]
pub struct PySimulator {
    inner: Simulator,
    /// Called now and then with the cycle, whatever runs.
    progress: Option<Py<PyAny>>,
}

#[pymethods]
impl PySimulator {
    #[new]
    #[pyo3(signature = (program, max_cycles=1_000_000_000, lenient=false, visit_seed=None, threads=None, *, max_memory_bytes=16_000_000_000, check_uninitialized=false, usage=false, trace=None, trace_form="text", trace_region=None, trace_window=None, constants=BTreeMap::new(), late_starts=None, max_seconds=None, reference=None, trace_limit=None))]
    #[allow(clippy::too_many_arguments)] // keywords, all but the first
    fn new(
        py: Python<'_>,
        program: &Program,
        max_cycles: u64,
        lenient: bool,
        visit_seed: Option<u64>,
        threads: Option<usize>,
        max_memory_bytes: u64,
        check_uninitialized: bool,
        usage: bool,
        trace: Option<PathBuf>,
        trace_form: &str,
        trace_region: Option<(u32, u32, u32, u32)>,
        trace_window: Option<(u64, u64)>,
        constants: BTreeMap<String, u64>,
        late_starts: Option<(u64, u64)>,
        max_seconds: Option<u64>,
        reference: Option<bool>,
        trace_limit: Option<u64>,
    ) -> PyResult<Self> {
        let form = trace_form_of(trace_form)?;
        let scope = scope_of(trace_region, trace_window);
        let trace = trace.map(|path| TraceOptions {
            path,
            form,
            scope,
            size: TraceSize {
                limit: trace_limit,
                ..TraceSize::default()
            },
            told: Told(Some(tell)),
        });
        let options = SimOptions {
            max_cycles,
            max_seconds,
            max_memory_bytes,
            lenient,
            visit_order: visit_seed.map_or(VisitOrder::AsWoken, VisitOrder::Shuffled),
            threads: thread_count(threads, program.lowered.design().tiles.len())?,
            reference: reference.unwrap_or_else(reference_by_environment),
            watched: Watched { trace, usage },
            check_uninitialized,
            constants: constants.into_iter().collect(),
            late: late_starts.map_or(LateStarts::default(), |(most_cycles, seed)| LateStarts {
                most_cycles,
                seed,
            }),
            ..SimOptions::default()
        };
        let made = py.detach(|| Simulator::of(&program.lowered, options));
        match made {
            Ok(inner) => Ok(PySimulator {
                inner,
                progress: None,
            }),
            Err(error) => Err(simulation_error(py, &error)),
        }
    }

    /// Lets a function know the cycle now and then, whatever runs; None stops that.
    #[pyo3(signature = (progress))]
    fn set_progress(&mut self, progress: Option<Py<PyAny>>) {
        self.progress = progress;
    }

    /// Copies a one-dimensional array of 32- or 16-bit elements to every PE of the area.
    #[pyo3(signature = (symbol, data, x, y, width, height, per_pe, *, order="row_major"))]
    #[allow(clippy::too_many_arguments)] // the host's call has as many
    fn memcpy_h2d(
        &mut self,
        py: Python<'_>,
        symbol: &str,
        data: &Bound<'_, PyAny>,
        x: u16,
        y: u16,
        width: u16,
        height: u16,
        per_pe: usize,
        order: &str,
    ) -> PyResult<()> {
        let (words, bytes) = words_of(py, data)?;
        let area = area(x, y, width, height, per_pe);
        let format = format_of(order, bytes == 2)?;
        let copied = py.detach(|| self.inner.copy_in(symbol, area, &words, format));
        copied.map_err(|error| simulation_error(py, &error))
    }

    /// Copies from every PE of the area into a new one-dimensional array.
    #[pyo3(signature = (symbol, dtype, x, y, width, height, per_pe, *, order="row_major"))]
    #[allow(clippy::too_many_arguments)] // the host's call has as many
    fn memcpy_d2h<'py>(
        &mut self,
        py: Python<'py>,
        symbol: &str,
        dtype: &Bound<'py, PyAny>,
        x: u16,
        y: u16,
        width: u16,
        height: u16,
        per_pe: usize,
        order: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let dtype = py.import("numpy")?.call_method1("dtype", (dtype,))?;
        let bytes = element_bytes(&dtype)?;
        let area = area(x, y, width, height, per_pe);
        let format = format_of(order, bytes == 2)?;
        let copied = py.detach(|| self.inner.copy_out(symbol, area, format));
        let words = copied.map_err(|error| simulation_error(py, &error))?;
        array_of(py, dtype, words)
    }

    /// Sends a one-dimensional array of 32-bit words to every PE of the area on a streaming color.
    #[pyo3(signature = (color, data, x, y, width, height, per_pe, *, order="row_major"))]
    #[allow(clippy::too_many_arguments)] // the host's call has as many
    fn stream_h2d(
        &mut self,
        py: Python<'_>,
        color: u8,
        data: PyReadonlyArray1<'_, u32>,
        x: u16,
        y: u16,
        width: u16,
        height: u16,
        per_pe: usize,
        order: &str,
    ) -> PyResult<()> {
        let area = area(x, y, width, height, per_pe);
        let col_major = format_of(order, false)?.col_major;
        let words = data.as_slice()?.to_vec();
        let mut watch = Watch::new(self.progress_of(py));
        let sent = py.detach(|| {
            let progress = &mut |cycle| watch.look(cycle);
            self.inner
                .stream_in(color, area, &words, col_major, progress)
        });
        sent.map_err(|error| watch.error(py, &error))
    }

    /// Receives 32-bit words from every PE of the area on a streaming color.
    #[pyo3(signature = (color, x, y, width, height, per_pe, *, order="row_major"))]
    #[allow(clippy::too_many_arguments)] // the host's call has as many
    fn stream_d2h<'py>(
        &mut self,
        py: Python<'py>,
        color: u8,
        x: u16,
        y: u16,
        width: u16,
        height: u16,
        per_pe: usize,
        order: &str,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let area = area(x, y, width, height, per_pe);
        let col_major = format_of(order, false)?.col_major;
        let mut watch = Watch::new(self.progress_of(py));
        let received = py.detach(|| {
            let progress = &mut |cycle| watch.look(cycle);
            self.inner.stream_out(color, area, col_major, progress)
        });
        match received {
            Ok(words) => Ok(PyArray1::from_vec(py, words)),
            Err(error) => Err(watch.error(py, &error)),
        }
    }

    /// Begins to send words into a color of PE (x, y) that no router feeds; the transfer's number.
    fn begin_send(
        &mut self,
        py: Python<'_>,
        x: u32,
        y: u32,
        color: u8,
        data: PyReadonlyArray1<'_, u32>,
    ) -> PyResult<usize> {
        let begun = self
            .inner
            .begin_send(x, y, color, data.as_slice()?.to_vec());
        begun.map(|id| id.0).map_err(|e| simulation_error(py, &e))
    }

    /// Begins to receive words from a color of PE (x, y) that leads nowhere; the transfer's number.
    fn begin_receive(
        &mut self,
        py: Python<'_>,
        x: u32,
        y: u32,
        color: u8,
        count: usize,
    ) -> PyResult<usize> {
        let begun = self.inner.begin_receive(x, y, color, count);
        begun.map(|id| id.0).map_err(|e| simulation_error(py, &e))
    }

    /// Runs until a transfer is done, and all others as far as they get; the words it received.
    fn finish_transfer<'py>(
        &mut self,
        py: Python<'py>,
        transfer: usize,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let mut watch = Watch::new(self.progress_of(py));
        let done = py.detach(|| {
            let progress = &mut |cycle| watch.look(cycle);
            self.inner.finish_transfer(TransferId(transfer), progress)
        });
        match done {
            Ok(words) => Ok(PyArray1::from_vec(py, words)),
            Err(error) => Err(watch.error(py, &error)),
        }
    }

    /// Whether a transfer is done.
    fn is_transfer_done(&self, py: Python<'_>, transfer: usize) -> PyResult<bool> {
        let done = self.inner.is_transfer_done(TransferId(transfer));
        done.map_err(|error| simulation_error(py, &error))
    }

    /// Whether a transfer is done, after some more cycles.
    fn poll_transfer(&mut self, py: Python<'_>, transfer: usize) -> PyResult<bool> {
        let mut watch = Watch::new(self.progress_of(py));
        let done = py.detach(|| {
            let progress = &mut |cycle| watch.look(cycle);
            self.inner.poll_transfer(TransferId(transfer), progress)
        });
        done.map_err(|error| watch.error(py, &error))
    }

    /// Starts an exported function on every PE and waits until all have let the next command in.
    #[pyo3(signature = (name, *args, progress=None))]
    fn launch(
        &mut self,
        py: Python<'_>,
        name: &str,
        args: &Bound<'_, PyTuple>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Report> {
        let args = bits_of(self.inner.design(), name, args)?;
        let mut watch = Watch::new(progress.or_else(|| self.progress_of(py)));
        let ran = py.detach(|| {
            self.inner
                .launch_with(name, &args, &mut |cycle| watch.look(cycle))
        });
        ran.map(Report).map_err(|error| watch.error(py, &error))
    }

    /// Like `launch`, with the arguments as the words that the function receives.
    fn call(&mut self, py: Python<'_>, name: &str, words: Vec<u32>) -> PyResult<Report> {
        parameters(self.inner.design(), name, words.len())?;
        let mut watch = Watch::new(self.progress_of(py));
        let ran = py.detach(|| {
            self.inner
                .launch_with(name, &words, &mut |cycle| watch.look(cycle))
        });
        ran.map(Report).map_err(|error| watch.error(py, &error))
    }

    /// The variables in the memory of PE (x, y): name, byte address, bytes.
    fn variables(&self, py: Python<'_>, x: u32, y: u32) -> PyResult<Vec<(String, u32, u32)>> {
        let found = self.inner.variables(x, y);
        let found = found.map_err(|error| simulation_error(py, &error))?;
        let parts = found.into_iter().map(|v| (v.name, v.address, v.bytes));
        Ok(parts.collect())
    }

    /// The bytes of a variable of PE (x, y).
    fn read_variable<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        x: u32,
        y: u32,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.inner.read_variable(name, x, y);
        let bytes = bytes.map_err(|error| simulation_error(py, &error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Gives a variable of PE (x, y) all of its bytes.
    fn write_variable(
        &mut self,
        py: Python<'_>,
        name: &str,
        x: u32,
        y: u32,
        data: &[u8],
    ) -> PyResult<()> {
        let written = self.inner.write_variable(name, x, y, data);
        written.map_err(|error| simulation_error(py, &error))
    }

    /// Lets the fabric drain; a wavelet left over anywhere is an error.
    fn stop(&mut self, py: Python<'_>) -> PyResult<()> {
        let mut watch = Watch::new(self.progress_of(py));
        let ran = py.detach(|| self.inner.stop_with(&mut |cycle| watch.look(cycle)));
        ran.map(|_| ()).map_err(|error| watch.error(py, &error))
    }

    /// Where the cycles went, as JSON text; none unless `usage` was asked for.
    fn usage_json(&mut self) -> Option<String> {
        self.inner.usage().map(|usage| usage.json())
    }

    /// Where the cycles went, as a table to read; none unless `usage` was asked for.
    fn usage_table(&mut self) -> Option<String> {
        self.inner.usage().map(|usage| usage.table())
    }

    #[getter]
    fn cycle(&self) -> u64 {
        self.inner.cycle()
    }

    /// Threads in use.
    #[getter]
    fn threads(&self) -> usize {
        self.inner.machine().threads()
    }

    /// Wavelets that left a router's queue.
    #[getter]
    fn wavelet_count(&self) -> u64 {
        self.inner.machine().fabric.departures()
    }

    #[getter]
    fn tile_cycles(&self) -> u64 {
        self.inner.tile_cycles()
    }

    /// What PEs have printed, as (cycle, line).
    #[getter]
    fn log(&self) -> Vec<(u64, String)> {
        let mut log = self.inner.machine().log.clone();
        log.sort_by_key(|(cycle, pe, _)| (*cycle, *pe));
        log.into_iter().map(|(at, _, line)| (at, line)).collect()
    }

    /// Undefined events that a lenient run let pass.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.inner.machine().warnings.clone()
    }
}

impl PySimulator {
    fn progress_of(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.progress.as_ref().map(|known| known.clone_ref(py))
    }
}

/// What is to be known while a trace is written goes to standard error.
fn tell(text: &str) {
    eprintln!("fabsim: warning: {text}");
}

fn area(x: u16, y: u16, width: u16, height: u16, per_pe: usize) -> Area {
    Area {
        x,
        y,
        width,
        height,
        per_pe,
    }
}
