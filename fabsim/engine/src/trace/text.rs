//! The text form of a trace: one line an event, as public viewers read it.

use super::event::{Event, Record, Thread, Visit};
use crate::fabric::grid::{Grid, PeIndex};
use crate::fabric::wavelet::Wavelet;
use crate::pe::simd::Supply;
use fabsim_program::program::{Direction, Directions};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Sides in the order of the `departing` columns, with their letters.
const COLUMNS: [(Direction, char); 5] = [
    (Direction::East, 'E'),
    (Direction::North, 'N'),
    (Direction::West, 'W'),
    (Direction::South, 'S'),
    (Direction::Ramp, 'R'),
];

/// Writes lines.
#[derive(Debug)]
pub struct TextWriter<W: Write> {
    out: W,
    grid: Grid,
    /// Output queues that are held, by PE and queue, with their colors.
    held: BTreeMap<(u32, u8), u8>,
    cycle: u64,
}

impl<W: Write> TextWriter<W> {
    /// A trace that begins with what is known at the start.
    pub fn new(mut out: W, grid: Grid) -> io::Result<TextWriter<W>> {
        writeln!(out, "@0 dimX={}, dimY={}", grid.width, grid.height)?;
        Ok(TextWriter {
            out,
            grid,
            held: BTreeMap::new(),
            cycle: 0,
        })
    }

    /// Writes one record; `names` is the table its names point into.
    pub fn record(&mut self, record: &Record, names: &[String]) -> io::Result<()> {
        if record.cycle != self.cycle {
            self.held_lines()?;
            self.cycle = record.cycle;
        }
        match record.event {
            Event::Held { queue, color } => {
                self.held.insert((record.pe, queue), color);
                Ok(())
            }
            Event::Freed { queue, .. } => {
                self.held.remove(&(record.pe, queue));
                Ok(())
            }
            event => {
                let (x, y) = self.grid.place(PeIndex(record.pe));
                let text = describe(&event, names);
                writeln!(self.out, "@{} P{x}.{y}{text}", record.cycle)
            }
        }
    }

    /// Back-pressure has a line for every cycle of the trace it lasts.
    fn held_lines(&mut self) -> io::Result<()> {
        for (&(pe, queue), color) in &self.held {
            let (x, y) = self.grid.place(PeIndex(pe));
            writeln!(
                self.out,
                "@{} P{x}.{y}: Backpressure on C{color} for OUT_Q[{queue}]",
                self.cycle
            )?;
        }
        Ok(())
    }

    /// Where it writes.
    pub fn out(&self) -> &W {
        &self.out
    }

    /// Writes what is still to be written.
    pub fn finish(&mut self) -> io::Result<()> {
        self.held_lines()?;
        self.out.flush()
    }
}

fn describe(event: &Event, names: &[String]) -> String {
    let name = |n: super::event::Name| names.get(n.0 as usize).map_or("?", String::as_str);
    match *event {
        Event::Router(visit) => format!(" (hwtile) {}", router(&visit)),
        Event::Write { queue, color } => {
            format!(": Writing wavelet C{color} data to OUT_Q[{queue}]")
        }
        Event::Send {
            queue,
            color,
            ident,
        } => format!(": Sending wavelet C{color} data ident:{ident:016X} on OUT_Q[{queue}]"),
        Event::Held { .. } | Event::Freed { .. } => String::new(),
        Event::Issue {
            pc,
            thread,
            opcode,
            operands,
            ..
        } => format!(
            ": [IS OP] ^ 0x{pc:04x}: {} {} {}",
            thread_name(thread),
            name(opcode),
            name(operands)
        ),
        Event::Execute { pc, thread, opcode } => {
            format!(
                ": [EX OP] ^ 0x{pc:04x}: {} {}",
                thread_name(thread),
                name(opcode)
            )
        }
        Event::Idle => ": [EX OP] IDLE".to_string(),
        Event::Starved {
            source,
            color,
            queue,
            supply: Supply { have, need, bits },
        } => format!(
            ": Not enough wavelets ({have}/{need}) for SRC{source} with C{color}, IN_Q[{queue}], \
             SIMD-{bits}"
        ),
        Event::Stalled { reason } => format!(": Pipe: 2, Msg: stall: {}", name(reason)),
        Event::WaitsFor { why, .. } => format!(": Pipe: 2, Msg: stuck: {}", name(why)),
    }
}

fn thread_name(thread: Thread) -> String {
    match thread {
        Thread::Task(id) => format!("T{id}"),
        Thread::Microthread(id) => format!("T{id}.ut"),
    }
}

fn router(visit: &Visit) -> String {
    let letter = |side: Direction| COLUMNS.iter().find(|(known, _)| *known == side);
    let landing = visit.landing.and_then(letter).map_or('-', |(_, c)| *c);
    let consumed = if visit.departing.has(Direction::Ramp) {
        " to_ce_from_router"
    } else {
        ""
    };
    format!(
        "wavelet C{} {}, half=0, ident={:016X} landing={landing} departing=/{}/{consumed}",
        visit.color,
        payload(visit.wavelet),
        visit.ident,
        columns(visit.departing),
    )
}

fn columns(sides: Directions) -> String {
    let column = |(side, letter): &(Direction, char)| if sides.has(*side) { *letter } else { ' ' };
    COLUMNS.iter().map(column).collect()
}

/// Control flag, both halves, and the lower one as a half-precision number: mantissa(exponent).
pub fn payload(wavelet: Wavelet) -> String {
    let (index, data) = (wavelet.payload >> 16, wavelet.payload & 0xffff);
    let sign = if data >> 15 == 1 { '-' } else { '+' };
    let exponent = (data >> 10 & 0x1f) as i32;
    let whole = if exponent == 0 { 0.0 } else { 1.0 };
    let mantissa = whole + f64::from(data & 0x3ff) / 1024.0;
    format!(
        "ctrl={}, idx={index:04X}, data={data:04X} ({sign}{mantissa:.3}({}))",
        u8::from(wavelet.control),
        exponent - 15
    )
}

/// A side as the vendor's tools spell it.
pub fn side_word(side: Direction) -> &'static str {
    match side {
        Direction::West => "West",
        Direction::East => "East",
        Direction::South => "South",
        Direction::North => "North",
        Direction::Ramp => "Ramp",
    }
}
