//! `fabsim.compile`: the front end with the options of the command line.

use super::environment::{strict_by_environment, timing_by_environment};
use super::errors::csl_error;
use super::names::{arch_of, release, switched, timing_of};
use super::program::Program;
use super::watch::{Watch, PAUSE};
use fabsim_frontend as csl;
use fabsim_frontend::{CompileOptions, Fp16Format, Pulse};
use fabsim_host::Lowered;
use fabsim_program::diagnostic::Diagnostic;
use fabsim_program::switch::Switch;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::Arc;
use std::time::Instant;

/// Compiles the program whose layout is in the file `path`.
#[pyfunction]
#[pyo3(signature = (path, arch="wse2", params=BTreeMap::new(), colors=BTreeMap::new(), fabric_dims=None, fabric_offsets=None, import_paths=Vec::new(), memcpy=true, max_inlined_iterations=50, fp16_format="f16", max_comptime_steps=csl::COMPTIME_STEPS, timing=None, strict=None, colors_by_number=false, comptime_func_depth_limit=None, sdk=None, constructs=false, rules_off=Vec::new(), max_seconds=None, progress=None))]
#[allow(clippy::too_many_arguments)] // the command line has as many options
pub fn compile(
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
    max_seconds: Option<u64>,
    progress: Option<Py<PyAny>>,
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
    let compilation = watched(py, &path, &options, max_seconds, progress)?;
    let rendered = |said: &[Diagnostic]| said.iter().map(Diagnostic::render).collect();
    match compilation.design {
        Ok(design) => Ok(Program {
            lowered: Lowered::new(Arc::new(design)),
            warnings: rendered(&csl::told_once(&compilation.warnings)),
            printed: rendered(&compilation.printed),
            constructs: compilation.constructs.iter().map(placed).collect(),
            sdk: compilation.sdk,
            since: compilation.since,
            assumed: compilation.assumed.map(|note| note.render()),
        }),
        Err(diagnostics) => Err(csl_error(py, &diagnostics)),
    }
}

/// Compiles beside a look at signals, at the time, and at the caller's progress function.
fn watched(
    py: Python<'_>,
    path: &Path,
    options: &CompileOptions,
    max_seconds: Option<u64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<csl::Compilation> {
    // WebAssembly has no threads.
    if cfg!(target_family = "wasm") {
        return Ok(csl::compile_verbose(path, options));
    }
    let pulse = Arc::new(Pulse::default());
    let options = CompileOptions {
        pulse: Some(Arc::clone(&pulse)),
        ..options.clone()
    };
    let begun = Instant::now();
    let mut watch = Watch::new(progress);
    let compilation = py.detach(|| {
        let (done, over) = mpsc::channel();
        let options = &options;
        std::thread::scope(|scope| {
            scope.spawn(move || {
                // Nobody else takes it, and that one waits for it.
                let _ = done.send(csl::compile_verbose(path, options));
            });
            loop {
                match over.recv_timeout(PAUSE) {
                    Ok(compilation) => break Some(compilation),
                    Err(RecvTimeoutError::Disconnected) => break None,
                    Err(RecvTimeoutError::Timeout) => {}
                }
                let is_late = max_seconds.filter(|most| begun.elapsed().as_secs() >= *most);
                if let Some(seconds) = is_late {
                    pulse.stop(&format!(
                        "compile-time evaluation takes more than {seconds} seconds; --max-seconds raises the limit"
                    ));
                } else if !watch.look(pulse.steps()) {
                    pulse.stop("compile-time evaluation was interrupted");
                }
            }
        })
    });
    watch.raised()?;
    compilation.ok_or_else(|| PyRuntimeError::new_err("the compiler has ended without a result"))
}

/// A message with the file and line it is about.
fn placed(found: &Diagnostic) -> (String, String, u32) {
    let file = found.places.first().map_or("", |place| &place.file);
    (found.message.clone(), file.to_string(), found.span.line)
}
