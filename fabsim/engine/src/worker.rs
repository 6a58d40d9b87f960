//! What one thread does in a cycle: the compute elements of its zone, joined to their routers.

mod cycle;
mod order;
mod ramp;

pub use self::cycle::Cycle;
pub use self::order::VisitOrder;
use self::ramp::{look, up_the_ramp, Ramps};
use crate::alarm::Alarm;
use crate::fabric::grid::PeIndex;
use crate::fabric::observer::Silent;
use crate::fabric::registers::Change;
use crate::fabric::tiles::TileSet;
use crate::fabric::{Looked, Looking, Moving, NO_FLOW};
use crate::fast::steady_tiles::{Flows, Site, STREAK};
use crate::fast::turns::{self, Turned};
use crate::fault::Fault;
use crate::pe::env::Env;
use crate::pe::event::{Next, Turn};
use crate::pe::shortcuts::NoShortcuts;
use crate::pe::Pe;
use crate::probe::Probe;

/// From so many tiles of a machine on, those of a cycle do not fit a processor's own cache: what a visit needs is no
/// longer there when its turn comes again.
const TILES_BEYOND_CACHE: usize = 1024;

/// The state of one thread beyond the PEs and routers of its zone.
#[derive(Debug)]
pub struct Worker {
    /// Compute elements to visit.
    pub awake: TileSet,
    /// When to wake which compute element.
    pub alarm: Alarm,
    /// Tiles that are not visited since they do the same every cycle.
    pub flows: Flows,
    visit_order: VisitOrder,
    visits: Vec<PeIndex>,
    /// Tiles that had anything to do, cycle by cycle.
    pub tile_cycles: u64,
    /// PEs whose main threads have yet to run ahead.
    pub put_off: Vec<PeIndex>,
    /// The first PE whose instruction could not be carried out.
    pub failed: Option<(PeIndex, Fault)>,
    /// When host commands ended that ended in this cycle.
    pub finished: Vec<u64>,
    /// Registers written in this cycle.
    pub writes: Vec<(PeIndex, Change)>,
    /// Printed lines, with their cycles.
    pub log: Vec<(u64, PeIndex, String)>,
}

impl Worker {
    /// A thread for the PEs from `first` to before `end`.
    pub fn new(first: PeIndex, end: PeIndex, visit_order: VisitOrder) -> Worker {
        Worker {
            awake: TileSet::new(first, end.index() - first.index()),
            alarm: Alarm::new(first, end.index() - first.index()),
            flows: Flows::default(),
            visit_order,
            visits: Vec::new(),
            tile_cycles: 0,
            put_off: Vec::new(),
            failed: None,
            finished: Vec::new(),
            writes: Vec::new(),
            log: Vec::new(),
        }
    }

    /// How many tiles have something to do in the coming cycle `now` for their compute elements' sake, some of
    /// them counted twice.
    pub fn due(&self, now: u64) -> usize {
        self.awake.len() + self.alarm.due(now)
    }

    /// How many tiles were visited in the last cycle.
    pub fn visited(&self) -> usize {
        self.visits.len()
    }

    /// First half of a cycle. `pes` are those of the zone.
    pub fn first_half<P: Probe>(
        &mut self,
        cycle: Cycle,
        pes: &mut [Pe],
        looking: &mut Looking,
        probe: &mut P,
    ) {
        self.alarm.ring(cycle.now, &mut self.awake);
        if cycle.reference {
            for n in 0..looking.len() {
                let pe = PeIndex((looking.first().index() + n) as u32);
                self.awake.insert(pe);
                looking.active().insert(pe);
            }
        }
        let visits = self.list(looking);
        self.tile_cycles += (visits.len() + self.flows.count()) as u64;
        let first = looking.first();
        let beyond_cache = looking.view.grid.len() >= TILES_BEYOND_CACHE;
        for (n, &pe) in visits.iter().enumerate() {
            if beyond_cache {
                prefetch_visits(&visits[n + 1..], pes, looking);
            }
            let state = &mut pes[pe.index() - first.index()];
            self.visit(cycle, pe, state, looking, probe);
        }
        self.visits = visits;
    }

    /// The first half of a cycle for some tiles.
    pub fn visit_some(
        &mut self,
        cycle: Cycle,
        pes: &mut [Pe],
        looking: &mut Looking,
        some: &[PeIndex],
    ) {
        let first = looking.first();
        for &pe in some {
            let state = &mut pes[pe.index() - first.index()];
            self.visit(cycle, pe, state, looking, &mut Silent);
        }
    }

