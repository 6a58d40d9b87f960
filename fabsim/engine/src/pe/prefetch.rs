//! What a turn of a compute element needs, asked for ahead of it: first what leads to the rest.

use super::Pe;
use crate::prefetch::prefetch;

impl Pe {
    /// Prefetches its own cache lines that a turn needs.
    #[inline]
    pub fn prefetch(&self) {
        prefetch(&self.plan);
        prefetch(&self.core.inputs);
        prefetch(&self.core.blocked_channels);
    }

    /// Prefetches its microthreads, once the compute element itself is there.
    #[inline]
    pub fn prefetch_threads(&self) {
        self.threads.iter().for_each(prefetch);
    }

    /// Prefetches the queues and the memory that its microthreads are at, once they are there.
    #[inline]
    pub fn prefetch_operands(&self) {
        for running in &self.threads {
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
    }
}
