//! What is wrong when nothing moves any more: of what waits for ever, who waits for whom, to the end.

use std::collections::{HashMap, HashSet};

use super::faults::{Fault, Kind};
use super::plan::{opposite, Op, EAST, NORTH, RAMP, SOUTH, WEST};
use super::state::{Machine, Progress, Waits, NONE};

/// What does not come, or who does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Wait {
    /// A PE that does not come to the end of its stage, or to the next.
    Pe(usize),
    /// A lane.
    Lane(u32),
    /// An operation.
    Op(u32),
    /// A router that lets other words in than come.
    Router(usize),
    /// Words that a router lets in from a side.
    Words(usize, u8),
    /// A PE that does not receive a color.
    Deaf(usize),
    /// A router that is to be torn down.
    Up(usize),
}

/// Who waits for whom; operations under way by PE.
struct Search<'m, 'a> {
    machine: &'m Machine<'a>,
    ops: HashMap<usize, Vec<u32>>,
}

/// So many PEs that wait are looked at for a cause that is no circle.
const LOOKED_AT: usize = 64;

impl Machine<'_> {
    /// What is wrong once nothing moves any more, if anything is.
    pub(super) fn faults_at_end(&self) -> Vec<Fault> {
        let waiting = (0..self.pes.len()).filter(|pe| self.has_stages_left(*pe));
        let search = Search::new(self);
        let mut circle = None;
        for pe in waiting.take(LOOKED_AT) {
            match search.cause(pe) {
                (fault, false) => return vec![fault],
                (fault, true) => circle = circle.or(Some(fault)),
            }
        }
        if let Some(fault) = circle {
            return vec![fault];
        }
        self.left_over()
            .into_iter()
            .chain(self.not_as_at_first())
            .collect()
    }

    /// Routers that are not as at first: the first one of each color.
    fn not_as_at_first(&self) -> Vec<Fault> {
        let mut found: Vec<Option<Fault>> = vec![None; self.given.colors.len()];
        for slot in 0..self.routers.len() {
            let (pe, color) = (self.pe_of(slot), self.color_of(slot));
            if found[color as usize].is_some() || self.routers[slot].setting == NONE {
                continue;
            }
            let router = self.routers[slot];
            let (name, of) = (self.name(pe), self.color(color));
            let (kind, text) = if self.given.torn_down[color as usize] {
                let text = format!("the router of {name} on {of} is not torn down at the end");
                (Kind::NotTornDown, text)
            } else if router.position > 0 {
                let at = router.position;
                let text = format!("the router of {name} on {of} ends in position {at}");
                (Kind::NotReturned, text)
            } else if self.is_within(slot) {
                let text = format!("the filter of {name} on {of} ends within a period");
                (Kind::NotReturned, text)
            } else {
                continue;
            };
            found[color as usize] = Some(Fault::at(kind, pe, text).on(color));
        }
        found.into_iter().flatten().collect()
    }

    fn is_within(&self, slot: usize) -> bool {
        let window = self.filters.get(self.routers[slot].filter as usize);
        window.is_some_and(|one| one.period > 0 && self.routers[slot].passed % one.period != 0)
    }
}

impl<'m, 'a> Search<'m, 'a> {
    fn new(machine: &'m Machine<'a>) -> Self {
        let free: HashSet<u32> = machine.free.iter().copied().collect();
        let mut ops: HashMap<usize, Vec<u32>> = HashMap::new();
        for (index, op) in machine.ops.iter().enumerate() {
            if !free.contains(&(index as u32)) {
                ops.entry(op.pe as usize).or_default().push(index as u32);
            }
        }
        Search { machine, ops }
    }

    /// Why a PE waits for ever; whether what it waits for waits for itself.
    fn cause(&self, pe: usize) -> (Fault, bool) {
        let name = self.machine.name(pe);
        let (mut seen, mut path) = (HashSet::new(), Vec::new());
        let (mut at, mut last_op, mut torn_down) = (Wait::Pe(pe), None, None);
        while seen.insert(at) {
            path.push(at);
            match (at, torn_down) {
                (Wait::Op(op), _) => last_op = Some(op),
                (Wait::Up(slot), _) | (Wait::Words(slot, RAMP), Some(_)) => torn_down = Some(slot),
                _ => {}
            }
            match self.next(at, last_op) {
                Ok(next) => at = next,
                Err((slot, why)) => {
                    let there = self.machine.pe_of(slot);
                    let is_there = |op: &u32| self.machine.ops[*op as usize].pe as usize == there;
                    let torn_down = torn_down.is_some() || self.is_left_up(slot, last_op);
                    let kind = if torn_down {
                        Kind::NotTornDown
                    } else {
                        Kind::Stuck
                    };
                    let text = format!("{name} waits for ever: {why}");
                    let op = last_op.filter(is_there);
                    return (
                        self.fault(kind, there, Some(slot), op, text).with(pe),
                        false,
                    );
                }
            }
        }
        if let Some(slot) = torn_down {
            let (there, color) = (self.machine.pe_of(slot), self.machine.color_of(slot));
            let (from, color) = (self.machine.name(there), self.machine.color(color));
            let text =
                format!("{name} waits for ever: no teardown follows what {from} sends on {color}");
            return (
                self.fault(Kind::NotTornDown, there, Some(slot), None, text)
                    .with(pe),
                false,
            );
        }
        (self.circle(pe, &path, at), true)
    }

