//! The Python module `fabsim`. It converts and calls; it decides nothing.

use fabsim_engine::report::{Cause, SimError};
use fabsim_engine::trace::{self, Region, Scope, TraceForm, TraceOptions, Watched};
use fabsim_frontend as csl;
use fabsim_frontend::{CompileOptions, Fp16Format};
use fabsim_host::{
    Area, CopyFormat, LateStarts, LaunchReport, SimOptions, Simulator, TransferId, VisitOrder,
};
use fabsim_program::diagnostic::Diagnostic;
use fabsim_program::program::{
    Arch, Clock, Design, Direction, Directions, ExportKind, Function, Inst, ScalarType, Tile,
    TileProgram,
};
use fabsim_program::rounding::{cb16_bits, single_for_rounding};
use fabsim_program::rules::{self, Switch};
use fabsim_program::sdk::Sdk;
use half::f16;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

create_exception!(
    fabsim,
    CslError,
    PyException,
    "The program does not compile."
);
create_exception!(fabsim, SimulationError, PyException, "The run went wrong.");

/// How often Python gets a say during a simulation.
const PAUSE: Duration = Duration::from_millis(100);

/// A compiled program.
#[pyclass(frozen, module = "fabsim")]
struct Program {
    design: Arc<Design>,
    warnings: Vec<String>,
    printed: Vec<String>,
    constructs: Vec<(String, String, u32)>,
    sdk: Sdk,
    assumed: Option<String>,
}

#[pymethods]
impl Program {
    #[getter]
    fn arch(&self) -> &'static str {
        arch_name(self.design.arch)
    }

    #[getter]
    fn width(&self) -> u16 {
        self.design.width
    }

    #[getter]
    fn height(&self) -> u16 {
        self.design.height
    }

    /// Exported names; the index is the symbol's id.
    #[getter]
    fn exports(&self) -> Vec<&str> {
        let exports = self.design.exports.iter();
        exports.map(|export| export.name.as_str()).collect()
    }

    /// What the compiler warns of.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// What `@comptime_print` says.
    #[getter]
    fn printed(&self) -> Vec<String> {
        self.printed.clone()
    }

    /// What the program uses of the language, if that was asked for: constructs with the file and line
    /// of their first place.
    #[getter]
    fn constructs(&self) -> Vec<(String, String, u32)> {
        self.constructs.clone()
    }

    /// The release the program is compiled for.
    #[getter]
    fn sdk(&self) -> &'static str {
        self.sdk.name()
    }

    /// Which release was assumed and why, where none was said and it is not the newest.
    #[getter]
    fn assumed(&self) -> Option<&str> {
        self.assumed.as_deref()
    }

    /// Source files the program was compiled from.
    #[getter]
    fn sources(&self) -> &[String] {
        &self.design.files
    }

    /// The functions in the memory of PE (x, y), with their numbers of instructions; a constant is
    /// part of the instruction that uses it.
    fn functions(&self, x: u16, y: u16) -> PyResult<Vec<(String, usize)>> {
        let takes_time = |inst: &&Inst| !matches!(inst, Inst::Const { .. });
        let count = |f: &Function| f.code.iter().filter(takes_time).count();
        let functions = self.program_of(x, y)?.functions.iter();
        Ok(functions.map(|f| (f.name.clone(), count(f))).collect())
    }

    /// Where the colors of PE (x, y) come from and go to: color, number of the switch position, and
    /// the letters of its inputs and outputs.
    fn routes(&self, x: u16, y: u16) -> PyResult<Vec<(u8, u8, String, String)>> {
        let router = &self.design.routers[self.tile_of(x, y)?.router as usize];
        let rows = router.colors.iter().flat_map(|(color, setup)| {
            let sides = setup.sides().into_iter();
            sides.map(|(number, rx, tx)| (*color, number, letters(rx), letters(tx)))
        });
        Ok(rows.collect())
    }

    /// Bytes of memory that the variables of PE (x, y) take.
    fn data_bytes(&self, x: u16, y: u16) -> PyResult<u32> {
        Ok(self.program_of(x, y)?.memory_bytes)
    }
}

