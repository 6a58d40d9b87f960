//! Places of a stream that do the same in every cycle, and so are not looked at: they sleep.
//!
//! The PE of a sleeping place has no slot. Each color of its router either hands on data in every
//! cycle, as it gets some, or hands on nothing and gets nothing; that is its habit. A place wakes
//! when a wait or a filter's count is over (its alarm), when a neighbour that is awake has room and
//! had none, or the other way round, and when such a neighbour hands it something else than it is
//! used to. Then it is as it would be had it been followed, before a wavelet of that cycle moves.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::streams::{Line, Mark, Wavelet, HIGHER, LOWER, OPEN, RAMP};

/// What a color of a sleeping place does in every cycle: the side from which it gets a wavelet, the
/// sides to which it gives one, the neighbours on whose room that depends, and those that have some;
/// of sides, a bit for each.
#[derive(Clone, Copy, Debug, Default)]
struct Habit {
    gets: usize,
    gives: usize,
    depends: usize,
    room: usize,
}

/// Who sleeps, and what has to be known to fall asleep.
#[derive(Debug)]
pub(crate) struct Sleepers {
    may_sleep: bool,
    pub awake: Vec<usize>,
    /// By place, the first cycle that it sleeps through.
    since: Vec<Option<i64>>,
    alarms: BinaryHeap<Reverse<(i64, usize)>>,
    habits: Vec<Habit>,
    /// By place, whether its PE or its ramp did anything in this cycle.
    pub busy: Vec<bool>,
    /// By place and color, when it last got a wavelet of a neighbour; when it last gave one, and to
    /// which sides.
    pub got: Vec<i64>,
    pub gives: Vec<(i64, usize)>,
}

impl Sleepers {
    pub fn new(places: usize, colors: usize, may_sleep: bool) -> Sleepers {
        Sleepers {
            may_sleep,
            awake: (0..places).collect(),
            since: vec![None; places],
            alarms: BinaryHeap::new(),
            habits: vec![Habit::default(); places * colors],
            busy: vec![false; places],
            got: vec![-1; places * colors],
            gives: vec![(-1, 0); places * colors],
        }
    }

    pub fn sleeps(&self, at: usize) -> bool {
        self.since[at].is_some()
    }
}

