//! Memory in large pages.
//!
//! A machine of thousands of PEs is some dozen small blocks for each of them. On pages of 4 KB a visit
//! misses the processor's translation buffer for nearly all it touches, and a walk through page tables takes
//! longer than what is done with the data. So blocks lie together in chunks that ask the system for pages of
//! 2 MB. Where it has none to give, chunks are memory as any other.

use dlmalloc::{Allocator, Dlmalloc};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::hint::spin_loop;
use std::ptr::{null_mut, NonNull};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::yield_now;

/// Bytes of a large page.
const PAGE: usize = 2 << 20;
/// Address space taken at a time; what nobody touches takes no memory.
const CHUNK: usize = 16 * PAGE;
/// From this size on the system's allocator has a block, which grows without being copied and is given back;
/// all but the ends of it is on large pages, too.
const BIG: usize = CHUNK / 2;
/// Up to this size blocks have a heap of their own: most of what a visit needs lies in them, on few pages if
/// memories of PEs do not lie between.
const SMALL: usize = 1024;

/// Where chunks come from. They are kept until the process ends.
struct Chunks;

/// The allocator of a process that simulates: small blocks in chunks of large pages. Its heap has pointers to
/// itself, so it stays where it is.
struct LargePages {
    /// For blocks of up to `SMALL` bytes, and for others.
    heaps: UnsafeCell<[Dlmalloc<Chunks>; 2]>,
    taken: AtomicBool,
}

// SAFETY: `heap` is used by `with` alone, which one thread is in at a time.
unsafe impl Sync for LargePages {}

#[global_allocator]
static ALLOCATOR: LargePages = LargePages {
    heaps: UnsafeCell::new([const { Dlmalloc::new_with_allocator(Chunks) }; 2]),
    taken: AtomicBool::new(false),
};

/// Asks for large pages where a block has room for whole ones.
fn advise(start: *mut u8, bytes: usize) {
    let skipped = start.align_offset(PAGE);
    let whole = bytes.saturating_sub(skipped) / PAGE * PAGE;
    if whole > 0 {
        let from = start.wrapping_add(skipped).cast::<c_void>();
        // SAFETY: the range lies within a block that the caller has, and the advice changes neither what is
        // in it nor what may be done with it. Systems without large pages refuse it, which is as well.
        unsafe { libc::madvise(from, whole, libc::MADV_HUGEPAGE) };
    }
}

/// Whether forks have been provided for.
static FORKS: AtomicBool = AtomicBool::new(false);

/// A new process has but the thread that forked: no other one may be using the heap just then.
extern "C" fn before_fork() {
    ALLOCATOR.take();
}

extern "C" fn after_fork() {
    ALLOCATOR.give_back();
}

// SAFETY: `alloc` gives new pages, which nobody else has, and all other functions do nothing and say so.
unsafe impl Allocator for Chunks {
    fn alloc(&self, size: usize) -> (*mut u8, usize, u32) {
        let size = size.next_multiple_of(CHUNK);
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: new pages at a place of the system's choice concern no memory in use.
        let start = unsafe { libc::mmap(null_mut(), size, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return (null_mut(), 0, 0);
        }
        advise(start.cast(), size);
        if !FORKS.swap(true, Ordering::Relaxed) {
            // SAFETY: these functions may be called at any time: they wait for the heap and give it back.
            unsafe { libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(after_fork)) };
        }
        (start.cast(), size, 0)
    }

    fn remap(&self, _: *mut u8, _: usize, _: usize, _: bool) -> *mut u8 {
        null_mut()
    }

    fn free_part(&self, _: *mut u8, _: usize, _: usize) -> bool {
        false
    }

    fn free(&self, _: *mut u8, _: usize) -> bool {
        false
    }

    fn can_release_part(&self, _: u32) -> bool {
        false
    }

    fn allocates_zeros(&self) -> bool {
        true
    }

    fn page_size(&self) -> usize {
        4096
    }
}

