//! Turns what a probe is told into the records of a trace.

use super::code::{instruction_name, operands, operation_name, CodeMap};
use super::element::{Element, Names, Output};
use super::event::{Event, Name, Record, Thread};
use super::filter::Filter;
use super::flight::Flights;
use super::options::TraceOptions;
use super::waits::{waits, Wait};
use crate::fabric::grid::{Grid, PeIndex};
use crate::fabric::observer::{Observer, Passage};
use crate::pe::event::{Executed, Turn};
use crate::pe::plan::PePlan;
use crate::pe::Pe;
use crate::probe::{Probe, RampPassage};
use crate::report::WaitsFor;
use fabsim_program::program::{Direction, Directions, Inst, Span};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Writes a trace.
#[derive(Debug)]
pub struct Tracer {
    options: TraceOptions,
    grid: Grid,
    /// Names of the program's files, by number.
    files: Vec<String>,
    output: Output,
    filter: Filter,
    names: Names,
    flights: Flights,
    elements: HashMap<PeIndex, Element>,
    /// PEs with wavelets in output queues.
    sending: BTreeSet<PeIndex>,
    codes: HashMap<usize, Arc<CodeMap>>,
    /// Records by cycle: code is executed ahead of the clock.
    pending: BTreeMap<u64, Vec<Record>>,
    now: u64,
    failed: Option<io::Error>,
    finished: bool,
    /// It has been said that it is large.
    is_large: bool,
    /// It has ended, since it may not grow.
    is_full: bool,
}

impl Tracer {
    /// Begins a file.
    pub fn new(options: TraceOptions, grid: Grid, files: Vec<String>) -> io::Result<Tracer> {
        let output = Output::new(&options, grid)?;
        Ok(Tracer {
            output,
            filter: Filter::new(options.scope, grid),
            options,
            grid,
            files,
            names: Names::default(),
            flights: Flights::new(grid),
            elements: HashMap::new(),
            sending: BTreeSet::new(),
            codes: HashMap::new(),
            pending: BTreeMap::new(),
            now: 0,
            failed: None,
            finished: false,
            is_large: false,
            is_full: false,
        })
    }

