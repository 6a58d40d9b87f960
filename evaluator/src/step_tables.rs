//! Step tables of a line: every transfer is laid out at all lanes on its way, and what a lane can do
//! at the same time becomes a row. Parts of transfers are made one with their neighbours at once: of a
//! quarter of a million transfers that are relayed between 512 PEs there would be 45 million otherwise.

use crate::patterns::Numbers;

/// Bits that say what a row does.
#[derive(Clone, Copy, Debug)]
pub struct Kinds {
    pub sends: i64,
    pub relays: i64,
    pub applies: i64,
    pub ends: i64,
}

/// A transfer, or what is done at one lane: the slot (lane of a PE) where it begins, the distance to
/// the next slot on its way and how many there are behind the first, and its time. `first` and `into`
/// are the first slices at its ends, `count` their number, `passed` what is counted between, and
/// `taken` is the kind of the row at its end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transfer {
    pub slot: usize,
    pub step: isize,
    pub hops: usize,
    pub time: i64,
    pub first: i64,
    pub into: i64,
    pub count: i64,
    pub passed: i64,
    pub taken: i64,
}

/// How parts of a lane become one, and rows.
#[derive(Clone, Copy, Debug)]
pub enum Joining {
    /// On a route of its own a transfer is one operation at both ends, so that the n-th sent and the
    /// n-th received of a time are a row; only what is applied joins.
    Circuits,
    /// All parts join; a part that is received behind one that is sent shares its row.
    Relays {
        /// Whether slices ascend.
        ascends: bool,
        /// Elements: those that are relayed join whatever their slices are, unless a multiple of so
        /// many has been passed since the first of them. None where slices are counted: those that
        /// are relayed join if they are neighbours, whichever way they go.
        most: Option<i64>,
    },
}

/// Rows `starts[slot]` to `starts[slot + 1] - 1` are those of a slot: their times, and their numbers,
/// kind, first slice that is sent or relayed and how many, first that is received or applied and how
/// many.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    pub starts: Vec<usize>,
    pub times: Vec<i64>,
    pub numbers: Vec<Numbers>,
}

/// What a transfer is at a lane on its way: slices that are treated alike at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Part {
    time: i64,
    kind: i64,
    first: i64,
    count: i64,
}

/// A line of PEs: `slots` in all, `lanes` of them a PE.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    pub slots: usize,
    pub lanes: usize,
    pub kinds: Kinds,
}

