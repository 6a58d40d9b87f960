//! A design with the code that it is run by, which all of its simulators share.

use super::SimOptions;
use fabsim_engine::report::{HostFault, SimError};
use fabsim_engine::timing::{timing_of, Timing};
use fabsim_lowering::cost::ScalarTiming;
use fabsim_lowering::Lowering;
use fabsim_program::program::Design;
use std::sync::{Arc, Mutex, PoisonError};

/// A design and what has been lowered of it: optimising takes longer than many a run does.
#[derive(Debug)]
pub struct Lowered {
    design: Arc<Design>,
    // Its keys are the addresses of the design's functions, so it is of use to this design alone.
    lowering: Mutex<Option<Lowering>>,
}

impl Lowered {
    /// Nothing of the design is lowered yet.
    pub fn new(design: Arc<Design>) -> Lowered {
        Lowered {
            design,
            lowering: Mutex::default(),
        }
    }

    /// What is simulated.
    pub fn design(&self) -> &Arc<Design> {
        &self.design
    }

    /// The cycle counts of a run: those of the design's clock, but for what the options change.
    pub(crate) fn counted(&self, options: &SimOptions) -> Result<Timing, SimError> {
        let mut table = timing_of(&self.design);
        for (name, cycles) in &options.constants {
            if !table.set(name, *cycles) {
                let known = table.numbers().iter().map(|(name, _)| *name).collect();
                let name = format!("{name} = {cycles}");
                return Err(HostFault::NoConstant { name, known }.into());
            }
        }
        Ok(table)
    }

    /// Calls `make` with what has been lowered by a table of costs. Only that of the last table is kept.
    pub(crate) fn by<R>(&self, table: ScalarTiming, make: impl FnOnce(&mut Lowering) -> R) -> R {
        // One that a panic has interrupted knows less, but nothing wrong.
        let mut known = self.lowering.lock().unwrap_or_else(PoisonError::into_inner);
        let lowering = known.take().filter(|known| known.table() == &table);
        make(known.insert(lowering.unwrap_or_else(|| Lowering::new(table))))
    }
}
