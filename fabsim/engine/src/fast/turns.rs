//! Turns of a compute element with the shortcuts of its main thread.

use super::interference::Nobody;
use super::run_ahead::{may_run_ahead, RunAhead};
use crate::fault::Fault;
use crate::pe::env::Env;
use crate::pe::event::{Next, Turn};
use crate::pe::main_thread::{Flow, Main, Site, Threads};
use crate::pe::operation::Running;
use crate::pe::settings::MainPriority;
use crate::pe::shortcuts::Shortcuts;
use crate::pe::state::Core;
use crate::pe::Pe;
use fabsim_lowering::code::Cost;
use fabsim_program::program::{DsdOperation, Inst, Priority};

/// Whose main threads run ahead only after the visits of a cycle. That costs another look at the PE, which
/// pays where turns are long or one thread has all the visits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PutsOff {
    /// None: there is one thread.
    Nobody,
    /// Those beside microthreads: what they take is noted, and calculates while others exchange.
    Beside,
    /// All.
    All,
}

impl PutsOff {
    /// Whether a main thread beside these microthreads waits for the end of the visits.
    #[inline]
    fn concerns(self, threads: &[Running]) -> bool {
        match self {
            PutsOff::Nobody => false,
            PutsOff::Beside => !threads.is_empty(),
            PutsOff::All => true,
        }
    }
}

/// What came of a turn.
#[derive(Clone, Copy, Debug)]
pub struct Turned {
    /// When the compute element wants its next turn.
    pub next: Next,
    /// What it did in this one.
    pub turn: Turn,
    /// Turns it has taken in advance.
    pub in_advance: u64,
    /// The main thread has not run ahead, although it might: see `go_ahead`.
    pub put_off: bool,
    /// The turn was one taken in advance.
    pub known: bool,
}

impl Turned {
    /// A turn without more to it.
    pub fn plain((next, turn): (Next, Turn)) -> Turned {
        Turned {
            next,
            turn,
            in_advance: 0,
            put_off: false,
            known: false,
        }
    }
}

/// Code that nobody shares the pipeline with and nobody watches goes a short way through its instructions.
struct Stretches;

impl Shortcuts for Stretches {
    #[inline(always)]
    fn is_noted(&self) -> bool {
        false
    }

    #[inline(always)]
    fn straight(
        &mut self,
        main: &mut Main,
        core: &mut Core,
        threads: &Threads,
        (time, left): (&mut u64, &mut u32),
        env: &Env,
    ) -> Result<(), Fault> {
        match threads.is_empty() && env.executed.is_none() {
            true => main.run_straight(env.plan, core, time, left, &mut Nobody),
            false => Ok(()),
        }
    }

    #[inline(always)]
    fn holds(&mut self, _main: &Main, _inst: &Inst, _time: u64, _env: &Env) -> bool {
        false
    }

    #[inline(always)]
    fn operation(
        &mut self,
        _main: &mut Main,
        _op: &DsdOperation,
        _at: (Site, u64),
        _core: &mut Core,
        _env: &Env,
    ) -> Option<Result<Flow, Fault>> {
        None
    }

    #[inline(always)]
    fn carried_out(&mut self, _main: &Main, _inst: Option<&Inst>, _did: (&Flow, Cost), _env: &Env) {
    }

    #[inline(always)]
    fn ends_turn(&mut self) -> bool {
        false
    }

    #[inline(always)]
    fn fails_at(&self, _time: u64, now: u64) -> u64 {
        now
    }
}

/// One cycle of a compute element, whose main thread may run ahead of it where that is said.
#[inline]
pub fn turn(pe: &mut Pe, env: &mut Env, (may, puts_off): (bool, PutsOff)) -> Result<Turned, Fault> {
    let mut in_advance = 0;
    if pe.main.has_run_ahead {
        if let Some(turned) = step_beside(pe, env, &mut in_advance)? {
            return Ok(turned);
        }
    }
    let mut turned = Turned::plain(pe.step(env, &mut Stretches)?);
    if turned.turn == Turn::Main && may && goes_on_alone(pe, env) {
        if puts_off.concerns(&pe.threads) {
            turned.put_off = true;
            turned.next = Next::Woken;
        } else {
            turned.next = go_ahead(pe, env, &mut in_advance);
        }
    }
    turned.in_advance = in_advance;
    Ok(turned)
}

