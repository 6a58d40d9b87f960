//! The state of a machine: routers, lanes, operations under way, what PEs hold.

use std::collections::{HashMap, VecDeque};

use super::faults::{Checked, Fault, Kind};
use super::order::Touched;
use super::plan::{Filter, Given, Lane, Op, Phase, Route, Slices};

pub const NONE: u32 = u32::MAX;

/// A router on a color: its setting, if it has one, and the position it is in; of its filter the
/// wavelets that it has counted. What belongs to a stage before `closed_to` finds it closed, since a
/// reset has passed. One that is torn down between stages was set in stage `since`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Router {
    pub setting: u32,
    pub position: u32,
    pub filter: u32,
    pub closed_to: u32,
    pub since: u32,
    pub passed: i64,
}

/// Where words go that come to an open router from one side: to another router, from a side of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Skip {
    pub to: u32,
    pub from_side: u8,
    pub to_side: u8,
}

/// A filter of a router, in wavelets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub period: i64,
    pub before: i64,
    pub passes: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// Its entry has ended, or none has begun.
    Idle,
    /// The PE's other lanes have not ended the step.
    Waits,
    Runs,
    Done,
}

/// How far a lane is: the turn of the loop, the entry, which operations are `open`. `count` are the
/// entries that have begun, `began` how many had when each step began. Of lanes that something comes
/// `awaited` behind it is known; two bits each, as `Touched` has them.
#[derive(Clone, Debug)]
pub(super) struct LaneRun<'a> {
    pub lane: &'a Lane,
    pub progress: Progress,
    pub at_loop: usize,
    pub offset: usize,
    pub turn: i64,
    pub turns: i64,
    pub entry: usize,
    pub open: u32,
    pub steps: u32,
    pub count: u32,
    pub began: Vec<u32>,
    pub awaited: u128,
    pub to_receive: i64,
    pub to_send: i64,
}

/// Whom an operation waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    No,
    /// A router that does not let its words in.
    Router(u32),
    /// A PE that does not receive, by the slot of the color.
    Receiver(u32),
    /// Another lane of the PE.
    Lane,
}

/// An operation under way: slices from `first` on, so many `per` vector, `total` of all vectors; a
/// relay counts wavelets that are `left`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Running<'a> {
    pub op: &'a Op,
    pub pe: u32,
    pub lane: u32,
    pub stage: u32,
    pub entry: u32,
    pub first: u32,
    pub per: u32,
    pub total: u32,
    pub done: u32,
    pub left: i64,
    pub next: u32,
    pub came_back: bool,
    pub waits: Waits,
}

impl Running<'_> {
    pub fn relays(&self) -> bool {
        self.op.action == super::plan::Action::Relay
    }

    pub fn over(&self) -> bool {
        self.done == self.total && self.left == 0
    }

    /// How many slices of the vector that it is at it has not moved; a vector is moved to its end.
    pub fn left_of_vector(&self) -> u32 {
        self.per - self.done % self.per
    }

    /// Which of the slices that have elements the one with a number is.
    pub fn slice(&self, number: u32) -> u32 {
        self.first + self.op.slices.nth(number % self.per, self.per)
    }
}

/// A PE: the stage that it is in, and its lanes there.
#[derive(Clone, Debug)]
pub(super) struct Pe {
    pub stage: u32,
    pub first_lane: u32,
    pub lanes: u32,
    /// The slot that has to be torn down before it goes on.
    pub down_first: u32,
    /// Operations that come after other lanes.
    pub pending: Vec<u32>,
}

/// What a phase comes to: its slices that have elements, how many there are before each slice, the
/// wavelets before each; where the settings of each PE begin; by role whether to follow who touches
/// what, and whether anything comes after another lane.
pub(super) struct Shape {
    pub slices: Vec<u32>,
    pub before: Vec<u32>,
    pub weights: Vec<i64>,
    pub sets: Vec<u32>,
    pub touches: Vec<bool>,
    pub follows: Vec<bool>,
}

/// What is staged for a slice: nothing, or what has been taken or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Staged {
    Nothing,
    Fresh(u64),
    Taken(u64),
}

/// Words that wait at their receiver: values by atom, who has sent them, and whose slice they are, which
/// and in which stage; whether its elements are `turned`.
#[derive(Clone, Debug)]
pub(super) struct Parked {
    pub values: Vec<u64>,
    pub from: u32,
    pub pe: u32,
    pub stage: u32,
    pub slice: u32,
    pub turned: bool,
}

/// Words that a PE has received: slices of an operation, and who has sent them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    pub stage: u32,
    pub pe: u32,
    pub lane: u32,
    pub op: u32,
    pub from: u32,
    pub slices: u32,
}

