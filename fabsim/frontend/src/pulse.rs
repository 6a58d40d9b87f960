//! What passes between a compilation and whoever waits for it: how far it is, and that it is to stop.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Mutex;

/// Steps of evaluation between two looks.
pub(crate) const STEPS: u64 = 1 << 18;

/// Shared by a compilation and another thread.
#[derive(Debug, Default)]
pub struct Pulse {
    steps: AtomicU64,
    stopped: AtomicBool,
    why: Mutex<String>,
}

impl Pulse {
    /// Steps of compile-time evaluation that have been taken, a quarter of a million at a time.
    pub fn steps(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }

    /// Ends the compilation with an error where it is.
    pub fn stop(&self, why: &str) {
        if let Ok(mut text) = self.why.lock() {
            why.clone_into(&mut text);
        }
        self.stopped.store(true, Ordering::Release);
    }

    /// Takes down the steps; why it is to stop, if it is.
    pub(crate) fn beat(&self, steps: u64) -> Option<String> {
        self.steps.store(steps, Ordering::Relaxed);
        let stopped = self.stopped.load(Ordering::Acquire);
        stopped.then(|| {
            self.why
                .lock()
                .map_or_else(|_| String::new(), |text| text.clone())
        })
    }
}
