//! What a turn of a compute element needs, asked for ahead of it: first what leads to the rest.

use super::Pe;
use crate::prefetch::prefetch;
use fabsim_program::program::Priority;

impl Pe {
    /// Prefetches its own cache lines that a turn needs.
    #[inline]
    pub fn prefetch(&self) {
        prefetch(&self.plan);
        prefetch(&self.core.inputs);
        prefetch(&self.core.blocked_channels);
    }

    /// Prefetches the microthread that goes first, once the compute element itself is there: the others are
    /// not looked at if it can go on.
    #[inline]
    pub fn prefetch_threads(&self) {
        let first = self.threads.get(self.first_thread());
        first
            .filter(|_| self.goes_on())
            .into_iter()
            .for_each(prefetch);
    }

    /// Prefetches the queues and the memory that this microthread is at, once it is there.
    #[inline]
    pub fn prefetch_operands(&self) {
        let first = self.threads.get(self.first_thread());
        let Some(running) = first.filter(|_| self.goes_on()) else {
            return;
        };
        let inputs = running.inputs.iter().flatten();
        inputs.for_each(|&n| prefetch(&self.core.inputs[usize::from(n)]));
        if let Some(n) = running.output() {
            prefetch(&self.core.outputs[usize::from(n)]);
        }
        for port in [&running.dest, &running.sources[0]] {
            if let Some(word) = port.next_word() {
                self.core.memory.prefetch(word);
            }
        }
    }

    /// Whether a microthread may have the next turn: those that come after a main thread that has run ahead
    /// mostly wait for it.
    #[inline]
    fn goes_on(&self) -> bool {
        let before = [Priority::High, Priority::Medium];
        !self.main.is_ahead() || before.iter().any(|priority| self.core.may_have(*priority))
    }
}
