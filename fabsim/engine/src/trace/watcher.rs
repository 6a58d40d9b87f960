//! The recorder that the host attaches where a trace or a report is wanted.

use super::options::TraceOptions;
use super::tracer::Tracer;
use super::usage::Usage;
use crate::fabric::grid::{Grid, PeIndex};
use crate::fabric::observer::{Observer, Passage};
use crate::pe::event::{Executed, Turn};
use crate::pe::plan::PePlan;
use crate::pe::Pe;
use crate::probe::{Probe, RampPassage, Recorder};
use crate::report::{HostFault, SimError, WaitsFor};
use fabsim_program::program::{Direction, Directions};
use std::any::Any;

/// What to watch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    /// A trace, if one is wanted.
    pub trace: Option<TraceOptions>,
    /// Whether to count what was used.
    pub usage: bool,
}

/// Watches a run.
#[derive(Debug)]
pub struct Watcher {
    tracer: Option<Tracer>,
    usage: Option<Usage>,
}

impl Watcher {
    /// Begins the trace's file, if one is wanted.
    pub fn new(watched: &Watched, grid: Grid, files: &[String]) -> Result<Watcher, SimError> {
        let tracer = watched.trace.clone().map(|options| {
            let path = options.path.display().to_string();
            Tracer::new(options, grid, files.to_vec()).map_err(|error| {
                SimError::from(HostFault::Trace {
                    path: Some(path),
                    error: error.to_string(),
                })
            })
        });
        Ok(Watcher {
            tracer: tracer.transpose()?,
            usage: watched.usage.then(|| Usage::new(grid)),
        })
    }

    /// Notes a cycle of waits that a run is stuck in.
    pub fn stuck(&mut self, cycle: u64, circle: &[WaitsFor]) {
        if let Some(tracer) = &mut self.tracer {
            tracer.stuck(cycle, circle);
        }
    }

    /// Writes what is known of the trace.
    pub fn finish(&mut self) -> Result<(), SimError> {
        let finished = self.tracer.as_mut().map_or(Ok(()), Tracer::finish);
        finished.map_err(|error| {
            HostFault::Trace {
                path: None,
                error: error.to_string(),
            }
            .into()
        })
    }

    /// What has been counted so far, if anything is.
    pub fn usage(&self, cycle: u64) -> Option<Usage> {
        self.usage.as_ref().map(|usage| usage.up_to(cycle))
    }
}

/// A run that is given up leaves a trace, too.
impl Drop for Watcher {
    fn drop(&mut self) {
        // Nobody is there to be told.
        let _ = self.finish();
    }
}

impl Recorder for Watcher {
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl Observer for Watcher {
    fn landed(&mut self, passage: Passage, from: Direction) {
        if let Some(tracer) = &mut self.tracer {
            tracer.landed(passage, from);
        }
        if let Some(usage) = &mut self.usage {
            usage.landed(passage, from);
        }
    }

    fn left(&mut self, passage: Passage, over: Directions) {
        if let Some(tracer) = &mut self.tracer {
            tracer.left(passage, over);
        }
        if let Some(usage) = &mut self.usage {
            usage.left(passage, over);
        }
    }
}

impl Probe for Watcher {
    fn ident(&self, pe: PeIndex, color: u8, side: Direction) -> Option<u64> {
        self.tracer.as_ref()?.ident(pe, color, side)
    }

    fn wants_code(&self) -> bool {
        self.usage.is_some() || self.tracer.as_ref().is_some_and(Tracer::wants_code)
    }

    fn executed(&mut self, cycle: u64, pe: PeIndex, plan: &PePlan, code: &[Executed]) {
        if let Some(tracer) = &mut self.tracer {
            tracer.executed(cycle, pe, plan, code);
        }
        if let Some(usage) = &mut self.usage {
            usage.executed(cycle, pe, plan, code);
        }
    }

    fn turn(&mut self, cycle: u64, pe: PeIndex, state: &Pe, plan: &PePlan, turn: Turn) {
        if let Some(tracer) = &mut self.tracer {
            tracer.turn(cycle, pe, state, plan, turn);
        }
        if let Some(usage) = &mut self.usage {
            usage.turn(cycle, pe, state, plan, turn);
        }
    }

    fn went_up(&mut self, passage: RampPassage) {
        if let Some(tracer) = &mut self.tracer {
            tracer.went_up(passage);
        }
        if let Some(usage) = &mut self.usage {
            usage.went_up(passage);
        }
    }

    fn came_down(&mut self, passage: RampPassage) {
        if let Some(usage) = &mut self.usage {
            usage.came_down(passage);
        }
    }
}