impl Program {
    fn program_of(&self, x: u16, y: u16) -> PyResult<&TileProgram> {
        let tile = self.tile_of(x, y)?;
        Ok(&self.design.programs[tile.program as usize])
    }

    fn tile_of(&self, x: u16, y: u16) -> PyResult<&Tile> {
        let (width, height) = (self.design.width, self.design.height);
        let place = usize::from(y) * usize::from(width) + usize::from(x);
        let inside = x < width && y < height;
        let tile = self.design.tiles.get(place).filter(|_| inside);
        tile.ok_or_else(|| {
            let text = format!("PE ({x}, {y}) is outside the {width} x {height} rectangle");
            PyValueError::new_err(text)
        })
    }
}

/// Sides by their letters, the ramp first.
fn letters(sides: Directions) -> String {
    const LETTERS: [(Direction, char); 5] = [
        (Direction::Ramp, 'R'),
        (Direction::East, 'E'),
        (Direction::West, 'W'),
        (Direction::North, 'N'),
        (Direction::South, 'S'),
    ];
    let known = LETTERS.iter().filter(|(side, _)| sides.has(*side));
    known.map(|(_, letter)| *letter).collect()
}

/// What a launch took, in cycles.
#[pyclass(frozen, name = "LaunchReport", module = "fabsim")]
struct Report(LaunchReport);

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

/// Compiles the program whose layout is in the file `path`.
#[pyfunction]
#[pyo3(signature = (path, arch="wse2", params=BTreeMap::new(), colors=BTreeMap::new(), fabric_dims=None, fabric_offsets=None, import_paths=Vec::new(), memcpy=true, max_inlined_iterations=50, fp16_format="f16", max_comptime_steps=csl::COMPTIME_STEPS, timing=None, strict=None, colors_by_number=false, comptime_func_depth_limit=None, sdk=None, constructs=false, rules_off=Vec::new()))]
#[allow(clippy::too_many_arguments)] // the command line has as many options
fn compile(
    py: Python<'_>,
    path: PathBuf,
    arch: &str,
    params: BTreeMap<String, i64>,
    colors: BTreeMap<String, i64>,
    fabric_dims: Option<(u16, u16)>,
    fabric_offsets: Option<(u16, u16)>,
    import_paths: Vec<PathBuf>,
    memcpy: bool,
    max_inlined_iterations: u32,
    fp16_format: &str,
    max_comptime_steps: u64,
    timing: Option<&str>,
    strict: Option<bool>,
    colors_by_number: bool,
    comptime_func_depth_limit: Option<u32>,
    sdk: Option<&str>,
    constructs: bool,
    rules_off: Vec<String>,
) -> PyResult<Program> {
    let arch = arch_of(arch)?;
    let Some(fp16) = Fp16Format::named(fp16_format) else {
        let text = format!("unknown format {fp16_format:?}; there are f16, bf16 and cb16");
        return Err(PyValueError::new_err(text));
    };
    let by_environment = timing_by_environment();
    let (clock, constants) = timing_of(py, timing.unwrap_or(&by_environment), arch)?;
    let off: PyResult<Vec<&'static Switch>> = rules_off.iter().map(|name| switched(name)).collect();
    let options = CompileOptions {
        arch,
        sdk: sdk.map(release).transpose()?,
        clock,
        constants,
        off: off?,
        fp16,
        fabric_dims,
        fabric_offsets,
        params: params.into_iter().collect(),
        colors: colors.into_iter().collect(),
        import_paths,
        memcpy,
        max_inlined_iterations,
        comptime_step_limit: max_comptime_steps,
        strict: strict.unwrap_or_else(strict_by_environment),
        colors_by_number,
        comptime_func_depth_limit,
        constructs,
        ..CompileOptions::new(arch)
    };
    let compilation = py.allow_threads(|| csl::compile_verbose(&path, &options));
    let rendered = |said: &[Diagnostic]| said.iter().map(Diagnostic::render).collect();
    match compilation.design {
        Ok(design) => Ok(Program {
            design: Arc::new(design),
            warnings: rendered(&csl::told_once(&compilation.warnings)),
            printed: rendered(&compilation.printed),
            constructs: compilation.constructs.iter().map(placed).collect(),
            sdk: compilation.sdk,
            assumed: compilation.assumed.map(|note| note.render()),
        }),
        Err(diagnostics) => Err(csl_error(py, &diagnostics)),
    }
}

