//! One executor for all plans: it follows lanes and the timelines of routers, without a clock and
//! without any buffer, and says what is left in the end, or what is wrong.
//!
//! In reading order: `plan` (what is given), `state`, `lanes` (what PEs do), `ways` (the routers that
//! words come to, and what moves those on), `moves` (a burst moves), `order` (whether what lanes touch is
//! ordered), `faults` (what is wrong, as data), `stuck` (who waits for whom, to the end). Why one order
//! of moves decides for all is said in docs/one-order.md. `clock` is the machine with a clock.

pub mod clock;
mod faults;
mod lanes;
mod moves;
mod order;
pub mod plan;
#[cfg(feature = "python")]
pub(crate) mod python;
mod state;
mod stuck;
#[cfg(test)]
mod tests;
mod ways;

pub use faults::{Fault, Kind};
use plan::Given;
use state::Machine;
pub use state::Receipt;

/// What a run has come to: by call what PEs hold at its end, what is wrong, and how much has moved.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub held: Vec<Vec<u64>>,
    pub faults: Vec<Fault>,
    pub events: u64,
    pub receipts: Vec<Receipt>,
}

/// Run all calls of what is given; `held` is by call what PEs hold when they begin it, PE by PE. With an
/// `order` who goes on next is random.
pub fn run(given: &Given, held: Vec<Vec<u64>>, order: Option<u64>, receipts: bool) -> Outcome {
    let mut machine = match Machine::new(given, held.clone(), order, receipts) {
        Ok(machine) => machine,
        Err(fault) => {
            return Outcome {
                held,
                faults: vec![*fault],
                events: 0,
                receipts: Vec::new(),
            }
        }
    };
    let moved = machine.begin_all().and_then(|()| machine.move_all());
    let faults = match moved {
        Err(fault) => vec![*fault],
        Ok(()) => machine.faults_at_end(),
    };
    Outcome {
        held: machine.held,
        faults,
        events: machine.events,
        receipts: machine.receipts.unwrap_or_default(),
    }
}
