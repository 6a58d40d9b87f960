//! The steps of a schedule, carried out on what PEs hold.
//!
//! What a PE holds is a number for each atom: a range of elements that no slice of any phase cuts.

/// A number for the combination of two, in this order.
pub fn combined(own: u64, received: u64) -> u64 {
    let second = received.wrapping_mul(0xC2B2_AE3D_27D4_EB4F).wrapping_add(1);
    own.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ second
}

/// `count` slices from `slice` on of the place `source`, to those from `into` on of another one.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    pub source: usize,
    pub destination: usize,
    pub slice: usize,
    pub into: usize,
    pub count: usize,
    pub combines: bool,
}

/// The PE at each place of a line, and the first atom of each slice, with the one behind the last.
#[derive(Clone, Debug)]
pub struct Line {
    pub pes: Vec<usize>,
    pub bounds: Vec<usize>,
}

/// What all PEs hold, by PE and atom, and the elements of each atom.
#[derive(Debug)]
pub struct Held<'a> {
    pub values: &'a mut [u64],
    pub sizes: &'a [i64],
}

/// The steps on one line; step s has the transfers up to `ends[s]`. All transfers of a step read
/// before any of them writes; several that combine into one atom do so in the order given.
pub fn carry_out(
    held: &mut Held,
    line: &Line,
    transfers: &[Transfer],
    ends: &[usize],
) -> Result<(), String> {
    let mut carried = Vec::new();
    let mut first = 0;
    for &end in ends {
        let step = transfers
            .get(first..end)
            .ok_or("steps have transfers that are not there")?;
        carried.clear();
        for one in step {
            carried.extend_from_slice(
                &held.values[held.atoms(line, one.source, one.slice, one.count)?],
            );
        }
        let mut values = carried.iter();
        for one in step {
            held.fits(line, one)?;
            let into = held.atoms(line, one.destination, one.into, one.count)?;
            for (own, &value) in held.values[into].iter_mut().zip(values.by_ref()) {
                *own = if one.combines {
                    combined(*own, value)
                } else {
                    value
                };
            }
        }
        first = end;
    }
    Ok(())
}

impl Held<'_> {
    /// Where the atoms of some slices of a place are.
    fn atoms(
        &self,
        line: &Line,
        place: usize,
        slice: usize,
        count: usize,
    ) -> Result<std::ops::Range<usize>, String> {
        let pe = line.pes.get(place).ok_or("there is no such place")?;
        let bounds = (line.bounds.get(slice), line.bounds.get(slice + count));
        let (Some(low), Some(high)) = bounds else {
            return Err("there is no such slice".into());
        };
        let begin = pe.saturating_mul(self.sizes.len());
        let found = begin.saturating_add(*low)..begin.saturating_add(*high);
        (high <= &self.sizes.len() && found.end <= self.values.len() && low <= high)
            .then_some(found)
            .ok_or_else(|| "there is no such PE or atom".into())
    }

    /// Whether slices are cut alike where they are taken and where they are put.
    fn fits(&self, line: &Line, one: &Transfer) -> Result<(), String> {
        let sizes = |slice: usize| {
            self.sizes
                .get(line.bounds[slice]..line.bounds[slice + one.count])
        };
        if one.slice == one.into || sizes(one.slice) == sizes(one.into) {
            return Ok(());
        }
        Err(format!(
            "slice {} is not cut as slice {}, where it is put",
            one.slice, one.into
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::{carry_out, combined, Held, Line, Transfer};

    fn moves(source: usize, destination: usize, slice: usize, combines: bool) -> Transfer {
        Transfer {
            source,
            destination,
            slice,
            into: slice,
            count: 1,
            combines,
        }
    }

    /// Three PEs with two atoms of the sizes given, the places of a line the other way round.
    fn carried(sizes: &[i64], transfers: &[Transfer], ends: &[usize]) -> Result<Vec<u64>, String> {
        let mut values = vec![1, 2, 3, 4, 5, 6];
        let line = Line {
            pes: vec![2, 1, 0],
            bounds: vec![0, 1, 2],
        };
        let mut held = Held {
            values: &mut values,
            sizes,
        };
        carry_out(&mut held, &line, transfers, ends).map(|()| values)
    }

    #[test]
    fn transfers_of_a_step_read_before_any_writes() {
        let both = [moves(0, 1, 0, false), moves(1, 0, 0, true)];
        let found = carried(&[7, 7], &both, &[2]).unwrap();
        assert_eq!(found, [1, 2, 5, 4, combined(5, 3), 6]);
    }

    #[test]
    fn the_next_step_reads_what_the_one_before_has_left() {
        let both = [moves(0, 1, 1, true), moves(1, 2, 1, false)];
        let sum = combined(4, 6);
        assert_eq!(
            carried(&[7, 7], &both, &[1, 2]).unwrap(),
            [1, sum, 3, sum, 5, 6]
        );
    }

    #[test]
    fn several_combine_into_one_atom_in_their_order() {
        let both = [moves(2, 1, 0, true), moves(0, 1, 0, true)];
        let found = carried(&[7, 7], &both, &[2]).unwrap();
        assert_eq!(found[2], combined(combined(3, 1), 5));
    }

    #[test]
    fn slices_of_other_lengths_are_refused_and_what_is_not_there() {
        let shifted = Transfer {
            into: 1,
            ..moves(0, 1, 0, false)
        };
        assert!(carried(&[7, 7], &[shifted], &[1]).is_ok());
        assert!(carried(&[7, 8], &[shifted], &[1]).is_err());
        assert!(carried(&[7, 7], &[moves(0, 3, 0, false)], &[1]).is_err());
        assert!(carried(&[7, 7], &[moves(0, 1, 2, false)], &[1]).is_err());
        assert!(carried(&[7, 7], &[moves(0, 1, 0, false)], &[2]).is_err());
    }

    #[test]
    fn combining_depends_on_the_order() {
        assert_ne!(combined(1, 2), combined(2, 1));
        assert_ne!(combined(combined(1, 2), 3), combined(1, combined(2, 3)));
    }
}
