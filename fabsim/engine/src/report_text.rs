//! The text of errors.

use crate::report::{
    Cause, CopyFault, During, HostFault, SimError, Site, Stuck, Transfer, Wait, Waits,
};
use fabsim_program::program::Direction;
use std::fmt::{Display, Formatter, Result};

/// Links of a cycle of waits that a report lists at most.
const LINKS_LISTED: usize = 12;

/// `PE (x, y)`, where the PE is known.
fn pe(site: &Site) -> String {
    site.pe
        .map_or_else(|| "a PE".to_string(), |(x, y)| format!("PE ({x}, {y})"))
}

impl Display for SimError {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let site = &*self.site;
        let cycle = site.cycle.unwrap_or_default();
        let color = site.color.unwrap_or_default();
        match &*self.cause {
            Cause::Fault(fault) => {
                if let Some(place) = &site.place {
                    write!(f, "{place}: ")?;
                }
                write!(f, "{}, cycle {cycle}: {fault}", pe(site))
            }
            Cause::Retargeted => write!(
                f,
                "{}: advance_switch leads color {color} to a switch position with other outputs in \
                 cycle {cycle}, while what was sent may not have left the router; send a control \
                 wavelet instead",
                pe(site)
            ),
            Cause::Collision { from, arrivals } => {
                write!(f, "{}: {}", pe(site), collision(from, color, cycle))?;
                arrivals
                    .iter()
                    .try_for_each(|line| write!(f, "\n  @{cycle} {line}"))
            }
            Cause::Stuck(stuck) => stuck.fmt(f),
            Cause::CycleLimit {
                limit,
                unfinished,
                not_begun,
            } => {
                write!(
                    f,
                    "the limit of {limit} cycles is reached in cycle {cycle}; "
                )?;
                if let Some(count) = unfinished {
                    write!(f, "{count} PEs have not finished; ")?;
                }
                f.write_str("--max-cycles (in Python max_cycles) raises the limit")?;
                never_had_a_turn(f, not_begun)
            }
            Cause::TimeLimit {
                seconds,
                unfinished,
                not_begun,
            } => {
                write!(
                    f,
                    "the limit of {seconds} seconds is reached in cycle {cycle}; {unfinished} PEs have not \
                     finished; --max-seconds (in Python max_seconds) raises the limit"
                )?;
                never_had_a_turn(f, not_begun)
            }
            Cause::MemoryLimit {
                size: (width, height),
                needed_bytes,
                allowed_bytes,
            } => write!(
                f,
                "simulating {width} x {height} PEs takes about {:.2} GB, and {:.2} GB are allowed; \
                 --max-memory (in Python max_memory_bytes) raises the limit",
                *needed_bytes as f64 / 1e9,
                *allowed_bytes as f64 / 1e9
            ),
            Cause::Leftover(waits) => {
                write!(f, "wavelets are left over after the last command\n{waits}")
            }
            Cause::Host(fault) => host(f, fault, site),
            Cause::Unsupported(missing) => {
                let lines: Vec<String> = missing
                    .iter()
                    .map(|what| format!("fabsim does not support {what} yet"))
                    .collect();
                f.write_str(&lines.join("\n"))
            }
            Cause::Interrupted => f.write_str("the simulation was interrupted"),
        }
    }
}

fn never_had_a_turn(f: &mut Formatter<'_>, operations: &Waits) -> Result {
    match operations.listed.is_empty() {
        true => Ok(()),
        false => write!(
            f,
            "\noperations that were issued and never had a turn:\n{operations}"
        ),
    }
}

/// A wavelet that nobody can receive.
pub fn lost(color: u8, cycle: u64) -> String {
    format!(
        "a wavelet of color {color} leaves the rectangle in cycle {cycle} and is lost; later ones are \
         not reported"
    )
}

/// What is undefined about arrivals at once.
pub fn collision(from: &[(Direction, Option<(u32, u32)>)], color: u8, cycle: u64) -> String {
    let sides: Vec<String> = from
        .iter()
        .map(|(side, pe)| match pe {
            Some((x, y)) => format!("from {side} (PE {x}, {y})"),
            None => format!("from {side} (its own compute element)"),
        })
        .collect();
    let count = match sides.len() {
        2 => "two".to_string(),
        more => more.to_string(),
    };
    format!(
        "{count} wavelets of color {color} arrive in cycle {cycle}, {}; what the machine does then \
         is undefined",
        sides.join(" and ")
    )
}

impl Display for Stuck {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.during.fmt(f)?;
        let (unfinished, all) = self.unfinished;
        write!(
            f,
            "nothing can move any more in cycle {}; {unfinished} of {all} PEs have not finished",
            self.cycle
        )?;
        for waits in [&self.elements, &self.routers] {
            if !waits.listed.is_empty() {
                write!(f, "\n{waits}")?;
            }
        }
        if self.circle.is_empty() {
            return Ok(());
        }
        write!(f, "\na circle of waits:")?;
        for link in self.circle.iter().take(LINKS_LISTED) {
            write!(f, "\n  {}", link.text)?;
        }
        match self.circle.len().saturating_sub(LINKS_LISTED) {
            0 => Ok(()),
            more => write!(f, "\n  and {more} more, back to the first"),
        }
    }
}

