//! Why a simulation ended without a result, as data. Text is made by `Display`, at the edge.

use crate::fault::FaultKind;
use fabsim_program::program::Direction;
use std::fmt;

/// A failed simulation or host command: why, and where as far as that is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SimError {
    pub cause: Box<Cause>,
    pub site: Box<Site>,
}

/// Where and when something went wrong.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Site {
    /// Column and row in the program's rectangle.
    pub pe: Option<(u32, u32)>,
    pub color: Option<u8>,
    pub cycle: Option<u64>,
    pub place: Option<Place>,
}

/// A place in the source. Lines and columns count from 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// Empty if the file is not known.
    pub file: String,
    pub line: u32,
    pub column: u32,
}

/// What went wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cause {
    /// An instruction cannot be carried out.
    Fault(FaultKind),
    /// `advance_switch` leads to a position with other outputs.
    Retargeted,
    /// Wavelets of one color arrive at a router in one cycle, from these sides of these PEs;
    /// `arrivals` says of each what was on its way.
    Collision {
        from: Vec<(Direction, Option<(u32, u32)>)>,
        arrivals: Vec<String>,
    },
    /// Nothing can move any more.
    Stuck(Stuck),
    /// The cycles that are allowed are used up while so many PEs have not finished.
    CycleLimit {
        limit: u64,
        unfinished: Option<usize>,
    },
    MemoryLimit {
        size: (u16, u16),
        needed_bytes: u64,
        allowed_bytes: u64,
    },
    /// Wavelets are left over after the last command.
    Leftover(Waits),
    Host(HostFault),
    /// What a program needs and fabsim does not have.
    Unsupported(Vec<String>),
    /// The caller asked to stop.
    Interrupted,
}

/// Who waits for whom when nothing can move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stuck {
    /// What the host was at.
    pub during: During,
    pub cycle: u64,
    /// PEs that have not finished the command, of how many.
    pub unfinished: (usize, usize),
    /// What waits in compute elements.
    pub elements: Waits,
    /// What waits in routers.
    pub routers: Waits,
    /// The cycle of waits, if there is one: each waits for the next, the last for the first.
    pub circle: Vec<WaitsFor>,
}

/// One link of a cycle of waits, by column and row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitsFor {
    pub pe: (u32, u32),
    pub on: (u32, u32),
    pub color: u8,
    pub text: String,
}

/// What the host waits for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum During {
    Launch,
    /// A copy by wavelets: so many of so many of a PE are through.
    Stream {
        direction: &'static str,
        color: u8,
        pe: (u32, u32),
        done: usize,
        all: usize,
    },
    Transfers {
        listed: Vec<Transfer>,
        more: usize,
    },
}

/// A transfer at a port that is not through.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transfer {
    pub receives: bool,
    pub done: usize,
    pub total: usize,
    pub color: u8,
    pub pe: (u32, u32),
}

/// PEs by what they wait for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Waits {
    pub listed: Vec<Wait>,
    /// Groups that are not listed.
    pub more: usize,
}

/// PEs that wait for the same.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wait {
    pub text: String,
    pub pes: usize,
    /// One of them.
    pub example: (u32, u32),
    /// The fewest and the most elements one of them still waits for.
    pub missing: (u32, u32),
}

/// A host command that cannot be carried out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HostFault {
    /// No constant of a clock has this name, or it cannot have this value.
    NoConstant {
        name: String,
        known: Vec<&'static str>,
    },
    /// A launch of what a PE does not export.
    NoFunction(String),
    AfterFailure,
    Trace {
        path: Option<String>,
        error: String,
    },
    Variable {
        name: String,
        fault: FaultKind,
    },
    VariableBytes {
        name: String,
        given: usize,
        has: u32,
    },
    NoVariable(String),
    NoPe {
        size: (u32, u32),
    },
    Tiles {
        tiles: usize,
        size: (u16, u16),
    },
    NoProgram,
    Malformed(String),
    NoPort {
        receives: bool,
    },
    NoTransfer(usize),
    NoStream(&'static str),
    StreamElements {
        elements: usize,
        size: (u16, u16),
        per_pe: usize,
    },
    CopyOutside {
        symbol: String,
        direction: &'static str,
    },
    CopyTooLong {
        symbol: String,
        per_pe: usize,
    },
    CopyElements {
        symbol: String,
        elements: usize,
        size: (u16, u16),
        per_pe: usize,
    },
    Copy {
        symbol: String,
        fault: CopyFault,
    },
}

/// Why a copy does not reach a PE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CopyFault {
    Memory(FaultKind),
    IsFunction,
    NoSymbol,
}

impl From<crate::fault::Fault> for CopyFault {
    fn from(fault: crate::fault::Fault) -> CopyFault {
        CopyFault::Memory(fault.kind)
    }
}

impl From<Cause> for SimError {
    fn from(cause: Cause) -> SimError {
        SimError {
            cause: Box::new(cause),
            site: Box::default(),
        }
    }
}

impl From<HostFault> for SimError {
    fn from(fault: HostFault) -> SimError {
        Cause::Host(fault).into()
    }
}

impl SimError {
    /// An interrupted run.
    pub fn interrupted(cycle: u64) -> SimError {
        SimError::from(Cause::Interrupted).in_cycle(cycle)
    }

    /// On a PE, given by column and row.
    pub fn on(mut self, pe: (u32, u32)) -> SimError {
        self.site.pe = Some(pe);
        self
    }

    /// In a cycle.
    pub fn in_cycle(mut self, cycle: u64) -> SimError {
        self.site.cycle = Some(cycle);
        self
    }

    /// About a color.
    pub fn of_color(mut self, color: Option<u8>) -> SimError {
        self.site.color = color;
        self
    }

    /// At a place in the source.
    pub fn at(mut self, place: Option<Place>) -> SimError {
        self.site.place = place;
        self
    }

    /// The sort of end, a word for programs: `undefined`, `stuck`, `limit`, `leftover`, `host`,
    /// `unsupported` or `interrupted`.
    pub fn kind(&self) -> &'static str {
        match *self.cause {
            Cause::Fault(_) | Cause::Retargeted | Cause::Collision { .. } => "undefined",
            Cause::Stuck(_) => "stuck",
            Cause::CycleLimit { .. } | Cause::MemoryLimit { .. } => "limit",
            Cause::Leftover(_) => "leftover",
            Cause::Host(_) => "host",
            Cause::Unsupported(_) => "unsupported",
            Cause::Interrupted => "interrupted",
        }
    }

    /// A finer name that programs can rely on.
    pub fn code(&self) -> &'static str {
        match &*self.cause {
            Cause::Fault(fault) => fault.code(),
            Cause::Retargeted => "advance-changes-outputs",
            Cause::Collision { .. } => "router-collision",
            Cause::CycleLimit { .. } => "cycle-limit",
            Cause::MemoryLimit { .. } => "memory-limit",
            _ => self.kind(),
        }
    }
}

impl std::error::Error for SimError {}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.file.as_str() {
            "" => write!(f, "line {}", self.line),
            file => write!(f, "{file}:{}", self.line),
        }
    }
}
