//! Traces and reports of a simulator's run.

use super::{stuck, Simulator};
use fabsim_engine::report::{Cause, During, SimError};
use fabsim_engine::trace::{Usage, Watched, Watcher};

impl Simulator {
    /// Attaches what the options ask for.
    pub(super) fn watch(&mut self) -> Result<(), SimError> {
        if self.options.watched != Watched::default() {
            let grid = self.machine.fabric.grid;
            let watcher = Watcher::new(&self.options.watched, grid, &self.machine.files)?;
            self.attach(Box::new(watcher));
            self.watching = true;
        }
        Ok(())
    }

    /// Calls `visit` with the watcher, if there is one.
    fn with_watcher<T>(&mut self, visit: impl FnOnce(&mut Watcher) -> T) -> Option<T> {
        if !self.watching {
            return None;
        }
        let attached = self.detach()?;
        let mut watcher = attached.into_any().downcast::<Watcher>().ok()?;
        let result = visit(&mut watcher);
        self.machine.recorder = Some(watcher);
        Some(result)
    }

    /// The error of a run in which nothing can move, which a trace shows, too.
    pub(super) fn stuck(&mut self, during: During) -> SimError {
        let report = stuck::report(&self.machine, during);
        self.with_watcher(|watcher| watcher.stuck(report.cycle, &report.circle));
        Cause::Stuck(report).into()
    }

    /// Writes what is still to be written of a trace.
    pub fn finish_trace(&mut self) -> Result<(), SimError> {
        self.with_watcher(Watcher::finish).unwrap_or(Ok(()))
    }

    /// Where the cycles went so far, if `watched.usage` asked for it.
    pub fn usage(&mut self) -> Option<Usage> {
        let cycle = self.machine.cycle;
        self.with_watcher(|watcher| watcher.usage(cycle)).flatten()
    }
}
