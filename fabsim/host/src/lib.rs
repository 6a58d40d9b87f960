//! The host's side: copies, launches, and what comes of them.
//!
//! Commands take effect in the order they are given. A copy takes no cycles itself, but a host is slow:
//! what is under way on the machine has time to finish before it.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod circle;
mod copy;
mod inspect;
mod late;
mod lowered;
mod port;
mod refuse;
mod room;
mod stream;
mod stuck;
mod watch;

pub use self::copy::{Area, CopyFormat};
pub use self::late::LateStarts;
pub use self::lowered::Lowered;
pub use self::port::TransferId;
pub use fabsim_engine::machine::VisitOrder;

use fabsim_engine::fabric::grid::PeIndex;
use fabsim_engine::machine::{Command, Machine};
use fabsim_engine::pe::Launch;
use fabsim_engine::probe::Recorder;
use fabsim_engine::report::{Cause, During, HostFault, SimError};
use fabsim_engine::trace::Watched;
use fabsim_program::program::{Design, FunctionId, SymbolKind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Choices for one simulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimOptions {
    /// A command that needs more cycles than this is given up.
    pub max_cycles: u64,
    /// So many seconds after the program was loaded it is given up, if that is limited.
    pub max_seconds: Option<u64>,
    /// A design that takes more than this to simulate is refused.
    pub max_memory_bytes: u64,
    /// Undefined arrivals are noted and survived instead of ending the run.
    pub lenient: bool,
    /// Nothing may change by it; tests check that.
    pub visit_order: VisitOrder,
    /// Tiles that do the same every cycle are not visited for it; nothing but the speed may change by
    /// it.
    pub flows: bool,
    /// Main threads do before its cycle what nobody else can see; nothing but the speed may change by
    /// it.
    pub runs_ahead: bool,
    /// Without any shortcut, every tile in every cycle; nothing but the speed and tile-cycles may change by it.
    pub reference: bool,
    /// Processors used at most; nothing else may change by it.
    pub threads: usize,
    /// Keeps every landing of a wavelet.
    pub trace_landings: bool,
    /// Whether PEs begin launches late, each differently.
    pub late: LateStarts,
    /// A trace, or counts of what was used.
    pub watched: Watched,
    /// Reading memory that nobody has written is an error.
    pub check_uninitialized: bool,
    /// Numbers other than those of the program's clock, by name: for fitting and for experiments.
    pub constants: Vec<(String, u64)>,
}

impl Default for SimOptions {
    fn default() -> SimOptions {
        SimOptions {
            max_cycles: 1_000_000_000,
            max_seconds: None,
            max_memory_bytes: 16_000_000_000,
            lenient: false,
            visit_order: VisitOrder::AsWoken,
            flows: true,
            runs_ahead: true,
            reference: false,
            threads: 1,
            trace_landings: false,
            late: LateStarts::default(),
            watched: Watched::default(),
            check_uninitialized: false,
            constants: Vec::new(),
        }
    }
}

/// What a launch took.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaunchReport {
    /// The cycle in which the function started on every PE.
    pub start_cycle: u64,
    /// The cycle in which the last PE let the next command in.
    pub end_cycle: u64,
    /// The cycle in which the first PE did.
    pub first_completion: u64,
    /// Tile-cycles with anything to do.
    pub tile_cycles: u64,
}

impl LaunchReport {
    /// What it took, in cycles.
    pub fn cycles(&self) -> u64 {
        self.end_cycle - self.start_cycle
    }
}

/// What the whole run took.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunReport {
    /// The cycle of the machine at the end.
    pub cycles: u64,
    /// Active tile-cycles, see docs/performance.md.
    pub tile_cycles: u64,
    /// Undefined events that `lenient` let pass, and the first wavelet that was lost.
    pub warnings: Vec<String>,
}

/// Called now and then with the cycle; false stops the simulation.
pub type Progress<'a> = &'a mut dyn FnMut(u64) -> bool;

/// Steps, and visits of tiles, between two calls of the progress function at most. A step of few
/// tiles may still be long, since it may run long stretches of scalar code.
const STEPS_BETWEEN_CALLS: u32 = 64;
const VISITS_BETWEEN_CALLS: u64 = 20_000;

/// Cycles that pass on a busy machine until a copy takes effect: less than a host needs for one. [guess]
const CYCLES_BEFORE_A_COPY: u64 = 2_000;

/// A design on a simulated machine, with the host connected.
pub struct Simulator {
    design: Arc<Design>,
    options: SimOptions,
    pub(crate) machine: Machine,
    /// What was active at start has run until quiet.
    settled: bool,
    /// How many there were.
    launches: u64,
    /// A command has failed half-way; memory can still be looked at.
    failed: bool,
    transfers: port::Transfers,
    /// The attached recorder is the one the options ask for.
    watching: bool,
    /// When the seconds are used up.
    deadline: Option<Instant>,
}

