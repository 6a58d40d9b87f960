//! Step tables of lanes that relay: every transfer is laid out at all PEs on its way, made one with
//! its neighbours there at once. Of a quarter of a million transfers between 512 PEs there would be
//! 45 million parts otherwise.

/// A part of a lane's table: slices that are treated alike at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    pub time: i64,
    pub kind: i64,
    pub first: i64,
    pub count: i64,
}

/// What a transfer is at a lane on its way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stop {
    pub kind: i64,
    pub first: i64,
    pub count: i64,
}

/// A transfer, or something that is done at one PE: the slot (lane of a PE) where it begins, the
/// distance to the next slot on its way and how many there are behind the first, its time; and what
/// it is at the beginning, between and at the end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transfer {
    pub slot: usize,
    pub step: isize,
    pub hops: usize,
    pub time: i64,
    pub beginning: Stop,
    pub between: Stop,
    pub end: Stop,
}

/// When neighbours become one.
#[derive(Clone, Copy, Debug)]
pub struct Joining {
    /// Whether slices ascend.
    pub ascends: bool,
    /// Elements: those that are let pass join whatever their slices are, unless a multiple of so many
    /// has been passed since the first of them.
    pub most: i64,
    /// They join like all others.
    pub by_length: bool,
}

/// The last part of a slot, with what was passed before it joined its last neighbour.
#[derive(Clone, Copy, Default)]
struct Last {
    part: Part,
    passed: i64,
    filled: i64,
    is_there: bool,
}

/// The parts of each slot, one slot's after the other's, and where each slot's begin. Transfers are
/// given in the order in which lanes do them. A part is joined to the one before it in its slot if
/// that has the same time and kind and its slices follow.
pub fn lay(transfers: &[Transfer], slots: usize, joining: Joining) -> (Vec<usize>, Vec<Part>) {
    let mut starts = vec![0; slots + 1];
    each_part(transfers, slots, joining, |slot, _, joins| {
        starts[slot + 1] += usize::from(!joins);
    });
    for slot in 0..slots {
        starts[slot + 1] += starts[slot];
    }
    let mut parts = vec![Part::default(); starts[slots]];
    let mut ends = starts.clone();
    each_part(transfers, slots, joining, |slot, part, joins| {
        if joins {
            let one = &mut parts[ends[slot] - 1];
            one.first = one.first.min(part.first);
            one.count += part.count;
        } else {
            parts[ends[slot]] = part;
            ends[slot] += 1;
        }
    });
    (starts, parts)
}

/// The same along the way, up or down, that leaves fewer parts; and whether that is down.
pub fn lay_shorter(
    transfers: &[Transfer],
    slots: usize,
    joining: Joining,
) -> (Vec<usize>, Vec<Part>, bool) {
    let count = |ascends| {
        let mut count = 0;
        let joining = Joining { ascends, ..joining };
        each_part(transfers, slots, joining, |_, _, joins| {
            count += usize::from(!joins)
        });
        count
    };
    let descends = count(false) < count(true);
    let (starts, parts) = lay(
        transfers,
        slots,
        Joining {
            ascends: !descends,
            ..joining
        },
    );
    (starts, parts, descends)
}

/// What is wrong with the ways of transfers, in words.
pub fn check(transfers: &[Transfer], slots: usize) -> Result<(), &'static str> {
    let is_inside = |one: &Transfer| {
        let end = one.slot as isize + one.step * one.hops as isize;
        one.slot < slots && (0..slots as isize).contains(&end)
    };
    let all = transfers.iter().all(is_inside);
    all.then_some(())
        .ok_or("the way of a transfer leaves the line")
}

/// Visit the parts of all transfers, with their slots and whether they join the ones before.
fn each_part(
    transfers: &[Transfer],
    slots: usize,
    joining: Joining,
    mut visit: impl FnMut(usize, Part, bool),
) {
    let mut last = vec![Last::default(); slots];
    for transfer in transfers {
        let mut slot = transfer.slot;
        for hop in 0..=transfer.hops {
            let passes = hop > 0 && hop < transfer.hops;
            let stop = match hop {
                _ if hop == transfer.hops => transfer.end,
                0 => transfer.beginning,
                _ => transfer.between,
            };
            let Stop { kind, first, count } = stop;
            let part = Part {
                time: transfer.time,
                kind,
                first,
                count,
            };
            let joins = last[slot].add(part, passes, joining);
            visit(slot, part, joins);
            slot = slot.wrapping_add_signed(transfer.step);
        }
    }
}

