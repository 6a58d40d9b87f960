//! What a program may change of its compute element while it runs.

use fabsim_program::program::{Priority, SystemCall};

/// The local task id that teardowns and flushes activate.
pub const SYSTEM_TASK: u8 = 29;

/// Seldom used; away from what is used every cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings {
    /// Bit per color whose teardown no handler has seen yet.
    pub(crate) torn_down: u32,
    /// The system task is to run, if it is the program's own.
    pub(crate) raised: bool,
    /// Bits per queue, see `queue_bit`: to be flushed; flushed; flushed and the handler to be called.
    pub(crate) flushing: u16,
    pub(crate) flushed: u16,
    pub(crate) due: u16,
    /// The system task has called a handler and calls another one.
    pub(crate) dispatching: bool,
    /// Bit per task id.
    pub high_tasks: u64,
    /// By microthread, where the program has written it.
    pub thread_priority: [Option<Priority>; 8],
}

/// How the main thread competes with microthreads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum MainPriority {
    /// After medium microthreads, before low ones; the usual one.
    #[default]
    MediumLow,
    /// As medium microthreads, in turn.
    Medium,
    /// Between high and medium microthreads.
    MediumHigh,
    /// As high microthreads, in turn.
    High,
}

impl Settings {
    /// With the tasks of high priority, a bit per id.
    pub fn at_start(high_tasks: u64) -> Settings {
        Settings {
            high_tasks,
            ..Settings::default()
        }
    }
}

impl MainPriority {
    /// By the number that programs have for it.
    pub fn of(number: u64) -> MainPriority {
        match number {
            0 => MainPriority::MediumLow,
            1 => MainPriority::Medium,
            2 => MainPriority::MediumHigh,
            _ => MainPriority::High,
        }
    }
}

/// Calls that concern what is shared with the router are made in their own cycle.
pub fn is_shared(call: SystemCall) -> bool {
    matches!(
        call,
        SystemCall::PendingTeardowns
            | SystemCall::QueueFlush
            | SystemCall::ExitFlush
            | SystemCall::Flushed
            | SystemCall::QueueStatus
            | SystemCall::SetSwitchSides
            | SystemCall::SetFilter
            | SystemCall::BindInputQueue
            | SystemCall::TaskPriority
            | SystemCall::MainPriority
    )
}