/// Who could go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ready {
    Op(u32),
    Parked(u32),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Due {
    Lane(u32),
    Begin(u32),
    /// An operation that came after another lane.
    Start(u32),
}

pub struct Machine<'a> {
    pub(super) given: &'a Given,
    pub(super) shapes: Vec<Shape>,
    pub(super) routers: Vec<Router>,
    pub(super) filters: Vec<Window>,
    pub(super) skips: Vec<Skip>,
    pub(super) receiving: Vec<u32>,
    pub(super) sending: Vec<u32>,
    pub(super) at_router: Vec<u32>,
    pub(super) at_receiver: Vec<u32>,
    pub(super) pes: Vec<Pe>,
    pub(super) lanes: Vec<Option<LaneRun<'a>>>,
    pub(super) ops: Vec<Running<'a>>,
    pub(super) free: Vec<u32>,
    pub(super) held: Vec<Vec<u64>>,
    pub(super) staged: Vec<Vec<Staged>>,
    pub(super) touched: Vec<Touched>,
    pub(super) parked: HashMap<u32, Parked>,
    pub(super) small: Vec<(u32, u32)>,
    pub(super) taken_up: Vec<u32>,
    pub(super) ready: VecDeque<Ready>,
    pub(super) due: Vec<Due>,
    pub(super) begins: Vec<u32>,
    pub(super) dice: Option<u64>,
    pub(super) events: u64,
    pub(super) receipts: Option<Vec<Receipt>>,
    pub(super) way: super::ways::Way,
    pub(super) closure: super::moves::Closure<'a>,
}

impl<'a> Machine<'a> {
    /// A machine before anything has moved; `held` is by call what PEs hold when they begin it.
    pub fn new(
        given: &'a Given,
        held: Vec<Vec<u64>>,
        order: Option<u64>,
        receipts: bool,
    ) -> Checked<Self> {
        let (pes, slots) = (given.pes(), given.pes() * given.colors.len());
        let closed = Router {
            setting: NONE,
            position: 0,
            filter: NONE,
            closed_to: 0,
            since: 0,
            passed: 0,
        };
        let skip = Skip {
            to: NONE,
            from_side: 0,
            to_side: 0,
        };
        let most = most_lanes(given);
        let mut first = 0;
        let mut places = Vec::with_capacity(pes);
        for lanes in &most {
            places.push(Pe {
                stage: NONE,
                first_lane: first,
                lanes: 0,
                down_first: NONE,
                pending: Vec::new(),
            });
            first += lanes;
        }
        let mut machine = Machine {
            given,
            shapes: given.phases.iter().map(|one| shape(one, pes)).collect(),
            routers: vec![closed; slots],
            filters: Vec::new(),
            skips: vec![skip; slots],
            receiving: vec![NONE; slots],
            sending: vec![NONE; slots],
            at_router: vec![NONE; slots],
            at_receiver: vec![NONE; slots],
            pes: places,
            lanes: vec![None; first as usize],
            ops: Vec::new(),
            free: Vec::new(),
            held,
            staged: vec![Vec::new(); pes],
            touched: vec![Touched::default(); pes],
            parked: HashMap::new(),
            small: Vec::new(),
            taken_up: Vec::new(),
            ready: VecDeque::new(),
            due: Vec::new(),
            begins: Vec::new(),
            dice: order.map(|seed| seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1),
            events: 0,
            receipts: receipts.then(Vec::new),
            way: Default::default(),
            closure: Default::default(),
        };
        machine.set_at_first()?;
        Ok(machine)
    }

    pub(super) fn slot(&self, pe: usize, color: u32) -> usize {
        pe * self.given.colors.len() + color as usize
    }

    pub(super) fn pe_of(&self, slot: usize) -> usize {
        slot / self.given.colors.len()
    }

    pub(super) fn color_of(&self, slot: usize) -> u32 {
        (slot % self.given.colors.len()) as u32
    }

    /// The position that a router is in; none of one that is not set.
    pub(super) fn route(&self, slot: usize) -> Option<Route> {
        let router = self.routers[slot];
        let setting = self.given.settings.get(router.setting as usize)?;
        setting.positions.get(router.position as usize).copied()
    }

