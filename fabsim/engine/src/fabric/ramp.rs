//! Wavelets on the ramp, between a compute element and its router.

use super::wavelet::Wavelet;

/// What is beside a payload in a queue: its color and two marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tag(u8);

const CONTROL: u8 = 0x80;
const ADVANCE: u8 = 0x40;

impl Tag {
    /// The tag of a wavelet.
    #[inline]
    pub fn new(color: u8, control: bool, advance_switch: bool) -> Tag {
        let control = if control { CONTROL } else { 0 };
        let advance = if advance_switch { ADVANCE } else { 0 };
        Tag(color | control | advance)
    }

    /// Whether the wavelet is a control wavelet.
    #[inline]
    pub fn is_control(self) -> bool {
        self.0 & CONTROL != 0
    }
}

/// A wavelet in a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Entry {
    /// Its 32 bits.
    pub payload: u32,
    /// Its color and marks.
    pub tag: Tag,
}

impl Entry {
    /// It as a wavelet.
    #[inline]
    pub fn wavelet(self) -> Wavelet {
        Wavelet {
            payload: self.payload,
            control: self.tag.is_control(),
        }
    }

    /// Its color.
    #[inline]
    pub fn color(self) -> u8 {
        self.tag.0 & !(CONTROL | ADVANCE)
    }

    /// The last wavelet of an operation that moves the own router's switch.
    #[inline]
    pub fn advance_switch(self) -> bool {
        self.tag.0 & ADVANCE != 0
    }
}
