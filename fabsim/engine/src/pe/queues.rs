//! The queues between a compute element and its router, delay of the ramp included.

use crate::fabric::ramp::{Entry, Tag};
use crate::fabric::wavelet::Wavelet;
use fabsim_program::limits::RING;

/// Cycles a ring remembers, and bits of the count for each of them.
const WINDOW: u64 = 8;
const COUNT_BITS: u64 = 4;

/// A ring of at most `depth` wavelets, each usable from a cycle of its own on.
///
/// Those cycles never decrease along the ring, and what is not usable yet is so within `WINDOW`
/// cycles. So the last of them and how many wavelets share it, or one of the cycles before it,
/// say all there is to know.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Ring {
    payloads: [u32; RING],
    tags: [Tag; RING],
    /// When the youngest becomes usable.
    last_ready: u64,
    /// How many become usable at `last_ready`, in the cycle before, ..., from the low bits up.
    recent: u32,
    head: u8,
    len: u8,
    depth: u8,
}

impl Ring {
    /// An empty ring.
    pub fn new(depth: u8) -> Ring {
        Ring {
            payloads: [0; RING],
            tags: [Tag::default(); RING],
            last_ready: 0,
            recent: 0,
            head: 0,
            len: 0,
            depth: depth.min(RING as u8),
        }
    }

    /// Whether there is room for one more.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.len < self.depth
    }

    /// For how many more there is room.
    #[inline]
    pub fn room(&self) -> u8 {
        self.depth.saturating_sub(self.len)
    }

    /// How many wavelets there are.
    #[inline]
    pub fn len(&self) -> u8 {
        self.len
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The oldest wavelet, usable or not.
    #[inline]
    pub fn first(&self) -> Option<Entry> {
        self.get(0)
    }

    /// How many wavelets are not usable yet.
    #[inline]
    fn unready(&self, now: u64) -> u8 {
        if now >= self.last_ready {
            return 0;
        }
        let cycles = (self.last_ready - now).min(WINDOW);
        let counts = self.recent & (u64::MAX >> (64 - cycles * COUNT_BITS)) as u32;
        // Neighbours add up, then all bytes into the highest.
        let pairs = (counts & 0x0f0f_0f0f) + (counts >> COUNT_BITS & 0x0f0f_0f0f);
        (pairs.wrapping_mul(0x0101_0101) >> 24) as u8
    }

    /// Whether the oldest wavelet can be used.
    #[inline]
    pub fn is_ready(&self, now: u64) -> bool {
        self.len > self.unready(now)
    }

    /// Whether the oldest wavelet is a control wavelet.
    #[inline]
    pub fn is_control_first(&self) -> bool {
        self.first().is_some_and(|entry| entry.wavelet().control)
    }

    /// How many wavelets can be used.
    #[inline]
    pub fn ready_count(&self, now: u64) -> u8 {
        self.len.saturating_sub(self.unready(now))
    }

    /// Whether the oldest wavelets, so many of them, can be used and are no control wavelets.
    #[inline]
    pub fn has_data(&self, count: u8, now: u64) -> bool {
        let is_data = |n| {
            let tag = self.tags[usize::from(self.head + n) % RING];
            !tag.is_control()
        };
        self.ready_count(now) >= count && (0..count).all(is_data)
    }

    /// The oldest wavelet, if it can be used.
    #[inline]
    pub fn ready(&self, now: u64) -> Option<Entry> {
        self.first().filter(|_| self.is_ready(now))
    }

    /// The entry with `n` older ones before it.
    pub fn get(&self, n: u8) -> Option<Entry> {
        let at = usize::from(self.head + n) % RING;
        (n < self.len).then(|| Entry {
            payload: self.payloads[at],
            tag: self.tags[at],
        })
    }

    /// Appends; dropped if there is no room, which callers rule out with `has_room`.
    #[inline]
    pub fn push(&mut self, entry: Entry, ready: u64) {
        debug_assert!(self.has_room() && ready >= self.last_ready);
        if !self.has_room() {
            return;
        }
        let at = usize::from(self.head + self.len) % RING;
        self.payloads[at] = entry.payload;
        self.tags[at] = entry.tag;
        self.len += 1;
        let cycles = ready.saturating_sub(self.last_ready);
        let earlier = match cycles {
            0..WINDOW => self.recent << (cycles * COUNT_BITS),
            _ => 0,
        };
        self.recent = earlier + 1;
        self.last_ready = ready;
    }

    /// When the youngest becomes usable.
    pub fn last_ready(&self) -> u64 {
        self.last_ready
    }

    /// The payloads, oldest first.
    pub fn payloads(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.len).filter_map(|n| self.get(n).map(|entry| entry.payload))
    }

    /// Whether all wavelets are of this color and have these marks.
    pub fn is_all(&self, tag: Tag) -> bool {
        (0..self.len).all(|n| self.get(n).is_some_and(|entry| entry.tag == tag))
    }

    /// What it is after `count` cycles in each of which the oldest wavelet left and one like it
    /// came in, the last of which is usable from `last_ready` on; `payloads` are those it holds then.
    pub fn pass_on(&mut self, payloads: &[u32], tag: Tag, count: u64, last_ready: u64) {
        let held = usize::from(self.len).min(payloads.len());
        self.payloads[..held].copy_from_slice(&payloads[..held]);
        self.tags[..held].fill(tag);
        self.head = 0;
        for _ in 0..count.min(WINDOW) {
            self.recent = (self.recent << COUNT_BITS) + 1;
        }
        self.last_ready = last_ready;
    }

    /// Takes out the oldest wavelet.
    #[inline]
    pub fn pop(&mut self) -> Option<Entry> {
        let first = self.first()?;
        self.head = (self.head + 1) % RING as u8;
        self.len -= 1;
        Some(first)
    }
}