fn arch_of(name: &str) -> PyResult<Arch> {
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
fn timing_of(py: Python<'_>, timing: &str, arch: Arch) -> PyResult<(Clock, Vec<(String, u64)>)> {
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

fn arch_name(arch: Arch) -> &'static str {
    match arch {
        Arch::Wse2 => "wse2",
        Arch::Wse3 => "wse3",
    }
}

/// The numbers of a clock and an architecture, by name, in the order of the table.
#[pyfunction]
fn timing_numbers(timing: &str, arch: &str) -> PyResult<Vec<(&'static str, u64)>> {
    let arch = arch_of(arch)?;
    let Some(clock) = Clock::named(timing) else {
        let known: Vec<&str> = Clock::ALL.iter().map(|clock| clock.name()).collect();
        let text = format!("unknown timing {timing:?}; there are {}", known.join(", "));
        return Err(PyValueError::new_err(text));
    };
    Ok(fabsim_engine::timing::timing(clock, arch).numbers())
}

/// The rule of a name, if it can be switched off.
fn switched(name: &str) -> PyResult<&'static Switch> {
    rules::switch(name).ok_or_else(|| {
        let why = rules::fixed(name).unwrap_or("docs/machine.md has no such rule");
        PyValueError::new_err(format!("the rule {name} cannot be switched off: {why}"))
    })
}

/// Rules that can be switched off, with what a machine without each does where it is about more than
/// what is refused.
#[pyfunction]
fn switchable_rules() -> Vec<(&'static str, Option<&'static str>)> {
    let other = |switch: &Switch| switch.other.as_ref().map(|other| other.what);
    rules::switches()
        .map(|switch| (switch.rule, other(switch)))
        .collect()
}

/// Why a rule cannot be switched off; None if it can.
#[pyfunction]
fn fixed_rule(rule: &str) -> Option<&'static str> {
    rules::fixed(rule)
}

/// A message with the file and line it is about.
fn placed(found: &Diagnostic) -> (String, String, u32) {
    let file = found.places.first().map_or("", |place| &place.file);
    (found.message.clone(), file.to_string(), found.span.line)
}

fn release(name: &str) -> PyResult<Sdk> {
    Sdk::named(name).ok_or_else(|| {
        let known = Sdk::ALL.map(Sdk::name).join(", ");
        PyValueError::new_err(format!("unknown SDK {name:?}; there are {known}"))
    })
}

/// The table that FABSIM_TIMING names, where no option does; else the default.
fn timing_by_environment() -> String {
    let named = std::env::var("FABSIM_TIMING").ok();
    named
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| Clock::default().name().to_owned())
}

/// Whether FABSIM_STRICT asks for it, where no option does.
fn strict_by_environment() -> bool {
    std::env::var_os("FABSIM_STRICT").is_some_and(|value| !value.is_empty() && value != "0")
}

