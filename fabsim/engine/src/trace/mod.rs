//! What a run tells its user: a trace of it, and where its cycles went.
//!
//! `tracer` turns what a probe is told into records (`event`), naming each wavelet (`flight`); `filter`
//! keeps a region and a window of them; `text` and `binary` are the two forms of a file, `convert` makes
//! the first of the second; `arrivals` are the lines of one kind of error. `usage` counts instead, and `table` and `json` show what it has counted.

pub mod arrivals;
mod binary;
mod code;
mod convert;
mod element;
pub mod event;
mod filter;
mod flight;
mod json;
mod options;
mod table;
pub mod text;
mod tracer;
mod usage;
pub mod waits;
mod watcher;

pub use self::convert::convert;
pub use self::options::{Region, Scope, Told, TraceForm, TraceOptions, TraceSize};
pub use self::usage::Usage;
pub use self::watcher::{Watched, Watcher};
