//! What environment variables say where the caller does not.

use fabsim_engine::machine::worthwhile_threads;
use fabsim_program::program::Clock;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The environment variable that says how many threads to use where the caller does not.
const THREADS: &str = "FABSIM_THREADS";

/// The table that FABSIM_TIMING names, where no option does; else the default.
pub fn timing_by_environment() -> String {
    let named = std::env::var("FABSIM_TIMING").ok();
    named
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| Clock::default().name().to_owned())
}

/// Whether FABSIM_STRICT asks for it, where no option does.
pub fn strict_by_environment() -> bool {
    is_asked_for("FABSIM_STRICT")
}

/// Whether FABSIM_REFERENCE asks for it, where no option does.
pub fn reference_by_environment() -> bool {
    is_asked_for("FABSIM_REFERENCE")
}

fn is_asked_for(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !value.is_empty() && value != "0")
}

/// How many threads to use: as asked for, else as the environment says, else as many as so many tiles are worth.
/// More than there are processors would only wait for each other.
pub fn thread_count(asked: Option<usize>, tiles: usize) -> PyResult<usize> {
    let named = match asked {
        Some(count) => Some(count),
        None => match std::env::var(THREADS) {
            Ok(text) => Some(text.parse().unwrap_or(0)),
            Err(_) => None,
        },
    };
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    match named.unwrap_or_else(|| worthwhile_threads(tiles, processors)) {
        0 => Err(PyValueError::new_err(format!(
            "the number of threads, also in {THREADS}, is at least 1"
        ))),
        count => Ok(count.min(processors)),
    }
}
