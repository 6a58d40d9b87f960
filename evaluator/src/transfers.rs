//! The step tables of a line, run without clock and buffers: what moves and what is left in the end.
//!
//! An element moves only when its sender, all PEs that let it pass and its receiver are in the
//! entries that say so, which is less than any fabric does: whatever comes to its end here does so
//! with buffers, too. What a slice holds is a number; combining two gives one that depends on both
//! and on their order.

/// What becomes of the elements that an entry has come in, or has staged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taking {
    Receive {
        stages: bool,
        combines: bool,
    },
    /// What is staged goes to the vector.
    Apply {
        combines: bool,
    },
}

/// Elements from the one with number `from` on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Elements {
    pub from: i64,
    pub count: i64,
}

/// An entry of a step table.
#[derive(Clone, Copy, Debug, Default)]
pub struct Entry {
    pub out: Elements,
    pub into: Elements,
    /// Elements that are let pass.
    pub passed: i64,
    pub taking: Option<Taking>,
    /// Which stage is used.
    pub area: usize,
    /// Whether it ends its lane's part in a step.
    pub ends: bool,
}

/// The step tables of a line; lanes are numbered PE * `lanes_each` + lane.
#[derive(Clone, Debug)]
pub struct Tables {
    pub lanes_each: usize,
    /// Elements go from the last to the first.
    pub backward: bool,
    /// The entries of lane l are those from `start[l]` to `start[l + 1] - 1`.
    pub start: Vec<usize>,
    pub target: Vec<Option<usize>>,
    pub entries: Vec<Entry>,
    /// The elements at which slices begin, ascending, and the end of the last.
    pub bounds: Vec<i64>,
    /// Stages of a PE, each as long as the vector.
    pub areas: usize,
}

impl Tables {
    /// What is wrong with numbers that lead from one part to another, in words.
    pub fn check(&self) -> Result<(), &'static str> {
        let (lanes, entries) = (self.target.len(), self.entries.len());
        if self.lanes_each == 0 || lanes % self.lanes_each > 0 || self.start.len() != lanes + 1 {
            return Err("every PE has as many lanes");
        }
        if self.start.windows(2).any(|pair| pair[0] > pair[1]) || self.start[lanes] > entries {
            return Err("a lane has entries that are not given");
        }
        if self.target.iter().flatten().any(|&target| target >= lanes) {
            return Err("a lane sends to one that is not given");
        }
        if self.entries.iter().any(|entry| entry.area >= self.areas) {
            return Err("an entry uses a stage that is not given");
        }
        let ascend = self.bounds.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascend || self.bounds.first().is_none_or(|&first| first < 0) {
            return Err("slices do not ascend");
        }
        Ok(())
    }
}

/// What no program may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Slices are applied that have not been received.
    NotStaged,
    /// Other slices are received than are sent.
    OtherSlices,
    /// Two transfers of a step are staged in one place.
    StagedTwice,
}

/// What a lane that does not come to its end waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    ForLanes,
    ToPass,
    ToSend,
    ToReceive,
}

/// What the line has come to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// By PE and slice.
    pub held: Vec<u64>,
    /// What was done wrong first, and at which PE.
    pub problem: Option<(Problem, usize)>,
    /// The lanes that have not come to their end.
    pub stuck: Vec<(usize, Waiting)>,
}

/// A number for the combination of two, in this order.
pub fn combined(own: u64, received: u64) -> u64 {
    let second = received.wrapping_mul(0xC2B2_AE3D_27D4_EB4F).wrapping_add(1);
    own.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ second
}

/// Run all entries as far as they come; `held` is what PEs hold before, by PE and slice.
pub fn run(tables: &Tables, held: Vec<u64>) -> Outcome {
    let mut run = Run::new(tables, held);
    let problem = run.move_all().err();
    let lanes = run.lanes.iter().enumerate();
    let stuck = lanes.filter(|(lane, own)| own.at < tables.start[lane + 1]);
    Outcome {
        problem,
        stuck: stuck.map(|(lane, own)| (lane, own.waiting())).collect(),
        held: run.held,
    }
}

/// How far a lane is: its entry, what is left of it, whether it waits for the PE's other lanes to
/// end the step.
#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    at: usize,
    to_send: i64,
    to_pass: i64,
    to_receive: i64,
    waits: bool,
}

impl Lane {
    fn has_left(&self) -> bool {
        self.to_send + self.to_pass + self.to_receive > 0
    }

