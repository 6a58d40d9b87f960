//! What is around a compute element in a cycle.

use super::beside::Beside;
use super::event::Executed;
use super::operation::Running;
use super::plan::PePlan;
use crate::fabric::grid::PeIndex;
use crate::fabric::registers::{Change, Refused};
use crate::fabric::View;

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
    pub fn concerns(self, threads: &[Running]) -> bool {
        match self {
            PutsOff::Nobody => false,
            PutsOff::Beside => !threads.is_empty(),
            PutsOff::All => true,
        }
    }
}

/// What a compute element may know while it runs, and what it tells the machine.
pub struct Env<'a> {
    /// What its program is.
    pub plan: &'a PePlan,
    /// The cycle.
    pub now: u64,
    /// For configuration registers; nobody looks at other PEs' routers while code runs.
    pub fabric: View<'a>,
    /// Registers written; they change before routers look.
    pub writes: &'a mut Vec<(PeIndex, Change)>,
    /// Which compute element it is.
    pub index: PeIndex,
    /// A queue to or from the router changed.
    pub queues_changed: bool,
    /// `unblock_cmd_stream` was called, at this cycle.
    pub unblocked_at: Option<u64>,
    /// Printed lines, with their cycles.
    pub log: &'a mut Vec<(u64, PeIndex, String)>,
    /// What is executed, where a probe asks for it.
    pub executed: Option<Vec<Executed>>,
    /// The main thread may run ahead of the cycle, as nobody watches.
    pub may_run_ahead: bool,
    /// Whether it is not to do so within the turn (see `Pe::go_ahead`).
    pub puts_off: PutsOff,
    /// It has not done so, although it might.
    pub put_off: bool,
    /// It does so: `now` is a cycle to come.
    pub ahead: bool,
    /// It has come to something that others take part in.
    pub held: bool,
    /// The turn has taken elements of a `@map`.
    pub called: bool,
    /// An operation was carried out ahead: what comes next has another turn.
    pub turn_is_over: bool,
    /// Turns it has taken in advance.
    pub turns_ahead: u64,
    /// The microthreads it does so beside, if there are any.
    pub beside: Option<Box<Beside>>,
    /// The turn was one taken in advance.
    pub known: bool,
}

impl<'a> Env<'a> {
    /// What the compute element `index` may know in the cycle `now`.
    pub fn new(
        plan: &'a PePlan,
        (index, now): (PeIndex, u64),
        fabric: View<'a>,
        writes: &'a mut Vec<(PeIndex, Change)>,
        log: &'a mut Vec<(u64, PeIndex, String)>,
    ) -> Env<'a> {
        Env {
            plan,
            now,
            fabric,
            writes,
            index,
            queues_changed: false,
            unblocked_at: None,
            log,
            executed: None,
            may_run_ahead: false,
            puts_off: PutsOff::Nobody,
            put_off: false,
            ahead: false,
            held: false,
            called: false,
            turn_is_over: false,
            turns_ahead: 0,
            beside: None,
            known: false,
        }
    }

    /// Changes a setting of the own router.
    pub fn change(&mut self, change: Change) -> Result<(), Refused> {
        self.fabric.check(self.index, change)?;
        self.writes.push((self.index, change));
        Ok(())
    }
}
