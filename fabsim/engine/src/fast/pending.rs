//! What a compute element has done sooner than its cycle, and still has to account for.

use super::issue_schedule::IssueSchedule;
use super::repeated_operation::RepeatedOperation;
use crate::fault::Fault;

/// Empty where nothing is done before its cycle.
#[derive(Clone, Debug, Default)]
pub struct Pending {
    /// The cycles the main thread issues in, where it has run ahead beside microthreads.
    pub schedule: Option<Box<IssueSchedule>>,
    /// The last operation that a call of a `@map` has carried out ahead of its cycle.
    pub repeated: Option<Box<RepeatedOperation>>,
    /// What `Doing::Failing` is about.
    pub failure: Option<Box<Fault>>,
}

impl Pending {
    /// What the main thread has come to ahead of its cycle, which is there now.
    #[cold]
    pub fn take_failure(&mut self) -> Option<Fault> {
        self.failure.take().map(|fault| *fault)
    }
}
