//! The compact form of a trace and its reader.
//!
//! The table of records is in docs/fabsim.md; the tags below are those of it.

use super::event::{Event, Name, Record, Thread, Visit};
use crate::fabric::grid::Grid;
use crate::fabric::wavelet::Wavelet;
use crate::pe::simd::Supply;
use fabsim_program::program::{Direction, Directions};
use std::io::{self, Read, Write};

const MAGIC: &[u8; 8] = b"FABTRACE";
const VERSION: u8 = 2;
/// Longer names are damage.
const NAME_BYTES: u64 = 1 << 12;
/// More names are damage, too.
const NAMES: usize = 1 << 20;

/// Writes records.
#[derive(Debug)]
pub struct BinaryWriter<W: Write> {
    out: W,
    cycle: u64,
    names: usize,
}

impl<W: Write> BinaryWriter<W> {
    pub fn new(mut out: W, grid: Grid) -> io::Result<BinaryWriter<W>> {
        out.write_all(MAGIC)?;
        out.write_all(&[VERSION])?;
        put(&mut out, u64::from(grid.width))?;
        put(&mut out, u64::from(grid.height))?;
        Ok(BinaryWriter {
            out,
            cycle: 0,
            names: 0,
        })
    }

    /// Writes one record, and before it the names that are new.
    pub fn record(&mut self, record: &Record, names: &[String]) -> io::Result<()> {
        while let Some(name) = names.get(self.names) {
            self.out.write_all(&[1])?;
            put(&mut self.out, name.len() as u64)?;
            self.out.write_all(name.as_bytes())?;
            self.names += 1;
        }
        debug_assert!(record.cycle >= self.cycle, "a record of the past");
        if record.cycle != self.cycle {
            self.out.write_all(&[0])?;
            put(&mut self.out, record.cycle.wrapping_sub(self.cycle))?;
            self.cycle = record.cycle;
        }
        self.event(record)
    }

    fn event(&mut self, record: &Record) -> io::Result<()> {
        let pe = u64::from(record.pe);
        match record.event {
            Event::Router(visit) => self.router(pe, &visit),
            Event::Write { queue, color } => self.fields(3, &[pe, queue.into(), color.into()]),
            Event::Send {
                queue,
                color,
                ident,
            } => {
                self.fields(4, &[pe, queue.into(), color.into()])?;
                self.out.write_all(&ident.to_le_bytes())
            }
            Event::Held { queue, color } => self.fields(5, &[pe, queue.into(), color.into()]),
            Event::Freed { queue, color } => self.fields(6, &[pe, queue.into(), color.into()]),
            Event::Issue {
                pc,
                thread,
                opcode,
                operands,
                place,
            } => {
                let names = [opcode, operands, place].map(|name| u64::from(name.0));
                self.fields(7, &[pe, pc.into(), code(thread)])?;
                names.iter().try_for_each(|&name| put(&mut self.out, name))
            }
            Event::Execute { pc, thread, opcode } => {
                self.fields(8, &[pe, pc.into(), code(thread), opcode.0.into()])
            }
            Event::Idle => self.fields(9, &[pe]),
            Event::Starved {
                source,
                color,
                queue,
                supply: Supply { have, need, bits },
            } => {
                let supply = [have.into(), need.into(), bits.into()];
                self.fields(10, &[pe, source.into(), color.into(), queue.into()])?;
                supply
                    .iter()
                    .try_for_each(|&field| put(&mut self.out, field))
            }
            Event::Stalled { reason } => self.fields(11, &[pe, reason.0.into()]),
            Event::WaitsFor { why, color, on } => {
                self.fields(12, &[pe, why.0.into(), color.into(), on.into()])
            }
        }
    }

    fn router(&mut self, pe: u64, visit: &Visit) -> io::Result<()> {
        let flags = u64::from(visit.wavelet.control) | u64::from(visit.landing.is_some()) << 1;
        let side = visit.landing.map_or(0, |side| side as u64);
        let departing = visit.departing.0.into();
        self.fields(2, &[pe, visit.color.into(), flags, side, departing])?;
        self.out.write_all(&visit.wavelet.payload.to_le_bytes())?;
        self.out.write_all(&visit.ident.to_le_bytes())
    }

    fn fields(&mut self, tag: u8, fields: &[u64]) -> io::Result<()> {
        self.out.write_all(&[tag])?;
        fields
            .iter()
            .try_for_each(|&field| put(&mut self.out, field))
    }

    /// Where it writes.
    pub fn out(&self) -> &W {
        &self.out
    }

    /// Writes what is still to be written.
    pub fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn put(out: &mut impl Write, mut value: u64) -> io::Result<()> {
    let mut bytes = [0u8; 10];
    let mut n = 0;
    loop {
        let more = value > 0x7f;
        bytes[n] = (value & 0x7f) as u8 | u8::from(more) << 7;
        n += 1;
        value >>= 7;
        if !more {
            return out.write_all(&bytes[..n]);
        }
    }
}

fn code(thread: Thread) -> u64 {
    match thread {
        Thread::Task(id) => u64::from(id) * 2,
        Thread::Microthread(id) => u64::from(id) * 2 + 1,
    }
}

/// Reads what a `BinaryWriter` has written.
pub struct BinaryReader<R: Read> {
    input: R,
    pub grid: Grid,
    pub names: Vec<String>,
    cycle: u64,
}

fn damaged(what: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_string())
}