/// Whether the main thread can go on where nobody else sees the difference.
fn goes_on_alone(pe: &Pe, env: &Env) -> bool {
    let in_command = pe.busy_with_command && env.unblocked_at.is_none();
    let usual = pe.core.main_priority == MainPriority::MediumLow;
    let goes_first = pe.threads.is_empty() || usual;
    let alone = !env.plan.shares_inputs && may_run_ahead(&pe.main);
    in_command && goes_first && alone
}

/// The main thread goes on so; when the compute element wants its next turn.
pub fn go_ahead(pe: &mut Pe, env: &mut Env, in_advance: &mut u64) -> Next {
    let mut ahead = RunAhead::default();
    if !pe.threads.is_empty() {
        let at = pe.main.busy_until().max(env.now + 1);
        let mut schedule = pe.pending.schedule.take().unwrap_or_default();
        let exclusive = env.plan.timing.exclusive_main > 0;
        if !schedule.begin(at, &pe.threads, &pe.core, exclusive) {
            pe.pending.schedule = Some(schedule);
            return after_main(pe, env.now);
        }
        ahead.schedule = Some(schedule);
    }
    ahead.repeated = pe.pending.repeated.take();
    if let Err(fault) = ahead.run(&mut pe.main, &mut pe.core, &mut pe.threads, env) {
        pe.pending.failure = Some(Box::new(fault));
    }
    pe.pending.repeated = ahead.repeated.take();
    match ahead.schedule.take() {
        // Its notes say when it goes on.
        Some(schedule) => {
            pe.main.has_run_ahead = true;
            pe.main.set_ready(u64::MAX);
            pe.pending.schedule = Some(schedule);
        }
        None => *in_advance += ahead.turns,
    }
    after_main(pe, env.now)
}

fn after_main(pe: &Pe, now: u64) -> Next {
    match pe.main.has_run_ahead {
        true => Next::Soon,
        false => pe.after_main(now),
    }
}

/// A turn where the main thread has run ahead beside microthreads; none if its notes have ended.
fn step_beside(pe: &mut Pe, env: &mut Env, in_advance: &mut u64) -> Result<Option<Turned>, Fault> {
    let now = env.now;
    let Some(schedule) = &mut pe.pending.schedule else {
        return Ok(None);
    };
    *in_advance = schedule.advance(now);
    if schedule.ends_in(now) {
        schedule.write_back(&mut pe.core);
        pe.main.called = schedule.is_called();
        pe.main.set_ready(schedule.at());
        pe.main.has_run_ahead = false;
        return Ok(None);
    }
    let issues = schedule.at() == now;
    let exclusive = schedule.is_exclusive();
    let turned = |next, turn| {
        Ok(Some(Turned {
            in_advance: *in_advance,
            ..Turned::plain((next, turn))
        }))
    };
    let first = [Priority::High, Priority::Medium];
    if let Some(n) = first.iter().find_map(|p| pe.ready_thread(env, *p)) {
        if let (Some(schedule), true) = (&mut pe.pending.schedule, issues) {
            schedule.delay();
        }
        return turned(Next::Soon, pe.microthread(n, env)?);
    }
    if issues {
        return Ok(Some(Turned {
            in_advance: *in_advance,
            known: true,
            ..Turned::plain((after_known(pe, now), Turn::Main))
        }));
    }
    let low = match exclusive {
        true => None,
        false => pe.ready_thread(env, Priority::Low),
    };
    match low {
        Some(n) => {
            let turn = pe.microthread(n, env)?;
            turned(after_known(pe, now), turn)
        }
        None => turned(at_end(pe, now), Turn::Nothing),
    }
}

/// The next turn where none but microthreads that come after the main thread may be waiting.
fn after_known(pe: &Pe, now: u64) -> Next {
    let low = |running: &Running| running.priority == Priority::Low;
    match &pe.pending.schedule {
        Some(schedule) if !schedule.is_exclusive() && pe.threads.iter().any(low) => {
            Next::after(now, schedule.next_free(now + 1))
        }
        _ => at_end(pe, now),
    }
}

/// The next turn where nobody waits for one.
fn at_end(pe: &Pe, now: u64) -> Next {
    let schedule = pe.pending.schedule.as_ref();
    let end = schedule.map(|schedule| schedule.end_at_earliest());
    Next::after(now, end.unwrap_or(now))
}