    fn waiting(&self) -> Waiting {
        match self {
            Lane { waits: true, .. } => Waiting::ForLanes,
            Lane { to_pass: 1.., .. } => Waiting::ToPass,
            Lane { to_send: 1.., .. } => Waiting::ToSend,
            _ => Waiting::ToReceive,
        }
    }
}

/// A transfer of a round, in slices.
struct Transfer {
    sender: usize,
    receiver: usize,
    out: usize,
    into: usize,
    count: usize,
}

struct Run<'a> {
    tables: &'a Tables,
    slices: usize,
    /// By element, the slice that begins there.
    slice_at: Vec<Option<usize>>,
    held: Vec<u64>,
    /// By PE, area and slice; 0 where nothing is staged.
    staged: Vec<u64>,
    lanes: Vec<Lane>,
}

type Checked<T> = Result<T, (Problem, usize)>;

impl<'a> Run<'a> {
    fn new(tables: &'a Tables, held: Vec<u64>) -> Self {
        let (lanes, slices) = (tables.target.len(), tables.bounds.len() - 1);
        let mut slice_at = vec![None; tables.bounds[slices] as usize + 1];
        for (slice, bound) in tables.bounds.iter().enumerate() {
            slice_at[*bound as usize] = Some(slice);
        }
        let at = |lane: usize| Lane {
            at: tables.start[lane],
            ..Lane::default()
        };
        Run {
            tables,
            slices,
            slice_at,
            held,
            staged: vec![0; lanes / tables.lanes_each * tables.areas * slices],
            lanes: (0..lanes).map(at).collect(),
        }
    }

    /// All transfers that can happen happen at once, round by round: what is sent is read before
    /// anything is written.
    fn move_all(&mut self) -> Checked<()> {
        let mut begins: Vec<usize> = (0..self.lanes.len()).collect();
        begins.retain(|&lane| self.lanes[lane].at < self.tables.start[lane + 1]);
        loop {
            for &lane in &begins {
                self.begin(lane)?;
            }
            let transfers = self.transfers()?;
            self.make(&transfers)?;
            begins.clear();
            let ended = self.advance(&mut begins);
            if !ended && transfers.is_empty() {
                return Ok(());
            }
        }
    }

