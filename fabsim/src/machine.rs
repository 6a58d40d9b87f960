//! Routers and compute elements joined into cycles.
//!
//! One cycle: wavelets go up the ramps, compute elements issue an instruction each, routers look,
//! then all moves take place. Up to the moves a PE only changes what no other PE looks at, so the
//! order of visits cannot matter. A sleeping PE is woken by a wavelet coming down its ramp, by
//! room in an output queue, or by the clock.

use crate::fabric::grid::PeIndex;
use crate::fabric::{Collision, Delivery, Fabric};
use crate::limits::limits;
use crate::pe::plan::PePlan;
use crate::pe::queues::Arrived;
use crate::pe::{Env, Launch, Next, Pe};
use crate::probe::{Probe, RampPassage, Recorder, Silent};
use crate::program::{Design, Direction, Span};
use crate::report::{Fault, SimError};
use crate::trace::arrivals;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const BUCKETS: u64 = 64;

/// When to wake which PE. Near times are an index away, far ones in a heap.
#[derive(Debug)]
struct Alarm {
    near: Vec<Vec<PeIndex>>,
    near_count: usize,
    far: BinaryHeap<Reverse<(u64, PeIndex)>>,
}

impl Alarm {
    fn new() -> Alarm {
        Alarm {
            near: (0..BUCKETS).map(|_| Vec::new()).collect(),
            near_count: 0,
            far: BinaryHeap::new(),
        }
    }

    #[inline]
    fn set(&mut self, now: u64, at: u64, pe: PeIndex) {
        if at - now < BUCKETS {
            self.near[(at % BUCKETS) as usize].push(pe);
            self.near_count += 1;
        } else {
            self.far.push(Reverse((at, pe)));
        }
    }

    /// The next time anybody is to be woken, from `now` on.
    fn next(&self, now: u64) -> Option<u64> {
        let far = self.far.peek().map(|Reverse((at, _))| *at);
        if self.near_count == 0 {
            return far;
        }
        let mut times = now..now + BUCKETS;
        let near = times.find(|at| !self.near[(at % BUCKETS) as usize].is_empty());
        near.into_iter().chain(far).min()
    }

    fn due(&mut self, now: u64) -> Vec<PeIndex> {
        let mut due = std::mem::take(&mut self.near[(now % BUCKETS) as usize]);
        self.near_count -= due.len();
        while let Some(&Reverse((at, pe))) = self.far.peek() {
            if at > now {
                break;
            }
            self.far.pop();
            due.push(pe);
        }
        due
    }

    /// Gives a bucket's memory back.
    fn recycle(&mut self, now: u64, mut used: Vec<PeIndex>) {
        used.clear();
        let bucket = &mut self.near[(now % BUCKETS) as usize];
        if bucket.is_empty() {
            *bucket = used;
        }
    }
}

/// In which order routers and compute elements are visited. No result may depend on it; tests
/// check that.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum VisitOrder {
    /// As they happened to be woken.
    #[default]
    AsWoken,
    Reversed,
    /// In another random order every cycle; the number is the state of the generator.
    Shuffled(u64),
}

impl VisitOrder {
    fn apply(&mut self, visits: &mut [PeIndex]) {
        match self {
            VisitOrder::AsWoken => {}
            VisitOrder::Reversed => visits.reverse(),
            VisitOrder::Shuffled(state) => {
                for n in (1..visits.len()).rev() {
                    // Knuth's MMIX generator; its high bits are the good ones.
                    *state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1_442_695_040_888_963_407);
                    visits.swap(n, (*state >> 33) as usize % (n + 1));
                }
            }
        }
    }
}

/// How far the current host command has got.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Command {
    /// PEs that have not called `unblock_cmd_stream` yet.
    pub outstanding: usize,
    pub first_done: Option<u64>,
    pub last_done: u64,
}

/// The whole simulated machine.
#[derive(Debug)]
pub struct Machine {
    pub fabric: Fabric,
    pub pes: Vec<Pe>,
    pub plans: Vec<PePlan>,
    pub files: Vec<String>,
    pub cycle: u64,
    /// Sum over cycles of the tiles that had anything to do.
    pub tile_cycles: u64,
    pub command: Command,
    /// What `lenient` let pass.
    pub warnings: Vec<String>,
    /// What PEs have printed: cycle, PE, line; in no order.
    pub log: Vec<(u64, PeIndex, String)>,
    /// Told what happens, if anybody wants to know.
    pub recorder: Option<Box<dyn Recorder>>,
    lenient: bool,
    visit_order: VisitOrder,
    active: Vec<PeIndex>,
    alarm: Alarm,
}