fn csl_error(py: Python<'_>, diagnostics: &[Diagnostic]) -> PyErr {
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

fn simulation_error(py: Python<'_>, error: &SimError) -> PyErr {
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

fn trace_form_of(name: &str) -> PyResult<TraceForm> {
    match name {
        "text" => Ok(TraceForm::Text),
        "binary" => Ok(TraceForm::Binary),
        other => {
            let text = format!("unknown form of a trace {other:?}; there are text and binary");
            Err(PyValueError::new_err(text))
        }
    }
}

fn scope_of(region: Option<(u32, u32, u32, u32)>, window: Option<(u64, u64)>) -> Scope {
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
fn convert_trace(
    py: Python<'_>,
    source: PathBuf,
    destination: PathBuf,
    region: Option<(u32, u32, u32, u32)>,
    window: Option<(u64, u64)>,
) -> PyResult<()> {
    let scope = scope_of(region, window);
    py.allow_threads(|| trace::convert(&source, &destination, scope))
        .map_err(|error| match error.kind() {
            ErrorKind::InvalidData => PyValueError::new_err(error.to_string()),
            _ => PyErr::from(error),
        })
}

fn format_of(order: &str, is16: bool) -> PyResult<CopyFormat> {
    let col_major = match order {
        "row_major" => false,
        "col_major" => true,
        other => {
            let text = format!("unknown order {other:?}; there are row_major and col_major");
            return Err(PyValueError::new_err(text));
        }
    };
    Ok(CopyFormat { is16, col_major })
}

/// Bytes of an element of a dtype, which the host can copy: numbers of 16 or 32 bits in the
/// machine's byte order, types NumPy does not know itself (bfloat16) among them.
fn element_bytes(dtype: &Bound<'_, PyAny>) -> PyResult<usize> {
    let bytes: usize = dtype.getattr("itemsize")?.extract()?;
    let kind: String = dtype.getattr("kind")?.extract()?;
    let fields = dtype.getattr("names")?;
    if !matches!(bytes, 2 | 4) || !"fiuV".contains(&kind) || !fields.is_none() {
        return Err(PyTypeError::new_err(format!(
            "numbers of 16 or 32 bits are copied, not {dtype}"
        )));
    }
    if !dtype.getattr("isnative")?.extract::<bool>()? {
        return Err(PyTypeError::new_err(format!(
            "{dtype} is not in this machine's byte order"
        )));
    }
    Ok(bytes)
}

/// Gives Python a say now and then: signals, and the caller's progress function.
struct Watch {
    callback: Option<PyObject>,
    last: Instant,
    raised: Option<PyErr>,
}

impl Watch {
    fn new(callback: Option<PyObject>) -> Watch {
        Watch {
            callback,
            last: Instant::now(),
            raised: None,
        }
    }

    /// False if the simulation is to stop.
    fn look(&mut self, cycle: u64) -> bool {
        if self.last.elapsed() < PAUSE {
            return true;
        }
        self.last = Instant::now();
        let seen = Python::with_gil(|py| {
            py.check_signals()?;
            match &self.callback {
                Some(callback) => callback.call1(py, (cycle,)).map(|_| ()),
                None => Ok(()),
            }
        });
        self.raised = seen.err();
        self.raised.is_none()
    }

    fn error(self, py: Python<'_>, error: &SimError) -> PyErr {
        match (self.raised, &*error.cause) {
            (Some(raised), Cause::Interrupted) => raised,
            _ => simulation_error(py, error),
        }
    }
}

/// The environment variable that says how many threads to use where the caller does not.
const THREADS: &str = "FABSIM_THREADS";

/// A program on a simulated machine. `visit_seed` visits the PEs in random orders: nothing may
/// change by it, and tests check that.
#[pyclass(name = "Simulator", module = "fabsim")]
struct PySimulator {
    inner: Simulator,
    /// Called now and then with the cycle, whatever runs.
    progress: Option<PyObject>,
}

#[pymethods]
impl PySimulator {
    #[new]
    #[pyo3(signature = (program, max_cycles=1_000_000_000, lenient=false, visit_seed=None, threads=None, *, max_memory_bytes=16_000_000_000, check_uninitialized=false, usage=false, trace=None, trace_form="text", trace_region=None, trace_window=None, constants=BTreeMap::new(), late_starts=None))]
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
    ) -> PyResult<Self> {
        let form = trace_form_of(trace_form)?;
        let scope = scope_of(trace_region, trace_window);
        let trace = trace.map(|path| TraceOptions { path, form, scope });
        let options = SimOptions {
            max_cycles,
            max_memory_bytes,
            lenient,
            visit_order: visit_seed.map_or(VisitOrder::AsWoken, VisitOrder::Shuffled),
            threads: thread_count(threads)?,
            watched: Watched { trace, usage },
            check_uninitialized,
            constants: constants.into_iter().collect(),
            late: late_starts.map_or(LateStarts::default(), |(most_cycles, seed)| LateStarts {
                most_cycles,
                seed,
            }),
            ..SimOptions::default()
        };
        let design = Arc::clone(&program.design);
        let made = py.allow_threads(|| Simulator::new(design, options));
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
    fn set_progress(&mut self, progress: Option<PyObject>) {
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
        if !data.is_instance(&py.import("numpy")?.getattr("ndarray")?)? {
            let text = format!("a NumPy array is copied, not {}", data.get_type().name()?);
            return Err(PyTypeError::new_err(text));
        }
        let bytes = element_bytes(&data.getattr("dtype")?)?;
        if data.getattr("ndim")?.extract::<usize>()? != 1 {
            return Err(PyValueError::new_err("the array must have one dimension"));
        }
        let data = py
            .import("numpy")?
            .call_method1("ascontiguousarray", (data,))?;
        let words: Vec<u32> = if bytes == 2 {
            let halves = data.call_method1("view", ("uint16",))?;
            let halves: PyReadonlyArray1<'_, u16> = halves.extract()?;
            halves
                .as_slice()?
                .iter()
                .map(|&half| u32::from(half))
                .collect()
        } else {
            let words = data.call_method1("view", ("uint32",))?;
            let words: PyReadonlyArray1<'_, u32> = words.extract()?;
            words.as_slice()?.to_vec()
        };
        let area = Area {
            x,
            y,
            width,
            height,
            per_pe,
        };
        let format = format_of(order, bytes == 2)?;
        let copied = py.allow_threads(|| self.inner.copy_in(symbol, area, &words, format));
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
        let area = Area {
            x,
            y,
            width,
            height,
            per_pe,
        };
        let format = format_of(order, bytes == 2)?;
        let copied = py.allow_threads(|| self.inner.copy_out(symbol, area, format));
        let words = copied.map_err(|error| simulation_error(py, &error))?;
        if bytes == 2 {
            let halves = words.into_iter().map(|word| word as u16).collect();
            return PyArray1::<u16>::from_vec(py, halves).call_method1("view", (dtype,));
        }
        PyArray1::<u32>::from_vec(py, words).call_method1("view", (dtype,))
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
        let area = Area {
            x,
            y,
            width,
            height,
            per_pe,
        };
        let col_major = format_of(order, false)?.col_major;
        let words = data.as_slice()?.to_vec();
        let mut watch = Watch::new(self.progress_of(py));
        let sent = py.allow_threads(|| {
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
        let area = Area {
            x,
            y,
            width,
            height,
            per_pe,
        };
        let col_major = format_of(order, false)?.col_major;
        let mut watch = Watch::new(self.progress_of(py));
        let received = py.allow_threads(|| {
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
        let done = py.allow_threads(|| {
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
        let done = py.allow_threads(|| {
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
        progress: Option<PyObject>,
    ) -> PyResult<Report> {
        let args = self.bits_of(name, args)?;
        let mut watch = Watch::new(progress.or_else(|| self.progress_of(py)));
        let ran = py.allow_threads(|| {
            self.inner
                .launch_with(name, &args, &mut |cycle| watch.look(cycle))
        });
        ran.map(Report).map_err(|error| watch.error(py, &error))
    }

    /// Like `launch`, with the arguments as the words that the function receives.
    fn call(&mut self, py: Python<'_>, name: &str, words: Vec<u32>) -> PyResult<Report> {
        self.parameters(name, words.len())?;
        let mut watch = Watch::new(self.progress_of(py));
        let ran = py.allow_threads(|| {
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
        let ran = py.allow_threads(|| self.inner.stop_with(&mut |cycle| watch.look(cycle)));
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

/// How many threads to use: as asked for, else as the environment says, else one. More than there
/// are processors would only wait for each other.
fn thread_count(asked: Option<usize>) -> PyResult<usize> {
    let named = match asked {
        Some(count) => Some(count),
        None => match std::env::var(THREADS) {
            Ok(text) => Some(text.parse().unwrap_or(0)),
            Err(_) => None,
        },
    };
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    match named.unwrap_or(1) {
        0 => Err(PyValueError::new_err(format!(
            "the number of threads, also in {THREADS}, is at least 1"
        ))),
        count => Ok(count.min(processors)),
    }
}

impl PySimulator {
    fn progress_of(&self, py: Python<'_>) -> Option<PyObject> {
        self.progress.as_ref().map(|known| known.clone_ref(py))
    }

    /// The raw bits of launch arguments, by the types the function declares.
    fn bits_of(&self, name: &str, args: &Bound<'_, PyTuple>) -> PyResult<Vec<u32>> {
        let declared = self.parameters(name, args.len())?;
        let types = declared.into_iter().flatten().copied().map(Some);
        let types = types.chain(std::iter::repeat(None));
        args.iter()
            .zip(types)
            .map(|(arg, ty)| bits(&arg, ty))
            .collect()
    }

    /// The types of an exported function's parameters, if it exists; `given` must be as many.
    fn parameters(&self, name: &str, given: usize) -> PyResult<Option<&Vec<ScalarType>>> {
        let mut exports = self.inner.design().exports.iter();
        let declared = exports.find_map(|export| match &export.kind {
            ExportKind::Function { params } if export.name == name => Some(params),
            _ => None,
        });
        match declared {
            Some(params) if params.len() != given => Err(PyTypeError::new_err(format!(
                "{name} takes {} arguments, {given} are given",
                params.len(),
            ))),
            other => Ok(other),
        }
    }
}

/// An argument as its type's bits; without a type, by what Python takes it for.
fn bits(arg: &Bound<'_, PyAny>, ty: Option<ScalarType>) -> PyResult<u32> {
    let is_float = match ty {
        Some(ScalarType::F16 | ScalarType::F32 | ScalarType::Bf16 | ScalarType::Cb16) => true,
        Some(_) => false,
        None => arg.extract::<i64>().is_err(),
    };
    if !is_float {
        let value: i64 = arg.extract()?;
        if !(lowest(ty)..=highest(ty)).contains(&value) {
            let text = format!("{value} does not fit into the type of its parameter");
            return Err(PyValueError::new_err(text));
        }
        // Two's complement: negative arguments keep their low bits.
        return Ok(value as u32);
    }
    let value: f64 = arg.extract()?;
    Ok(match ty {
        Some(ScalarType::F16) => {
            let near = f16::from_f32(single_for_rounding(value));
            u32::from(near.to_bits())
        }
        Some(ScalarType::Bf16) => {
            let near = half::bf16::from_f32(single_for_rounding(value));
            u32::from(near.to_bits())
        }
        Some(ScalarType::Cb16) => u32::from(cb16_bits(value)),
        _ => (value as f32).to_bits(),
    })
}

/// The least argument of an integer type; an argument is one word at most.
fn lowest(ty: Option<ScalarType>) -> i64 {
    match ty {
        Some(ScalarType::I8) => i64::from(i8::MIN),
        Some(ScalarType::I16) => i64::from(i16::MIN),
        None | Some(ScalarType::I32 | ScalarType::I64) => i64::from(i32::MIN),
        Some(_) => 0,
    }
}

fn highest(ty: Option<ScalarType>) -> i64 {
    match ty {
        Some(ScalarType::Bool) => 1,
        Some(ScalarType::I8) => i64::from(i8::MAX),
        Some(ScalarType::U8) => i64::from(u8::MAX),
        Some(ScalarType::I16) => i64::from(i16::MAX),
        Some(ScalarType::U16) => i64::from(u16::MAX),
        Some(ScalarType::I32 | ScalarType::I64) => i64::from(i32::MAX),
        _ => i64::from(u32::MAX),
    }
}

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
