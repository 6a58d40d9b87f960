//! Asking for memory ahead of its use.
//!
//! The tiles of a large machine do not fit a processor's own cache, and what a visit needs is in some
//! two dozen places, which lead to each other. Waited for one by one they take longer than all that is
//! done with them.

/// Asks for the cache line that a value begins in. Nothing but the time of a later access depends on it.
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        // SAFETY: the instruction reads nothing, whatever the address is, and every x86_64 has it.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast::<i8>()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