impl Display for During {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            During::Launch => Ok(()),
            During::Stream {
                direction,
                color,
                pe: (x, y),
                done,
                all,
            } => writeln!(
                f,
                "the {direction} stream of color {color} cannot go on: {done} of {all} wavelets of \
                 PE ({x}, {y}) are through"
            ),
            During::Transfers { listed, more } => {
                writeln!(f, "transfers of the host cannot go on")?;
                listed
                    .iter()
                    .try_for_each(|transfer| writeln!(f, "  {transfer}"))?;
                match more {
                    0 => Ok(()),
                    more => writeln!(f, "  and transfers of {more} more ports"),
                }
            }
        }
    }
}

impl Display for Transfer {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let verb = if self.receives {
            "received from"
        } else {
            "sent to"
        };
        let (x, y) = self.pe;
        write!(
            f,
            "{} of {} wavelets {verb} color {} of PE ({x}, {y})",
            self.done, self.total, self.color
        )
    }
}

/// A line for each group, without an end of line behind the last.
impl Display for Waits {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (n, wait) in self.listed.iter().enumerate() {
            let before = if n == 0 { "" } else { "\n" };
            write!(f, "{before}  {wait}")?;
        }
        match self.more {
            0 => Ok(()),
            more => write!(f, "\n  and {more} more kinds of waiting"),
        }
    }
}

impl Display for Wait {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let (x, y) = self.example;
        match self.pes {
            1 => write!(f, "PE ({x}, {y})")?,
            n => write!(f, "{n} PEs, for example PE ({x}, {y})")?,
        }
        write!(f, ": {}", self.text)?;
        match self.missing {
            (0, 0) => Ok(()),
            (1, 1) => f.write_str(", 1 element is missing"),
            (low, high) if low == high => write!(f, ", {low} elements are missing"),
            (low, high) => write!(f, ", {low} to {high} elements are missing"),
        }
    }
}

fn host(f: &mut Formatter<'_>, fault: &HostFault, site: &Site) -> Result {
    let color = site.color.unwrap_or_default();
    match fault {
        HostFault::NoConstant { name, known } => write!(
            f,
            "{name} is no constant of a clock, or not with this value; there are {}",
            known.join(", ")
        ),
        HostFault::NoFunction(name) => {
            write!(f, "launch: {} exports no function {name:?}", pe(site))
        }
        HostFault::AfterFailure => {
            f.write_str("the simulation cannot go on after a command that failed")
        }
        HostFault::Trace { path, error } => match path {
            Some(path) => write!(f, "the trace {path} cannot be written: {error}"),
            None => write!(f, "the trace cannot be written: {error}"),
        },
        HostFault::Tiles {
            tiles,
            size: (width, height),
        } => write!(
            f,
            "the design has {tiles} tiles for a rectangle of {width} x {height}"
        ),
        HostFault::NoProgram => f.write_str("the design names a tile program it lacks"),
        HostFault::Malformed(what) => write!(f, "the design is malformed: {what}"),
        HostFault::NoPort { receives } => {
            let what = match receives {
                true => "leads to the host: it would have inputs and no output",
                false => "comes from the host: it would have outputs and no input",
            };
            write!(f, "{}: color {color} is no port that {what}", pe(site))
        }
        HostFault::NoTransfer(id) => write!(f, "there is no transfer {id}"),
        HostFault::NoStream(direction) => {
            let parameter = format!("MEMCPY{}", direction.to_uppercase());
            write!(
                f,
                "{}: color {color} is no {direction} stream: give it to <memcpy/get_params> as \
                 {parameter}_1 to {parameter}_4",
                pe(site)
            )
        }
        HostFault::StreamElements {
            elements,
            size: (width, height),
            per_pe,
        } => write!(
            f,
            "h2d stream of color {color}: {elements} elements for {width} x {height} PEs of \
             {per_pe} each"
        ),
        _ => variable_or_copy(f, fault, site),
    }
}

fn variable_or_copy(f: &mut Formatter<'_>, fault: &HostFault, site: &Site) -> Result {
    match fault {
        HostFault::Variable { name, fault } => {
            if site.pe.is_some() {
                write!(f, "{}, ", pe(site))?;
            }
            write!(f, "variable {name:?}: {fault}")
        }
        HostFault::VariableBytes { name, given, has } => write!(
            f,
            "{}, variable {name:?}: {given} bytes are given to {has}",
            pe(site)
        ),
        HostFault::NoVariable(name) => {
            write!(f, "{} has no variable {name:?} in its memory", pe(site))
        }
        HostFault::NoPe {
            size: (width, height),
        } => write!(
            f,
            "there is no {}: the program has {width} x {height}",
            pe(site)
        ),
        HostFault::CopyOutside { symbol, direction } => write!(
            f,
            "memcpy of {symbol:?}: {direction} subrectangle must be inside the core rectangle"
        ),
        HostFault::CopyTooLong { symbol, per_pe } => write!(
            f,
            "memcpy of {symbol:?}: {per_pe} elements do not fit into the memory of a PE"
        ),
        HostFault::CopyElements {
            symbol,
            elements,
            size: (width, height),
            per_pe,
        } => write!(
            f,
            "memcpy_h2d of {symbol:?}: {elements} elements for {width} x {height} PEs of {per_pe} each"
        ),
        HostFault::Copy { symbol, fault } => {
            write!(f, "memcpy of {symbol:?}, {}: {fault}", pe(site))
        }
        _ => Ok(()),
    }
}

impl Display for CopyFault {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            CopyFault::Memory(fault) => fault.fmt(f),
            CopyFault::IsFunction => f.write_str("it is a function, not a pointer"),
            CopyFault::NoSymbol => f.write_str("the PE exports no such symbol"),
        }
    }
}
