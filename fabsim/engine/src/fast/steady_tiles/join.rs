//! Which tiles join a flow.

use super::currents::Current;
use super::{
    Doer, Flows, Intake, Outflow, Reverse, Site, Source, Stream, StreamId, Tile, Work, LONGEST,
    SHORTEST,
};
use crate::fabric::grid::{PeIndex, LINKS};
use crate::fabric::ramp::Tag;
use crate::pe::operation::{Kernel, Running};
use crate::pe::plan::PePlan;
use crate::pe::port::Port;
use crate::pe::{Doing, Pe};
use fabsim_program::program::Direction;

const RAMP: u8 = 1 << Direction::Ramp as u8;

/// What a compute element does in a flow.
struct Plan {
    work: Option<Work>,
    expiry: u64,
}

impl Flows {
    /// Lets a tile join from the next cycle on, if its state comes back every cycle. It did the same in the last
    /// few cycles, and all its wavelets moved; what is left to see is that as much came into each queue in
    /// the last cycle as left it, and how long that can last.
    pub(super) fn join(&mut self, pe: PeIndex, site: &mut Site) {
        let streak_ends = self.try_to_join(pe, site).is_none();
        if streak_ends {
            site.moving.forget_streak(pe);
        }
    }

    fn try_to_join(&mut self, pe: PeIndex, site: &mut Site) -> Option<()> {
        let since = site.now + 1;
        let deed = site.moving.deed(pe);
        let currents = site.moving.currents(pe).filter(|all| !all.is_empty())?;
        let awake = site.awake.contains(pe);
        let state = &site.pes[site.place(pe)];
        let plan = &site.plans[state.plan as usize];
        let mut found = survey(state, plan, deed, site.now, &currents)?;
        if awake != found.work.is_some() || found.expiry < since + SHORTEST {
            return None;
        }
        self.fits_neighbours(pe, &currents, site)?;
        found.expiry = found.expiry.min(since + LONGEST);
        self.admit(pe, &currents, found, site);
        Some(())
    }

    /// Whether neighbours in flows send or expect what comes and goes here.
    fn fits_neighbours(&self, pe: PeIndex, currents: &[Current], site: &mut Site) -> Option<()> {
        for current in currents {
            if current.from != Direction::Ramp {
                let before = site.moving.beside(pe, current.from);
                if let Some(tile) = site.moving.flow(before) {
                    let stream = self.stream(self.stream_of(tile, current.color)?);
                    let back = current.from.facing().bit();
                    (stream.open & back != 0).then_some(())?;
                }
            }
            for side in LINKS {
                if current.outputs & side.bit() == 0 {
                    continue;
                }
                let neighbour = site.moving.beside(pe, side);
                if let Some(tile) = site.moving.flow(neighbour) {
                    let stream = self.stream(self.stream_of(tile, current.color)?);
                    let fits = stream.current.from == side.facing();
                    (fits && stream.source == Source::Landings).then_some(())?;
                }
            }
        }
        Some(())
    }

    fn next_stream(&self) -> StreamId {
        self.streams.len() as StreamId
    }

    /// Notes a tile and connects its streams.
    fn admit(&mut self, pe: PeIndex, currents: &[Current], found: Plan, site: &mut Site) {
        let tile = self.free_tiles.pop().unwrap_or_else(|| {
            self.tiles.push(Tile {
                is_used: false,
                pe,
                since: 0,
                expiry: 0,
                streams: Vec::new(),
                work: None,
            });
            self.tiles.len() as u32 - 1
        });
        let mut work = found.work;
        let mut streams = std::mem::take(&mut self.tiles[tile as usize].streams);
        for current in currents {
            let id = self.new_stream(tile, current, &mut work, pe, site);
            streams.push(id);
        }
        self.tiles[tile as usize] = Tile {
            is_used: true,
            pe,
            since: site.now + 1,
            expiry: found.expiry,
            streams,
            work,
        };
        for n in 0..currents.len() {
            let id = self.tile(tile).streams[n];
            self.connect(id, pe, site);
        }
        self.expiries.push(Reverse((found.expiry, tile)));
        self.count += 1;
        self.joined += 1;
        site.moving.join(pe, tile);
        site.awake.remove(pe);
    }

