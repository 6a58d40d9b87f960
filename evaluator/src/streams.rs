//! Streams: a line of routers that take turns, and PEs with a few long operations, cycle by cycle.
//!
//! A PE has one slot in a cycle: what receives goes first, then what only sends; of several, each in
//! turn. A wavelet that is sent is in the PE's own router `ramp_up` cycles later, at the next one
//! `hop` later, and can be used `ramp_down` cycles after it has left a router for the PE. A router
//! hands its first wavelet on when every output has room and the next router lets it in.

use std::collections::VecDeque;

/// Cycles and, of queues, wavelets of the machine.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "python", derive(pyo3::FromPyObject))]
pub struct Machine {
    pub ramp_up: i64,
    pub ramp_down: i64,
    pub hop: i64,
    pub router_queue: usize,
    pub output_queue: usize,
    pub input_queue: usize,
}

/// A side of a router: towards lower places, towards higher ones, or the PE.
pub const LOWER: usize = 0;
pub const HIGHER: usize = 1;
pub const RAMP: usize = 2;

/// What a router does with a color: from which side, to which (a bit for each), position by
/// position, which may follow each other in a ring; of a filter the period, its first count and how
/// many pass.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "python", derive(pyo3::FromPyObject))]
pub struct Router {
    pub positions: Vec<(usize, usize)>,
    pub filter: Option<(i64, i64, i64)>,
    pub ring: bool,
}

/// An operation of a PE: the colors it receives and sends on, its wavelets, the operation whose end
/// it waits for, the cycles from there (or from the common start) to its first slot, and what
/// follows its last wavelet: the own router's next position, the first position of all routers on
/// the way, or commands for the next routers in a ring, each of which takes one off.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "python", derive(pyo3::FromPyObject))]
pub struct Operation {
    pub receives: Option<usize>,
    pub sends: Option<usize>,
    pub wavelets: i64,
    pub after: Option<usize>,
    pub begins: i64,
    pub advances: bool,
    pub resets: bool,
    pub commands: u8,
}

/// A place of the line: the routers of all colors, the PE's operations.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "python", derive(pyo3::FromPyObject))]
pub struct Place {
    pub routers: Vec<Router>,
    pub operations: Vec<Operation>,
}

/// Operations of these places wait for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck(pub Vec<usize>);

#[derive(Clone, Copy, Debug)]
struct Wavelet {
    ready: i64,
    mark: Mark,
}

/// What a wavelet does to routers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Data,
    Last, // of an operation that moves its own router on
    Reset,
    Commands(u8),
}

impl Mark {
    fn is_control(self) -> bool {
        matches!(self, Mark::Reset | Mark::Commands(_))
    }
}

/// A color at a place.
#[derive(Clone, Debug, Default)]
struct Channel {
    position: usize,
    counted: i64,
    router: VecDeque<Wavelet>,
    output: VecDeque<Wavelet>,
    input: VecDeque<i64>,
}

struct Line<'a> {
    machine: &'a Machine,
    places: &'a [Place],
    colors: usize,
    channels: Vec<Channel>,
    left: Vec<Vec<i64>>,
    ends: Vec<Vec<i64>>,
    turn: Vec<usize>,
    now: i64,
    /// Places, colors and sides of the wavelets that leave a router in this cycle.
    handed: Vec<(usize, usize, usize)>,
}

const OPEN: i64 = i64::MAX;

/// The cycle in which the last wavelet of every operation is taken or sent, by place.
pub fn ends(machine: &Machine, places: &[Place]) -> Result<Vec<Vec<i64>>, Stuck> {
    let colors = places
        .iter()
        .map(|one| one.routers.len())
        .max()
        .unwrap_or(0);
    let mut line = Line {
        machine,
        places,
        colors,
        channels: vec![Channel::default(); places.len() * colors],
        left: numbers(places, |one| one.wavelets),
        ends: numbers(
            places,
            |one| if one.wavelets > 0 { OPEN } else { one.begins },
        ),
        turn: vec![0; places.len()],
        now: 0,
        handed: Vec::new(),
    };
    let mut idle = 0;
    while !line.is_over() {
        idle = if line.cycle() { 0 } else { idle + 1 };
        if idle > line.patience() {
            return Err(line.stuck());
        }
    }
    Ok(line.ends)
}

