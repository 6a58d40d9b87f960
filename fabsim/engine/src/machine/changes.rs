//! What becomes of a cycle of all compute elements: what they have said, and what they have changed of
//! their routers.

use super::Machine;
use crate::fabric::grid::PeIndex;
use crate::fabric::split_front;
use crate::fault::Fault;
use crate::pe::PutsOff;
use crate::report::SimError;
use crate::worker::Cycle;

impl Machine {
    /// What the zones have to say of the compute elements' cycle.
    pub(super) fn gather(&mut self) -> Result<(), SimError> {
        let mut failed: Option<(PeIndex, Fault)> = None;
        for worker in &mut self.workers {
            self.tile_cycles += std::mem::take(&mut worker.tile_cycles);
            self.log.append(&mut worker.log);
            for at in worker.finished.drain(..) {
                self.command.finish(at);
            }
            // Zones are in the order of their PEs.
            failed = failed.or(worker.failed.take());
        }
        match failed {
            None => Ok(()),
            Some((pe, fault)) => Err(self.undefined(pe, &fault)),
        }
    }

    /// What code changed of its routers takes effect.
    pub(super) fn make_changes(&mut self) {
        for worker in &mut self.workers {
            for (pe, change) in worker.writes.drain(..) {
                self.fabric.make(pe, change);
            }
        }
        self.fabric.wake_rewired();
    }

    /// Routers look, after all code of the cycle.
    pub(super) fn look_behind_code(&mut self) {
        let cycle = Cycle {
            now: self.cycle,
            plans: &self.plans,
            looks_at_once: false,
            may_flow: false,
            runs_ahead: self.runs_ahead,
            puts_off: PutsOff::Nobody,
        };
        let mut pes = self.pes.as_mut_slice();
        for (worker, mut looking) in self.workers.iter_mut().zip(self.fabric.looking(self.cycle)) {
            let own = split_front(&mut pes, looking.len());
            worker.look(cycle, own, &mut looking);
        }
    }

    /// A torn-down color is an event for its compute element, whatever its routes are.
    pub(super) fn raise_teardowns(&mut self) {
        for (pe, color) in self.fabric.take_torn_down() {
            self.pes[pe.index()].core.note_teardown(color);
            self.wake(pe);
        }
    }
}
