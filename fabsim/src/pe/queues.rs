//! The queues between a compute element and its router, delay of the ramp included.

use crate::fabric::wavelet::Wavelet;
use crate::limits::RING;

/// A ring of at most `depth` entries.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Ring<T> {
    // In front, so that they share a cache line with entries.
    head: u8,
    len: u8,
    depth: u8,
    entries: [T; RING],
}

impl<T: Copy + Default> Ring<T> {
    pub fn new(depth: u8) -> Ring<T> {
        Ring {
            head: 0,
            len: 0,
            depth: depth.min(RING as u8),
            entries: [T::default(); RING],
        }
    }

    #[inline]
    pub fn has_room(&self) -> bool {
        self.len < self.depth
    }

    pub fn len(&self) -> u8 {
        self.len
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    pub fn first(&self) -> Option<&T> {
        (self.len > 0).then(|| &self.entries[usize::from(self.head) % RING])
    }

    /// The entry with `n` older ones before it.
    pub fn get(&self, n: u8) -> Option<&T> {
        (n < self.len).then(|| &self.entries[usize::from(self.head + n) % RING])
    }

    /// Appends; dropped if there is no room, which callers rule out with `has_room`.
    #[inline]
    pub fn push(&mut self, entry: T) {
        debug_assert!(self.has_room());
        if self.has_room() {
            self.entries[usize::from(self.head + self.len) % RING] = entry;
            self.len += 1;
        }
    }

    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let first = self.first().copied()?;
        self.head = (self.head + 1) % RING as u8;
        self.len -= 1;
        Some(first)
    }
}

/// A wavelet that has left the router; usable from cycle `ready` on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrived {
    pub wavelet: Wavelet,
    pub ready: u64,
}

/// A wavelet the compute element has sent; may enter the router from cycle `ready` on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Departing {
    pub ready: u64,
    pub payload: u32,
    pub control: bool,
    pub color: u8,
    /// The last wavelet of an operation that moves the own router's switch.
    pub advance_switch: bool,
}

/// An input queue, bound to a color.
#[derive(Clone, Debug)]
pub struct InputQueue {
    pub id: u8,
    pub color: u8,
    pub ring: Ring<Arrived>,
}

impl InputQueue {
    /// The oldest wavelet, once it has come down the ramp.
    #[inline]
    pub fn head(&self, now: u64) -> Option<Wavelet> {
        let first = self.ring.first()?;
        (first.ready <= now).then_some(first.wavelet)
    }
}

impl Departing {
    pub fn wavelet(&self) -> Wavelet {
        Wavelet {
            payload: self.payload,
            control: self.control,
        }
    }
}

// Four to a cache line.
const _: () = assert!(std::mem::size_of::<Departing>() == 16);
const _: () = assert!(std::mem::size_of::<Arrived>() == 16);

#[derive(Clone, Debug)]
pub struct OutputQueue {
    pub id: u8,
    /// On wse3.
    pub color: Option<u8>,
    pub ring: Ring<Departing>,
}