/// An input queue, bound to a color.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct InputQueue {
    /// What it holds.
    pub ring: Ring,
    /// Its number.
    pub id: u8,
    /// The color it is bound to.
    pub color: u8,
}

impl InputQueue {
    /// The oldest wavelet, once it has come down the ramp.
    #[inline]
    pub fn head(&self, now: u64) -> Option<Wavelet> {
        self.ring.ready(now).map(Entry::wavelet)
    }
}

/// An output queue.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct OutputQueue {
    /// What it holds.
    pub ring: Ring,
    /// Its number.
    pub id: u8,
    /// On wse3.
    pub color: Option<u8>,
}

/// The output queues of a compute element, and which of them hold something: most cycles concern one or
/// two of them, and none of the others is looked at.
#[derive(Clone, Debug)]
pub struct Outputs {
    queues: Box<[OutputQueue]>,
    /// Bit per queue, by place.
    filled: u8,
}

impl Outputs {
    /// Empty queues; a compute element has eight at most.
    pub fn new(queues: Box<[OutputQueue]>) -> Outputs {
        debug_assert!(queues.len() <= 8);
        Outputs { queues, filled: 0 }
    }

    /// The places of the queues that hold something, a bit each.
    #[inline]
    pub fn filled(&self) -> u8 {
        self.filled
    }

    /// The place of the queue that goes first up the ramp of those that hold something, if it is `turn`'s.
    #[inline]
    pub fn first_filled(&self, turn: u8) -> Option<u8> {
        let turn = u32::from(turn) % u8::BITS;
        let waiting = self.filled.rotate_right(turn);
        (waiting != 0).then(|| ((waiting.trailing_zeros() + turn) % u8::BITS) as u8)
    }

    /// Appends to the queue at a place, which has room; what it holds leaves in order, however long each was
    /// on its way.
    #[inline]
    pub fn push(&mut self, place: u8, entry: Entry, ready: u64) {
        let ring = &mut self.queues[usize::from(place)].ring;
        ring.push(entry, ready.max(ring.last_ready()));
        self.filled |= 1 << place;
    }

    /// The oldest wavelet of the queue at a place leaves it.
    #[inline]
    pub fn pop(&mut self, place: u8) -> Option<Entry> {
        let ring = &mut self.queues[usize::from(place)].ring;
        let popped = ring.pop();
        if ring.is_empty() {
            self.filled &= !(1 << place);
        }
        popped
    }

    /// See `Ring::pass_on`: the queue at a place holds as many wavelets as before.
    pub fn pass_on(&mut self, place: u8, (payloads, tag): (&[u32], Tag), count: u64, ready: u64) {
        let ring = &mut self.queues[usize::from(place)].ring;
        ring.pass_on(payloads, tag, count, ready);
    }

    /// Gives the queue at a place a color.
    pub fn set_color(&mut self, place: u8, color: u8) {
        self.queues[usize::from(place)].color = Some(color);
    }
}

impl std::ops::Deref for Outputs {
    type Target = [OutputQueue];

    fn deref(&self) -> &[OutputQueue] {
        &self.queues
    }
}

// A cache line each.
const _: () = assert!(std::mem::size_of::<InputQueue>() == 64);
const _: () = assert!(std::mem::size_of::<OutputQueue>() == 64);

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    fn entry(payload: u32) -> Entry {
        Entry {
            payload,
            tag: Tag::new(23, payload % 2 == 1, payload % 3 == 1),
        }
    }

    #[test]
    fn a_tag_keeps_color_and_marks_apart() {
        for (payload, control, advance) in [(0, false, false), (1, true, true), (3, true, false)] {
            let entry = entry(payload);
            assert_eq!(entry.color(), 23);
            assert_eq!(entry.wavelet().control, control);
            assert_eq!(entry.advance_switch(), advance);
        }
    }

    /// Against a queue that keeps the cycle of every wavelet.
    #[test]
    fn a_ring_knows_when_each_wavelet_becomes_usable() {
        let mut ring = Ring::new(6);
        let mut known: VecDeque<(u32, u64)> = VecDeque::new();
        let mut state = 1u32;
        for now in 0..5000u64 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            for n in 0..(state >> 28) % 3 {
                if ring.has_room() {
                    let payload = now as u32 * 4 + n;
                    ring.push(entry(payload), now + 2);
                    known.push_back((payload, now + 2));
                }
            }
            assert_eq!(usize::from(ring.len()), known.len());
            for later in 0..4 {
                let head = known.front().filter(|(_, ready)| *ready <= now + later);
                let found = ring.ready(now + later).map(|entry| entry.payload);
                assert_eq!(found, head.map(|(payload, _)| *payload));
            }
            if state >> 27 & 1 == 1 && ring.is_ready(now) {
                let popped = ring.pop().map(|entry| entry.payload);
                assert_eq!(popped, known.pop_front().map(|(payload, _)| payload));
            }
        }
    }
}