    /// Writes everything that is known; what kept it from being written earlier, too.
    pub fn finish(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.finished, true) {
            return Ok(());
        }
        self.end_of_cycles(self.now);
        self.write_before(u64::MAX);
        let (output, names) = (&mut self.output, &self.names.list);
        let pass = &mut |record: &Record| output.record(record, names);
        if let Err(error) = self.filter.finish(pass) {
            self.failed.get_or_insert(error);
        }
        match self.failed.take() {
            Some(error) => Err(error),
            None => self.output.finish(),
        }
    }

    fn is_over(&self) -> bool {
        let ended = self.finished || self.is_full || self.failed.is_some();
        ended || self.now > self.options.scope.end()
    }

    fn add(&mut self, cycle: u64, pe: PeIndex, event: Event) {
        let record = Record {
            cycle,
            pe: pe.0,
            event,
        };
        self.pending.entry(cycle).or_default().push(record);
    }

    /// What is waited for at the end of a run that is stuck.
    pub fn stuck(&mut self, cycle: u64, circle: &[WaitsFor]) {
        self.advance(cycle);
        for link in circle {
            let event = Event::WaitsFor {
                why: self.names.get(link.text.clone()),
                color: link.color,
                on: self.grid.at(link.on.0, link.on.1).0,
            };
            let pe = self.grid.at(link.pe.0, link.pe.1);
            self.add(cycle, pe, event);
        }
    }

    /// `file:line` of a span, without the folder: a trace says the same wherever a program lies.
    fn place(&mut self, span: Span) -> Name {
        let file = self
            .files
            .get(span.file as usize)
            .map_or("", String::as_str);
        let name = match file.starts_with('<') {
            true => file.into(), // a module, `<collectives_2d/pe>`, which is no path
            false => {
                let name = Path::new(file).file_name().unwrap_or_default();
                name.to_string_lossy()
            }
        };
        self.names.get(format!("{name}:{}", span.line))
    }

    /// Everything that happened before `cycle` is known.
    fn advance(&mut self, cycle: u64) {
        if cycle > self.now {
            // Wavelets may have landed in cycles in which nothing else happened.
            self.end_of_cycles(cycle - 1);
            self.write_before(cycle);
            self.now = cycle;
        }
    }

    /// All that happened up to a cycle is known.
    fn end_of_cycles(&mut self, last: u64) {
        let now = self.now;
        let mut visits = Vec::new();
        let see = |at, pe, visit| visits.push((at, pe, Event::Router(visit)));
        self.flights.waiting(last, see);
        for &pe in &self.sending {
            let mut refused = Vec::new();
            if let Some(element) = self.elements.get_mut(&pe) {
                element.refused(now, &mut refused);
            }
            let held = refused.into_iter();
            let held = held.map(|(queue, color)| Event::Held { queue, color });
            visits.extend(held.map(|event| (now, pe, event)));
        }
        for (at, pe, event) in visits {
            self.add(at, pe, event);
        }
    }

    fn write_before(&mut self, cycle: u64) {
        let later = self.pending.split_off(&cycle);
        for (at, mut records) in std::mem::replace(&mut self.pending, later) {
            if self.is_full {
                break;
            }
            // The order of visits must not show.
            records.sort_unstable();
            for record in &records {
                let (output, names) = (&mut self.output, &self.names.list);
                let mut pass = |record: &Record| output.record(record, names);
                if let Err(error) = self.filter.record(record, &mut pass) {
                    self.failed.get_or_insert(error);
                }
            }
            self.look_at_size(at);
        }
    }

    /// Says that the trace is large, or that it ends with this cycle.
    fn look_at_size(&mut self, cycle: u64) {
        let (bytes, size) = (self.output.bytes(), self.options.size);
        let path = self.options.path.display();
        let megabytes = |bytes: u64| bytes.div_ceil(1_000_000);
        if size.limit.is_some_and(|limit| bytes >= limit) {
            let limit = megabytes(size.limit.unwrap_or(0));
            self.options.told.tell(&format!(
                "the trace {path} has come to its limit of {limit} MB and ends with cycle {cycle}"
            ));
            self.is_full = true;
        } else if bytes >= size.large && !self.is_large {
            let large = megabytes(size.large);
            self.options.told.tell(&format!(
                "the trace {path} has {large} MB in cycle {cycle} and grows: a window, a region or the binary form makes it smaller, a limit ends it"
            ));
            self.is_large = true;
        }
    }

    fn code_map(&mut self, plan: &PePlan) -> Arc<CodeMap> {
        let key = Arc::as_ptr(&plan.program) as usize;
        let known = self.codes.entry(key);
        Arc::clone(known.or_insert_with(|| Arc::new(CodeMap::new(plan))))
    }

    /// Notes what a compute element does from a cycle on, if that is news.
    fn set_state(&mut self, cycle: u64, pe: PeIndex, state: Vec<Event>) {
        let element = self.elements.entry(pe).or_default();
        if element.state == state {
            return;
        }
        element.state.clone_from(&state);
        for event in state {
            self.add(cycle, pe, event);
        }
    }

    fn step(&mut self, cycle: u64, pe: PeIndex, plan: &PePlan, step: Executed) {
        let map = self.code_map(plan);
        let (at, pc, opcode, microthread) = match step {
            Executed::Started { function } => {
                let element = self.elements.entry(pe).or_default();
                element.task = map.task(function).unwrap_or(0);
                (cycle, map.address(function, 0), "JMPT".to_string(), None)
            }
            Executed::Instruction {
                cycle,
                function,
                pc,
                issuing,
            } => {
                let code = plan.program.functions.get(function as usize);
                let inst = code.and_then(|f| f.code.get(pc as usize));
                // A constant is an immediate of the instruction that uses it.
                if let Some(Inst::Const { .. }) = inst {
                    return;
                }
                let element = self.elements.entry(pe).or_default();
                element.task = map.task(function).unwrap_or(element.task);
                if let (Some(Inst::Operation(_)), true, Some(code)) = (inst, issuing, code) {
                    let span = code.spans.get(pc as usize);
                    element.issued.extend(span.copied());
                }
                let name = instruction_name(inst, issuing);
                (cycle, map.address(function, pc), name, None)
            }
            Executed::Operation {
                thread,
                opcode,
                span,
            } => (cycle, map.operation(span), operation_name(opcode), thread),
            Executed::Map { span } => (cycle, map.operation(span), "MAP".to_string(), None),
        };
        let opcode = self.names.get(opcode);
        let element = self.elements.entry(pe).or_default();
        let thread = match microthread {
            Some(id) => Thread::Microthread(id),
            None => Thread::Task(element.task),
        };
        let event = Event::Execute { pc, thread, opcode };
        if microthread.is_none() {
            element.main = Some(event);
        }
        self.set_state(at, pe, vec![event]);
    }

    fn waiting(&mut self, wait: Wait) -> Event {
        let reason = match wait {
            Wait::Input {
                source,
                color,
                queue,
                supply,
            } => {
                return Event::Starved {
                    source,
                    color,
                    queue,
                    supply,
                }
            }
            Wait::Output { queue } => format!("OUT_Q[{queue}] full"),
            Wait::Fifo => "FIFO".to_string(),
            Wait::Blocked { thread } => format!("UT{thread} blocked"),
        };
        Event::Stalled {
            reason: self.names.get(reason),
        }
    }

    /// What was put into output queues in this turn.
    fn look_at_queues(&mut self, cycle: u64, pe: PeIndex, state: &Pe) {
        let element = self.elements.entry(pe).or_default();
        let mut written = Vec::new();
        for queue in state.core.outputs.iter() {
            let known = element.queued.entry(queue.id).or_default();
            let ready = queue.ring.last_ready();
            for n in known.len() as u8..queue.ring.len() {
                let Some(color) = queue.ring.get(n).map(|departing| departing.color()) else {
                    continue;
                };
                known.push_back((ready, color));
                written.push((queue.id, color));
            }
        }
        if !written.is_empty() {
            self.sending.insert(pe);
        }
        for (queue, color) in written {
            self.add(cycle, pe, Event::Write { queue, color });
        }
    }

    /// Operations that have just begun.
    fn look_at_operations(&mut self, cycle: u64, pe: PeIndex, state: &Pe, plan: &PePlan) {
        let element = self.elements.entry(pe).or_default();
        let issued = std::mem::take(&mut element.issued);
        if issued.is_empty() {
            return;
        }
        let threads = state.threads.iter();
        let threads = threads.map(|t| (Thread::Microthread(t.thread), t));
        let task = self.elements.entry(pe).or_default().task;
        let main = state.main.running.as_deref();
        let main = main.map(|running| (Thread::Task(task), running));
        for (thread, running) in threads.chain(main) {
            if !issued.contains(&running.span) {
                continue;
            }
            let event = Event::Issue {
                pc: self.code_map(plan).operation(running.span),
                thread,
                opcode: self.names.get(operation_name(running.opcode)),
                operands: self.names.get(operands(running, plan, &state.core)),
                place: self.place(running.span),
            };
            self.add(cycle, pe, event);
        }
    }
}

