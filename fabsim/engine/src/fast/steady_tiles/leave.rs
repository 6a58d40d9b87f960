//! Tiles that are visited again: their state is brought up to date.

use super::{Doer, Flows, Site, Source, StreamId, Work};
use crate::fabric::grid::PeIndex;
use crate::fabric::ramp::Tag;
use crate::pe::operation::Running;
use crate::pe::port::Port;

impl Flows {
    /// A tile leaves its flow at the beginning of cycle `at`.
    pub(super) fn leave(&mut self, tile: u32, at: u64, site: &mut Site) {
        let known = &mut self.tiles[tile as usize];
        let (pe, passed) = (known.pe, at - known.since);
        let mut streams = std::mem::take(&mut known.streams);
        for &id in &streams {
            self.work_out(id, at + self.stream(id).delay, site);
        }
        self.operate(tile, at, site);
        for &id in &streams {
            self.refill_channel(id, pe, at, site);
            self.hand_over(id, at, site);
        }
        if let Some(work) = self.tile(tile).work {
            self.refill_queues(&work, pe, at, passed, site);
            site.awake.insert(pe);
        }
        site.moving.part(pe, passed * streams.len() as u64);
        for id in streams.drain(..) {
            self.stream_mut(id).is_used = false;
            self.free_streams.push(id);
        }
        let known = &mut self.tiles[tile as usize];
        known.streams = streams;
        known.is_used = false;
        self.free_tiles.push(tile);
        self.count -= 1;
    }

    /// What is in a channel: what has come in and would leave from now on.
    fn refill_channel(&mut self, id: StreamId, pe: PeIndex, at: u64, site: &mut Site) {
        let stream = self.stream(id);
        let current = stream.current;
        let held = u64::from(current.held);
        let queued = stream.span(at, at + held);
        // What an operation has sent waits in the output queue before it is here.
        let landed = match stream.source {
            Source::Operation => at,
            _ => at - (held - queued.len() as u64),
        };
        site.moving.refill(pe, &current, queued, landed);
    }

    /// Neighbours in flows are told that the tile is visited from now on.
    fn hand_over(&mut self, id: StreamId, at: u64, site: &mut Site) {
        let (source, into) = (self.stream(id).source, self.stream(id).into);
        for behind in into.into_iter().flatten() {
            let until = at + self.stream(behind).delay;
            self.work_out(behind, until, site);
            self.forget(behind, until);
            self.stream_mut(behind).source = Source::Landings;
            self.note_inlet(behind);
        }
        if let Source::Stream(before) = source {
            let side = self.stream(id).current.from.facing();
            let stream = self.stream_mut(before);
            stream.into[side as usize] = None;
            stream.open |= side.bit();
            self.note_outlet(before);
        }
    }

    /// The queues of the ramp and the operation between them.
    fn refill_queues(&self, work: &Work, pe: PeIndex, at: u64, passed: u64, site: &mut Site) {
        let place = site.place(pe);
        let state = &mut site.pes[place];
        let timing = &site.plans[state.plan as usize].timing;
        let ramp = work.doer.of(state).map_or(0, |r| r.ramp_cycles(timing));
        if passed > 0 {
            for intake in work.intakes.iter().flatten() {
                let stream = self.stream(intake.stream);
                let payloads = stream.span(at - intake.held, at);
                let tag = Tag::new(stream.current.color, false, false);
                let ring = &mut state.core.inputs[usize::from(intake.queue)].ring;
                ring.pass_on(payloads, tag, passed, at - 1 + timing.offramp_cycles);
            }
            if let Some(outflow) = work.outflow {
                let stream = self.stream(outflow.stream);
                let from = at + u64::from(stream.current.held);
                let tag = Tag::new(stream.current.color, false, false);
                let held = (stream.span(from, from + outflow.held), tag);
                let outputs = &mut state.core.outputs;
                outputs.pass_on(outflow.queue, held, passed, at - 1 + ramp);
            }
            if let Some(running) = work.doer.of_mut(state) {
                advance(running, passed);
            }
            if work.doer == Doer::Main {
                state.main.set_ready(at);
            }
        }
        for ready in at + 1..at + timing.offramp_cycles {
            if work.intakes.iter().any(Option::is_some) {
                site.alarm.set(site.now, ready, pe);
            }
        }
    }
}

/// What an operation is after some more elements.
fn advance(running: &mut Running, elements: u64) {
    if !running.is_infinite() {
        running.remaining -= elements as u32;
    }
    let ports = running.sources.iter_mut().chain([&mut running.dest]);
    for port in ports {
        if let Port::Line { word, step, .. } = port {
            *word = word.wrapping_add(step.wrapping_mul(elements as i32));
        }
    }
}
