//! What code that is run at once has to mind: nobody, or microthreads (`issue_schedule`).

/// What code that is run at once tells of itself.
pub trait Interference {
    /// An instruction has been issued that the next one follows after so many cycles.
    fn step(&mut self, cycles: u64);
    /// Enough has been done ahead.
    fn is_full(&self) -> bool;
    /// Whether bytes from an address on may be read now, though their cycle is to come.
    fn may_read(&self, address: u64, bytes: u32) -> bool;
    fn may_write(&self, address: u64, bytes: u32) -> bool;
}

/// No microthread runs.
pub struct Nobody;

impl Interference for Nobody {
    #[inline(always)]
    fn step(&mut self, _cycles: u64) {}

    #[inline(always)]
    fn is_full(&self) -> bool {
        false
    }

    #[inline(always)]
    fn may_read(&self, _address: u64, _bytes: u32) -> bool {
        true
    }

    #[inline(always)]
    fn may_write(&self, _address: u64, _bytes: u32) -> bool {
        true
    }
}
