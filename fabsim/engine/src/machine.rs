//! Routers and compute elements joined into cycles.
//!
//! One cycle: wavelets go up the ramps, compute elements issue an instruction each, routers look,
//! then all moves take place. Up to the moves a PE only changes what no other PE looks at, so the
//! order of visits cannot matter. A sleeping PE is woken by a wavelet coming down its ramp, by
//! room in an output queue, or by the clock.
//!
//! A machine with several threads gives each of them some of the rows. Both halves of a cycle are
//! done side by side; what passes between zones is handed over in between.

mod changes;
mod undefined;

use crate::fabric::grid::PeIndex;
use crate::fabric::observer::Silent;
use crate::fabric::split_front;
use crate::fabric::{Fabric, Looking, Moving};
use crate::fast::parallel_run_ahead::run_ahead;
use crate::fast::thread_team::Team;
use crate::fast::turns::PutsOff;
pub use crate::fast::zones::worthwhile_threads;
use crate::fast::zones::{for_all, team, zones, CROSSINGS_WORTH_A_THREAD, TILES_WORTH_A_THREAD};
use crate::pe::plan::PePlan;
use crate::pe::{Launch, Pe};
use crate::probe::{Probe, Recorder};
use crate::report::SimError;
use crate::timing::{timing_of, Timing};
pub use crate::worker::VisitOrder;
use crate::worker::{Cycle, Worker};
use fabsim_lowering::Lowering;
use fabsim_program::limits::limits;
use fabsim_program::program::Design;

/// How far the current host command has got.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Command {
    /// PEs that have not called `unblock_cmd_stream` yet.
    pub outstanding: usize,
    /// When the first PE called it.
    pub first_done: Option<u64>,
    /// When the last PE did.
    pub last_done: u64,
}

impl Command {
    /// A PE lets the next command in.
    fn finish(&mut self, at: u64) {
        self.outstanding -= 1;
        self.first_done = Some(self.first_done.map_or(at, |first| first.min(at)));
        self.last_done = self.last_done.max(at);
    }
}

/// The whole simulated machine.
#[derive(Debug)]
pub struct Machine {
    /// Routers and links.
    pub fabric: Fabric,
    /// Compute elements, row by row.
    pub pes: Vec<Pe>,
    /// What PEs with the same program share.
    pub plans: Vec<PePlan>,
    /// Paths of the sources, for messages.
    pub files: Vec<String>,
    /// The next cycle, or the one that is being done.
    pub cycle: u64,
    /// Sum over cycles of the tiles that had anything to do.
    pub tile_cycles: u64,
    /// How far the current host command has got.
    pub command: Command,
    /// What `lenient` let pass, and the first wavelet that was lost.
    pub warnings: Vec<String>,
    /// What PEs have printed: cycle, PE, line; in no order.
    pub log: Vec<(u64, PeIndex, String)>,
    /// Told what happens, if anybody wants to know.
    pub recorder: Option<Box<dyn Recorder>>,
    /// Tiles that do the same every cycle are not visited for it. Nothing may change by it; tests
    /// check that.
    pub flows: bool,
    /// Main threads do before its cycle what nobody else can see. Nothing may change by it; tests
    /// check that.
    pub runs_ahead: bool,
    reference: bool,
    /// Those that share the work with the one that steps, if any.
    threads: Option<Team>,
    lenient: bool,
    /// A wavelet has left the rectangle, and `warnings` says so.
    lost_noted: bool,
    workers: Vec<Worker>,
}

impl Machine {
    /// A machine of one thread that counts cycles as the design says.
    pub fn new(design: &Design, lenient: bool, visit_order: VisitOrder) -> Machine {
        let timing = timing_of(design);
        let lowering = &mut Lowering::new(timing.scalar);
        Machine::with_threads(design, (timing, lowering), lenient, visit_order, 1)
    }

