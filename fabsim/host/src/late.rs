//! PEs that begin a launch late, each differently: on a machine commands reach them one by one, and
//! what only works when all begin together is wrong.

/// By how many cycles PEs begin a launch late at most, and from which seed it is drawn who how late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LateStarts {
    /// The latest start, in cycles after the first.
    pub most_cycles: u64,
    /// Of the random numbers.
    pub seed: u64,
}

impl LateStarts {
    /// The PEs of the launch with this number by the cycles that they are late, in rising order;
    /// where none is late in their own order.
    pub(crate) fn order(self, pes: usize, launch: u64) -> Vec<(u64, usize)> {
        let mut found: Vec<_> = (0..pes).map(|n| (self.of(n, launch), n)).collect();
        found.sort_unstable();
        found
    }

    fn of(self, pe: usize, launch: u64) -> u64 {
        match self.most_cycles.checked_add(1) {
            None | Some(1) => 0,
            Some(choices) => mixed(mixed(self.seed ^ launch.rotate_left(32)) ^ pe as u64) % choices,
        }
    }
}

/// A number that looks drawn at random (the last steps of splitmix64).
fn mixed(number: u64) -> u64 {
    let mut bits = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::LateStarts;

    #[test]
    fn nobody_is_late_unless_that_is_asked_for() {
        let order = LateStarts::default().order(3, 7);
        assert_eq!(order, [(0, 0), (0, 1), (0, 2)]);
    }

    #[test]
    fn each_launch_has_other_starts_within_what_is_asked_for() {
        let late = LateStarts {
            most_cycles: 50,
            seed: 1,
        };
        let (first, second) = (late.order(100, 0), late.order(100, 1));
        assert_ne!(first, second);
        assert_eq!(first, late.order(100, 0));
        assert!(first.iter().all(|&(cycles, _)| cycles <= 50));
        assert!(first.last().is_some_and(|&(cycles, _)| cycles > 40));
    }
}
