//! Wavelets and the commands a control wavelet carries.

/// What a router's control slot tells it to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Command {
    /// Do nothing.
    Nop,
    /// Move the switch to the next position.
    Advance,
    /// Move the switch to position 0.
    Reset,
    /// Tear the color down.
    Teardown,
}

/// One message on one color; the color is known from where it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Wavelet {
    /// The 32 bits.
    pub payload: u32,
    /// It is a control wavelet.
    pub control: bool,
}

/// Bit positions of (opcode, NOCE) of the eight slots: from bit 22 upward, wrapping after bit 29.
const SLOTS: [(u32, u32); 8] = [
    (22, 24),
    (25, 27),
    (28, 0),
    (1, 3),
    (4, 6),
    (7, 9),
    (10, 12),
    (13, 15),
];

impl Wavelet {
    /// A data wavelet.
    pub fn data(payload: u32) -> Wavelet {
        Wavelet {
            payload,
            control: false,
        }
    }

    /// A control wavelet.
    pub fn control(payload: u32) -> Wavelet {
        Wavelet {
            payload,
            control: true,
        }
    }

    /// The command of slot 0; data wavelets command nothing.
    pub fn command(self) -> Command {
        if !self.control {
            return Command::Nop;
        }
        match (self.payload >> SLOTS[0].0) & 3 {
            0 => Command::Nop,
            1 => Command::Advance,
            2 => Command::Reset,
            _ => Command::Teardown,
        }
    }

    /// NOCE of slot 0: the compute element does not get this wavelet.
    pub fn hidden_from_ce(self) -> bool {
        self.control && (self.payload >> SLOTS[0].1) & 1 == 1
    }

    /// The control task a delivered control wavelet activates.
    pub fn entrypoint(self) -> u8 {
        ((self.payload >> 16) & 0x3f) as u8
    }

    /// The wavelet after its slots moved down by one. The vacated slot 7 becomes a NOP that keeps
    /// its NOCE bit: 0x09DF9249 becomes 0x091F9249.
    pub fn popped(self) -> Wavelet {
        let mut payload = self.payload;
        for (slot, &(opcode_at, noce_at)) in SLOTS.iter().enumerate() {
            let (opcode, noce) = match SLOTS.get(slot + 1) {
                Some(&(from, noce_from)) => {
                    ((self.payload >> from) & 3, (self.payload >> noce_from) & 1)
                }
                None => (0, (self.payload >> noce_at) & 1),
            };
            payload &= !(3 << opcode_at | 1 << noce_at);
            payload |= opcode << opcode_at | noce << noce_at;
        }
        Wavelet { payload, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn popping_a_teardown_leaves_the_documented_constant() {
        assert_eq!(Wavelet::control(0x09DF_9249).popped().payload, 0x091F_9249);
    }

    #[test]
    fn documented_constants_decode() {
        let teardown = Wavelet::control(0x09DF_9249);
        assert_eq!(teardown.command(), Command::Teardown);
        assert!(teardown.hidden_from_ce());
        assert_eq!(teardown.entrypoint(), 31);
        let skips_own_router = Wavelet::control(0x8B00_9249);
        assert_eq!(skips_own_router.command(), Command::Nop);
        assert_eq!(skips_own_router.popped().command(), Command::Advance);
        assert_eq!(skips_own_router.popped().popped().command(), Command::Nop);
        assert!(!Wavelet::control(40 << 16).hidden_from_ce());
        assert_eq!(Wavelet::control(40 << 16).entrypoint(), 40);
    }
}
