//! Filters: which wavelets a router withholds from its own compute element.

use super::wavelet::Wavelet;
use fabsim_program::program::Filter;

/// The moving part of a filter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FilterState {
    /// The count.
    pub counter: u32,
    /// The limit in force; a sparse filter switches off when it has none left.
    pub limit: Option<u32>,
    /// The limit that follows the one in force, of a sparse counter.
    pub next_limit: Option<u32>,
    /// The highest count at which a wavelet passes.
    pub max: u32,
}

impl FilterState {
    /// The state at the start.
    pub fn new(filter: &Filter) -> FilterState {
        match *filter {
            Filter::Counter {
                initial,
                limit,
                max,
                ..
            } => FilterState {
                counter: initial,
                limit: Some(limit),
                next_limit: None,
                max,
            },
            Filter::SparseCounter {
                initial,
                limit1,
                limit2,
                max,
                ..
            } => FilterState {
                counter: initial,
                limit: limit1,
                next_limit: limit2,
                max,
            },
            Filter::Range { .. } => FilterState::default(),
        }
    }

    /// Whether the compute element gets `wavelet`.
    pub fn passes(&self, filter: &Filter, wavelet: Wavelet) -> bool {
        match *filter {
            Filter::Counter {
                filter_control,
                count_control,
                ..
            } => {
                if filter_control {
                    return wavelet.control && self.counter == self.max;
                }
                // A control wavelet that is not counted is not filtered either: relay designs
                // that were measured rely on it.
                wavelet.control && !count_control || self.counter <= self.max
            }
            Filter::SparseCounter { count_control, .. } => {
                self.limit.is_none()
                    || wavelet.control && !count_control
                    || self.counter <= self.max
            }
            Filter::Range { min, max } => {
                let index = (wavelet.payload >> 16) as u16;
                wavelet.control || (min..=max).contains(&index)
            }
        }
    }

    /// Counts `wavelet`, which has arrived.
    pub fn count(&mut self, filter: &Filter, wavelet: Wavelet) {
        let (data, control) = match *filter {
            Filter::Counter {
                count_data,
                count_control,
                ..
            }
            | Filter::SparseCounter {
                count_data,
                count_control,
                ..
            } => (count_data, count_control),
            Filter::Range { .. } => return,
        };
        if !(if wavelet.control { control } else { data }) {
            return;
        }
        if Some(self.counter) != self.limit {
            self.counter += 1;
            return;
        }
        self.counter = 0;
        if matches!(filter, Filter::SparseCounter { .. }) {
            self.limit = self.next_limit.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_filter_passes_the_first_k_of_every_n() {
        let filter = Filter::Counter {
            count_data: true,
            count_control: false,
            filter_control: false,
            initial: 0,
            limit: 4,
            max: 1,
        };
        let mut state = FilterState::new(&filter);
        let passed: Vec<bool> = (0..10)
            .map(|_| {
                let passes = state.passes(&filter, Wavelet::data(0));
                state.count(&filter, Wavelet::data(0));
                passes
            })
            .collect();
        let period = [true, true, false, false, false];
        assert_eq!(passed, [period, period].concat());
        assert!(state.passes(&filter, Wavelet::control(0)));
    }

    #[test]
    fn a_range_filter_looks_at_the_index_only() {
        let filter = Filter::Range { min: 2, max: 3 };
        let state = FilterState::new(&filter);
        assert!(state.passes(&filter, Wavelet::data(2 << 16 | 9)));
        assert!(!state.passes(&filter, Wavelet::data(4 << 16 | 2)));
    }
}
