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

/// A trace of more bytes is worth a word.
const LARGE: u64 = 500_000_000;

/// How large a trace may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceSize {
    /// It is said where it has grown to so many bytes.
    pub large: u64,
    /// It ends with the cycle in which it has grown to so many bytes, if that is limited.
    pub limit: Option<u64>,
}

impl Default for TraceSize {
    fn default() -> TraceSize {
        TraceSize {
            large: LARGE,
            limit: None,
        }
    }
}

/// Who is told, while it is written, that a trace is large or ends.
#[derive(Clone, Copy, Default)]
pub struct Told(pub Option<fn(&str)>);

impl Told {
    /// Says it.
    pub fn tell(self, text: &str) {
        if let Some(tell) = self.0 {
            tell(text);
        }
    }
}

impl std::fmt::Debug for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Told").field(&self.0.is_some()).finish()
    }
}

/// Nothing of a trace depends on it.
impl PartialEq for Told {
    fn eq(&self, _: &Told) -> bool {
        true
    }
}

impl Eq for Told {}

/// A trace the user wants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceOptions {
    /// The file.
    pub path: PathBuf,
    /// How it is written.
    pub form: TraceForm,
    /// What of the run is in it.
    pub scope: Scope,
    /// How large it may be.
    pub size: TraceSize,
    /// Who is told of its size.
    pub told: Told,
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
