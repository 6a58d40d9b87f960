//! The order of visits.

use crate::fabric::grid::PeIndex;

/// In which order routers and compute elements are visited. No result may depend on it; tests
/// check that.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum VisitOrder {
    /// As they happened to be woken.
    #[default]
    AsWoken,
    /// From the last tile to the first.
    Reversed,
    /// In another random order every cycle; the number is the state of the generator.
    Shuffled(u64),
}

impl VisitOrder {
    pub(super) fn apply(&mut self, visits: &mut [PeIndex]) {
        match self {
            VisitOrder::AsWoken => {}
            VisitOrder::Reversed => visits.reverse(),
            VisitOrder::Shuffled(state) => {
                for n in (1..visits.len()).rev() {
                    // Knuth's MMIX generator; its high bits are the good ones.
                    *state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1_442_695_040_888_963_407);
                    visits.swap(n, (*state >> 33) as usize % (n + 1));
                }
            }
        }
    }
}