impl Last {
    /// The next part of a slot; whether it joins this one.
    fn add(&mut self, part: Part, passes: bool, joining: Joining) -> bool {
        let before = self.part;
        let alike = self.is_there && before.time == part.time && before.kind == part.kind;
        let passed = if alike { self.passed + before.count } else { 0 };
        let filled = passed / joining.most;
        let follows = if passes && !joining.by_length {
            filled == self.filled
        } else if joining.ascends {
            before.first + before.count == part.first
        } else {
            part.first + part.count == before.first
        };
        *self = Last {
            part,
            passed,
            filled,
            is_there: true,
        };
        alike && follows
    }
}

#[cfg(test)]
mod tests {
    use super::{lay, Joining, Part, Stop, Transfer};

    const ASCENDING: Joining = Joining {
        ascends: true,
        most: 100,
        by_length: false,
    };

    fn transfer(slot: usize, hops: usize, first: i64) -> Transfer {
        let stop = |kind| Stop {
            kind,
            first,
            count: 2,
        };
        let (beginning, between, end) = (stop(1), stop(2), stop(3));
        Transfer {
            slot,
            step: 1,
            hops,
            time: 0,
            beginning,
            between,
            end,
        }
    }

    fn kinds(transfers: &[Transfer], joining: Joining) -> Vec<Vec<i64>> {
        let (starts, parts) = lay(transfers, 4, joining);
        let of = |pair: &[usize]| {
            parts[pair[0]..pair[1]]
                .iter()
                .map(|part| part.kind)
                .collect()
        };
        starts.windows(2).map(of).collect()
    }

    #[test]
    fn a_transfer_leaves_a_part_at_every_pe_on_its_way() {
        assert_eq!(kinds(&[transfer(0, 3, 0)], ASCENDING), [[1], [2], [2], [3]]);
    }

    #[test]
    fn a_transfer_of_one_place_ends_there() {
        assert_eq!(
            kinds(&[transfer(2, 0, 0)], ASCENDING),
            [vec![], vec![], vec![3], vec![]]
        );
    }

    #[test]
    fn parts_whose_slices_follow_become_one() {
        let (starts, parts) = lay(&[transfer(0, 1, 0), transfer(0, 1, 2)], 2, ASCENDING);
        assert_eq!(starts, [0, 1, 2]);
        assert_eq!(
            parts[1],
            Part {
                time: 0,
                kind: 3,
                first: 0,
                count: 4
            }
        );
    }

    #[test]
    fn parts_whose_slices_do_not_follow_stay_apart() {
        let both = [transfer(0, 1, 0), transfer(0, 1, 4)];
        assert_eq!(kinds(&both, ASCENDING)[0], [1, 1]);
        let descending = Joining {
            ascends: false,
            ..ASCENDING
        };
        assert_eq!(kinds(&[both[0], transfer(0, 1, 2)], descending)[0], [1, 1]);
        assert_eq!(kinds(&[transfer(0, 1, 2), both[0]], descending)[0], [1]);
    }

    #[test]
    fn what_is_let_pass_joins_whatever_its_slices_are_up_to_a_multiple() {
        let three = [transfer(0, 2, 0), transfer(0, 2, 7), transfer(0, 2, 90)];
        assert_eq!(kinds(&three, ASCENDING)[1], [2]);
        assert_eq!(
            kinds(
                &three,
                Joining {
                    most: 4,
                    ..ASCENDING
                }
            )[1],
            [2, 2]
        );
        assert_eq!(
            kinds(
                &three,
                Joining {
                    by_length: true,
                    ..ASCENDING
                }
            )[1],
            [2, 2, 2]
        );
    }
}
