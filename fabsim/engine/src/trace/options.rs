//! What a user asks a trace to hold, and where it goes.

use std::path::PathBuf;

/// How a trace is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TraceForm {
    /// Lines for viewers.
    #[default]
    Text,
    /// A tenth of the size; `convert` makes text of it.
    Binary,
}

/// A rectangle of PEs, in coordinates of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Region {
    pub x: u32,
    pub y: u32,
    pub width: u32,
    pub height: u32,
}

/// The part of a run a trace holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Scope {
    pub region: Option<Region>,
    /// First and last cycle.
    pub window: Option<(u64, u64)>,
}

/// A trace the user wants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceOptions {
    pub path: PathBuf,
    pub form: TraceForm,
    pub scope: Scope,
}

impl Region {
    pub fn has(&self, x: u32, y: u32) -> bool {
        let within = |at: u32, from: u32, count: u32| at >= from && at - from < count;
        within(x, self.x, self.width) && within(y, self.y, self.height)
    }
}

impl Scope {
    /// The last cycle of interest.
    pub fn end(&self) -> u64 {
        self.window.map_or(u64::MAX, |(_, last)| last)
    }
}