impl Simulator {
    /// Loads the design; everything it needs and fabsim lacks is refused by name.
    pub fn new(design: Arc<Design>, options: SimOptions) -> Result<Simulator, SimError> {
        Simulator::of(&Lowered::new(design), options)
    }

    /// `new` for a design of which there may be several simulators.
    pub fn of(lowered: &Lowered, options: SimOptions) -> Result<Simulator, SimError> {
        let design = Arc::clone(lowered.design());
        refuse::check(&design)?;
        room::check(&design, options.max_memory_bytes)?;
        let timing = lowered.counted(&options)?;
        let mut machine = lowered.by(timing.scalar, |lowering| {
            Machine::with_threads(
                &design,
                (timing, lowering),
                options.lenient,
                options.visit_order,
                options.threads,
            )
        });
        machine.flows = options.flows;
        machine.runs_ahead = options.runs_ahead;
        if options.reference {
            machine.reference();
        }
        if options.trace_landings {
            machine.fabric.trace = Some(Vec::new());
        }
        if options.check_uninitialized {
            machine.watch_uninitialized();
        }
        let mut simulator = Simulator {
            design,
            machine,
            deadline: options
                .max_seconds
                .and_then(|seconds| Instant::now().checked_add(Duration::from_secs(seconds))),
            settled: false,
            launches: 0,
            failed: false,
            transfers: port::Transfers::default(),
            watching: false,
            options,
        };
        simulator.watch()?;
        Ok(simulator)
    }

    /// What is simulated.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// The machine, to be looked at.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Lets a recorder see what happens from now on. It replaces the one that options ask for.
    pub fn attach(&mut self, recorder: Box<dyn Recorder>) {
        self.watching = false;
        self.machine.recorder = Some(recorder);
    }

    /// Takes the recorder back.
    pub fn detach(&mut self) -> Option<Box<dyn Recorder>> {
        self.machine.recorder.take()
    }

    /// The cycle that comes next.
    pub fn cycle(&self) -> u64 {
        self.machine.cycle
    }

    /// Active tile-cycles so far.
    pub fn tile_cycles(&self) -> u64 {
        self.machine.tile_cycles
    }

    /// Starts an exported function on every PE and waits until all have let the next command in.
    pub fn launch(&mut self, name: &str, args: &[u32]) -> Result<LaunchReport, SimError> {
        self.launch_with(name, args, &mut |_| true)
    }

    /// `launch` with a progress function.
    pub fn launch_with(
        &mut self,
        name: &str,
        args: &[u32],
        progress: Progress,
    ) -> Result<LaunchReport, SimError> {
        let functions = self.functions(name)?;
        self.settle(progress)?;
        let args: Arc<[u64]> = args.iter().map(|&bits| u64::from(bits)).collect();
        let start_cycle = self.machine.cycle;
        let tile_cycles = self.machine.tile_cycles;
        self.machine.command = Command::default();
        let order = self
            .options
            .late
            .order(self.machine.pes.len(), self.launches);
        self.launches += 1;
        for (late, n) in order {
            self.run_to(start_cycle + late, progress)?;
            let program = self.machine.pes[n].plan as usize;
            if let Some(function) = functions[program] {
                let args = Arc::clone(&args);
                let launch = Launch { function, args };
                self.machine.launch(PeIndex(n as u32), launch);
            }
        }
        self.run(progress, |machine| machine.command.outstanding == 0)?;
        let command = self.machine.command;
        // Code may have been run ahead of the clock. The cycle in which the last PE is done is over when
        // the next command comes, whether it was or not.
        let next = command.last_done + 1;
        self.run(progress, |machine| machine.cycle >= next)?;
        self.machine.cycle = self.machine.cycle.max(next);
        Ok(LaunchReport {
            start_cycle,
            end_cycle: command.last_done,
            first_completion: command.first_done.unwrap_or(start_cycle),
            tile_cycles: self.machine.tile_cycles - tile_cycles,
        })
    }

    /// Lets what is under way go on until a cycle; where nothing is, time goes by.
    fn run_to(&mut self, cycle: u64, progress: Progress) -> Result<(), SimError> {
        if self.machine.cycle < cycle {
            self.run(progress, |machine| {
                machine.is_quiet() || machine.cycle >= cycle
            })?;
            self.machine.cycle = self.machine.cycle.max(cycle);
        }
        Ok(())
    }