    /// Whether a router is still as it was set for a stage before that of the words that wait.
    fn is_left_up(&self, slot: usize, last_op: Option<u32>) -> bool {
        let machine = self.machine;
        let stage = last_op.map_or(0, |op| machine.ops[op as usize].stage);
        let router = machine.routers[slot];
        let torn_down = machine.given.torn_down[machine.color_of(slot) as usize];
        torn_down && router.setting != NONE && router.since < stage
    }

    /// What waits for itself: told at a router of it that does not let in what waits for it, first of
    /// all words of its own PE.
    fn circle(&self, pe: usize, path: &[Wait], again: Wait) -> Fault {
        let (machine, name) = (self.machine, self.machine.name(pe));
        let first = path.iter().position(|one| *one == again).unwrap_or(0);
        let waits = path[first..].iter().cycle().skip(path.len() - first - 1);
        let pairs = waits.zip(path[first..].iter());
        let routers: Vec<(usize, u32)> = pairs
            .filter_map(|pair| match pair {
                (Wait::Op(op), Wait::Router(slot)) => Some((*slot, *op)),
                _ => None,
            })
            .collect();
        let of = |op: u32| machine.ops[op as usize].pe as usize;
        let own = |(slot, op): &&(usize, u32)| machine.pe_of(*slot) == of(*op);
        let Some((slot, op)) = routers.iter().find(own).or(routers.first()).copied() else {
            let op = path[first..].iter().find_map(|one| match one {
                Wait::Op(op) => Some(*op),
                _ => None,
            });
            let there = op.map_or(pe, of);
            let text = format!("{name} waits for ever: what it waits for waits for itself");
            return self.fault(Kind::Stuck, there, None, op, text).with(pe);
        };
        let there = machine.pe_of(slot);
        let (at, color) = (machine.name(there), machine.color(machine.color_of(slot)));
        let text = match machine.route(slot) {
            Some(route) => format!(
                "{name} waits for ever: the router of {at} is in position {} of {color}, for words from \
                 the {}, and those wait for words of {}, which it does not let in",
                machine.routers[slot].position,
                name_of(route.receive),
                machine.name(of(op))
            ),
            None => format!(
                "{name} waits for ever: the router of {at} is not set on {color}, and is not before \
                 words of {} come, which it does not let in",
                machine.name(of(op))
            ),
        };
        let op = Some(op).filter(|op| of(*op) == there);
        self.fault(Kind::Stuck, there, Some(slot), op, text)
            .with(pe)
    }

    fn fault(
        &self,
        kind: Kind,
        pe: usize,
        slot: Option<usize>,
        op: Option<u32>,
        text: String,
    ) -> Fault {
        let machine = self.machine;
        if let Some(op) = op {
            let mut fault = *machine.fault(kind, &machine.ops[op as usize], text);
            fault.color = slot.map(|slot| machine.color_of(slot)).or(fault.color);
            return fault;
        }
        let color = slot.map_or(0, |slot| machine.color_of(slot));
        *machine.fault_at(kind, pe, color, text)
    }

    /// What something waits for; or the slot at which nothing more comes, and why.
    fn next(&self, at: Wait, last_op: Option<u32>) -> Result<Wait, (usize, String)> {
        match at {
            Wait::Pe(pe) => Ok(self.of_pe(pe)),
            Wait::Lane(lane) => Ok(self.of_lane(lane)),
            Wait::Op(op) => Ok(self.of_op(op)),
            Wait::Router(slot) => self.of_router(slot, last_op),
            Wait::Words(slot, side) => self.of_words(slot, side, last_op),
            Wait::Deaf(slot) => self.of_deaf(slot, last_op),
            Wait::Up(slot) => match self.machine.route(slot) {
                Some(route) => Ok(Wait::Words(slot, route.receive)),
                None => Ok(Wait::Pe(self.machine.pe_of(slot))),
            },
        }
    }

