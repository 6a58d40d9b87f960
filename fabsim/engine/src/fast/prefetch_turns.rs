//! What a turn of a compute element needs, asked for ahead of it: first what leads to the rest.

use super::prefetch::prefetch;
use crate::pe::operation::Running;
use crate::pe::Pe;
use fabsim_program::program::Priority;

impl Pe {
    /// Prefetches its own cache lines that a turn needs.
    #[inline]
    pub fn prefetch(&self) {
        prefetch(&self.plan);
        prefetch(&self.core.inputs);
        prefetch(&self.core.blocked_channels);
    }

    /// Prefetches what leads on, once the compute element itself is there: the microthreads that go first and
    /// second, of which one can mostly go on, or notes of a main thread that has run ahead.
    #[inline]
    pub fn prefetch_threads(&self) {
        match self.goes_on() {
            true => self.threads.iter().take(4).for_each(prefetch),
            false => prefetch(&self.pending.schedule),
        }
    }

    /// Prefetches the queues and the memory that these microthreads are at, once they are there.
    #[inline]
    pub fn prefetch_operands(&self) {
        let outputs = &self.core.outputs;
        if let Some(n) = outputs.first_filled(self.output_turn) {
            prefetch(&outputs[usize::from(n)]);
        }
        if !self.goes_on() {
            self.prefetch_beside();
            return;
        }
        for running in self.first_two().into_iter().flatten() {
            let inputs = running.inputs.iter().flatten();
            inputs.for_each(|&n| prefetch(&self.core.inputs[usize::from(n)]));
            if let Some(n) = running.output() {
                prefetch(&outputs[usize::from(n)]);
            }
            for port in [&running.dest, &running.sources[0]] {
                if let Some(word) = port.next_word() {
                    self.core.memory.prefetch(word);
                }
            }
        }
    }

    /// Prefetches the note that a main thread that has run ahead is at.
    #[inline]
    pub fn prefetch_note(&self) {
        if self.main.is_ahead() {
            self.prefetch_note_beside();
        }
    }

    /// Apart, so that where no main thread has run ahead nobody waits for the cache line with the pointer.
    #[inline(never)]
    fn prefetch_beside(&self) {
        self.pending
            .schedule
            .iter()
            .for_each(|schedule| prefetch(&**schedule));
    }

    #[inline(never)]
    fn prefetch_note_beside(&self) {
        self.pending
            .schedule
            .iter()
            .for_each(|schedule| schedule.prefetch_note());
    }

    #[inline]
    fn first_two(&self) -> [Option<&Running>; 2] {
        let first = self.first_thread();
        let second = if first + 1 < self.threads.len() {
            first + 1
        } else {
            0
        };
        [self.threads.get(first), self.threads.get(second)]
    }

    /// Whether a microthread may have the next turn: those that come after a main thread that has run ahead
    /// mostly wait for it.
    #[inline]
    fn goes_on(&self) -> bool {
        let before = [Priority::High, Priority::Medium];
        !self.main.is_ahead() || before.iter().any(|priority| self.core.may_have(*priority))
    }
}
