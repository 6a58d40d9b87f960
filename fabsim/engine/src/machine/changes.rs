//! What becomes of a cycle of all compute elements: what they have said, and what they have changed of
//! their routers.

use super::{within, Machine};
use crate::fabric::grid::{PeIndex, LINKS};
use crate::fabric::split_front;
use crate::fast::turns::PutsOff;
use crate::fault::Fault;
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

    /// What code changed of its routers takes effect in the cycle in which all routers have just looked: those
    /// that would have decided otherwise, these and their neighbours, look again.
    #[cold]
    pub(super) fn make_changes(&mut self) {
        let workers = self.workers.iter_mut();
        let changes: Vec<_> = workers
            .flat_map(|w| std::mem::take(&mut w.writes))
            .collect();
        let concerned = self.around(changes.iter().map(|&(pe, _)| pe));
        let mut flowing = concerned.clone();
        flowing.retain(|&pe| self.fabric.is_in_flow(pe));
        self.visit_flows(&flowing);
        for (pe, change) in changes {
            self.fabric.make(pe, change);
        }
        let cycle = Cycle {
            now: self.cycle,
            plans: &self.plans,
            may_flow: false,
            runs_ahead: self.runs_ahead,
            reference: self.reference,
            puts_off: PutsOff::Nobody,
        };
        let mut pes = self.pes.as_mut_slice();
        for (worker, mut looking) in self.workers.iter_mut().zip(self.fabric.looking(self.cycle)) {
            let own = split_front(&mut pes, looking.len());
            let concerned = within(&concerned, looking.first(), looking.len());
            worker.look_again(cycle, own, &mut looking, concerned);
        }
    }

    /// Some PEs and their neighbours, in order.
    fn around(&self, pes: impl Iterator<Item = PeIndex>) -> Vec<PeIndex> {
        let grid = self.fabric.grid;
        let beside = |pe| {
            LINKS
                .into_iter()
                .filter_map(move |side| grid.neighbour(pe, side))
        };
        let mut all: Vec<PeIndex> = pes.flat_map(|pe| beside(pe).chain([pe])).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// A torn-down color is an event for its compute element, whatever its routes are.
    pub(super) fn raise_teardowns(&mut self) {
        for (pe, color) in self.fabric.take_torn_down() {
            self.pes[pe.index()].core.note_teardown(color);
            self.wake(pe);
        }
    }
}