    fn of_pe(&self, pe: usize) -> Wait {
        let own = &self.machine.pes[pe];
        if own.down_first != NONE {
            return Wait::Up(own.down_first as usize);
        }
        let lanes = own.first_lane..own.first_lane + own.lanes;
        let progress = |lane: u32| {
            self.machine.lanes[lane as usize]
                .as_ref()
                .map(|one| one.progress)
        };
        let runs = |lane: &u32| progress(*lane) == Some(Progress::Runs);
        let waits = |lane: &u32| progress(*lane) == Some(Progress::Waits);
        let found = lanes.clone().find(runs).or(lanes.clone().find(waits));
        Wait::Lane(found.unwrap_or(own.first_lane))
    }

    fn of_lane(&self, lane: u32) -> Wait {
        let machine = self.machine;
        let pe = machine.pe_of_lane(lane);
        let ops = self.ops.get(&pe).into_iter().flatten();
        let op = ops
            .copied()
            .find(|op| machine.ops[*op as usize].lane == lane);
        if let Some(op) = op {
            return Wait::Op(op);
        }
        let own = &machine.pes[pe];
        let mut lanes = own.first_lane..own.first_lane + own.lanes;
        let of = |lane: u32| machine.lanes[lane as usize].as_ref();
        let steps = of(lane).map_or(0, |one| one.steps);
        let late = lanes.find(|other| {
            of(*other).is_some_and(|one| one.progress != Progress::Done && one.steps < steps)
        });
        late.map_or(Wait::Pe(pe), Wait::Lane)
    }

    fn of_op(&self, index: u32) -> Wait {
        let op = &self.machine.ops[index as usize];
        match op.waits {
            Waits::Router(slot) => Wait::Router(slot as usize),
            Waits::Receiver(slot) => Wait::Deaf(slot as usize),
            Waits::Lane => {
                let first = self.machine.pes[op.pe as usize].first_lane;
                Wait::Lane(first + op.op.after.unwrap_or(0) as u32)
            }
            Waits::No => {
                let color = op.op.receive.color().or(op.op.send.color()).unwrap_or(0);
                let slot = self.machine.slot(op.pe as usize, color);
                match self.machine.route(slot) {
                    Some(route) => Wait::Words(slot, route.receive),
                    None => Wait::Router(slot),
                }
            }
        }
    }

    fn of_router(&self, slot: usize, last_op: Option<u32>) -> Result<Wait, (usize, String)> {
        let machine = self.machine;
        let (pe, color) = (machine.pe_of(slot), machine.color_of(slot));
        if let Some(route) = machine.route(slot) {
            let stage = last_op.map_or(NONE, |op| machine.ops[op as usize].stage);
            if stage < machine.routers[slot].closed_to {
                let (name, color) = (machine.name(pe), machine.color(color));
                let why =
                    format!("the router of {name} is set back on {color} before its last words");
                return Err((slot, why));
            }
            return Ok(Wait::Words(slot, route.receive));
        }
        let later = machine
            .given
            .stages
            .iter()
            .enumerate()
            .any(|(number, stage)| {
                let after =
                    machine.pes[pe].stage == NONE || number > machine.pes[pe].stage as usize;
                let (phase, sets) = (
                    &machine.given.phases[stage.phase],
                    &machine.shapes[stage.phase].sets,
                );
                let own = &phase.sets[sets[pe] as usize..sets[pe + 1] as usize];
                after && own.iter().any(|set| set.color == color)
            });
        if later {
            return Ok(Wait::Pe(pe));
        }
        let (name, color) = (machine.name(pe), machine.color(color));
        Err((
            slot,
            format!("the router of {name} is not set on {color} any more"),
        ))
    }