    /// A machine that counts cycles by `timing`, with code lowered by its table, and whose cycles are done
    /// by that many threads, or by fewer if there are too few rows.
    pub fn with_threads(
        design: &Design,
        (timing, lowering): (Timing, &mut Lowering),
        lenient: bool,
        visit_order: VisitOrder,
        threads: usize,
    ) -> Machine {
        let depth = limits(design.arch).router_queue;
        let programs = design.programs.iter();
        let mut plans: Vec<PePlan> = programs
            .map(|p| PePlan::new(design.arch, timing, p, lowering))
            .collect();
        for plan in &mut plans {
            plan.lenient = lenient;
        }
        for tile in &design.tiles {
            let router = &design.routers[tile.router as usize];
            plans[tile.program as usize].bind_queues_of_control_tasks(router);
        }
        let pe = |program: u32| Pe::new(&plans[program as usize], program);
        let ends = zones(design, threads);
        let firsts = std::iter::once(PeIndex(0)).chain(ends.iter().copied());
        let workers = firsts.zip(&ends);
        let mut machine = Machine {
            fabric: Fabric::new(design, depth, timing.hop_cycles, &ends),
            pes: design.tiles.iter().map(|tile| pe(tile.program)).collect(),
            workers: workers
                .map(|(first, &end)| Worker::new(first, end, visit_order))
                .collect(),
            plans,
            files: design.files.clone(),
            cycle: 0,
            tile_cycles: 0,
            command: Command::default(),
            warnings: Vec::new(),
            log: Vec::new(),
            recorder: None,
            flows: true,
            runs_ahead: true,
            reference: false,
            threads: team(threads, ends.len()),
            lenient,
            lost_noted: false,
        };
        for n in 0..machine.pes.len() {
            machine.write_initial_registers(PeIndex(n as u32));
            if machine.pes[n].core.active_local != 0 {
                machine.wake(PeIndex(n as u32));
            }
        }
        machine
    }

    /// From now on nothing is done but what the machine does, tile by tile and cycle by cycle: without any of
    /// the shortcuts in `fast`. Nothing but tile-cycles may change by it; tests check that.
    pub fn reference(&mut self) {
        (self.flows, self.runs_ahead, self.reference) = (false, false, true);
    }

    /// How many threads share the work at most.
    pub fn threads(&self) -> usize {
        self.threads.as_ref().map_or(1, Team::size)
    }