impl Observer for Tracer {
    fn landed(&mut self, passage: Passage, from: Direction) {
        if !self.is_over() {
            self.flights.landed(passage, from);
        }
    }

    fn left(&mut self, passage: Passage, over: Directions) {
        self.advance(passage.cycle);
        if !self.is_over() {
            let visit = self.flights.left(passage, over);
            self.add(passage.cycle, passage.pe, Event::Router(visit));
        }
    }
}

impl Probe for Tracer {
    fn ident(&self, pe: PeIndex, color: u8, side: Direction) -> Option<u64> {
        self.flights.last_from(pe, color, side)
    }

    fn wants_code(&self) -> bool {
        !self.is_over()
    }

    fn executed(&mut self, cycle: u64, pe: PeIndex, plan: &PePlan, code: &[Executed]) {
        self.advance(cycle);
        if self.is_over() {
            return;
        }
        for &step in code {
            self.step(cycle, pe, plan, step);
        }
    }

    fn turn(&mut self, cycle: u64, pe: PeIndex, state: &Pe, plan: &PePlan, turn: Turn) {
        self.advance(cycle);
        if self.is_over() {
            return;
        }
        self.look_at_queues(cycle, pe, state);
        if turn == Turn::Main {
            self.look_at_operations(cycle, pe, state, plan);
        }
        if turn != Turn::Nothing {
            return;
        }
        if state.main.busy_until() > cycle {
            let main = self.elements.entry(pe).or_default().main;
            return self.set_state(cycle, pe, main.into_iter().collect());
        }
        let mut events = vec![Event::Idle];
        for wait in waits(state, plan, cycle) {
            events.push(self.waiting(wait));
        }
        self.set_state(cycle, pe, events);
    }

    fn went_up(&mut self, passage: RampPassage) {
        let RampPassage {
            cycle,
            pe,
            color,
            queue,
            ..
        } = passage;
        self.advance(cycle);
        if self.is_over() {
            return;
        }
        let ident = self.flights.went_up(pe, color);
        let element = self.elements.entry(pe).or_default();
        element.went_up = Some(cycle);
        if let Some(queued) = element.queued.get_mut(&queue) {
            queued.pop_front();
        }
        if !element.has_queued() {
            self.sending.remove(&pe);
        }
        let held = element.held.iter().position(|(held, _)| *held == queue);
        if let Some(n) = held {
            let (queue, color) = element.held.remove(n);
            self.add(cycle, pe, Event::Freed { queue, color });
        }
        let event = Event::Send {
            queue,
            color,
            ident,
        };
        self.add(cycle, pe, event);
    }
}
