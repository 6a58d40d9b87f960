//! What Python may say while a simulation runs.

use super::errors::simulation_error;
use fabsim_engine::report::{Cause, SimError};
use pyo3::prelude::*;
use std::time::{Duration, Instant};

/// How often Python gets a say during a simulation.
pub const PAUSE: Duration = Duration::from_millis(100);

/// Gives Python a say now and then: signals, and the caller's progress function.
pub struct Watch {
    callback: Option<Py<PyAny>>,
    last: Instant,
    raised: Option<PyErr>,
}

impl Watch {
    pub fn new(callback: Option<Py<PyAny>>) -> Watch {
        Watch {
            callback,
            last: Instant::now(),
            raised: None,
        }
    }

    /// False if the simulation is to stop.
    pub fn look(&mut self, cycle: u64) -> bool {
        if self.raised.is_some() {
            return false;
        }
        if self.last.elapsed() < PAUSE {
            return true;
        }
        self.last = Instant::now();
        let seen = Python::attach(|py| {
            py.check_signals()?;
            match &self.callback {
                Some(callback) => callback.call1(py, (cycle,)).map(|_| ()),
                None => Ok(()),
            }
        });
        self.raised = seen.err();
        self.raised.is_none()
    }

    /// What Python has raised.
    pub fn raised(self) -> PyResult<()> {
        self.raised.map_or(Ok(()), Err)
    }

    pub fn error(self, py: Python<'_>, error: &SimError) -> PyErr {
        match (self.raised, &*error.cause) {
            (Some(raised), Cause::Interrupted) => raised,
            _ => simulation_error(py, error),
        }
    }
}