impl Machine {
    pub fn new(design: &Design, lenient: bool, visit_order: VisitOrder) -> Machine {
        let depth = limits(design.arch).router_queue;
        let programs = design.programs.iter();
        let mut plans: Vec<PePlan> = programs.map(|p| PePlan::new(design.arch, p)).collect();
        for tile in &design.tiles {
            let router = &design.routers[tile.router as usize];
            plans[tile.program as usize].bind_queues_of_control_tasks(router);
        }
        let pe = |program: u32| Pe::new(&plans[program as usize], program);
        let mut machine = Machine {
            fabric: Fabric::new(design, depth),
            pes: design.tiles.iter().map(|tile| pe(tile.program)).collect(),
            plans,
            files: design.files.clone(),
            cycle: 0,
            tile_cycles: 0,
            command: Command::default(),
            warnings: Vec::new(),
            log: Vec::new(),
            recorder: None,
            lenient,
            visit_order,
            active: Vec::new(),
            alarm: Alarm::new(),
        };
        for n in 0..machine.pes.len() {
            machine.write_initial_registers(PeIndex(n as u32));
            if machine.pes[n].core.active_local != 0 {
                machine.wake(PeIndex(n as u32));
            }
        }
        machine
    }

    /// From now on, reading memory that nobody has written is an error.
    pub fn watch_uninitialized(&mut self) {
        for state in &mut self.pes {
            let program = &self.plans[state.plan as usize].program;
            state.core.memory.watch_uninitialized(program);
        }
    }

    /// Configuration words written at compile time, in order.
    fn write_initial_registers(&mut self, pe: PeIndex) {
        let plan = &self.plans[self.pes[pe.index()].plan as usize];
        for &(address, value) in &plan.program.config {
            // What it refuses has been refused by name at load; nothing is queued yet.
            let _ = self.fabric.write_register(pe, address, value);
        }
    }

    #[inline]
    fn wake(&mut self, pe: PeIndex) {
        let state = &mut self.pes[pe.index()];
        if !state.active {
            state.active = true;
            self.active.push(pe);
        }
    }

    /// Hands a function to the main thread of a PE.
    pub fn launch(&mut self, pe: PeIndex, launch: Launch) {
        let state = &mut self.pes[pe.index()];
        state.launch = Some(launch);
        state.busy_with_command = true;
        self.command.outstanding += 1;
        self.wake(pe);
    }

    /// Nothing happens by itself any more.
    pub fn is_quiet(&self) -> bool {
        self.is_idle() && self.alarm.next(self.cycle).is_none()
    }

    fn is_idle(&self) -> bool {
        self.active.is_empty() && self.fabric.active_routers() == 0
    }

    /// One cycle; cycles in which nothing can happen are skipped.
    pub fn step(&mut self) -> Result<(), SimError> {
        let Some(mut recorder) = self.recorder.take() else {
            return self.step_with(&mut Silent);
        };
        let stepped = self.step_with(&mut recorder);
        self.recorder = Some(recorder);
        stepped
    }

    fn step_with<P: Probe>(&mut self, probe: &mut P) -> Result<(), SimError> {
        if self.is_idle() {
            if let Some(at) = self.alarm.next(self.cycle) {
                self.cycle = at.max(self.cycle);
            }
        }
        let now = self.cycle;
        let due = self.alarm.due(now);
        for &pe in &due {
            self.wake(pe);
        }
        self.alarm.recycle(now, due);
        self.visit_order.apply(self.fabric.visits());
        self.visit_order.apply(&mut self.active);
        for n in 0..self.fabric.active_routers() {
            self.up_the_ramp(self.fabric.active_router(n), now, probe);
        }
        self.tile_cycles += self.fabric.active_routers() as u64;
        self.step_compute_elements(now, probe)?;
        let (pes, plans) = (&self.pes, &self.plans);
        self.fabric.look(|pe, color| {
            let pe = &pes[pe.index()];
            let queue = pe.core.input_of_color(&plans[pe.plan as usize], color);
            queue.is_some_and(|n| pe.core.inputs[usize::from(n)].ring.has_room())
        });
        self.fabric.commit(now + 1, probe);
        self.down_the_ramps(now, probe);
        self.raise_teardowns();
        self.cycle = now + 1;
        self.check_retargeted()?;
        self.check_collisions(probe)
    }