    /// A stream with what is in the queues it stands for. Where the survey has left the number of
    /// a stream open, it is filled in.
    fn new_stream(
        &mut self,
        tile: u32,
        current: &Current,
        work: &mut Option<Work>,
        pe: PeIndex,
        site: &mut Site,
    ) -> StreamId {
        let id = self.free_streams.pop().unwrap_or_else(|| {
            self.streams.push(Stream::unused(current));
            self.next_stream() - 1
        });
        let since = site.now + 1;
        let mut values = std::mem::take(&mut self.stream_mut(id).values);
        values.clear();
        let mut base = since;
        let mut delay = u64::from(current.held);
        let mut source = Source::Landings;
        let core = &site.pes[site.place(pe)].core;
        let (mut arrived, mut sent) = (None, None);
        if let Some(work) = work {
            let mut intakes = work.intakes.iter_mut().flatten();
            let from_here = |i: &&mut Intake| {
                core.inputs[usize::from(i.queue)].color == current.color
                    && current.outputs & RAMP != 0
            };
            if let Some(intake) = intakes.find(from_here) {
                intake.stream = id;
                base -= intake.held;
                arrived = Some(&core.inputs[usize::from(intake.queue)].ring);
            }
            if let Some(outflow) = &mut work.outflow {
                if current.from == Direction::Ramp {
                    outflow.stream = id;
                    delay += outflow.held;
                    source = Source::Operation;
                    sent = Some(&core.outputs[usize::from(outflow.queue)].ring);
                }
            }
        }
        let arrived = arrived.into_iter().flat_map(|ring| ring.payloads());
        values.extend(arrived);
        let sent: Vec<u32> = sent.into_iter().flat_map(|ring| ring.payloads()).collect();
        site.moving.queued(current.channel, &mut values);
        values.extend(sent);
        let known = self.stream(id);
        let (is_outlet, is_inlet) = (known.is_outlet, known.is_inlet);
        *self.stream_mut(id) = Stream {
            is_used: true,
            tile,
            current: *current,
            source,
            delay,
            values,
            base,
            into: [None; 4],
            open: 0,
            is_outlet,
            is_inlet,
        };
        id
    }

    /// Connects a stream to those of neighbours.
    fn connect(&mut self, id: StreamId, pe: PeIndex, site: &mut Site) {
        let current = self.stream(id).current;
        if current.from != Direction::Ramp {
            let before = site.moving.beside(pe, current.from);
            let tile = site.moving.flow(before);
            match tile.and_then(|tile| self.stream_of(tile, current.color)) {
                Some(before) => {
                    self.stream_mut(id).source = Source::Stream(before);
                    let back = current.from.facing();
                    let before = self.stream_mut(before);
                    before.open &= !back.bit();
                    before.into[back as usize] = Some(id);
                }
                None => self.note_inlet(id),
            }
        }
        for side in LINKS {
            if current.outputs & side.bit() == 0 {
                continue;
            }
            let tile = site.moving.flow(site.moving.beside(pe, side));
            match tile.and_then(|tile| self.stream_of(tile, current.color)) {
                Some(behind) => {
                    self.stream_mut(behind).source = Source::Stream(id);
                    self.stream_mut(id).into[side as usize] = Some(behind);
                }
                None => {
                    self.stream_mut(id).open |= side.bit();
                    self.note_outlet(id);
                }
            }
        }
    }
}

impl Stream {
    fn unused(current: &Current) -> Stream {
        Stream {
            is_used: false,
            tile: 0,
            current: *current,
            source: Source::Landings,
            delay: 0,
            values: Vec::new(),
            base: 0,
            into: [None; 4],
            open: 0,
            is_outlet: false,
            is_inlet: false,
        }
    }
}

/// What the compute element does, if that is the same every cycle, given that the currents are. `deed` is what it
/// did in the last cycles.
fn survey(state: &Pe, plan: &PePlan, deed: u8, now: u64, currents: &[Current]) -> Option<Plan> {
    let core = &state.core;
    if core.is_called() || core.rebound || core.memory.is_watched() {
        return None;
    }
    let main = &state.main;
    // What it leaves to microthreads changes from cycle to cycle.
    if main.is_ahead() {
        return None;
    }
    let doer = match deed {
        0 => None,
        1 => Some(Doer::Main),
        id => Some(Doer::Thread(
            state.threads.iter().position(|t| t.thread == id - 2)?,
        )),
    };
    let ready = main.busy_until();
    let Some(doer) = doer else {
        let idle = at_rest(state, now, currents);
        let expiry = if ready > now { ready } else { u64::MAX };
        return idle.then_some(Plan { work: None, expiry });
    };
    let waits = ready <= now && matches!(main.doing, Doing::Nothing | Doing::Operation);
    if !(waits || doer == Doer::Main && main.doing == Doing::Operation) {
        return None;
    }
    let running = doer.of(state).filter(|running| is_plain(running))?;
    let left = match running.is_infinite() {
        true => LONGEST as u32,
        false => running.remaining.min(LONGEST as u32 + 1),
    };
    lines_fit(running, state, left).then_some(())?;
    let work = work_of(doer, running, state, plan, now, currents)?;
    // The last element is special: it is issued by a visit.
    let expiry = now + u64::from(left);
    Some(Plan {
        work: Some(work),
        expiry,
    })
}