    /// How often a tile has joined a flow.
    pub fn joined_flows(&self) -> u64 {
        self.workers.iter().map(|worker| worker.flows.joined).sum()
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

    fn wake(&mut self, pe: PeIndex) {
        let zone = self.fabric.zone_number(pe);
        self.workers[zone].awake.insert(pe);
    }

    /// Hands a function to the main thread of a PE.
    pub fn launch(&mut self, pe: PeIndex, launch: Launch) {
        self.pes[pe.index()].launch(launch);
        self.command.outstanding += 1;
        self.wake(pe);
    }

    /// Nothing happens by itself any more.
    pub fn is_quiet(&self) -> bool {
        self.is_idle() && self.next_alarm().is_none()
    }

    fn is_idle(&self) -> bool {
        let mut workers = self.workers.iter();
        workers.all(|worker| worker.awake.is_empty() && worker.flows.count() == 0)
            && self.fabric.is_idle()
    }

    /// Flows show nothing of what passes, and know nothing of swapped colors.
    fn may_flow<P: Probe>(&self, probe: &P) -> bool {
        let seen = !probe.is_silent() || self.fabric.trace.is_some();
        self.flows && !seen && !self.fabric.swaps()
    }

    fn next_alarm(&self) -> Option<u64> {
        let workers = self.workers.iter();
        workers.filter_map(|w| w.alarm.next(self.cycle)).min()
    }

    /// Tiles that have something to do in the coming cycle, some of them twice.
    fn due(&self) -> usize {
        let workers = self.workers.iter().map(|worker| worker.due(self.cycle));
        workers.sum::<usize>() + self.fabric.active()
    }

    /// One cycle; cycles in which nothing can happen are skipped.
    pub fn step(&mut self) -> Result<(), SimError> {
        if self.is_idle() {
            if let Some(at) = self.next_alarm() {
                self.cycle = at.max(self.cycle);
            }
        }
        let Some(mut recorder) = self.recorder.take() else {
            let mut threads = self.threads.take();
            let stepped = self.step_with(threads.as_mut(), &mut Silent);
            self.threads = threads;
            return stepped;
        };
        let stepped = self.step_with(None, &mut recorder);
        self.recorder = Some(recorder);
        stepped
    }

    fn step_with<P: Probe>(
        &mut self,
        mut threads: Option<&mut Team>,
        probe: &mut P,
    ) -> Result<(), SimError> {
        let now = self.cycle;
        let may_flow = self.may_flow(probe);
        let worth_it = |team: &&mut Team| self.due() >= TILES_WORTH_A_THREAD * team.size();
        let has_threads = threads.is_some();
        let visiting = threads.as_deref_mut().filter(worth_it);
        let puts_off = match (&visiting, has_threads) {
            (_, false) => PutsOff::Nobody,
            (Some(_), true) => PutsOff::Beside,
            (None, true) => PutsOff::All,
        };
        self.first_half(visiting, puts_off, probe);
        if has_threads {
            let surroundings = (&*self.plans, self.fabric.view(), now);
            let tiles = (&mut *self.workers, &mut *self.pes);
            run_ahead(tiles, surroundings, threads.as_deref_mut());
        }
        let visited: usize = self.workers.iter().map(Worker::visited).sum();
        let worth_it = |team: &&mut Team| visited >= TILES_WORTH_A_THREAD * team.size();
        let mut threads = threads.filter(worth_it);
        if let Err(failure) = self.gather() {
            self.visit_flows(&self.in_flows());
            return Err(failure);
        }
        if self.workers.iter().any(|worker| !worker.writes.is_empty()) {
            self.make_changes();
        }
        self.second_half(threads.as_deref_mut(), probe);
        self.exchange(threads.as_deref_mut(), probe);
        self.raise_teardowns();
        if may_flow {
            self.between(threads);
        }
        self.cycle = now + 1;
        self.note_lost();
        self.check_retargeted()?;
        self.check_collisions(probe)
    }

    fn first_half<P: Probe>(
        &mut self,
        threads: Option<&mut Team>,
        puts_off: PutsOff,
        probe: &mut P,
    ) {
        let cycle = Cycle {
            now: self.cycle,
            plans: &self.plans,
            may_flow: self.may_flow(probe),
            runs_ahead: self.runs_ahead,
            reference: self.reference,
            puts_off,
        };
        let mut pes = self.pes.as_mut_slice();
        let zones = self.workers.iter_mut().zip(self.fabric.looking(self.cycle));
        let zones = zones.map(|(worker, looking)| {
            let own = split_front(&mut pes, looking.len());
            (worker, own, looking)
        });
        type Zone<'a> = (&'a mut Worker, &'a mut [Pe], Looking<'a>);
        if threads.is_some() {
            for_all(threads, zones, |(worker, pes, mut looking): Zone| {
                worker.first_half(cycle, pes, &mut looking, &mut Silent);
            });
        } else {
            for (worker, pes, mut looking) in zones {
                worker.first_half(cycle, pes, &mut looking, probe);
            }
        }
    }

