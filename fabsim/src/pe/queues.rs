//! The queues between a compute element and its router, delay of the ramp included.

use crate::fabric::wavelet::Wavelet;
use crate::limits::RING;

/// A ring of at most `depth` entries.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    entries: [T; RING],
    head: u8,
    len: u8,
    depth: u8,
}

impl<T: Copy + Default> Ring<T> {
    pub fn new(depth: u8) -> Ring<T> {
        Ring {
            entries: [T::default(); RING],
            head: 0,
            len: 0,
            depth: depth.min(RING as u8),
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
    pub wavelet: Wavelet,
    pub ready: u64,
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

#[derive(Clone, Debug)]
pub struct OutputQueue {
    pub id: u8,
    pub ring: Ring<Departing>,
}