impl<R: Read> BinaryReader<R> {
    /// Reads the head of a file.
    pub fn new(mut input: R) -> io::Result<BinaryReader<R>> {
        let mut head = [0u8; 9];
        let read = input.read_exact(&mut head);
        if read.is_err() || &head[..8] != MAGIC {
            return Err(damaged("this is no binary trace of fabsim"));
        }
        if head[8] != VERSION {
            return Err(damaged(format!(
                "a trace of version {}, this reader knows version {VERSION}",
                head[8]
            )));
        }
        let mut reader = BinaryReader {
            input,
            grid: Grid {
                width: 0,
                height: 0,
            },
            names: Vec::new(),
            cycle: 0,
        };
        reader.grid.width = reader.small()?;
        reader.grid.height = reader.small()?;
        if reader.grid.is_empty() || reader.grid.width.max(reader.grid.height) > 1 << 14 {
            return Err(damaged("a trace of an impossible rectangle"));
        }
        Ok(reader)
    }

    /// The next event; none at the end.
    pub fn next_record(&mut self) -> io::Result<Option<Record>> {
        loop {
            let mut tag = [0u8];
            if self.input.read(&mut tag)? == 0 {
                return Ok(None);
            }
            match tag[0] {
                0 => {
                    let cycles = self.number()?;
                    let cycle = self.cycle.checked_add(cycles);
                    self.cycle = cycle.ok_or_else(|| damaged("a time that cannot be"))?;
                }
                1 => self.name()?,
                tag => {
                    let pe: u32 = self.small()?;
                    if pe as usize >= self.grid.len() {
                        return Err(damaged(format!("an event of PE {pe}, which there is not")));
                    }
                    let event = self.event(tag)?;
                    let cycle = self.cycle;
                    return Ok(Some(Record { cycle, pe, event }));
                }
            }
        }
    }

    fn event(&mut self, tag: u8) -> io::Result<Event> {
        Ok(match tag {
            2 => Event::Router(self.router()?),
            3 => Event::Write {
                queue: self.small()?,
                color: self.small()?,
            },
            4 => Event::Send {
                queue: self.small()?,
                color: self.small()?,
                ident: u64::from_le_bytes(self.bytes()?),
            },
            5 => Event::Held {
                queue: self.small()?,
                color: self.small()?,
            },
            6 => Event::Freed {
                queue: self.small()?,
                color: self.small()?,
            },
            7 => Event::Issue {
                pc: self.small()?,
                thread: self.thread()?,
                opcode: self.name_index()?,
                operands: self.name_index()?,
                place: self.name_index()?,
            },
            8 => Event::Execute {
                pc: self.small()?,
                thread: self.thread()?,
                opcode: self.name_index()?,
            },
            9 => Event::Idle,
            10 => Event::Starved {
                source: self.small()?,
                color: self.small()?,
                queue: self.small()?,
                supply: Supply {
                    have: self.small()?,
                    need: self.small()?,
                    bits: self.small()?,
                },
            },
            11 => Event::Stalled {
                reason: self.name_index()?,
            },
            12 => Event::WaitsFor {
                why: self.name_index()?,
                color: self.small()?,
                on: self.small()?,
            },
            tag => return Err(damaged(format!("a record with tag {tag}"))),
        })
    }

    fn router(&mut self) -> io::Result<Visit> {
        let color = self.small()?;
        let (flags, side): (u8, u8) = (self.small()?, self.small()?);
        let departing: u8 = self.small()?;
        Ok(Visit {
            color,
            landing: (flags & 2 != 0).then(|| Direction::from_code(side)),
            departing: Directions(departing & 0x1f),
            wavelet: Wavelet {
                payload: u32::from_le_bytes(self.bytes()?),
                control: flags & 1 != 0,
            },
            ident: u64::from_le_bytes(self.bytes()?),
        })
    }

    fn name(&mut self) -> io::Result<()> {
        let length = self.number()?;
        if length > NAME_BYTES || self.names.len() >= NAMES {
            return Err(damaged("a table of names that is too large"));
        }
        let mut bytes = vec![0; length as usize];
        self.input.read_exact(&mut bytes)?;
        let name = String::from_utf8(bytes).map_err(|_| damaged("a name that is no text"))?;
        if name.chars().any(char::is_control) {
            return Err(damaged("a name with control characters"));
        }
        self.names.push(name);
        Ok(())
    }

    fn name_index(&mut self) -> io::Result<Name> {
        let index: u32 = self.small()?;
        if index as usize >= self.names.len() {
            return Err(damaged(format!("name {index} before it is given")));
        }
        Ok(Name(index))
    }

    fn thread(&mut self) -> io::Result<Thread> {
        let code: u16 = self.small()?;
        let id = u8::try_from(code / 2).map_err(|_| damaged("a thread that cannot be"))?;
        Ok(match code % 2 {
            0 => Thread::Task(id),
            _ => Thread::Microthread(id),
        })
    }

    fn small<T: TryFrom<u64>>(&mut self) -> io::Result<T> {
        let number = self.number()?;
        T::try_from(number).map_err(|_| damaged(format!("the number {number} where it cannot be")))
    }

    fn number(&mut self) -> io::Result<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let [byte] = self.bytes()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(damaged("a number without end"))
    }

    fn bytes<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        let read = self.input.read_exact(&mut bytes);
        read.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => damaged("the trace ends in the middle of a record"),
            _ => error,
        })?;
        Ok(bytes)
    }
}