impl LargePages {
    /// Uses the heap, while nobody else does.
    fn with<T>(&self, size: usize, work: impl FnOnce(&mut Dlmalloc<Chunks>) -> T) -> T {
        self.take();
        // SAFETY: whoever has `taken` is alone until `give_back`: `work` neither allocates nor panics.
        let heaps = unsafe { &mut *self.heaps.get() };
        let [small, others] = heaps;
        let result = work(if size <= SMALL { small } else { others });
        self.give_back();
        result
    }

    fn take(&self) {
        let mut looks = 0;
        while self.taken.swap(true, Ordering::Acquire) {
            looks += 1;
            match looks % 64 {
                0 => yield_now(),
                _ => spin_loop(),
            }
        }
    }

    fn give_back(&self) {
        self.taken.store(false, Ordering::Release);
    }
}

// SAFETY: a block of `BIG` bytes and more is the system's from its first to its last day, any other the
// heap's: `realloc` copies where that changes. Each is given back with the layout it was made by.
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() < BIG {
            return self.with(layout.size(), |heap| {
                heap.malloc(layout.size(), layout.align())
            });
        }
        let block = System.alloc(layout);
        NonNull::new(block)
            .into_iter()
            .for_each(|block| advise(block.as_ptr(), layout.size()));
        block
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.size() < BIG {
            return self.with(layout.size(), |heap| {
                heap.calloc(layout.size(), layout.align())
            });
        }
        let block = System.alloc_zeroed(layout);
        NonNull::new(block)
            .into_iter()
            .for_each(|block| advise(block.as_ptr(), layout.size()));
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if layout.size() < BIG {
            self.with(layout.size(), |heap| {
                heap.free(block, layout.size(), layout.align())
            });
        } else {
            System.dealloc(block, layout);
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let kind = |size: usize| (size > SMALL, size >= BIG);
        if kind(size) != kind(layout.size()) {
            let moved = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !moved.is_null() {
                moved.copy_from_nonoverlapping(block, size.min(layout.size()));
                self.dealloc(block, layout);
            }
            return moved;
        }
        if size >= BIG {
            return System.realloc(block, layout, size);
        }
        self.with(size, |heap| {
            heap.realloc(block, layout.size(), layout.align(), size)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_keeps_its_bytes_while_it_grows_and_shrinks() {
        let mut block: Vec<u32> = Vec::new();
        let count = BIG as u32;
        block.extend(0..count);
        assert!(block.iter().copied().eq(0..count));
        for kept in [count / 2, 1000, 3] {
            block.truncate(kept as usize);
            block.shrink_to_fit();
            assert!(block.iter().copied().eq(0..kept));
        }
        assert!(vec![0u8; BIG - 1].iter().all(|byte| *byte == 0));
    }

    #[test]
    fn blocks_of_several_threads_are_aligned_and_apart() {
        let blocks = |seed: usize| {
            let sizes = (0..2000).map(move |n| 1 + n * seed % 3000);
            let blocks: Vec<Vec<u8>> = sizes.map(|size| vec![seed as u8; size]).collect();
            let odd: Vec<&Vec<u8>> = blocks.iter().step_by(2).collect();
            let copies: Vec<Box<[u8]>> = odd.iter().map(|block| block[..].into()).collect();
            copies
                .iter()
                .all(|copy| copy.iter().all(|byte| *byte == seed as u8))
        };
        std::thread::scope(|scope| {
            let all: Vec<_> = (1..5).map(|n| scope.spawn(move || blocks(7 * n))).collect();
            assert!(all.into_iter().all(|one| one.join().unwrap_or(false)));
        });
        for align in [8, 64, 4096] {
            let layout = Layout::from_size_align(100, align).expect("a layout");
            // SAFETY: the layout has a size, and the block is given back with it.
            let place = unsafe {
                let block = ALLOCATOR.alloc(layout);
                ALLOCATOR.dealloc(block, layout);
                block as usize
            };
            assert!(place != 0 && place % align == 0);
        }
    }
}
