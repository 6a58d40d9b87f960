//! Every cycle count the engine knows, one table per architecture, each with its source.
//!
//! Sources: [model] a published performance model of the WSE-2; [fit] chosen so that published
//! measurements come out; [measured] measured on the official simulator; [guess] nothing better
//! is known. See docs/machine.md.

use fabsim_program::program::Arch;

/// Costs in cycles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timing {
    /// From landing in the own router until the compute element can use the value. [model]
    pub offramp_cycles: u64,
    /// From the end of the executing cycle until the value lands in the own router. [model]
    pub onramp_cycles: u64,
    /// Copying one DSD into a DSR, explicitly or as an operand of an operation. [fit] on wse2
    /// (three of them and one issue are the constant of the measured chain), [measured] on wse3
    /// (a sync `@mov32` lengthens a data task by 13).
    pub dsr_load_cycles: u64,
    /// Issue of a DSD operation. [fit]
    pub operation_issue_cycles: u64,
    /// Dispatch and prologue of a task. [measured] on wse3: a trivial data task repeats every
    /// 32 cycles or so, a dozen of them its instructions.
    pub task_start_cycles: u64,
    /// From reset until a PE looks for its first task. [fit]: a measured program whose tasks are
    /// active at start ended 37 cycles later than its stamps account for; 20 are the task's start,
    /// 4 its first and last instructions.
    pub start_up_cycles: u64,
    /// A scalar instruction. [guess]
    pub scalar_cycles: u64,
    /// A scalar f32 division. [measured], about
    pub float_divide_cycles: u64,
}

const WSE2: Timing = Timing {
    offramp_cycles: 2,
    onramp_cycles: 2,
    dsr_load_cycles: 18,
    operation_issue_cycles: 2,
    task_start_cycles: 20,
    start_up_cycles: 13,
    scalar_cycles: 1,
    float_divide_cycles: 50,
};

const WSE3: Timing = Timing {
    dsr_load_cycles: 11,
    ..WSE2
};

/// The table of `arch`.
pub fn timing(arch: Arch) -> &'static Timing {
    match arch {
        Arch::Wse2 => &WSE2,
        Arch::Wse3 => &WSE3,
    }
}