impl Line {
    /// What is wrong with transfers, in words.
    pub fn check(&self, transfers: impl Iterator<Item = Transfer>) -> Result<(), &'static str> {
        let is_inside = |one: Transfer| {
            let way = isize::try_from(one.hops).ok()?.checked_mul(one.step)?;
            let end = one.slot.checked_add_signed(way)?;
            Some(one.slot < self.slots && end < self.slots)
        };
        if self.lanes == 0 || self.slots % self.lanes != 0 {
            return Err("every PE has the same number of lanes");
        }
        let mut time = i64::MIN;
        for one in transfers {
            if !is_inside(one).unwrap_or(false) {
                return Err("the way of a transfer leaves the line");
            }
            if one.time < time {
                return Err("transfers are in the order of their times");
            }
            time = one.time;
        }
        Ok(())
    }

    /// The rows of each slot, one slot's after the other's, and where each slot's begin. Transfers are
    /// given in the order in which lanes do them. At a time at which a PE does something each of its
    /// lanes that does anything at all has a row, and the last of them says so if several do.
    pub fn rows(
        &self,
        transfers: impl Iterator<Item = Transfer> + Clone,
        joining: Joining,
    ) -> Rows {
        let (starts, parts) = self.parts(transfers, joining);
        let mut found = Rows {
            starts: vec![0],
            times: Vec::with_capacity(parts.len()),
            numbers: Vec::with_capacity(parts.len()),
        };
        for first in (0..self.slots).step_by(self.lanes) {
            let lanes: Vec<&[Part]> = (first..first + self.lanes)
                .map(|slot| &parts[starts[slot]..starts[slot + 1]])
                .collect();
            self.rows_of_pe(&lanes, joining, &mut found);
        }
        found
    }

    /// Whether fewer parts are left where slices descend along relays.
    pub fn is_shorter_descending(
        &self,
        transfers: impl Iterator<Item = Transfer> + Clone,
        most: Option<i64>,
    ) -> bool {
        let count = |ascends| {
            let mut count = 0;
            let joining = Joining::Relays { ascends, most };
            self.each_part(transfers.clone(), joining, |_, _, joins| {
                count += usize::from(!joins)
            });
            count
        };
        count(false) < count(true)
    }

    /// The parts of each slot, one slot's after the other's, and where each slot's begin. A part is
    /// joined to the one before it in its slot if that has the same time and kind and its slices
    /// follow.
    fn parts(
        &self,
        transfers: impl Iterator<Item = Transfer> + Clone,
        joining: Joining,
    ) -> (Vec<usize>, Vec<Part>) {
        let mut starts = vec![0; self.slots + 1];
        self.each_part(transfers.clone(), joining, |slot, _, joins| {
            starts[slot + 1] += usize::from(!joins);
        });
        for slot in 0..self.slots {
            starts[slot + 1] += starts[slot];
        }
        let mut parts = vec![Part::default(); starts[self.slots]];
        let mut ends = starts.clone();
        self.each_part(transfers, joining, |slot, part, joins| {
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

    /// Visit the parts of all transfers, with their slots and whether they join the ones before.
    fn each_part(
        &self,
        transfers: impl Iterator<Item = Transfer>,
        joining: Joining,
        mut visit: impl FnMut(usize, Part, bool),
    ) {
        let relays = self.kinds.relays;
        let mut last = vec![Last::default(); self.slots];
        for one in transfers {
            let mut slot = one.slot;
            for hop in 0..=one.hops {
                let (kind, first, count) = match hop {
                    _ if hop == one.hops => (one.taken, one.into, one.count),
                    0 => (self.kinds.sends, one.first, one.count),
                    _ => (relays, one.first, one.passed),
                };
                let part = Part {
                    time: one.time,
                    kind,
                    first,
                    count,
                };
                let joins = last[slot].add(part, self.kinds, joining);
                visit(slot, part, joins);
                slot = slot.wrapping_add_signed(one.step);
            }
        }
    }

    /// The rows of all lanes of a PE, one lane's after the other's: of each, time by time, what it does
    /// then, or an empty row where only others do something.
    fn rows_of_pe(&self, lanes: &[&[Part]], joining: Joining, found: &mut Rows) {
        let several = lanes.iter().filter(|own| !own.is_empty()).count() > 1;
        let parts = lanes.iter().copied().flatten();
        let mut times: Vec<i64> = parts.map(|part| part.time).collect();
        times.sort_unstable();
        times.dedup();
        for own in lanes {
            let mut rest = *own;
            let own_times = if own.is_empty() {
                &[]
            } else {
                times.as_slice()
            };
            for &time in own_times {
                let begin = found.numbers.len();
                let count = rest.iter().take_while(|part| part.time == time).count();
                self.rows_at(&rest[..count], joining, &mut found.numbers);
                rest = &rest[count..];
                if found.numbers.len() == begin {
                    found.numbers.push(Numbers::default());
                }
                if several {
                    let last = found.numbers.len() - 1;
                    found.numbers[last][0] |= self.kinds.ends;
                }
                found.times.resize(found.numbers.len(), time);
            }
            found.starts.push(found.numbers.len());
        }
    }

    /// The rows of a lane at a time.
    fn rows_at(&self, parts: &[Part], joining: Joining, rows: &mut Vec<Numbers>) {
        let begin = rows.len();
        let puts_out = |part: &Part| part.kind & (self.kinds.sends | self.kinds.relays) != 0;
        let (mut out, mut into, mut before) = (0, 0, 0);
        for part in parts {
            let at = match joining {
                Joining::Circuits => {
                    let of_kind = if puts_out(part) { &mut out } else { &mut into };
                    *of_kind += 1;
                    begin + *of_kind - 1
                }
                Joining::Relays { .. } => {
                    let beside = before & self.kinds.sends != 0 && !puts_out(part);
                    rows.len() - usize::from(beside)
                }
            };
            before = part.kind;
            if at == rows.len() {
                rows.push(Numbers::default());
            }
            let [kind, rest @ ..] = &mut rows[at];
            *kind |= part.kind;
            let slices = if puts_out(part) {
                &mut rest[..2]
            } else {
                &mut rest[2..]
            };
            slices.copy_from_slice(&[part.first, part.count]);
        }
    }
}

/// The last part of a slot, with what was passed before it joined its last neighbour, and the slices
/// of all that it has joined, `from` the first `to` the one behind the last.
#[derive(Clone, Copy, Default)]
struct Last {
    part: Part,
    from: i64,
    to: i64,
    passed: i64,
    filled: i64,
    is_there: bool,
}

impl Last {
    /// The next part of a slot; whether it joins this one.
    fn add(&mut self, part: Part, kinds: Kinds, joining: Joining) -> bool {
        let before = self.part;
        let alike = self.is_there && before.time == part.time && before.kind == part.kind;
        let ascends = before.first + before.count == part.first;
        let descends = part.first + part.count == before.first;
        let passed = if alike { self.passed + before.count } else { 0 };
        let mut filled = 0;
        let follows = match joining {
            Joining::Circuits => part.kind & kinds.applies != 0 && ascends,
            Joining::Relays {
                most: Some(most), ..
            } if part.kind & kinds.relays != 0 => {
                filled = passed / most.max(1);
                filled == self.filled
            }
            Joining::Relays { most: None, .. } if part.kind & kinds.relays != 0 => {
                self.to == part.first || part.first + part.count == self.from
            }
            Joining::Relays { ascends: true, .. } => ascends,
            Joining::Relays { ascends: false, .. } => descends,
        };
        let joins = alike && follows;
        let (from, to) = (part.first, part.first + part.count);
        *self = Last {
            part,
            from: if joins { from.min(self.from) } else { from },
            to: if joins { to.max(self.to) } else { to },
            passed,
            filled,
            is_there: true,
        };
        joins
    }
}

#[cfg(test)]
mod tests {
    use super::{Joining, Kinds, Line, Numbers, Transfer};

    const SENDS: i64 = 2;
    const RELAYS: i64 = 4;
    const RECEIVES: i64 = 8;
    const APPLIES: i64 = 64;
    const ENDS: i64 = 1;
    const ASCENDING: Joining = Joining::Relays {
        ascends: true,
        most: Some(100),
    };

    fn line(slots: usize, lanes: usize) -> Line {
        let kinds = Kinds {
            sends: SENDS,
            relays: RELAYS,
            applies: APPLIES,
            ends: ENDS,
        };
        Line {
            slots,
            lanes,
            kinds,
        }
    }

    fn transfer(slot: usize, hops: usize, first: i64) -> Transfer {
        Transfer {
            slot,
            step: 1,
            hops,
            time: 0,
            first,
            into: first,
            count: 2,
            passed: 2,
            taken: RECEIVES,
        }
    }

    fn by_slot(transfers: &[Transfer], joining: Joining, line: Line) -> Vec<Vec<Numbers>> {
        let rows = line.rows(transfers.iter().copied(), joining);
        let of = |pair: &[usize]| rows.numbers[pair[0]..pair[1]].to_vec();
        rows.starts.windows(2).map(of).collect()
    }

    fn kinds(transfers: &[Transfer], joining: Joining) -> Vec<Vec<i64>> {
        let of = |rows: &Vec<Numbers>| rows.iter().map(|row| row[0]).collect();
        let rows = by_slot(transfers, joining, line(4, 1));
        rows.iter().map(of).collect()
    }

    #[test]
    fn a_transfer_leaves_a_row_at_every_pe_on_its_way() {
        let along = [[SENDS], [RELAYS], [RELAYS], [RECEIVES]];
        assert_eq!(kinds(&[transfer(0, 3, 0)], ASCENDING), along);
    }

    #[test]
    fn what_is_done_at_one_lane_is_taken_there() {
        assert_eq!(
            kinds(&[transfer(2, 0, 0)], ASCENDING),
            [vec![], vec![], vec![RECEIVES], vec![]]
        );
    }

    #[test]
    fn parts_whose_slices_follow_become_one() {
        let both = [transfer(0, 1, 0), transfer(0, 1, 2)];
        let rows = by_slot(&both, ASCENDING, line(2, 1));
        assert_eq!(rows[1], [[RECEIVES, 0, 0, 0, 4]]);
    }

    #[test]
    fn parts_whose_slices_do_not_follow_stay_apart() {
        let both = [transfer(0, 1, 0), transfer(0, 1, 4)];
        assert_eq!(kinds(&both, ASCENDING)[0], [SENDS, SENDS]);
        let descending = Joining::Relays {
            ascends: false,
            most: Some(100),
        };
        assert_eq!(
            kinds(&[both[0], transfer(0, 1, 2)], descending)[0],
            [SENDS, SENDS]
        );
        assert_eq!(kinds(&[transfer(0, 1, 2), both[0]], descending)[0], [SENDS]);
    }

    #[test]
    fn slices_descend_where_that_leaves_fewer_parts() {
        let both = [transfer(0, 1, 2), transfer(0, 1, 0)];
        let is_shorter = |transfers: [Transfer; 2]| {
            line(4, 1).is_shorter_descending(transfers.into_iter(), None)
        };
        assert!(is_shorter(both));
        assert!(!is_shorter([both[1], both[0]]));
    }

    #[test]
    fn what_is_relayed_joins_whatever_its_slices_are_up_to_a_multiple() {
        let three = [transfer(0, 2, 0), transfer(0, 2, 7), transfer(0, 2, 90)];
        let up_to = |most| Joining::Relays {
            ascends: true,
            most,
        };
        assert_eq!(kinds(&three, ASCENDING)[1], [RELAYS]);
        assert_eq!(kinds(&three, up_to(Some(4)))[1], [RELAYS; 2]);
        assert_eq!(kinds(&three, up_to(None))[1], [RELAYS; 3]);
    }

    #[test]
    fn slices_that_are_relayed_join_their_neighbours_whichever_way_they_go() {
        let three = [transfer(0, 2, 4), transfer(0, 2, 2), transfer(0, 2, 6)];
        let counted = Joining::Relays {
            ascends: true,
            most: None,
        };
        assert_eq!(
            by_slot(&three, counted, line(4, 1))[1],
            [[RELAYS, 2, 6, 0, 0]]
        );
        let again = [three[0], three[1], three[0]];
        assert_eq!(kinds(&again, counted)[1], [RELAYS; 2]);
    }

    #[test]
    fn on_circuits_the_nth_sent_and_the_nth_received_share_a_row() {
        let back = |first| Transfer {
            step: -1,
            ..transfer(1, 1, first)
        };
        let four = [transfer(0, 1, 0), transfer(0, 1, 2), back(6), back(8)];
        let rows = by_slot(&four, Joining::Circuits, line(2, 1));
        let both = SENDS | RECEIVES;
        assert_eq!(rows[0], [[both, 0, 2, 6, 2], [both, 2, 2, 8, 2]]);
    }

    #[test]
    fn on_circuits_what_is_applied_joins() {
        let apply = |first| Transfer {
            hops: 0,
            taken: APPLIES,
            ..transfer(0, 0, first)
        };
        assert_eq!(
            kinds(&[apply(0), apply(2), apply(6)], Joining::Circuits)[0],
            [APPLIES; 2]
        );
    }

    #[test]
    fn lanes_of_a_pe_have_rows_of_the_same_times() {
        let later = Transfer {
            time: 1,
            ..transfer(1, 0, 0)
        };
        let both = [transfer(0, 0, 0), later];
        let rows = line(4, 2).rows(both.into_iter(), ASCENDING);
        let kinds: Vec<i64> = rows.numbers.iter().map(|row| row[0]).collect();
        assert_eq!(rows.starts, [0, 2, 4, 4, 4]);
        assert_eq!(rows.times, [0, 1, 0, 1]);
        assert_eq!(kinds, [RECEIVES | ENDS, ENDS, ENDS, RECEIVES | ENDS]);
    }
}