    /// The tiles to visit.
    fn list(&mut self, looking: &mut Looking) -> Vec<PeIndex> {
        let mut visits = std::mem::take(&mut self.visits);
        visits.clear();
        looking.active().list_with(&mut self.awake, &mut visits);
        self.visit_order.apply(&mut visits);
        visits
    }

    /// These routers, in order, look again: since they did, registers of theirs or of neighbours have changed.
    pub fn look_again(
        &mut self,
        cycle: Cycle,
        pes: &[Pe],
        looking: &mut Looking,
        routers: &[PeIndex],
    ) {
        looking.take_back(routers);
        let first = looking.first();
        for &pe in routers {
            if look(cycle, pe, &pes[pe.index() - first.index()], looking).moved {
                looking.active().insert(pe);
            }
        }
    }

    #[inline]
    fn visit<P: Probe>(
        &mut self,
        cycle: Cycle,
        pe: PeIndex,
        state: &mut Pe,
        looking: &mut Looking,
        probe: &mut P,
    ) {
        let router = looking.router(pe);
        if router.flow != NO_FLOW {
            self.skip(pe, looking);
            return;
        }
        let was_active = looking.active().contains(pe);
        let was_awake = self.awake.contains(pe);
        let (mut stays, mut awake) = (false, was_awake);
        let mut deed = 0;
        if was_active && looking.router(pe).fed {
            let went = up_the_ramp(cycle.now, pe, state, looking, probe);
            stays = went.stays;
            awake |= went.made_room;
        }
        if awake {
            match self.step(cycle, pe, state, (looking, was_active), probe) {
                Ok(stepped) => {
                    awake = stepped.again;
                    stays |= stepped.changed;
                    deed = stepped.deed;
                }
                Err(fault) => self.fail(pe, fault),
            }
        }
        if awake != was_awake {
            self.awake.put(pe, awake);
        }
        let looked = match was_active || stays {
            true => look(cycle, pe, state, looking),
            false => Looked::default(),
        };
        if was_active != (looked.moved || stays) {
            looking.active().put(pe, looked.moved || stays);
        }
        if cycle.may_flow {
            self.note_flow(pe, looked.drained, deed, looking);
        }
    }

    /// Counts the cycles in which a tile does the same.
    #[inline]
    fn note_flow(&mut self, pe: PeIndex, drained: u32, deed: u8, looking: &mut Looking) {
        let router = looking.router(pe);
        if drained == 0 || (router.drained, router.deed) != (drained, deed) {
            (router.streak, router.drained, router.deed) = (0, drained, deed);
            return;
        }
        router.streak += 1;
        if router.streak >= STREAK {
            router.streak = 0;
            self.flows.candidates.push(pe);
        }
    }

    /// A tile in a flow may be woken, which means nothing: it counts as visited every cycle.
    fn skip(&mut self, pe: PeIndex, looking: &mut Looking) {
        self.tile_cycles -= 1;
        self.awake.remove(pe);
        looking.active().remove(pe);
    }

    /// The same failure is reported in whatever order the PEs are visited.
    #[cold]
    fn fail(&mut self, pe: PeIndex, fault: Fault) {
        if !matches!(&self.failed, Some((earlier, _)) if *earlier < pe) {
            self.failed = Some((pe, fault));
        }
    }

