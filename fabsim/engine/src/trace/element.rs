//! What a tracer keeps: its file, its names, and what it knows of each compute element.

use super::binary::BinaryWriter;
use super::event::{Event, Name, Record};
use super::options::{TraceForm, TraceOptions};
use super::text::TextWriter;
use crate::fabric::grid::Grid;
use fabsim_program::program::Span;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fs::File;
use std::io::{self, BufWriter, Write};

/// The file of a trace.
#[derive(Debug)]
pub enum Output {
    Text(TextWriter<BufWriter<Counted>>),
    Binary(BinaryWriter<BufWriter<Counted>>),
}

/// A file, and how much has been written into it.
#[derive(Debug)]
pub struct Counted {
    file: File,
    bytes: u64,
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Output {
    /// Begins the file.
    pub fn new(options: &TraceOptions, grid: Grid) -> io::Result<Output> {
        let file = File::create(&options.path)?;
        let file = BufWriter::new(Counted { file, bytes: 0 });
        Ok(match options.form {
            TraceForm::Text => Output::Text(TextWriter::new(file, grid)?),
            TraceForm::Binary => Output::Binary(BinaryWriter::new(file, grid)?),
        })
    }

    pub fn record(&mut self, record: &Record, names: &[String]) -> io::Result<()> {
        match self {
            Output::Text(writer) => writer.record(record, names),
            Output::Binary(writer) => writer.record(record, names),
        }
    }

    /// Bytes that are in the file, but for the last few thousand.
    pub fn bytes(&self) -> u64 {
        let out = match self {
            Output::Text(writer) => writer.out(),
            Output::Binary(writer) => writer.out(),
        };
        out.get_ref().bytes
    }

    pub fn finish(&mut self) -> io::Result<()> {
        match self {
            Output::Text(writer) => writer.finish(),
            Output::Binary(writer) => writer.finish(),
        }
    }
}

/// Names by number and by text.
#[derive(Debug, Default)]
pub struct Names {
    pub list: Vec<String>,
    known: HashMap<String, Name>,
}

impl Names {
    /// The number of a name.
    pub fn get(&mut self, text: String) -> Name {
        let next = Name(self.list.len() as u32);
        *self.known.entry(text).or_insert_with_key(|text| {
            self.list.push(text.clone());
            next
        })
    }
}

/// What is known of one compute element.
#[derive(Debug, Default)]
pub struct Element {
    /// Wavelets in output queues, by the queue's number: when each may leave, and its color.
    pub queued: BTreeMap<u8, VecDeque<(u64, u8)>>,
    /// Queues whose first wavelet the router refuses.
    pub held: Vec<(u8, u8)>,
    /// The cycle in which one last went up the ramp.
    pub went_up: Option<u64>,
    /// The id of the main thread's task.
    pub task: u8,
    /// What it does.
    pub state: Vec<Event>,
    /// What its main thread does.
    pub main: Option<Event>,
    /// Operations issued in this turn.
    pub issued: Vec<Span>,
}

impl Element {
    /// Adds the queues that the router begins to refuse in this cycle, with their colors.
    pub fn refused(&mut self, now: u64, found: &mut Vec<(u8, u8)>) {
        // Else another queue had the ramp.
        if self.went_up != Some(now) {
            for (&queue, queued) in &self.queued {
                let head = queued.front().filter(|(ready, _)| *ready <= now);
                let known = self.held.iter().any(|(held, _)| *held == queue);
                found.extend(head.filter(|_| !known).map(|(_, color)| (queue, *color)));
            }
        }
        self.held.extend_from_slice(found);
    }

    /// Whether any output queue holds a wavelet.
    pub fn has_queued(&self) -> bool {
        self.queued.values().any(|queued| !queued.is_empty())
    }
}
