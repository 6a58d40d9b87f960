//! What flows carry, worked out in long runs.

use super::{Doer, Flows, Outflow, Site, Source, StreamId, Work};
use crate::pe::memory::Memory;
use crate::pe::opcode::{element, Sources};
use crate::pe::operation::{Kernel, Running};
use crate::pe::port::Port;
use fabsim_program::rounding;

/// Elements worked out at once.
const RUN: usize = 64;

impl Flows {
    /// Works out what leaves a channel before cycle `until`, as far as what comes in is known.
    /// Streams before it are worked out first; each is asked for less by at least one cycle, so this ends.
    pub(super) fn work_out(&mut self, id: StreamId, until: u64, site: &mut Site) {
        let mut asked = std::mem::take(&mut self.asked);
        asked.push((id, until, false));
        while let Some(last) = asked.last_mut() {
            let (id, until, had_its_turn) = *last;
            last.2 = true;
            let stream = self.stream(id);
            let (source, tile) = (stream.source, stream.tile);
            let wanted = until.saturating_sub(stream.delay);
            if stream.known() >= until || source == Source::Landings {
                asked.pop();
                continue;
            }
            if had_its_turn || !self.ask_before(source, tile, wanted, &mut asked) {
                asked.pop();
                match source {
                    Source::Stream(before) => self.take_over(id, before, until),
                    _ => self.operate(tile, wanted, site),
                }
            }
        }
        self.asked = asked;
    }

    /// Asks those before a stream for what they lack before cycle `wanted`; false if it is nothing.
    fn ask_before(
        &self,
        source: Source,
        tile: u32,
        wanted: u64,
        asked: &mut Vec<(StreamId, u64, bool)>,
    ) -> bool {
        let before = asked.len();
        let mut ask = |id: StreamId, until: u64| {
            if self.stream(id).known() < until {
                asked.push((id, until, false));
            }
        };
        match (source, self.tile(tile).work) {
            (Source::Stream(id), _) => ask(id, wanted),
            (Source::Operation, Some(work)) => {
                let wanted = wanted.min(self.tile(tile).expiry);
                let intakes = work.intakes.iter().flatten();
                intakes.for_each(|i| ask(i.stream, wanted.saturating_sub(i.held)));
            }
            _ => {}
        }
        asked.len() > before
    }

    /// Takes over what the stream before has, up to the cycle `until` in which it leaves this one.
    fn take_over(&mut self, id: StreamId, before: StreamId, until: u64) {
        let stream = self.stream_mut(id);
        let from = stream.known() - stream.delay;
        let to = until.saturating_sub(stream.delay);
        let mut values = std::mem::take(&mut stream.values);
        values.extend_from_slice(self.stream(before).span(from, to));
        self.stream_mut(id).values = values;
    }

    /// Works out the elements of a tile's operation before cycle `until`, as far as what comes in
    /// is known.
    pub(super) fn operate(&mut self, tile: u32, until: u64, site: &mut Site) {
        let known = self.tile(tile);
        let (pe, since) = (known.pe, known.since);
        let Some(mut work) = known.work else {
            return;
        };
        let mut until = until.min(known.expiry);
        for intake in work.intakes.iter().flatten() {
            until = until.min(self.stream(intake.stream).known() + intake.held);
        }
        let place = site.place(pe);
        let state = &mut site.pes[place];
        let memory = &mut state.core.memory;
        let running = match work.doer {
            Doer::Main => state.main.running.as_deref(),
            Doer::Thread(n) => state.threads.get(n),
        };
        let Some(running) = running else {
            return;
        };
        let mut sent = std::mem::take(&mut self.sent);
        let at_once = run_length(running);
        while work.done < until {
            let count = at_once.min((until - work.done) as usize);
            self.elements(running, &work, work.done - since, count, memory, &mut sent);
            work.done += count as u64;
            // At once, since it may come back to this operation.
            if let Some(Outflow { stream: id, .. }) = work.outflow {
                self.stream_mut(id).values.append(&mut sent);
            }
        }
        self.sent = sent;
        self.tiles[tile as usize].work = Some(work);
    }

