//! The queue of one color in one router, with the part of its settings that moves.

use super::router::ChannelIndex;
use super::settings::Settings;
use super::wavelet::Wavelet;
use fabsim_program::limits::RING;
use fabsim_program::program::{Direction, Directions};

/// One color of one router. One cache line: a router visits it every cycle it is active.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Channel {
    payloads: [u32; RING],
    /// The side a wavelet came from; bit 7 marks control.
    kinds: [u8; RING],
    /// The last cycle in which a wavelet landed here, and how many did.
    pub landed: u64,
    /// How many landed in that cycle.
    pub landed_count: u8,
    head: u8,
    len: u8,
    /// How many of the queued wavelets are control wavelets.
    controls: u8,
    /// The color.
    pub color: u8,
    /// Its number among the channels of its router.
    pub local: u8,
    /// The position of its switch.
    pub position: u8,
    /// Routes of `position`.
    pub rx: Directions,
    /// The sides that data wavelets leave by.
    pub tx: Directions,
    /// Teardown in progress: nothing is accepted.
    pub torn_down: bool,
    /// The color has a filter here, or settings of this PE alone.
    pub filtered: bool,
    /// The one way out of data wavelets, if there is but one and nothing else to consider.
    pub way: Way,
    /// Where that way leads to, if over a link.
    pub next: ChannelIndex,
}

/// How data wavelets leave a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Over this one side.
    Only(Direction),
    /// Over several sides or none, past a filter, or not at all.
    Other,
}

/// No channel.
pub const NOWHERE: ChannelIndex = ChannelIndex(u32::MAX);

const CONTROL: u8 = 0x80;

const _: () = assert!(std::mem::size_of::<Channel>() == 64);

impl Channel {
    /// An empty channel at the start position of its switch.
    pub fn new(local: u8, settings: &Settings) -> Channel {
        let routes = settings.routes(settings.start);
        Channel {
            payloads: [0; RING],
            kinds: [0; RING],
            landed: u64::MAX,
            landed_count: 0,
            head: 0,
            len: 0,
            controls: 0,
            color: settings.color,
            local,
            position: settings.start,
            rx: routes.rx,
            tx: routes.tx,
            torn_down: settings.teardown,
            filtered: settings.filter.is_some(),
            way: Way::Other,
            next: NOWHERE,
        }
    }

    /// How many wavelets are queued.
    #[inline]
    pub fn len(&self) -> u8 {
        self.len
    }

    /// Whether none is queued.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The oldest wavelet's payload, if it is a data wavelet; meaningful only if the channel is not
    /// empty.
    #[inline]
    pub fn first_data(&self) -> Option<u32> {
        let at = usize::from(self.head) % RING;
        (self.kinds[at] & CONTROL == 0).then_some(self.payloads[at])
    }

    /// Whether the oldest wavelet has come over a link and is in the queue only since this cycle.
    #[inline]
    pub fn is_arriving(&self, now: u64) -> bool {
        self.landed == now
            && self.len == self.landed_count
            && self.last_side() != Some(Direction::Ramp)
    }

    /// Whether a control wavelet is queued.
    #[inline]
    pub fn has_control(&self) -> bool {
        self.controls != 0
    }

    /// The oldest wavelet; meaningful only if the channel is not empty.
    #[inline]
    pub fn first(&self) -> Wavelet {
        self.entry(0).0
    }

    /// Whether the oldest wavelet is one that compute elements do not get.
    pub fn is_next_hidden(&self) -> bool {
        self.len > 0 && self.first().hidden_from_ce()
    }

    /// Wavelet number `n` from the head and the side it came from.
    #[inline]
    fn entry(&self, n: u8) -> (Wavelet, Direction) {
        let at = usize::from(self.head + n) % RING;
        let kind = self.kinds[at];
        let wavelet = Wavelet {
            payload: self.payloads[at],
            control: kind & CONTROL != 0,
        };
        (wavelet, Direction::from_code(kind & !CONTROL))
    }

    /// All wavelets, oldest first, with the side each came from.
    pub fn entries(&self) -> impl Iterator<Item = (Wavelet, Direction)> + '_ {
        (0..self.len).map(|n| self.entry(n))
    }

    /// The side the youngest wavelet came from.
    pub fn last_side(&self) -> Option<Direction> {
        self.len.checked_sub(1).map(|n| self.entry(n).1)
    }

    /// Appends; false if there is no room at all.
    #[inline]
    pub fn push(&mut self, wavelet: Wavelet, side: Direction) -> bool {
        if usize::from(self.len) == RING {
            return false;
        }
        let at = usize::from(self.head + self.len) % RING;
        self.payloads[at] = wavelet.payload;
        self.kinds[at] = side as u8 | if wavelet.control { CONTROL } else { 0 };
        self.len += 1;
        self.controls += u8::from(wavelet.control);
        true
    }

    /// Drops the oldest wavelet, which is a data wavelet.
    #[inline]
    pub fn drop_data(&mut self) {
        self.head = (self.head + 1) % RING as u8;
        self.len = self.len.saturating_sub(1);
    }

    /// Takes out the oldest wavelet.
    #[inline]
    pub fn pop(&mut self) -> Option<Wavelet> {
        if self.len == 0 {
            return None;
        }
        let wavelet = self.first();
        self.head = (self.head + 1) % RING as u8;
        self.len -= 1;
        self.controls -= u8::from(wavelet.control);
        Some(wavelet)
    }

    /// Sorts the `count` youngest wavelets by the sides they came from: those that landed at once
    /// queue in that order, whoever was visited first.
    pub fn sort_youngest(&mut self, count: u8) {
        let first = self.len - count.min(self.len);
        for end in (first + 1..self.len).rev() {
            for n in first..end {
                if self.entry(n).1 > self.entry(n + 1).1 {
                    let a = usize::from(self.head + n) % RING;
                    let b = (a + 1) % RING;
                    self.payloads.swap(a, b);
                    self.kinds.swap(a, b);
                }
            }
        }
    }

    /// The side all queued wavelets came from, if it is the same for all of them and none is a
    /// control wavelet.
    pub fn only_side(&self) -> Option<Direction> {
        let side = self.last_side()?;
        let mut entries = self.entries();
        let alike = entries.all(|(wavelet, from)| !wavelet.control && from == side);
        alike.then_some(side)
    }

    /// Replaces all that is queued by data wavelets that came from one side, the youngest of which
    /// is in the queue from cycle `landed` on.
    pub fn refill(&mut self, payloads: &[u32], side: Direction, landed: u64) {
        let count = payloads.len().min(RING);
        self.payloads[..count].copy_from_slice(&payloads[..count]);
        self.kinds[..count].fill(side as u8);
        (self.head, self.len) = (0, count as u8);
        (self.landed, self.landed_count) = (landed, 1);
    }

    /// Moves the switch.
    pub fn set_position(&mut self, position: u8, settings: &Settings) {
        let routes = settings.routes(position);
        self.position = position;
        self.rx = routes.rx;
        self.tx = routes.tx;
    }
}
