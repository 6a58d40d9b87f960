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
    /// The first column.
    pub x: u32,
    /// The first row.
    pub y: u32,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

/// The part of a run a trace holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Scope {
    /// The PEs, if not all of them.
    pub region: Option<Region>,
    /// First and last cycle.
    pub window: Option<(u64, u64)>,
}

/// A trace the user wants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceOptions {
    /// The file.
    pub path: PathBuf,
    /// How it is written.
    pub form: TraceForm,
    /// What of the run is in it.
    pub scope: Scope,
}

impl Region {
    /// Whether a PE is in it.
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