    /// Some elements of an operation, from number `first` on.
    fn elements(
        &self,
        running: &Running,
        work: &Work,
        first: u64,
        count: usize,
        memory: &mut Memory,
        sent: &mut Vec<u32>,
    ) {
        let mut values = [[0u32; RUN]; 3];
        for (values, port) in values.iter_mut().zip(sources(running)) {
            let values = &mut values[..count];
            match *port {
                Port::Scalar { bits, .. } => values.fill(bits),
                Port::Line { word, step, bytes } => {
                    let step = i64::from(step);
                    memory.read_line(i64::from(word) + step * first as i64, step, bytes, values);
                }
                Port::Input { queue, bytes } => self.arrivals(work, queue, bytes, values),
                _ => {}
            }
        }
        let results = results(running, &values, count);
        match running.dest {
            Port::Output(sender) => {
                sent.extend(results[..count].iter().map(|&value| sender.payload(value)));
            }
            Port::Line { word, step, bytes } => {
                let mut at = i64::from(word) + i64::from(step) * first as i64;
                for &value in &results[..count] {
                    // It is inside, see `join`.
                    let _ = memory.set_element(at, bytes, value);
                    at += i64::from(step);
                }
            }
            _ => {}
        }
    }

    /// What arrives at an input queue.
    fn arrivals(&self, work: &Work, queue: u8, bytes: u8, values: &mut [u32]) {
        let mut intakes = work.intakes.iter().flatten();
        let Some(intake) = intakes.find(|intake| intake.queue == queue) else {
            return;
        };
        let from = work.done - intake.held;
        let arrived = self.stream(intake.stream);
        let arrived = arrived.span(from, from + values.len() as u64);
        let mask = if bytes == 2 { 0xffff } else { u32::MAX };
        for (value, payload) in values.iter_mut().zip(arrived) {
            *value = payload & mask;
        }
    }

    /// Forgets what was worked out of a stream from cycle `until` on, and whatever followed from it.
    pub(super) fn forget(&mut self, id: StreamId, until: u64) {
        let mut wrong = vec![(id, until)];
        while let Some((id, until)) = wrong.pop() {
            let stream = self.stream_mut(id);
            if stream.known() <= until {
                continue;
            }
            let kept = until.saturating_sub(stream.base) as usize;
            stream.values.truncate(kept);
            for id in stream.into.into_iter().flatten() {
                wrong.push((id, until + self.stream(id).delay));
            }
            let tile = self.stream(id).tile;
            let Some(work) = &mut self.tiles[tile as usize].work else {
                continue;
            };
            let mut intakes = work.intakes.iter().flatten();
            if let Some(intake) = intakes.find(|intake| intake.stream == id) {
                work.done = work.done.min(until + intake.held);
                let done = work.done;
                if let Some(Outflow { stream: id, .. }) = work.outflow {
                    wrong.push((id, done + self.stream(id).delay));
                }
            }
        }
    }
}

fn sources(running: &Running) -> &[Port] {
    &running.sources[..usize::from(running.source_count).min(3)]
}

/// How many elements can be worked out at once: one if a later element may read what an earlier
/// one wrote.
fn run_length(running: &Running) -> usize {
    let line = |port: &Port| match *port {
        Port::Line { word, step, bytes } => Some((word, step, bytes)),
        _ => None,
    };
    let Some((word, step, bytes)) = line(&running.dest) else {
        return RUN;
    };
    let mut read = sources(running).iter().filter_map(line);
    let apart = read.all(|source| source == (word, step, bytes));
    if apart && step != 0 {
        RUN
    } else {
        1
    }
}

fn results(running: &Running, values: &[[u32; RUN]; 3], count: usize) -> [u32; RUN] {
    let mut results = [0; RUN];
    match running.kernel {
        Kernel::Copy => results[..count].copy_from_slice(&values[0][..count]),
        Kernel::AddF32 => {
            let pairs = values[0].iter().zip(&values[1]);
            for (result, (a, b)) in results[..count].iter_mut().zip(pairs) {
                *result = rounding::result(f32::from_bits(*a) + f32::from_bits(*b)).to_bits();
            }
        }
        Kernel::Any | Kernel::Special => {
            let mut sources = Sources {
                half: running.half,
                ..Sources::default()
            };
            for (bytes, port) in sources.bytes.iter_mut().zip(self::sources(running)) {
                *bytes = port.bytes();
            }
            for (n, result) in results[..count].iter_mut().enumerate() {
                sources.bits = [values[0][n], values[1][n], values[2][n]];
                *result = element(running.opcode, &sources);
            }
        }
    }
    results
}