    fn second_half<P: Probe>(&mut self, threads: Option<&mut Team>, probe: &mut P) {
        let cycle = Cycle {
            now: self.cycle,
            plans: &self.plans,
            may_flow: self.may_flow(probe),
            runs_ahead: self.runs_ahead,
            reference: self.reference,
            puts_off: PutsOff::Nobody,
        };
        let mut pes = self.pes.as_mut_slice();
        let zones = self
            .workers
            .iter_mut()
            .zip(self.fabric.moving(cycle.now + 1));
        let zones = zones.map(|(worker, moving)| {
            let own = split_front(&mut pes, moving.len());
            (worker, own, moving)
        });
        type Zone<'a> = (&'a mut Worker, &'a mut [Pe], Moving<'a>);
        if threads.is_some() {
            for_all(threads, zones, |(worker, pes, mut moving): Zone| {
                worker.second_half(cycle, pes, &mut moving, &mut Silent);
            });
        } else {
            for (worker, pes, mut moving) in zones {
                worker.second_half(cycle, pes, &mut moving, probe);
            }
        }
    }

    /// What goes from one zone to another arrives.
    fn exchange<P: Probe>(&mut self, threads: Option<&mut Team>, probe: &mut P) {
        let next = self.cycle + 1;
        if threads.is_none() {
            return self.fabric.exchange(next, probe);
        }
        let threads = threads.filter(|_| self.fabric.hand_over() >= CROSSINGS_WORTH_A_THREAD);
        for_all(threads, self.fabric.moving(next), |mut zone| {
            zone.receive(&mut Silent);
        });
        self.fabric.settle();
    }

    /// Flows go on, end and begin.
    fn between(&mut self, threads: Option<&mut Team>) {
        let is_work = |worker: &Worker| worker.flows.has_work();
        if !self.workers.iter().any(is_work) {
            return;
        }
        self.at_flows(threads, |worker, cycle, pes, moving| {
            worker.between(cycle, pes, moving);
        });
        if self.fabric.swaps() {
            self.end_flows_of(&self.in_flows(), self.cycle + 1);
        }
    }

    /// Brings the state of all tiles up to date: to be called before anybody looks at it.
    pub fn end_flows(&mut self) {
        self.end_flows_of(&self.in_flows(), self.cycle);
    }

    /// The tiles that are in flows, in order.
    fn in_flows(&self) -> Vec<PeIndex> {
        let mut all: Vec<PeIndex> = self.workers.iter().flat_map(|w| w.flows.tiles()).collect();
        all.sort_unstable();
        all
    }

    /// The flows of these tiles, in order, end at the beginning of the cycle `at`.
    fn end_flows_of(&mut self, tiles: &[PeIndex], at: u64) {
        if tiles.is_empty() {
            return;
        }
        self.at_flows(None, |worker, cycle, pes, moving| {
            let own = within(tiles, moving.first(), moving.len());
            worker.end_flows((cycle, at), pes, moving, own);
        });
    }

    fn at_flows(
        &mut self,
        threads: Option<&mut Team>,
        work: impl Fn(&mut Worker, Cycle, &mut [Pe], &mut Moving) + Sync,
    ) {
        let cycle = Cycle {
            now: self.cycle,
            plans: &self.plans,
            may_flow: true,
            runs_ahead: self.runs_ahead,
            reference: self.reference,
            puts_off: PutsOff::Nobody,
        };
        let mut pes = self.pes.as_mut_slice();
        let zones = self.fabric.moving(cycle.now + 1);
        let zones = self.workers.iter_mut().zip(zones).map(|(worker, moving)| {
            let own = split_front(&mut pes, moving.len());
            (worker, own, moving)
        });
        for_all(threads, zones, |(worker, pes, mut moving)| {
            work(worker, cycle, pes, &mut moving);
        });
    }

    /// The first half of a cycle for these tiles, in order, all of them in flows, which end: everybody else has had
    /// theirs.
    #[cold]
    fn visit_flows(&mut self, tiles: &[PeIndex]) {
        self.end_flows_of(tiles, self.cycle);
        let cycle = Cycle {
            now: self.cycle,
            plans: &self.plans,
            may_flow: false,
            runs_ahead: self.runs_ahead,
            reference: self.reference,
            puts_off: PutsOff::Nobody,
        };
        let mut pes = self.pes.as_mut_slice();
        let zones = self.workers.iter_mut().zip(self.fabric.looking(self.cycle));
        for (worker, mut looking) in zones {
            let own = split_front(&mut pes, looking.len());
            let tiles = within(tiles, looking.first(), looking.len());
            worker.visit_some(cycle, own, &mut looking, tiles);
        }
    }
}

/// Those of some PEs, in order, that belong to a zone.
fn within(pes: &[PeIndex], first: PeIndex, count: usize) -> &[PeIndex] {
    let place = |n: usize| pes.partition_point(|pe| pe.index() < n);
    &pes[place(first.index())..place(first.index() + count)]
}
