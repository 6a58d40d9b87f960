//! Why a simulation ended without a result, as data. Text is made by `Display`, at the edge.

use crate::fault::FaultKind;
use fabsim_program::program::Direction;
use std::fmt;

/// A failed simulation or host command: why, and where as far as that is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SimError {
    /// What went wrong.
    pub cause: Box<Cause>,
    /// Where and when.
    pub site: Box<Site>,
}

/// Where and when something went wrong.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Site {
    /// Column and row in the program's rectangle.
    pub pe: Option<(u32, u32)>,
    /// The color it is about.
    pub color: Option<u8>,
    /// The cycle.
    pub cycle: Option<u64>,
    /// The place in the source.
    pub place: Option<Place>,
}

/// A place in the source. Lines and columns count from 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// Empty if the file is not known.
    pub file: String,
    /// The line.
    pub line: u32,
    /// The column.
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
        /// The sides they come from, each with the PE behind it, none for the own compute element.
        from: Vec<(Direction, Option<(u32, u32)>)>,
        /// What was on its way from each side.
        arrivals: Vec<String>,
    },
    /// Nothing can move any more.
    Stuck(Stuck),
    /// The cycles that are allowed are used up while so many PEs have not finished.
    CycleLimit {
        /// The cycles that are allowed.
        limit: u64,
        /// PEs that have not finished the command, if one is under way.
        unfinished: Option<usize>,
        /// Operations that were issued and have not had a turn.
        not_begun: Waits,
    },
    /// The seconds that are allowed are used up while so many PEs have not finished.
    TimeLimit {
        /// The seconds that are allowed.
        seconds: u64,
        /// PEs that have not finished the command.
        unfinished: usize,
        /// Operations that were issued and have not had a turn.
        not_begun: Waits,
    },
    /// A design takes more memory to simulate than is allowed.
    MemoryLimit {
        /// Columns and rows.
        size: (u16, u16),
        /// What it takes.
        needed_bytes: u64,
        /// What is allowed.
        allowed_bytes: u64,
    },
    /// Wavelets are left over after the last command.
    Leftover(Waits),
    /// A host command that cannot be carried out.
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
    /// The cycle.
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
    /// The PE that waits.
    pub pe: (u32, u32),
    /// The PE it waits for.
    pub on: (u32, u32),
    /// The color it waits because of.
    pub color: u8,
    /// The same in words.
    pub text: String,
}

/// What the host waits for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum During {
    /// A launch.
    Launch,
    /// A copy by wavelets: so many of so many of a PE are through.
    Stream {
        /// `h2d` or `d2h`.
        direction: &'static str,
        /// The color.
        color: u8,
        /// One of the PEs whose wavelets are not through.
        pe: (u32, u32),
        /// The wavelets of it that are through.
        done: usize,
        /// The wavelets it has in all.
        all: usize,
    },
    /// Transfers at ports.
    Transfers {
        /// Some of them.
        listed: Vec<Transfer>,
        /// Ports that are not listed.
        more: usize,
    },
}

/// A transfer at a port that is not through.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transfer {
    /// It comes from the machine.
    pub receives: bool,
    /// The wavelets that are through.
    pub done: usize,
    /// The wavelets it has in all.
    pub total: usize,
    /// The color.
    pub color: u8,
    /// The PE of the port.
    pub pe: (u32, u32),
}

/// PEs by what they wait for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Waits {
    /// Groups of PEs, the largest first.
    pub listed: Vec<Wait>,
    /// Groups that are not listed.
    pub more: usize,
}

/// PEs that wait for the same.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wait {
    /// What they wait for, in words.
    pub text: String,
    /// How many they are.
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
        /// The name.
        name: String,
        /// The names there are.
        known: Vec<&'static str>,
    },
    /// A launch of what a PE does not export.
    NoFunction(String),
    /// A command after one that has failed.
    AfterFailure,
    /// A trace cannot be written.
    Trace {
        /// The file, if one is named.
        path: Option<String>,
        /// What the system says.
        error: String,
    },
    /// A variable cannot be read or written.
    Variable {
        /// Its name.
        name: String,
        /// Why.
        fault: FaultKind,
    },
    /// A variable is given another number of bytes than it has.
    VariableBytes {
        /// Its name.
        name: String,
        /// The bytes given.
        given: usize,
        /// The bytes it has.
        has: u32,
    },
    /// No variable has this name.
    NoVariable(String),
    /// A PE that is not there.
    NoPe {
        /// Columns and rows there are.
        size: (u32, u32),
    },
    /// As many tiles as do not make a rectangle of this size.
    Tiles {
        /// The tiles.
        tiles: usize,
        /// Columns and rows.
        size: (u16, u16),
    },
    /// There is no program.
    NoProgram,
    /// What a caller gives has not the form it has to have.
    Malformed(String),
    /// No port at this place.
    NoPort {
        /// One that receives was asked for.
        receives: bool,
    },
    /// No transfer has this number.
    NoTransfer(usize),
    /// The program has no stream in this direction.
    NoStream(&'static str),
    /// A stream is given another number of elements than its PEs take.
    StreamElements {
        /// The elements given.
        elements: usize,
        /// Columns and rows of PEs.
        size: (u16, u16),
        /// The elements of a PE.
        per_pe: usize,
    },
    /// A copy reaches beyond the rectangle.
    CopyOutside {
        /// What is copied.
        symbol: String,
        /// `h2d` or `d2h`.
        direction: &'static str,
    },
    /// A copy has more elements than a memory has room for.
    CopyTooLong {
        /// What is copied.
        symbol: String,
        /// The elements of a PE.
        per_pe: usize,
    },
    /// A copy is given another number of elements than its PEs take.
    CopyElements {
        /// What is copied.
        symbol: String,
        /// The elements given.
        elements: usize,
        /// Columns and rows of PEs.
        size: (u16, u16),
        /// The elements of a PE.
        per_pe: usize,
    },
    /// A copy does not reach a PE.
    Copy {
        /// What is copied.
        symbol: String,
        /// Why.
        fault: CopyFault,
    },
}

/// Why a copy does not reach a PE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CopyFault {
    /// Its memory refuses.
    Memory(FaultKind),
    /// The name is that of a function.
    IsFunction,
    /// The PE has no such name.
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
            Cause::CycleLimit { .. } | Cause::TimeLimit { .. } | Cause::MemoryLimit { .. } => {
                "limit"
            }
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
            Cause::TimeLimit { .. } => "time-limit",
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
