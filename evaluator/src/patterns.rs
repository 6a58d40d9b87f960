//! What repeats in step tables: the period of numbers, and rows that go on by one shift.

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

/// By how many slices a row goes on in another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shift {
    /// It moves none, so whatever it is.
    Any,
    By(i64),
    /// The other is no such row.
    None,
}

/// A row by its numbers: kind, first slice out and how many, first slice in and how many.
pub type Numbers = [i64; FIELDS];

pub const FIELDS: usize = 5;

/// What bits of a kind say which slices a row puts out and takes, and how many slices there are.
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

/// Rows `first` to `first + size - 1` of a table, run `turns` times, whose slices go on by `shift`
/// from turn to turn; by table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    pub first: usize,
    pub size: usize,
    pub turns: usize,
    pub shift: Vec<i64>,
}

/// What loops cost beside their rows, `header` numbers each, and how many rows one that is run more
/// than once has at most.
#[derive(Clone, Copy, Debug)]
pub struct LoopRules {
    pub header: usize,
    pub longest: usize,
}

impl LoopRules {
    /// The loops that tables of as many rows have together, in the order of the rows: at the first row
    /// from which on repeating saves numbers, the repetition that saves most; of equal ones that of the
    /// fewest rows. What is between is run once.
    pub fn find(&self, tables: &[&[Numbers]], meaning: Meaning) -> Vec<Loop> {
        let total = tables.first().map_or(0, |table| table.len());
        let sizes = 1..=self.longest.min(total.saturating_sub(1));
        let repeated: Vec<Repeated> = sizes
            .map(|size| Repeated::new(tables, size, meaning))
            .collect();
        let mut found = Vec::new();
        let (mut begin, mut at) = (0, 0);
        while at < total {
            let gains = repeated.iter().map(|one| (self.gain(one, at), one));
            let best = gains.rev().max_by_key(|&(gain, _)| gain);
            let Some((_, one)) = best.filter(|&(gain, _)| gain > 0) else {
                at += 1;
                continue;
            };
            found.extend(once(begin, at, tables.len()));
            let turns = one.turns(at);
            let shift = one.first_known(at);
            found.push(Loop {
                first: at,
                size: one.size,
                turns,
                shift,
            });
            at += one.size * turns;
            begin = at;
        }
        found.extend(once(begin, total, tables.len()));
        found
    }

    /// Numbers that are saved by repeating rows from `at` on, less the headers of the loop and of
    /// what follows.
    fn gain(&self, repeated: &Repeated, at: usize) -> isize {
        let saved = (repeated.turns(at) - 1) * repeated.size * FIELDS;
        saved as isize - 2 * self.header as isize
    }
}

fn once(first: usize, end: usize, tables: usize) -> Option<Loop> {
    (end > first).then(|| Loop {
        first,
        size: end - first,
        turns: 1,
        shift: vec![0; tables],
    })
}

/// By how much the rows of each table go on in those that are `size` behind them, and `ends` of
/// that.
struct Repeated {
    size: usize,
    shifts: Vec<Vec<Shift>>,
    ends: Vec<usize>,
}

impl Repeated {
    fn new(tables: &[&[Numbers]], size: usize, meaning: Meaning) -> Self {
        let shifts = |table: &&[Numbers]| {
            let pairs = table.iter().zip(&table[size..]);
            pairs
                .map(|(one, other)| meaning.shift(one, other))
                .collect()
        };
        let shifts: Vec<Vec<Shift>> = tables.iter().map(shifts).collect();
        let ends = ends(&shifts, tables[0].len() - size);
        Repeated { size, shifts, ends }
    }

    /// How often the rows from `at` on are run.
    fn turns(&self, at: usize) -> usize {
        let end = self.ends.get(at).copied().unwrap_or(at);
        1 + end.saturating_sub(at) / self.size
    }

    /// By table, the first shift that is known from `at` on; 0 where it may be any. A table where it
    /// may be any for all rows that repeat does best to have one that fits a little behind them, too.
    fn first_known(&self, at: usize) -> Vec<i64> {
        let same = self.ends[at] - at;
        let mut width = self.size;
        while width <= same {
            width *= 2;
        }
        let known = |own: &Vec<Shift>| {
            let near = own[at..].iter().take(width);
            let by = |shift: &Shift| match *shift {
                Shift::By(by) => Some(by),
                _ => None,
            };
            near.filter_map(by).next().unwrap_or(0)
        };
        self.shifts.iter().map(known).collect()
    }
}

/// For each row, the first one behind it that does not go on by the same shift as all between do,
/// in some table; `shifts` are those of each table.
fn ends(shifts: &[Vec<Shift>], count: usize) -> Vec<usize> {
    let mut found = vec![count; count];
    for own in shifts {
        let mut following = None; // the next row in which a shift is known, and the shift
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
    use super::{ends, first_period, Loop, LoopRules, Meaning, Shift};

    #[test]
    fn the_first_period_that_fits_is_found() {
        let index: Vec<usize> = (0..9).collect();
        let values = [1, 2, 3, 1, 2, 3, 1, 2, 3];
        assert_eq!(first_period(&index, &values, &[2, 3, 6, 9]), Some(3));
        assert_eq!(first_period(&index, &values, &[2, 4]), None);
        assert_eq!(first_period(&[0, 2, 5], &[1, 3, 3], &[2, 3]), Some(3));
    }

    #[test]
    fn a_row_goes_on_by_one_shift_or_by_none() {
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

    #[test]
    fn loops_are_what_saves_numbers() {
        let meaning = Meaning {
            out: 1,
            into: 2,
            slices: 8,
        };
        let rules = LoopRules {
            header: 2,
            longest: 6,
        };
        let one: Vec<_> = (0..4).map(|first| [1, first, 1, 0, 1]).collect();
        let other: Vec<_> = (0..4).map(|first| [1, 7 * first, 1, 0, 1]).collect();
        let together = Loop {
            first: 0,
            size: 1,
            turns: 4,
            shift: vec![1, 7],
        };
        assert_eq!(rules.find(&[&one, &other], meaning), [together]);
        let once = Loop {
            first: 0,
            size: 1,
            turns: 1,
            shift: vec![0],
        };
        assert_eq!(rules.find(&[&one[..1]], meaning), [once]);
        assert_eq!(rules.find(&[&[]], meaning), []);
    }
}