fn numbers(places: &[Place], of: impl Fn(&Operation) -> i64 + Copy) -> Vec<Vec<i64>> {
    let each = |one: &Place| one.operations.iter().map(of).collect();
    places.iter().map(each).collect()
}

impl Line<'_> {
    fn is_over(&self) -> bool {
        self.left.iter().flatten().all(|left| *left == 0)
    }

    /// Cycles without anything that moves after which nothing will.
    fn patience(&self) -> i64 {
        let operations = self.places.iter().flat_map(|one| &one.operations);
        let waits = operations.map(|one| one.begins).max().unwrap_or(0);
        waits + self.machine.hop + self.machine.ramp_up + self.machine.ramp_down
    }

    fn stuck(&self) -> Stuck {
        let waits = |at: &usize| self.left[*at].iter().any(|left| *left > 0);
        Stuck((0..self.places.len()).filter(waits).collect())
    }

    /// One cycle; whether anything moved.
    fn cycle(&mut self) -> bool {
        let mut moved = false;
        for at in 0..self.places.len() {
            moved |= self.rise(at);
            moved |= self.process(at);
        }
        let mut handed = std::mem::take(&mut self.handed);
        for at in 0..self.places.len() {
            let mut links = 0; // a link carries one wavelet a cycle
            for turn in 0..self.colors {
                let color = (self.now as usize + turn) % self.colors;
                if let Some(sides) = self.lets_go(at, color, links) {
                    links |= sides;
                    handed.push((at, color, sides));
                }
            }
        }
        moved |= !handed.is_empty();
        for &(at, color, sides) in &handed {
            self.hand_on(at, color, sides);
        }
        handed.clear();
        self.handed = handed;
        self.now += 1;
        moved
    }

    /// The slot of a PE; whether somebody had it.
    fn process(&mut self, at: usize) -> bool {
        let operations = &self.places[at].operations;
        let count = operations.len();
        for receiving in [true, false] {
            for step in 0..count {
                let number = (self.turn[at] + step) % count;
                if operations[number].receives.is_some() == receiving && self.can_go(at, number) {
                    self.step(at, number);
                    self.turn[at] = number + 1;
                    return true;
                }
            }
        }
        false
    }

    fn can_go(&self, at: usize, number: usize) -> bool {
        let one = &self.places[at].operations[number];
        let from = one.after.map_or(0, |other| self.ends[at][other]);
        if self.left[at][number] == 0 || from == OPEN || self.now < from + one.begins {
            return false;
        }
        let there = one.receives.is_none_or(|color| {
            let first = self.channels[at * self.colors + color].input.front();
            first.is_some_and(|ready| *ready <= self.now)
        });
        there
            && one.sends.is_none_or(|color| {
                self.channels[at * self.colors + color].output.len() < self.machine.output_queue
            })
    }

    fn step(&mut self, at: usize, number: usize) {
        let one = &self.places[at].operations[number];
        self.left[at][number] -= 1;
        let over = self.left[at][number] == 0;
        if over {
            self.ends[at][number] = self.now;
        }
        if let Some(color) = one.receives {
            self.channels[at * self.colors + color].input.pop_front();
        }
        if let Some(color) = one.sends {
            let mark = match (over, one.resets, one.commands, one.advances) {
                (true, true, _, _) => Mark::Reset,
                (true, _, 1.., _) => Mark::Commands(one.commands),
                (true, _, _, true) => Mark::Last,
                _ => Mark::Data,
            };
            let ready = self.now + self.machine.ramp_up - 1;
            let output = &mut self.channels[at * self.colors + color].output;
            output.push_back(Wavelet { ready, mark });
        }
    }

    /// A wavelet goes up the ramp into the PE's own router; whether one does.
    fn rise(&mut self, at: usize) -> bool {
        for turn in 0..self.colors {
            let color = (self.now as usize + turn) % self.colors;
            let positions = &self.places[at].routers.get(color).map(|one| &one.positions);
            let channel = &mut self.channels[at * self.colors + color];
            let open = positions
                .is_some_and(|all| all.get(channel.position).is_some_and(|one| one.0 == RAMP));
            let due = channel
                .output
                .front()
                .is_some_and(|one| one.ready <= self.now);
            if !(open && due && channel.router.len() < self.machine.router_queue) {
                continue;
            }
            if let Some(mut wavelet) = channel.output.pop_front() {
                wavelet.ready = self.now + 1;
                if wavelet.mark == Mark::Last {
                    channel.position += 1;
                    wavelet.mark = Mark::Data;
                }
                channel.router.push_back(wavelet);
            }
            return true;
        }
        false
    }

    /// The sides to which the first wavelet of a color can leave a router, a bit for each; those
    /// of other colors are `taken` in this cycle.
    fn lets_go(&self, at: usize, color: usize, taken: usize) -> Option<usize> {
        let channel = &self.channels[at * self.colors + color];
        let wavelet = channel.router.front().filter(|one| one.ready <= self.now)?;
        // beyond the last position nothing leads on
        let router = &self.places[at].routers[color];
        let &(_, mut sides) = router.positions.get(channel.position)?;
        let ramp = 1 << RAMP;
        if sides & ramp > 0 && (wavelet.mark.is_control() || !self.passes(at, color)) {
            sides &= !ramp;
        }
        let free = sides & taken == 0;
        let has_room = |side: &usize| sides >> side & 1 == 0 || self.has_room(at, color, *side);
        (free && [LOWER, HIGHER, RAMP].iter().all(has_room)).then_some(sides)
    }

    fn passes(&self, at: usize, color: usize) -> bool {
        let counted = self.channels[at * self.colors + color].counted;
        let filter = self.places[at].routers[color].filter;
        filter.is_none_or(|(period, first, count)| (counted + first) % period < count)
    }

    fn has_room(&self, at: usize, color: usize, side: usize) -> bool {
        if side == RAMP {
            let channel = &self.channels[at * self.colors + color];
            return channel.input.len() < self.machine.input_queue;
        }
        let Some((next, from)) = self.neighbour(at, side) else {
            return false;
        };
        let channel = &self.channels[next * self.colors + color];
        let positions = &self.places[next].routers[color].positions;
        let lets_in = positions
            .get(channel.position)
            .is_some_and(|one| one.0 == from);
        lets_in && channel.router.len() < self.machine.router_queue
    }

    fn neighbour(&self, at: usize, side: usize) -> Option<(usize, usize)> {
        if side == LOWER {
            return at.checked_sub(1).map(|next| (next, HIGHER));
        }
        let next = at + 1;
        let there = next < self.places.len() && !self.places[next].routers.is_empty();
        there.then_some((next, LOWER))
    }

    fn hand_on(&mut self, at: usize, color: usize, sides: usize) {
        let index = at * self.colors + color;
        let Some(mut wavelet) = self.channels[index].router.pop_front() else {
            return;
        };
        let router = &self.places[at].routers[color];
        let channel = &mut self.channels[index];
        match wavelet.mark {
            Mark::Reset => channel.position = 0,
            Mark::Commands(left) if left > 0 && router.ring => {
                channel.position = (channel.position + 1) % router.positions.len();
                wavelet.mark = Mark::Commands(left - 1);
            }
            Mark::Commands(_) => {}
            _ => channel.counted += 1,
        }
        for side in (0..3).filter(|side| sides >> side & 1 == 1) {
            if side == RAMP {
                let ready = self.now + self.machine.ramp_down;
                self.channels[index].input.push_back(ready);
            } else if let Some((next, _)) = self.neighbour(at, side) {
                let ready = self.now + self.machine.hop;
                let router = &mut self.channels[next * self.colors + color].router;
                router.push_back(Wavelet { ready, ..wavelet });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: Machine = Machine {
        ramp_up: 3,
        ramp_down: 2,
        hop: 1,
        router_queue: 4,
        output_queue: 2,
        input_queue: 4,
    };

    fn router(positions: &[(usize, usize)]) -> Router {
        Router {
            positions: positions.to_vec(),
            ..Router::default()
        }
    }

    fn sends(wavelets: i64, advances: bool) -> Operation {
        Operation {
            sends: Some(0),
            wavelets,
            advances,
            ..Operation::default()
        }
    }

    fn place(positions: &[(usize, usize)], operation: Operation) -> Place {
        Place {
            routers: vec![router(positions)],
            operations: vec![operation],
        }
    }

    /// Three PEs that send `own` wavelets each to the first.
    fn gather(own: i64) -> Vec<Place> {
        let receives = Operation {
            receives: Some(0),
            wavelets: 2 * own,
            ..Operation::default()
        };
        vec![
            place(&[(HIGHER, 1 << RAMP)], receives),
            place(
                &[(RAMP, 1 << LOWER), (HIGHER, 1 << LOWER)],
                sends(own, true),
            ),
            place(&[(RAMP, 1 << LOWER)], sends(own, false)),
        ]
    }

    #[test]
    fn words_of_a_gather_follow_each_other_without_a_gap() {
        let found = ends(&MACHINE, &gather(8)).expect("it comes to its end");
        assert_eq!(found[0], [3 + 1 + 2 + 2 * 8 - 1]);
    }

    #[test]
    fn a_router_that_never_takes_turns_is_told_of() {
        let mut line = gather(8);
        line[1].routers[0].positions.pop();
        assert_eq!(ends(&MACHINE, &line), Err(Stuck(vec![0, 2])));
    }

    /// The first of three PEs sends, then the one between, whose router first lets pass; `commands`
    /// are in the wavelet behind the first one's words.
    fn handed_over(own: i64, commands: u8) -> Vec<Place> {
        let control = Operation {
            sends: Some(0),
            wavelets: 1,
            after: Some(0),
            commands,
            ..Operation::default()
        };
        let receives = |wavelets| Operation {
            receives: Some(0),
            wavelets,
            ..Operation::default()
        };
        let mut first = place(&[(RAMP, 1 << HIGHER)], sends(own, false));
        first.operations.push(control);
        let ring = [(LOWER, 1 << HIGHER | 1 << RAMP), (RAMP, 1 << HIGHER)];
        let mut second = place(&ring, sends(own, false));
        second.routers[0].ring = true;
        second.operations.push(receives(own));
        let third = place(&[(LOWER, 1 << RAMP)], receives(2 * own));
        vec![first, second, third]
    }

    #[test]
    fn a_turn_is_handed_over_by_a_command() {
        let found = ends(&MACHINE, &handed_over(8, 1)).expect("it comes to its end");
        assert!(found[2][0] > found[1][0]);
        assert_eq!(ends(&MACHINE, &handed_over(8, 0)), Err(Stuck(vec![1, 2])));
    }

    #[test]
    fn a_filter_lets_a_pe_have_its_part() {
        let mut line = vec![
            place(&[(RAMP, 1 << HIGHER)], sends(6, false)),
            place(
                &[(LOWER, 1 << RAMP)],
                Operation {
                    receives: Some(0),
                    wavelets: 2,
                    ..Operation::default()
                },
            ),
        ];
        line[1].routers[0].filter = Some((6, 2, 2));
        let found = ends(&MACHINE, &line).expect("it comes to its end");
        assert_eq!(found[1], [3 + 1 + 2 + 6 - 1]);
    }
}