    /// The function behind a host-visible name, per program in use.
    fn functions(&self, name: &str) -> Result<Vec<Option<FunctionId>>, SimError> {
        let find = |program: &fabsim_program::program::TileProgram| {
            program.symbols.iter().find_map(|symbol| match symbol.kind {
                SymbolKind::Function(id) if symbol.name == name => Some(id),
                _ => None,
            })
        };
        let functions: Vec<_> = self.design.programs.iter().map(|p| find(p)).collect();
        let lacking = self.design.tiles.iter().position(|tile| {
            functions
                .get(tile.program as usize)
                .copied()
                .flatten()
                .is_none()
        });
        match lacking {
            None => Ok(functions),
            Some(n) => {
                let (x, y) = self.machine.fabric.grid.place(PeIndex(n as u32));
                Err(SimError::from(HostFault::NoFunction(name.into())).on((x, y)))
            }
        }
    }

    /// Lets what was active at start finish before the first command.
    fn settle(&mut self, progress: Progress) -> Result<(), SimError> {
        if !std::mem::replace(&mut self.settled, true) {
            self.run(progress, |machine| machine.is_quiet())?;
        }
        Ok(())
    }

    /// Lets what is under way go on for as long as a copy takes to arrive.
    pub(crate) fn wait_for_host(&mut self) -> Result<(), SimError> {
        if self.failed {
            return Ok(());
        }
        let until = self.machine.cycle.saturating_add(CYCLES_BEFORE_A_COPY);
        self.settle(&mut |_| true)?;
        self.run(&mut |_| true, |machine| {
            machine.is_quiet() || machine.cycle >= until
        })
    }

    /// Steps until `done`. Falling quiet before is the end only for those who wait for it.
    fn run(&mut self, progress: Progress, done: impl Fn(&Machine) -> bool) -> Result<(), SimError> {
        if self.failed {
            return Err(HostFault::AfterFailure.into());
        }
        let ran = match self.is_late() {
            true => Err(self.time_limit()),
            false => self.run_until(progress, done),
        };
        self.machine.end_flows();
        self.failed = ran.is_err();
        if self.failed {
            self.finish_trace()?;
        }
        ran
    }

    fn run_until(
        &mut self,
        progress: Progress,
        done: impl Fn(&Machine) -> bool,
    ) -> Result<(), SimError> {
        let last = self.machine.cycle.saturating_add(self.options.max_cycles);
        let mut next_call = self.machine.tile_cycles + VISITS_BETWEEN_CALLS;
        let mut steps = 0;
        while !done(&self.machine) {
            if self.machine.is_quiet() {
                if self.machine.command.outstanding == 0 {
                    return Ok(());
                }
                return Err(self.stuck(During::Launch));
            }
            if self.machine.cycle >= last {
                return Err(self.cycle_limit(Some(self.machine.command.outstanding)));
            }
            self.machine.step()?;
            steps += 1;
            if steps >= STEPS_BETWEEN_CALLS || self.machine.tile_cycles >= next_call {
                steps = 0;
                next_call = self.machine.tile_cycles + VISITS_BETWEEN_CALLS;
                if !progress(self.machine.cycle) {
                    return Err(SimError::interrupted(self.machine.cycle));
                }
                if self.is_late() {
                    return Err(self.time_limit());
                }
            }
        }
        Ok(())
    }

    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|end| Instant::now() >= end)
    }

    /// The allowed seconds are used up.
    fn time_limit(&mut self) -> SimError {
        self.machine.end_flows();
        let cause = Cause::TimeLimit {
            seconds: self.options.max_seconds.unwrap_or_default(),
            unfinished: self.machine.command.outstanding,
            not_begun: stuck::not_begun(&self.machine),
        };
        SimError::from(cause).in_cycle(self.machine.cycle)
    }

    /// The allowed cycles are used up.
    fn cycle_limit(&mut self, unfinished: Option<usize>) -> SimError {
        self.machine.end_flows();
        let cause = Cause::CycleLimit {
            limit: self.options.max_cycles,
            unfinished,
            not_begun: stuck::not_begun(&self.machine),
        };
        SimError::from(cause).in_cycle(self.machine.cycle)
    }

    /// Lets the fabric drain. A wavelet that is left over anywhere is an error.
    pub fn stop(&mut self) -> Result<RunReport, SimError> {
        self.stop_with(&mut |_| true)
    }

    /// `stop` with a progress function.
    pub fn stop_with(&mut self, progress: Progress) -> Result<RunReport, SimError> {
        self.settled = true;
        self.run(progress, |machine| machine.is_quiet())?;
        while self.end_hidden_at_ports() {
            self.run(progress, |machine| machine.is_quiet())?;
        }
        self.finish_trace()?;
        if let Some(waits) = stuck::leftovers(&self.machine) {
            return Err(Cause::Leftover(waits).into());
        }
        Ok(RunReport {
            cycles: self.machine.cycle,
            tile_cycles: self.machine.tile_cycles,
            warnings: self.machine.warnings.clone(),
        })
    }
}