    /// One cycle of one compute element.
    #[inline]
    fn step<P: Probe>(
        &mut self,
        cycle: Cycle,
        pe: PeIndex,
        state: &mut Pe,
        (looking, was_active): (&mut Looking, bool),
        probe: &mut P,
    ) -> Result<Stepped, Fault> {
        let plan = &cycle.plans[state.plan as usize];
        let (writes, log) = (&mut self.writes, &mut self.log);
        let mut env = Env::new(plan, (pe, cycle.now), looking.view, writes, log);
        env.executed = probe.wants_code().then(Vec::new);
        let may_run_ahead = cycle.runs_ahead && probe.is_silent();
        let turned = match cycle.reference {
            true => reference_turn(state, &mut env)?,
            false => turns::turn(state, &mut env, (may_run_ahead, cycle.puts_off))?,
        };
        let Turned { next, turn, .. } = turned;
        let (changed, unblocked_at) = (env.queues_changed, env.unblocked_at);
        self.tile_cycles += turned.in_advance;
        if turned.put_off {
            self.put_off.push(pe);
        }
        // It has been counted when it was worked out.
        self.tile_cycles -= u64::from(turned.known && !was_active);
        if let Some(executed) = env.executed.take() {
            probe.executed(cycle.now, pe, env.plan, &executed);
        }
        probe.turn(cycle.now, pe, state, env.plan, turn);
        if changed {
            // What was sent goes up the ramp only later: the router must be visited until then.
            looking.router(pe).fed = state.core.outputs.filled() != 0;
        }
        if let Some(at) = unblocked_at {
            if std::mem::take(&mut state.busy_with_command) {
                self.finished.push(at);
            }
        }
        if let Next::At(at) = next {
            self.alarm.set(cycle.now, at, pe);
        }
        Ok(Stepped {
            again: next == Next::Soon,
            changed,
            deed: match turn {
                Turn::Nothing => 0,
                Turn::Main => 1,
                Turn::Microthread(id) => id.saturating_add(2),
            },
        })
    }

    /// Takes note of what came of a main thread that has run ahead from cycle `now` on.
    pub fn note_ahead(&mut self, now: u64, pe: PeIndex, went: WentAhead) {
        self.tile_cycles += went.turns;
        self.finished.extend(went.finished);
        match went.next {
            Next::Soon => self.awake.insert(pe),
            Next::At(at) => self.alarm.set(now, at, pe),
            Next::Woken => {}
        }
    }

    /// Between two cycles: flows go on, end and begin.
    pub fn between(&mut self, cycle: Cycle, pes: &mut [Pe], moving: &mut Moving) {
        let mut site = Site {
            pes,
            plans: cycle.plans,
            moving,
            awake: &mut self.awake,
            alarm: &mut self.alarm,
            now: cycle.now,
        };
        self.flows.between(&mut site);
    }

    /// The flows of these tiles end at the beginning of the cycle `at`, which comes next or has begun.
    pub fn end_flows(
        &mut self,
        (cycle, at): (Cycle, u64),
        pes: &mut [Pe],
        moving: &mut Moving,
        tiles: &[PeIndex],
    ) {
        let mut site = Site {
            pes,
            plans: cycle.plans,
            moving,
            awake: &mut self.awake,
            alarm: &mut self.alarm,
            now: cycle.now,
        };
        self.flows.end(tiles, at, &mut site);
    }

    /// Second half of a cycle.
    pub fn second_half<P: Probe>(
        &mut self,
        cycle: Cycle,
        pes: &mut [Pe],
        moving: &mut Moving,
        probe: &mut P,
    ) {
        let mut below = Ramps {
            cycle,
            first: moving.first(),
            pes,
            alarm: &mut self.alarm,
        };
        moving.commit(&mut below, probe);
    }
}

/// A turn as the machine has it.
#[cold]
#[inline(never)]
fn reference_turn(state: &mut Pe, env: &mut Env) -> Result<Turned, Fault> {
    state.step(env, &mut NoShortcuts).map(Turned::plain)
}

/// Prefetches what the next visits need: what leads to something a few visits before that.
#[inline]
fn prefetch_visits(next: &[PeIndex], pes: &[Pe], looking: &Looking) {
    let state = |n: usize| {
        let pe = next.get(n)?;
        pes.get(pe.index() - looking.first().index())
    };
    state(11).into_iter().for_each(Pe::prefetch);
    state(8).into_iter().for_each(Pe::prefetch_threads);
    state(5).into_iter().for_each(Pe::prefetch_operands);
    state(2).into_iter().for_each(Pe::prefetch_note);
    if let Some(&pe) = next.get(6) {
        looking.prefetch_channels(pe);
    }
}

/// What came of a main thread's running ahead.
#[derive(Clone, Copy, Debug)]
pub struct WentAhead {
    /// When the compute element wants its next turn.
    pub next: Next,
    /// Turns it has taken in advance.
    pub turns: u64,
    /// When the host command ended, if it did.
    pub finished: Option<u64>,
}

/// What came of the cycle of a compute element.
struct Stepped {
    /// It wants the next cycle, too.
    again: bool,
    /// A queue between it and its router changed.
    changed: bool,
    /// See `Router::deed`.
    deed: u8,
}