impl Line<'_> {
    /// The sides to which the router of a place that is awake gives a wavelet in this cycle.
    pub fn given(&self, at: usize, color: usize) -> Option<usize> {
        let (when, sides) = self.sleepers.gives[at * self.colors + color];
        (when == self.now).then_some(sides)
    }

    /// Whoever has its alarm in this cycle wakes.
    pub fn wake_who_is_due(&mut self) {
        while let Some(&Reverse((due, at))) = self.sleepers.alarms.peek() {
            if due > self.now {
                return;
            }
            self.sleepers.alarms.pop();
            self.wake(at);
        }
    }

    /// With nobody awake, nothing moves until the next alarm; without any, never.
    pub fn skip_to_alarm(&mut self) {
        if self.sleepers.awake.is_empty() {
            let next = self.sleepers.alarms.peek();
            self.now = next.map_or(OPEN, |Reverse((due, _))| *due);
        }
    }

    /// Neighbours of those awake wake where room is not as it was. Nobody else has to, since what
    /// wakes has as much room as before.
    pub fn wake_whose_room_changes(&mut self) {
        for index in 0..self.sleepers.awake.len() {
            for (next, side) in self.sleeping_neighbours(self.sleepers.awake[index]) {
                let changes = |color: usize| {
                    let habit = self.habit(next, color);
                    let had_room = habit.room >> side & 1 == 1;
                    habit.depends >> side & 1 == 1 && self.has_room(next, color, side) != had_room
                };
                if (0..self.colors).any(changes) {
                    self.wake(next);
                }
            }
        }
    }

    /// Those to whom is given what they are not used to wake, and give what they are used to;
    /// whether any does.
    pub fn wake_who_gets_otherwise(&mut self) -> bool {
        let mut gives = false;
        for index in 0..self.sleepers.awake.len() {
            let at = self.sleepers.awake[index];
            for (next, side) in self.sleeping_neighbours(at) {
                let otherwise = |color: usize| {
                    let gets = self.gives_to(at, color, 1 - side);
                    gets != (self.habit(next, color).gets >> side & 1 == 1).then_some(Mark::Data)
                };
                if (0..self.colors).any(otherwise) {
                    self.wake(next);
                    gives |= self.decide(next);
                }
            }
        }
        gives
    }

    /// What the router of a place gives to a side in this cycle.
    fn gives_to(&self, at: usize, color: usize, side: usize) -> Option<Mark> {
        let sides = self.given(at, color)?;
        let first = self.channel(at, color).router.front()?;
        (sides >> side & 1 == 1).then_some(first.mark)
    }

    /// A place that is awake gets what its sleeping neighbours give.
    pub fn take_from_sleepers(&mut self, at: usize) {
        for (next, side) in self.sleeping_neighbours(at) {
            for color in 0..self.colors {
                if self.habit(next, color).gives >> side & 1 == 1 {
                    self.arrive(at, color, Mark::Data);
                }
            }
        }
    }

    fn habit(&self, at: usize, color: usize) -> Habit {
        self.sleepers.habits[at * self.colors + color]
    }

    /// The neighbours of a place that sleep, and the side of them that it is on.
    fn sleeping_neighbours(&self, at: usize) -> impl Iterator<Item = (usize, usize)> {
        let sleeps = |next: &usize| *next < self.places.len() && self.sleepers.sleeps(*next);
        let lower = at.checked_sub(1).filter(sleeps).map(|next| (next, HIGHER));
        let higher = Some(at + 1).filter(sleeps).map(|next| (next, LOWER));
        [lower, higher].into_iter().flatten()
    }

    /// A place is as it would be had it been followed.
    fn wake(&mut self, at: usize) {
        let Some(since) = self.sleepers.since[at].take() else {
            return;
        };
        let slept = self.now - since;
        for color in 0..self.colors {
            if self.habit(at, color).gets == 0 {
                continue;
            }
            let channel = &mut self.channels[at * self.colors + color];
            channel.counted += slept;
            let left = slept.min(channel.router.len() as i64);
            channel.router.drain(..left as usize);
            let ready = self.now - left + self.machine.hop;
            let mark = Mark::Data;
            let arrived = (0..left).map(|later| Wavelet {
                ready: ready + later,
                mark,
            });
            channel.router.extend(arrived);
        }
        self.sleepers.awake.push(at);
    }

    /// Those that will do the same in the next cycles fall asleep.
    pub fn fall_asleep(&mut self) {
        if !self.sleepers.may_sleep {
            return;
        }
        let mut awake = std::mem::take(&mut self.sleepers.awake);
        awake.retain(|at| {
            let alarm = if self.sleepers.busy[*at] {
                None
            } else {
                self.alarm(*at)
            };
            if let Some(due) = alarm {
                self.sleepers.since[*at] = Some(self.now + 1);
                if due < OPEN {
                    self.sleepers.alarms.push(Reverse((due, *at)));
                }
            }
            alarm.is_none()
        });
        self.sleepers.awake = awake;
    }

    /// Up to which cycle a place has habits, which are written down; None if it has none.
    fn alarm(&mut self, at: usize) -> Option<i64> {
        let mut due = self.next_begin(at)?;
        let mut links = 0;
        for color in 0..self.colors {
            let (habit, until) = self.habit_of(at, color)?;
            if links & habit.gives > 0 {
                return None; // colors alternate on a link
            }
            links |= habit.gives;
            due = due.min(until);
            self.sleepers.habits[at * self.colors + color] = habit;
        }
        Some(due)
    }

    /// The cycle in which the first of the PE's operations that wait for their time goes, or code;
    /// None if one goes before.
    fn next_begin(&self, at: usize) -> Option<i64> {
        let code = &self.code[at];
        let mut due = if code.left > 0 { code.from } else { OPEN };
        for (number, one) in self.places[at].operations.iter().enumerate() {
            let start = self.starts[at][number];
            let empty = |color| self.channel(at, color).input.is_empty();
            let full = |color| self.channel(at, color).output.len() >= self.machine.output_queue;
            let waits = one.receives.is_some_and(empty) || one.sends.is_some_and(full);
            if self.left[at][number] == 0 || start == OPEN || waits {
                continue;
            }
            due = due.min(start);
        }
        (due > self.now + 1).then_some(due)
    }

    /// What a color does in the next cycles, and up to which one; None if that is not known.
    fn habit_of(&self, at: usize, color: usize) -> Option<(Habit, i64)> {
        let (index, channel) = (at * self.colors + color, self.channel(at, color));
        let positions = self.places[at].routers.get(color).map(|one| &one.positions);
        let from = positions
            .and_then(|all| all.get(channel.position))
            .map(|one| one.0);
        let has_room = channel.router.len() < self.machine.router_queue;
        if from == Some(RAMP) && has_room && !channel.output.is_empty() {
            return None;
        }
        let gets = self.sleepers.got[index] == self.now;
        match (gets, self.given(at, color)) {
            (true, Some(sides)) => self.flowing(at, color, sides),
            (false, None) => self.waiting(at, color).map(|habit| (habit, OPEN)),
            _ => None, // a neighbour may be used to what is over
        }
    }

    /// A color that gets a wavelet and gives one in every cycle, up to the next that its PE takes.
    fn flowing(&self, at: usize, color: usize, sides: usize) -> Option<(Habit, i64)> {
        let channel = self.channel(at, color);
        let router = &self.places[at].routers[color];
        let &(from, leaves) = router.positions.get(channel.position)?;
        let plain = |(later, one): (i64, &Wavelet)| {
            one.mark == Mark::Data && one.ready <= self.now + 1 + later
        };
        let steady = channel.router.len() as i64 >= self.machine.hop
            && (0..).zip(&channel.router).all(plain)
            && self.sides(at, color, Mark::Data) == Some(sides)
            && sides & (1 << RAMP) == 0;
        if !steady || from == RAMP {
            return None;
        }
        let filter = router.filter.filter(|_| leaves >> RAMP & 1 == 1);
        let until = filter.map_or(OPEN, |(period, first, _)| {
            self.now + 1 + period - (channel.counted + first) % period
        });
        let habit = Habit {
            gets: 1 << from,
            gives: sides,
            depends: sides,
            room: sides,
        };
        Some((habit, until))
    }

    /// A color that gives nothing, as long as its neighbours have no room for what is there.
    fn waiting(&self, at: usize, color: usize) -> Option<Habit> {
        let Some(first) = self.channel(at, color).router.front() else {
            return Some(Habit::default());
        };
        if first.ready > self.now + 1 {
            return None;
        }
        let Some(sides) = self.sides(at, color, first.mark) else {
            return Some(Habit::default());
        };
        let has_room = |side: &usize| sides >> side & 1 == 1 && self.has_room(at, color, *side);
        let with_room = [LOWER, HIGHER, RAMP].into_iter().filter(has_room);
        let room = with_room.map(|side| 1 << side).sum();
        let depends = sides & !(1 << RAMP);
        (room != sides).then_some(Habit {
            depends,
            room,
            ..Habit::default()
        })
    }
}