    fn of_words(
        &self,
        slot: usize,
        side: u8,
        last_op: Option<u32>,
    ) -> Result<Wait, (usize, String)> {
        let machine = self.machine;
        let (pe, color) = (machine.pe_of(slot), machine.color_of(slot));
        if side == RAMP {
            let sends = |op: &&u32| machine.ops[**op as usize].op.sends_on() == Some(color);
            if let Some(op) = self.ops.get(&pe).into_iter().flatten().find(sends) {
                return Ok(Wait::Op(*op));
            }
            if self.later(pe, last_op, |op| op.sends_on() == Some(color)) {
                return Ok(Wait::Pe(pe));
            }
            return Err((
                slot,
                self.nothing_more(slot, "its own PE, which sends nothing more there"),
            ));
        }
        let Some(neighbour) = machine.given.neighbour(pe, side) else {
            return Err((slot, self.nothing_more(slot, "beyond the grid")));
        };
        let other = machine.slot(neighbour, color);
        let Some(route) = machine.route(other) else {
            if machine.given.torn_down[color as usize] {
                return Ok(Wait::Router(other));
            }
            let from = format!("the {}, where no router is set for it", name_of(side));
            return Err((slot, self.nothing_more(slot, &from)));
        };
        let setting = &machine.given.settings[machine.routers[other].setting as usize];
        let mut positions = setting.positions.iter();
        if positions.any(|position| position.sends_to(opposite(side))) {
            return Ok(Wait::Words(other, route.receive));
        }
        let from = format!(
            "the {}, where {} sends none",
            name_of(side),
            machine.name(neighbour)
        );
        Err((slot, self.nothing_more(slot, &from)))
    }

    fn nothing_more(&self, slot: usize, from: &str) -> String {
        let machine = self.machine;
        let (pe, color) = (machine.pe_of(slot), machine.color_of(slot));
        let router = machine.routers[slot];
        let how = if router.closed_to > 0 {
            "has been set back to"
        } else {
            "is in"
        };
        format!(
            "the router of {} {how} position {} of {}, for words from {from}",
            machine.name(pe),
            router.position,
            machine.color(color)
        )
    }

    fn of_deaf(&self, slot: usize, last_op: Option<u32>) -> Result<Wait, (usize, String)> {
        let machine = self.machine;
        let (pe, color) = (machine.pe_of(slot), machine.color_of(slot));
        let receives = |op: &&u32| machine.ops[**op as usize].op.receives_on() == Some(color);
        if let Some(op) = self.ops.get(&pe).into_iter().flatten().find(receives) {
            return Ok(Wait::Op(*op));
        }
        if self.later(pe, last_op, |op| op.receives_on() == Some(color)) {
            return Ok(Wait::Pe(pe));
        }
        let (name, color) = (machine.name(pe), machine.color(color));
        Err((
            slot,
            format!("words on {color} come to {name}, which receives no more of them"),
        ))
    }

    /// Whether a PE has an operation before it that has not begun, in no later call than the one that
    /// waits for it.
    fn later(&self, pe: usize, waits: Option<u32>, is: impl Fn(&Op) -> bool) -> bool {
        let machine = self.machine;
        let own = &machine.pes[pe];
        let here = |place: i64, op: &Op| op.r#where.at(place) != 0 && is(op);
        let call = |stage: u32| machine.given.stages[stage as usize].call;
        let last = waits.map_or(usize::MAX, |op| call(machine.ops[op as usize].stage));
        let all = machine.given.stages.len() as u32;
        if own.stage < all && call(own.stage) > last {
            return false;
        }
        for lane in own.first_lane..own.first_lane + own.lanes {
            let Some(lane) = &machine.lanes[lane as usize] else {
                continue;
            };
            let place = machine.phase_of(own.stage).place_at[pe] as i64;
            for (number, one) in lane.lane.loops.iter().enumerate() {
                let begun = lane.at_loop != usize::MAX && number <= lane.at_loop;
                let current = begun && number == lane.at_loop;
                let from = match (begun, current) {
                    (true, false) => continue,
                    (_, true) if lane.progress == Progress::Done => continue,
                    (_, true) if lane.turn + 1 >= lane.turns => lane.entry + 1,
                    _ => 0,
                };
                let ops = one.entries[from..].iter().flat_map(|entry| &entry.ops);
                if (current || one.turns.at(place) > 0) && ops.clone().any(|op| here(place, op)) {
                    return true;
                }
            }
        }
        let next = own.stage.wrapping_add(1) as usize;
        machine.given.stages[next.min(machine.given.stages.len())..]
            .iter()
            .filter(|stage| stage.call <= last)
            .any(|stage| {
                let phase = &machine.given.phases[stage.phase];
                let role = usize::try_from(phase.role_at[pe])
                    .ok()
                    .map(|role| &phase.roles[role]);
                let mut ops = role
                    .into_iter()
                    .flat_map(|role| role.lanes.iter().flat_map(|lane| lane.ops()));
                ops.any(|op| here(phase.place_at[pe] as i64, op))
            })
    }
}

fn name_of(side: u8) -> &'static str {
    match side {
        NORTH => "north",
        EAST => "east",
        SOUTH => "south",
        WEST => "west",
        _ => "ramp",
    }
}