/// Nothing goes up or down the ramp, and nothing is on its way.
fn at_rest(state: &Pe, now: u64, currents: &[Current]) -> bool {
    let ramp = |current: &Current| current.from == Direction::Ramp || current.outputs & RAMP != 0;
    let mut inputs = state.core.inputs.iter();
    !currents.iter().any(ramp)
        && inputs.all(|queue| queue.ring.last_ready() <= now)
        && state.core.outputs.filled() == 0
}

/// One element a cycle, between lines of memory and queues.
fn is_plain(running: &Running) -> bool {
    let mut ports = running.sources[..usize::from(running.source_count).min(3)].iter();
    let sources = ports.all(|port| {
        matches!(
            port,
            Port::Scalar { .. } | Port::Line { .. } | Port::Input { .. }
        )
    });
    let dest = match running.dest {
        Port::Output(sender) => !sender.control,
        Port::Line { .. } => true,
        _ => false,
    };
    sources && dest && running.kernel != Kernel::Special && running.per_cycle == 1
}

/// The next elements lie in memory.
fn lines_fit(running: &Running, state: &Pe, count: u32) -> bool {
    let mut ports = running.sources.iter().chain([&running.dest]);
    ports.all(|port| match *port {
        Port::Line { word, step, bytes } => state.core.memory.holds_line(word, step, bytes, count),
        _ => true,
    })
}

/// Each input queue an operation reads has a current that fills it, its output queue one that
/// empties it, and there are no others. A queue that holds as many wavelets as the ramp takes cycles
/// always has one that is ready.
fn work_of(
    doer: Doer,
    running: &Running,
    state: &Pe,
    plan: &PePlan,
    now: u64,
    currents: &[Current],
) -> Option<Work> {
    let core = &state.core;
    let mut intakes = [None; 2];
    for (place, queue) in intakes.iter_mut().zip(running.inputs) {
        if let Some(queue) = queue {
            let ring = &core.inputs[usize::from(queue)].ring;
            let stream = 0;
            let held = u64::from(ring.len());
            (held >= plan.timing.offramp_cycles).then_some(())?;
            *place = Some(Intake {
                queue,
                held,
                stream,
            });
        }
    }
    let down = currents.iter().filter(|c| c.outputs & RAMP != 0);
    let fills = |c: &Current| {
        let queue = core.input_of_color(plan, c.color);
        let tag = Tag::new(c.color, false, false);
        let alike = |n: u8| core.inputs[usize::from(n)].ring.is_all(tag);
        running.inputs.contains(&queue) && queue.is_some_and(alike)
    };
    let wanted = intakes.iter().flatten().count();
    if down.clone().count() != wanted || !down.clone().all(fills) {
        return None;
    }
    let mut others = core.inputs.iter().enumerate();
    let unused = |n: usize| !running.inputs.contains(&Some(n as u8));
    if others.any(|(n, queue)| unused(n) && queue.ring.last_ready() > now) {
        return None;
    }
    let outflow = outflow_of(running, state, plan, currents)?;
    Some(Work {
        doer,
        done: now + 1,
        intakes,
        outflow,
    })
}

/// The output queue an operation sends to, if the only current from the ramp empties it; none
/// outside if there is anything else to go up the ramp.
#[allow(clippy::option_option)]
fn outflow_of(
    running: &Running,
    state: &Pe,
    plan: &PePlan,
    currents: &[Current],
) -> Option<Option<Outflow>> {
    let mut up = currents.iter().filter(|c| c.from == Direction::Ramp);
    let (up, more) = (up.next(), up.next());
    let filled = state.core.outputs.filled().count_ones();
    match (&running.dest, up, more) {
        (Port::Output(sender), Some(up), None) => {
            let ring = &state.core.outputs[usize::from(sender.queue)].ring;
            let (queue, stream) = (sender.queue, 0);
            let held = u64::from(ring.len());
            let alike = ring.is_all(Tag::new(sender.color, false, false));
            let enough = held >= running.ramp_cycles(&plan.timing);
            let fits = up.color == sender.color && filled == 1 && alike && enough;
            fits.then_some(Some(Outflow {
                queue,
                held,
                stream,
            }))
        }
        (Port::Line { .. }, None, None) => (filled == 0).then_some(None),
        _ => None,
    }
}