    /// One wavelet at most goes from the output queues of a PE to its router; queues take turns.
    fn up_the_ramp<P: Probe>(&mut self, pe: PeIndex, now: u64, probe: &mut P) {
        let state = &mut self.pes[pe.index()];
        let count = state.core.outputs.len();
        let mut sent = None;
        let first = usize::from(state.output_turn);
        let first = if first < count { first } else { 0 };
        for k in first..first + count {
            let n = if k < count { k } else { k - count };
            let ring = &mut state.core.outputs[n].ring;
            let Some(head) = ring.first().copied() else {
                continue;
            };
            if head.ready > now || sent.is_some() {
                self.fabric.stay(pe);
            } else if self.fabric.accepts_from_ce(pe, head.color) {
                let was_full = !ring.has_room();
                ring.pop();
                let level = ring.len();
                probe.went_up(RampPassage {
                    cycle: now,
                    pe,
                    color: head.color,
                    wavelet: head.wavelet(),
                    queue: state.core.outputs[n].id,
                    level,
                });
                self.fabric
                    .inject(pe, head.color, head.wavelet(), head.advance_switch);
                sent = Some((n, was_full));
                self.fabric.stay(pe);
            }
        }
        if let Some((n, was_full)) = sent {
            state.output_turn = n as u8 + 1;
            if was_full || state.core.attention {
                self.wake(pe);
            }
        }
    }

    fn step_compute_elements<P: Probe>(&mut self, now: u64, probe: &mut P) -> Result<(), SimError> {
        let mut active = std::mem::take(&mut self.active);
        let mut failed: Option<(PeIndex, Fault)> = None;
        active.retain(|&pe| match self.step_one(pe, now, probe) {
            Ok(stays) => stays,
            Err(fault) => {
                // The same one is reported in whatever order the PEs are visited.
                if !matches!(&failed, Some((earlier, _)) if *earlier < pe) {
                    failed = Some((pe, fault));
                }
                true
            }
        });
        // Nobody is woken while compute elements run.
        self.active = active;
        match failed {
            None => Ok(()),
            Some((pe, fault)) => Err(self.undefined(pe, &fault)),
        }
    }

    /// One cycle of one compute element; false if it goes to sleep.
    #[inline]
    fn step_one<P: Probe>(&mut self, pe: PeIndex, now: u64, probe: &mut P) -> Result<bool, Fault> {
        let state = &mut self.pes[pe.index()];
        let mut env = Env {
            plan: &self.plans[state.plan as usize],
            now,
            fabric: &mut self.fabric,
            index: pe,
            queues_changed: false,
            unblocked_at: None,
            printed: Vec::new(),
            executed: probe.wants_code().then(Vec::new),
        };
        let (next, turn) = state.step(&mut env)?;
        if let Some(executed) = env.executed.take() {
            probe.executed(now, pe, env.plan, &executed);
        }
        probe.turn(now, pe, state, env.plan, turn);
        let (changed, unblocked_at) = (env.queues_changed, env.unblocked_at);
        let printed = env.printed.into_iter();
        self.log.extend(printed.map(|(at, line)| (at, pe, line)));
        if !self.fabric.is_active(pe) {
            self.tile_cycles += 1;
        }
        if changed {
            // What was sent goes up the ramp only later: the router must be visited until then.
            self.fabric.wake(pe);
            self.fabric.stay(pe);
        }
        if let Some(at) = unblocked_at {
            if std::mem::take(&mut state.busy_with_command) {
                self.command.outstanding -= 1;
                let first = self.command.first_done.unwrap_or(at);
                self.command.first_done = Some(first.min(at));
                self.command.last_done = self.command.last_done.max(at);
            }
        }
        match next {
            Next::Soon => return Ok(true),
            Next::At(at) => self.alarm.set(now, at, pe),
            Next::Woken => {}
        }
        state.active = false;
        Ok(false)
    }

