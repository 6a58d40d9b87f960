//! What is the same for all zones in a cycle.

use crate::fast::turns::PutsOff;
use crate::pe::plan::PePlan;

/// What is the same for all zones in a cycle.
#[derive(Clone, Copy, Debug)]
pub struct Cycle<'a> {
    /// The cycle.
    pub now: u64,
    /// What PEs with the same program share.
    pub plans: &'a [PePlan],
    /// Tiles that do the same every cycle may join flows.
    pub may_flow: bool,
    /// Main threads may run ahead.
    pub runs_ahead: bool,
    /// Which of them do so after all visits, and not by zones.
    pub puts_off: PutsOff,
    /// Without any shortcut: every tile is visited in every cycle.
    pub reference: bool,
}