    fn entry(&self, lane: usize) -> &'a Entry {
        &self.tables.entries[self.lanes[lane].at]
    }

    fn pe(&self, lane: usize) -> usize {
        lane / self.tables.lanes_each
    }

    /// The slices that some elements are.
    fn slices(&self, lane: usize, elements: Elements) -> Checked<std::ops::Range<usize>> {
        let at = |element: i64| self.slice_at.get(usize::try_from(element).ok()?).copied()?;
        let ends = (at(elements.from), at(elements.from + elements.count));
        match ends {
            (Some(low), Some(high)) => Ok(low..high),
            _ => Err((Problem::OtherSlices, self.pe(lane))),
        }
    }

    /// The entry that the lane is in begins; if it only applies what is staged, that happens now.
    fn begin(&mut self, lane: usize) -> Checked<()> {
        let (pe, entry) = (self.pe(lane), self.entry(lane));
        let receives = matches!(entry.taking, Some(Taking::Receive { .. }));
        let own = &mut self.lanes[lane];
        own.to_send = entry.out.count;
        own.to_pass = entry.passed;
        own.to_receive = if receives { entry.into.count } else { 0 };
        let Some(Taking::Apply { combines }) = entry.taking else {
            return Ok(());
        };
        for slice in self.slices(lane, entry.into)? {
            let staged =
                &mut self.staged[(pe * self.tables.areas + entry.area) * self.slices + slice];
            if *staged == 0 {
                return Err((Problem::NotStaged, pe));
            }
            let taken = std::mem::take(staged);
            let held = &mut self.held[pe * self.slices + slice];
            *held = if combines {
                combined(*held, taken)
            } else {
                taken
            };
        }
        Ok(())
    }

    /// The transfers that can happen now; their elements are off what is left.
    fn transfers(&mut self) -> Checked<Vec<Transfer>> {
        let mut able = Vec::new();
        for sender in 0..self.lanes.len() {
            if self.lanes[sender].to_send > 0 {
                able.extend(
                    self.pass(sender)
                        .map(|(receiver, count)| (sender, receiver, count)),
                );
            }
        }
        able.into_iter()
            .map(|(from, to, count)| self.transfer(from, to, count))
            .collect()
    }

    /// The lane that takes what a lane sends, and how much can move, if any; that is off what the
    /// PEs between let pass.
    fn pass(&mut self, sender: usize) -> Option<(usize, i64)> {
        let target = &self.tables.target;
        let first = target[sender]?;
        let (mut at, mut count, mut hops) = (first, self.lanes[sender].to_send, 0);
        while self.lanes[at].to_pass > 0 && hops < target.len() {
            count = count.min(self.lanes[at].to_pass);
            at = target[at]?;
            hops += 1;
        }
        let receiver = at;
        count = count.min(self.lanes[receiver].to_receive);
        if self.lanes[receiver].to_pass > 0 || count == 0 {
            return None;
        }
        let mut at = first;
        for _ in 0..hops {
            self.lanes[at].to_pass -= count;
            at = target[at]?;
        }
        Some((receiver, count))
    }

    /// The slices of a transfer, which have to be as many where it is sent as where it is received.
    fn transfer(&mut self, sender: usize, receiver: usize, count: i64) -> Checked<Transfer> {
        let out = self.entry(sender).out;
        let into = self.entry(receiver).into;
        self.lanes[sender].to_send -= count;
        self.lanes[receiver].to_receive -= count;
        let next = |of: Elements, left: i64| {
            let gone = of.count - left - count;
            let from = of.from + if self.tables.backward { left } else { gone };
            Elements { from, count }
        };
        let sent = self.slices(receiver, next(out, self.lanes[sender].to_send))?;
        let taken = self.slices(receiver, next(into, self.lanes[receiver].to_receive))?;
        if sent.len() != taken.len() {
            return Err((Problem::OtherSlices, self.pe(receiver)));
        }
        let count = sent.len();
        Ok(Transfer {
            sender,
            receiver,
            out: sent.start,
            into: taken.start,
            count,
        })
    }

    /// Slices are combined, stored or staged, all of them as they were sent.
    fn make(&mut self, transfers: &[Transfer]) -> Checked<()> {
        let total = transfers.iter().map(|one| one.count).sum();
        let mut values = Vec::with_capacity(total);
        for one in transfers {
            let first = self.pe(one.sender) * self.slices + one.out;
            values.extend_from_slice(&self.held[first..first + one.count]);
        }
        let mut values = values.into_iter();
        for one in transfers {
            for (slice, value) in (one.into..).zip(values.by_ref().take(one.count)) {
                self.arrives(one.receiver, slice, value)?;
            }
        }
        Ok(())
    }

    fn arrives(&mut self, lane: usize, slice: usize, value: u64) -> Checked<()> {
        let (pe, entry) = (self.pe(lane), self.entry(lane));
        let Some(Taking::Receive { stages, combines }) = entry.taking else {
            return Err((Problem::OtherSlices, pe));
        };
        if stages {
            let staged =
                &mut self.staged[(pe * self.tables.areas + entry.area) * self.slices + slice];
            if *staged != 0 {
                return Err((Problem::StagedTwice, pe));
            }
            *staged = value;
        } else {
            let held = &mut self.held[pe * self.slices + slice];
            *held = if combines {
                combined(*held, value)
            } else {
                value
            };
        }
        Ok(())
    }

    /// Lanes whose entries have ended go on, at the end of a step once all lanes of the PE are
    /// there. Whether any have, and which begin an entry.
    fn advance(&mut self, begins: &mut Vec<usize>) -> bool {
        let mut ended = false;
        for lane in 0..self.lanes.len() {
            let (end, own) = (self.tables.start[lane + 1], &mut self.lanes[lane]);
            if own.at == end || own.waits || own.has_left() {
                continue;
            }
            ended = true;
            own.waits = self.tables.entries[own.at].ends;
            own.at += 1;
            if !own.waits && own.at < end {
                begins.push(lane);
            }
        }
        if ended {
            for first in (0..self.lanes.len()).step_by(self.tables.lanes_each) {
                self.join(first..first + self.tables.lanes_each, begins);
            }
        }
        ended
    }

    /// If all lanes of a PE have come to the end of their step, those that wait go on.
    fn join(&mut self, lanes: std::ops::Range<usize>, begins: &mut Vec<usize>) {
        let start = &self.tables.start;
        if lanes
            .clone()
            .any(|lane| !self.lanes[lane].waits && self.lanes[lane].at < start[lane + 1])
        {
            return;
        }
        for lane in lanes {
            let own = &mut self.lanes[lane];
            if std::mem::take(&mut own.waits) && own.at < start[lane + 1] {
                begins.push(lane);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{combined, run, Elements, Entry, Problem, Tables, Taking, Waiting};

    const SEND: Entry = Entry {
        out: Elements { from: 0, count: 2 },
        into: Elements { from: 0, count: 0 },
        passed: 0,
        taking: None,
        area: 0,
        ends: true,
    };

    fn receive(from: i64, taking: Taking) -> Entry {
        let (out, into) = (Elements::default(), Elements { from, count: 2 });
        Entry {
            out,
            into,
            taking: Some(taking),
            ..SEND
        }
    }

    const STORE: Taking = Taking::Receive {
        stages: false,
        combines: false,
    };
    const STAGE: Taking = Taking::Receive {
        stages: true,
        combines: false,
    };

    /// A line of PEs with one lane each, every PE sending to the next; two slices of two elements.
    fn line(tables: &[&[Entry]]) -> Tables {
        let mut start = vec![0];
        start.extend(tables.iter().scan(0, |sum, own| {
            *sum += own.len();
            Some(*sum)
        }));
        let target = |pe: usize| (pe + 1 < tables.len()).then_some(pe + 1);
        Tables {
            lanes_each: 1,
            backward: false,
            start,
            target: (0..tables.len()).map(target).collect(),
            entries: tables.concat(),
            bounds: vec![0, 2, 4],
            areas: 1,
        }
    }

    #[test]
    fn what_is_sent_is_stored_where_the_receiver_says() {
        let outcome = run(&line(&[&[SEND], &[receive(2, STORE)]]), vec![1, 2, 3, 4]);
        assert_eq!((outcome.held, outcome.problem), (vec![1, 2, 3, 1], None));
        assert!(outcome.stuck.is_empty());
    }

    #[test]
    fn it_passes_those_between() {
        let pass = Entry {
            out: Elements::default(),
            passed: 2,
            ..SEND
        };
        let outcome = run(
            &line(&[&[SEND], &[pass], &[receive(0, STORE)]]),
            vec![1, 2, 3, 4, 5, 6],
        );
        assert_eq!(outcome.held, [1, 2, 3, 4, 1, 6]);
        assert!(outcome.stuck.is_empty());
    }

    #[test]
    fn what_is_staged_arrives_when_it_is_applied() {
        let taken = [
            receive(0, STAGE),
            receive(0, Taking::Apply { combines: true }),
        ];
        let outcome = run(&line(&[&[SEND], &taken]), vec![1, 2, 3, 4]);
        assert_eq!(outcome.held, [1, 2, combined(3, 1), 4]);
        assert_eq!(
            run(&line(&[&[SEND], &taken[..1]]), vec![1, 2, 3, 4]).held,
            [1, 2, 3, 4]
        );
    }

    #[test]
    fn nobody_applies_what_is_not_there_or_stages_twice() {
        let apply = receive(0, Taking::Apply { combines: false });
        let outcome = run(&line(&[&[], &[apply]]), vec![1, 2, 3, 4]);
        assert_eq!(outcome.problem, Some((Problem::NotStaged, 1)));
        let twice = line(&[&[SEND, SEND], &[receive(0, STAGE), receive(0, STAGE)]]);
        assert_eq!(
            run(&twice, vec![1, 2, 3, 4]).problem,
            Some((Problem::StagedTwice, 1))
        );
    }

    #[test]
    fn slices_are_received_as_they_are_sent() {
        let outcome = run(&line(&[&[SEND], &[receive(1, STORE)]]), vec![1, 2, 3, 4]);
        assert_eq!(outcome.problem, Some((Problem::OtherSlices, 1)));
    }

    #[test]
    fn who_waits_is_told_with_what_for() {
        let outcome = run(&line(&[&[SEND], &[]]), vec![1, 2, 3, 4]);
        assert_eq!(outcome.stuck, [(0, Waiting::ToSend)]);
        let outcome = run(&line(&[&[], &[receive(0, STORE)]]), vec![1, 2, 3, 4]);
        assert_eq!(outcome.stuck, [(1, Waiting::ToReceive)]);
    }

    #[test]
    fn combining_depends_on_the_order() {
        assert_ne!(combined(1, 2), combined(2, 1));
        assert_ne!(combined(combined(1, 2), 3), combined(1, combined(2, 3)));
    }
}
