//! What repeats in step tables: the period of numbers, and entries that go on by one shift.

/// The first of `periods`, which ascend, such that the numbers `values[i]` at `index[i]` are the same
/// wherever the remainders by it are.
pub fn first_period(index: &[usize], values: &[i64], periods: &[usize]) -> Option<usize> {
    // by remainder, the period for which a number was written there, and the number
    let mut known = vec![(0, 0); periods.last().copied().unwrap_or(0)];
    let mut fits = |period: usize| {
        index.iter().zip(values).all(|(at, &value)| {
            let entry = &mut known[at % period];
            let (of, before) = std::mem::replace(entry, (period, value));
            of != period || before == value
        })
    };
    periods.iter().copied().find(|&period| fits(period))
}

/// By how many slices an entry goes on in another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shift {
    /// It moves none, so whatever it is.
    Any,
    By(i64),
    /// The other is no such entry.
    None,
}

/// An entry by its numbers: kind, first slice out and how many, first slice in and how many.
pub type Numbers = [i64; 5];

/// What bits of a kind say which slices an entry puts out and takes, and how many slices there are.
#[derive(Clone, Copy, Debug)]
pub struct Meaning {
    pub out: i64,
    pub into: i64,
    pub slices: i64,
}

impl Meaning {
    pub fn shift(&self, one: &Numbers, other: &Numbers) -> Shift {
        if [0, 2, 4].iter().any(|&at| one[at] != other[at]) {
            return Shift::None;
        }
        let out = (other[1] - one[1]).rem_euclid(self.slices);
        let into = (other[3] - one[3]).rem_euclid(self.slices);
        match (one[0] & self.out != 0, one[0] & self.into != 0) {
            (false, false) => Shift::Any,
            (true, true) if out != into => Shift::None,
            (true, _) => Shift::By(out),
            (false, true) => Shift::By(into),
        }
    }
}

/// For each entry, the first one behind it that does not go on by the same shift as all between do,
/// at some place; `shifts` are those of each place.
pub fn ends(shifts: &[Vec<Shift>], count: usize) -> Vec<usize> {
    let mut found = vec![count; count];
    for own in shifts {
        let mut following = None; // the next entry in which a shift is known, and the shift
        for (at, shift) in own.iter().enumerate().rev() {
            match *shift {
                Shift::Any => {}
                Shift::None => found[at] = at,
                Shift::By(by) => {
                    if let Some((next, other)) = following {
                        // a known shift is broken by the next known one, if that is another
                        found[at] = if other == by {
                            found[at]
                        } else {
                            found[at].min(next)
                        };
                    }
                    following = Some((at, by));
                }
            }
        }
    }
    for at in (0..count.saturating_sub(1)).rev() {
        found[at] = found[at].min(found[at + 1]);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{ends, first_period, Meaning, Shift};

    #[test]
    fn the_first_period_that_fits_is_found() {
        let index: Vec<usize> = (0..9).collect();
        let values = [1, 2, 3, 1, 2, 3, 1, 2, 3];
        assert_eq!(first_period(&index, &values, &[2, 3, 6, 9]), Some(3));
        assert_eq!(first_period(&index, &values, &[2, 4]), None);
        assert_eq!(first_period(&[0, 2, 5], &[1, 3, 3], &[2, 3]), Some(3));
    }

    #[test]
    fn an_entry_goes_on_by_one_shift_or_by_none() {
        let meaning = Meaning {
            out: 1,
            into: 2,
            slices: 8,
        };
        let shift = |one, other| meaning.shift(&one, &other);
        assert_eq!(shift([1, 7, 1, 0, 1], [1, 1, 1, 5, 1]), Shift::By(2));
        assert_eq!(shift([3, 7, 1, 0, 1], [3, 1, 1, 2, 1]), Shift::By(2));
        assert_eq!(shift([3, 7, 1, 0, 1], [3, 1, 1, 3, 1]), Shift::None);
        assert_eq!(shift([4, 7, 1, 0, 1], [4, 1, 1, 3, 1]), Shift::Any);
        assert_eq!(shift([1, 7, 1, 0, 1], [1, 1, 2, 5, 1]), Shift::None);
    }

    #[test]
    fn what_goes_on_ends_where_some_place_has_another_shift() {
        use Shift::{Any, By};
        assert_eq!(ends(&[vec![By(1), By(1), By(2), By(2)]], 4), [2, 2, 4, 4]);
        assert_eq!(ends(&[vec![By(1), Any, By(1), By(2)]], 4), [3, 3, 3, 4]);
        let places = [vec![By(1); 3], vec![By(2), Shift::None, By(2)]];
        assert_eq!(ends(&places, 3), [1, 1, 3]);
    }
}