    pub(super) fn phase_of(&self, stage: u32) -> &'a Phase {
        &self.given.phases[self.given.stages[stage as usize].phase]
    }

    pub(super) fn shape_of(&self, stage: u32) -> &Shape {
        &self.shapes[self.given.stages[stage as usize].phase]
    }

    /// The atoms of one of the slices that have elements, and the one behind the last.
    pub(super) fn atoms(&self, stage: u32, pe: usize, slice: u32) -> (u32, u32) {
        let phase = self.phase_of(stage);
        let slice = self.shape_of(stage).slices[slice as usize] as usize;
        let cuts = &phase.cuts[phase.cut_at[pe] as usize];
        (cuts[slice], cuts[slice + 1])
    }

    /// Where the values of a PE begin in what its call holds, with the call.
    pub(super) fn memory(&self, stage: u32, pe: usize) -> (usize, usize) {
        let call = self.given.stages[stage as usize].call;
        let row = self.given.rows[call][pe].max(0) as usize;
        (call, row * self.given.atoms[call])
    }

    /// Colors that are not torn down are as some phase sets them, all the time.
    fn set_at_first(&mut self) -> Checked<()> {
        for phase in 0..self.given.phases.len() {
            for index in 0..self.given.phases[phase].sets.len() {
                let set = self.given.phases[phase].sets[index];
                if self.given.torn_down[set.color as usize] {
                    continue;
                }
                let slot = self.slot(set.pe as usize, set.color);
                let before = self.routers[slot];
                self.set(phase, index, 0);
                let now = self.routers[slot];
                let alike = self.same(before, now);
                if before.setting != NONE && !alike {
                    let pe = self.name(set.pe as usize);
                    let color = self.color(set.color);
                    let text = format!("the router of {pe} is set twice on {color}, and not alike");
                    return Err(Box::new(
                        Fault::at(Kind::SetTwice, set.pe as usize, text).on(set.color),
                    ));
                }
            }
        }
        Ok(())
    }

    fn same(&self, one: Router, other: Router) -> bool {
        let setting = |of: Router| self.given.settings.get(of.setting as usize);
        let filter = |of: Router| self.filters.get(of.filter as usize);
        setting(one) == setting(other) && filter(one) == filter(other)
    }

    /// A phase sets one of its routers, in a stage.
    pub(super) fn set(&mut self, phase: usize, index: usize, since: u32) {
        let of = &self.given.phases[phase];
        let set = of.sets[index];
        let (pe, slot) = (set.pe as usize, self.slot(set.pe as usize, set.color));
        let filter = set.filter.map_or(NONE, |filter| {
            let place = of.place_at[pe] as i64;
            let of = &of.filters[filter as usize];
            self.filters.push(window(of, &self.shapes[phase], place));
            self.filters.len() as u32 - 1
        });
        self.routers[slot] = Router {
            setting: set.setting,
            position: 0,
            filter,
            closed_to: 0,
            since,
            passed: 0,
        };
        self.skips[slot].to = NONE;
    }
}

/// By PE the lanes that it has at most.
fn most_lanes(given: &Given) -> Vec<u32> {
    let mut most = vec![0; given.pes()];
    for phase in &given.phases {
        for (pe, role) in phase.role_at.iter().enumerate() {
            if let Some(role) = usize::try_from(*role).ok().map(|role| &phase.roles[role]) {
                most[pe] = most[pe].max(role.lanes.len() as u32);
            }
        }
    }
    most
}

/// A filter at a place, in wavelets.
pub(super) fn window(filter: &Filter, shape: &Shape, place: i64) -> Window {
    let weight = |slices: &Slices| {
        let (first, count) = (slices.first.at(place), slices.count.at(place));
        let bound = |slice: i64| {
            let last = shape.before.len() as i64 - 1;
            shape.weights[shape.before[slice.clamp(0, last) as usize] as usize]
        };
        let of_block = |block: u32| {
            let first = first + i64::from(block * slices.period);
            bound(first + count) - bound(first)
        };
        (0..slices.blocks).map(of_block).sum()
    };
    Window {
        period: weight(&filter.period),
        before: weight(&filter.before),
        passes: weight(&filter.passes),
    }
}

pub(super) fn shape(phase: &Phase, pes: usize) -> Shape {
    let (mut slices, mut before, mut weights) = (Vec::new(), vec![0], vec![0]);
    for (slice, size) in phase.sizes.iter().enumerate() {
        if *size > 0 {
            slices.push(slice as u32);
            weights.push(weights.last().unwrap_or(&0) + size);
        }
        before.push(slices.len() as u32);
    }
    let mut sets = vec![0; pes + 1];
    for set in &phase.sets {
        sets[set.pe as usize + 1] += 1;
    }
    for pe in 0..pes {
        sets[pe + 1] += sets[pe];
    }
    let beside = |lane: &Lane| {
        let mut entries = lane.loops.iter().flat_map(|one| &one.entries);
        entries.any(|entry| entry.ops.len() > 1)
    };
    let roles = phase.roles.iter();
    let touches = roles.map(|role| role.lanes.len() > 1 || role.lanes.iter().any(beside));
    let follows = phase.roles.iter().map(|role| {
        let mut ops = role.lanes.iter().flat_map(Lane::ops);
        ops.any(|op| op.after.is_some())
    });
    Shape {
        slices,
        before,
        weights,
        sets,
        touches: touches.collect(),
        follows: follows.collect(),
    }
}
