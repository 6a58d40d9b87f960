//! What is around a compute element in a cycle.

use super::event::Executed;
use super::plan::PePlan;
use crate::fabric::grid::PeIndex;
use crate::fabric::registers::{Change, Refused};
use crate::fabric::View;

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
        }
    }

    /// Changes a setting of the own router.
    pub fn change(&mut self, change: Change) -> Result<(), Refused> {
        self.fabric.check(self.index, change)?;
        self.writes.push((self.index, change));
        Ok(())
    }
}