    fn down_the_ramps<P: Probe>(&mut self, now: u64, probe: &mut P) {
        let mut deliveries = std::mem::take(&mut self.fabric.deliveries);
        for Delivery { pe, color, wavelet } in deliveries.drain(..) {
            let state = &mut self.pes[pe.index()];
            let plan = &self.plans[state.plan as usize];
            let Some(queue) = state.core.input_of_color(plan, color) else {
                continue;
            };
            let ready = now + plan.timing.offramp_cycles;
            let queue = &mut state.core.inputs[usize::from(queue)];
            queue.ring.push(Arrived { wavelet, ready });
            probe.came_down(RampPassage {
                cycle: now,
                pe,
                color,
                wavelet,
                queue: queue.id,
                level: queue.ring.len(),
            });
            self.alarm.set(now, ready, pe);
        }
        self.fabric.deliveries = deliveries;
    }

    /// A torn-down color is an event for its compute element, whatever its routes are.
    fn raise_teardowns(&mut self) {
        while let Some((pe, color)) = self.fabric.torn_down.pop() {
            self.pes[pe.index()].core.note_teardown(color);
            self.wake(pe);
        }
    }

    /// `advance_switch` moves the switch as soon as the last wavelet is in the router, so it can
    /// change where wavelets come from and not where those before it go.
    fn check_retargeted(&mut self) -> Result<(), SimError> {
        let Some(&(pe, color)) = self.fabric.retargeted.iter().min() else {
            return Ok(());
        };
        let (x, y) = self.fabric.grid.place(pe);
        Err(SimError::Undefined(format!(
            "PE ({x}, {y}): advance_switch leads color {color} to a switch position with other \
             outputs in cycle {}, while what was sent may not have left the router; send a control \
             wavelet instead",
            self.cycle
        )))
    }

    /// Two arrivals at once are undefined: an error, or a warning where the user asked for it.
    fn check_collisions<P: Probe>(&mut self, probe: &P) -> Result<(), SimError> {
        if self.fabric.collisions.is_empty() {
            return Ok(());
        }
        let mut collisions = std::mem::take(&mut self.fabric.collisions);
        collisions.sort_unstable();
        collisions.dedup_by(|more, kept| {
            let same = (more.pe, more.color) == (kept.pe, kept.color);
            if same {
                kept.sides.0 |= more.sides.0;
                kept.overflow |= more.overflow;
            }
            same
        });
        for collision in collisions {
            let text = self.describe(&collision);
            let fatal = !self.lenient || collision.overflow;
            let lines = arrivals::lines(&self.fabric, &collision, fatal, probe);
            let cycle = self.cycle;
            let log = lines.iter().map(|line| (cycle, collision.pe, line.clone()));
            self.log.extend(log);
            if fatal {
                let lines = lines.iter().map(|line| format!("\n  @{cycle} {line}"));
                return Err(SimError::Undefined(text + &lines.collect::<String>()));
            }
            self.warnings.push(text);
        }
        Ok(())
    }

    fn describe(&self, collision: &Collision) -> String {
        let (x, y) = self.fabric.grid.place(collision.pe);
        let source = |side: Direction| match self.fabric.grid.neighbour(collision.pe, side) {
            Some(pe) => {
                let (x, y) = self.fabric.grid.place(pe);
                format!("{side} (PE {x}, {y})")
            }
            None => format!("{side} (its own compute element)"),
        };
        let from: Vec<String> = (0..5)
            .map(Direction::from_code)
            .filter(|&side| collision.sides.has(side))
            .map(|side| format!("from {}", source(side)))
            .collect();
        let count = match from.len() {
            2 => "two".to_string(),
            more => more.to_string(),
        };
        format!(
            "PE ({x}, {y}): {count} wavelets of color {} arrive in cycle {}, {}; what the machine \
             does then is undefined",
            collision.color,
            self.cycle,
            from.join(" and "),
        )
    }

    fn undefined(&self, pe: PeIndex, fault: &Fault) -> SimError {
        let (x, y) = self.fabric.grid.place(pe);
        let place = fault
            .span
            .map(|span| self.location(span) + ": ")
            .unwrap_or_default();
        SimError::Undefined(format!(
            "{place}PE ({x}, {y}), cycle {}: {}",
            self.cycle, fault.text
        ))
    }

    /// `file:line` of a span.
    pub fn location(&self, span: Span) -> String {
        match self.files.get(span.file as usize) {
            Some(file) => format!("{file}:{}", span.line),
            None => format!("line {}", span.line),
        }
    }
}
