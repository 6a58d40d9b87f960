//! What the machine is given: lanes, the positions of routers, and the calls that are run.
//!
//! All of it is as the compiler's plan has it, but that colors are numbered from 0, PEs are numbered
//! row by row, and sides are those of the grid. Lanes are not unrolled: numbers that depend on the
//! place of a PE stay formulas.

#[cfg(feature = "python")]
use super::python;
#[cfg(feature = "python")]
use pyo3::FromPyObject;

/// A number of a place, as the compiler's `Number`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "python", derive(FromPyObject))]
pub struct Number {
    pub offset: i64,
    pub slope: i64,
    pub divisor: i64,
    pub modulus: i64,
    pub every: i64,
    pub table: Vec<i64>,
}

impl Number {
    pub fn fixed(offset: i64) -> Self {
        Number {
            offset,
            slope: 0,
            divisor: 1,
            modulus: 0,
            every: 1,
            table: Vec::new(),
        }
    }

    pub fn at(&self, place: i64) -> i64 {
        let mut value = self.offset;
        if self.slope != 0 {
            value += self.slope * place.div_euclid(self.divisor);
        }
        if self.modulus != 0 {
            value = value.rem_euclid(self.modulus);
        }
        if !self.table.is_empty() {
            let entry = place
                .div_euclid(self.every)
                .rem_euclid(self.table.len() as i64);
            value += self.table[entry as usize];
        }
        value
    }
}

/// Slices, as numbers of a place. Each stands for those of all `blocks`, so far apart as the `period`;
/// `backward` turns the order of slices, and, where there is one block, of their elements.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "python", derive(FromPyObject))]
pub struct Slices {
    pub first: Number,
    pub count: Number,
    pub backward: bool,
    pub blocks: u32,
    pub period: u32,
}

impl Slices {
    /// Which of the slices that pass the one with a number is, counted from the first: slice by slice,
    /// of each all blocks.
    pub fn nth(&self, number: u32, count: u32) -> u32 {
        let (slice, block, slices) = match self.blocks {
            1 => (number, 0, count), // a division less where it is asked all the time
            blocks => (number / blocks, number % blocks, count / blocks),
        };
        let turned = if self.backward {
            slices - 1 - slice
        } else {
            slice
        };
        turned + block * self.period
    }

    /// Whether the elements of a slice pass from the last to the first.
    pub fn turns_elements(&self) -> bool {
        self.backward && self.blocks == 1
    }
}

/// What a filter counts: it lets through what comes behind `before` of every `period`, as much as
/// `passes` has.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "python", derive(FromPyObject))]
pub struct Filter {
    pub period: Slices,
    pub before: Slices,
    pub passes: Slices,
}

/// Where an operation takes words from, and puts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Color(u32),
    Vector,
    Stage(u32),
}

impl Place {
    pub fn color(self) -> Option<u32> {
        match self {
            Place::Color(color) => Some(color),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Combine,
    Copy,
    Relay,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advance {
    Nothing,
    OwnRouter,
    Turn, // the own router, also where there are no words
    Control,
    HandOver,
    Reset,
    Teardown,
}

/// An operation; `number` is its place among those of its lane, `after` that of the lane that it
/// comes behind among those of the role.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "python", derive(FromPyObject))]
pub struct Op {
    pub number: usize,
    #[cfg_attr(feature = "python", pyo3(from_py_with = python::place))]
    pub receive: Place,
    #[cfg_attr(feature = "python", pyo3(from_py_with = python::action))]
    pub action: Action,
    #[cfg_attr(feature = "python", pyo3(from_py_with = python::place))]
    pub send: Place,
    pub slices: Slices,
    #[cfg_attr(feature = "python", pyo3(from_py_with = python::advance))]
    pub advance: Advance,
    pub returns: bool,
    pub after: Option<usize>,
    pub vectors: i64,
    pub elements: Option<Number>,
    pub r#where: Number,
}

impl Op {
    pub fn receives_on(&self) -> Option<u32> {
        self.receive.color()
    }

    pub fn sends_on(&self) -> Option<u32> {
        self.send.color()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "python", derive(FromPyObject))]
pub struct Entry {
    pub ops: Vec<Op>,
    pub ends_step: Number,
}

#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "python", derive(FromPyObject))]
pub struct Loop {
    pub turns: Number,
    pub shift: Number,
    pub entries: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "python", derive(FromPyObject))]
pub struct Lane {
    pub loops: Vec<Loop>,
}

impl Lane {
    pub fn ops(&self) -> impl Iterator<Item = &Op> {
        let entries = self.loops.iter().flat_map(|one| &one.entries);
        entries.flat_map(|entry| &entry.ops)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "python", derive(FromPyObject))]
pub struct Role {
    pub lanes: Vec<Lane>,
}

/// Sides of a router, as bits of what it sends to.
pub const NORTH: u8 = 0;
pub const EAST: u8 = 1;
pub const SOUTH: u8 = 2;
pub const WEST: u8 = 3;
pub const RAMP: u8 = 4;

pub fn opposite(side: u8) -> u8 {
    if side == RAMP {
        RAMP
    } else {
        (side + 2) % 4
    }
}

/// One position of a router: the side that it lets in, and those that it sends to, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    pub receive: u8,
    pub send: u8,
}

impl Route {
    pub fn sends_to(self, side: u8) -> bool {
        self.send >> side & 1 == 1
    }

    /// The one side that it sends to, if that is no ramp, and words come from no ramp.
    pub fn passes(self) -> Option<u8> {
        let straight = self.send.count_ones() == 1 && self.receive != RAMP;
        let side = self.send.trailing_zeros() as u8;
        (straight && side != RAMP).then_some(side)
    }
}

/// The positions of a router, in the order in which they are taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    pub positions: Vec<Route>,
    pub ring: bool,
}

/// What a phase sets at a router of a PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Set {
    pub pe: u32,
    pub color: u32,
    pub setting: u32,
    pub filter: Option<u32>,
}

/// A phase: by PE its role, its place on its line, and which of the cuts is its own.
///
/// `sizes` are the wavelets of the slices. `cuts` are bounds of the slices in atoms, for each block
/// of lines. An element has `wavelets.0` / `wavelets.1` wavelets.
#[derive(Clone, Debug)]
pub struct Phase {
    pub roles: Vec<Role>,
    pub role_at: Vec<i32>,
    pub place_at: Vec<i32>,
    pub cut_at: Vec<i32>,
    pub sizes: Vec<i64>,
    pub cuts: Vec<Vec<u32>>,
    pub wavelets: (i64, i64),
    pub sets: Vec<Set>,
    pub filters: Vec<Filter>,
}

/// A phase of a call; `number` is its place among those of the call's plan.
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    pub call: usize,
    pub phase: usize,
    pub number: usize,
}

/// Phases, and in which order PEs go through them. Colors that are `torn_down` are down at first, all
/// others are set as all phases say. `rows` says for each call which row of what it holds is that of
/// a PE, -1 for none; `atoms` are those of a row. A burst of up to `queue` wavelets has room at its
/// receiver.
#[derive(Clone, Debug)]
pub struct Given {
    pub width: usize,
    pub height: usize,
    pub colors: Vec<String>,
    pub torn_down: Vec<bool>,
    pub settings: Vec<Setting>,
    pub phases: Vec<Phase>,
    pub stages: Vec<Stage>,
    pub rows: Vec<Vec<i32>>,
    pub atoms: Vec<usize>,
    pub queue: i64,
}

impl Given {
    pub fn pes(&self) -> usize {
        self.width * self.height
    }

    /// The PE on a side of another; none beyond the edge.
    pub fn neighbour(&self, pe: usize, side: u8) -> Option<usize> {
        let (x, y) = (pe % self.width, pe / self.width);
        match side {
            NORTH => (y > 0).then(|| pe - self.width),
            SOUTH => (y + 1 < self.height).then(|| pe + self.width),
            WEST => (x > 0).then(|| pe - 1),
            EAST => (x + 1 < self.width).then(|| pe + 1),
            _ => Some(pe),
        }
    }

    /// What is wrong with numbers that lead from one part to another, in words; `held` is what calls
    /// begin with.
    pub fn check(&self, held: &[Vec<u64>]) -> Result<(), &'static str> {
        let (pes, colors) = (self.pes(), self.colors.len());
        let within = |number: i32, count: usize| number < 0 || (number as usize) < count;
        if self.torn_down.len() != colors
            || self.settings.iter().any(|one| one.positions.is_empty())
        {
            return Err("a color says whether it is torn down, a setting has positions");
        }
        for phase in &self.phases {
            let columns = [&phase.role_at, &phase.place_at, &phase.cut_at];
            if columns.iter().any(|column| column.len() != pes) {
                return Err("a phase has a number for each PE");
            }
            let cuts = phase
                .cuts
                .iter()
                .all(|cut| cut.len() == phase.sizes.len() + 1);
            let cut = |at: &i32| (*at as usize) < phase.cuts.len();
            let role = |at: &i32| within(*at, phase.roles.len());
            if !cuts || !phase.cut_at.iter().all(cut) || !phase.role_at.iter().all(role) {
                return Err("a PE has a role, or cuts, that are not given");
            }
            let set = |one: &Set| {
                (one.pe as usize) < pes
                    && (one.color as usize) < colors
                    && (one.setting as usize) < self.settings.len()
                    && one
                        .filter
                        .is_none_or(|filter| (filter as usize) < phase.filters.len())
            };
            let in_order = phase.sets.windows(2).all(|pair| pair[0].pe <= pair[1].pe);
            if !in_order || !phase.sets.iter().all(set) {
                return Err("a phase sets routers that are not given");
            }
            let lanes = || phase.roles.iter().flat_map(|role| &role.lanes);
            let filters = phase.filters.iter();
            let mut slices = filters
                .flat_map(|one| [&one.period, &one.before, &one.passes])
                .chain(lanes().flat_map(Lane::ops).map(|op| &op.slices));
            if slices.any(|one| one.blocks == 0) {
                return Err("slices are of no block");
            }
            let mut colors_of = lanes()
                .flat_map(Lane::ops)
                .flat_map(|op| [op.receive.color(), op.send.color()])
                .flatten();
            if colors_of.any(|color| color as usize >= colors) {
                return Err("an operation has a color that is not given");
            }
        }
        let calls = self.rows.len() == held.len() && self.atoms.len() == held.len();
        let stage = |one: &Stage| one.call < held.len() && one.phase < self.phases.len();
        if !calls || !self.stages.iter().all(stage) {
            return Err("a stage is of a phase, and of a call with what it begins with");
        }
        for ((rows, atoms), held) in self.rows.iter().zip(&self.atoms).zip(held) {
            let row = |at: &i32| within(*at, held.len() / (*atoms).max(1));
            if rows.len() != pes || !rows.iter().all(row) {
                return Err("what is held has a row for each PE");
            }
        }
        for stage in &self.stages {
            let cuts = self.phases[stage.phase].cuts.iter().flatten();
            if cuts
                .copied()
                .any(|atom| atom as usize > self.atoms[stage.call])
            {
                return Err("slices have atoms that are not given");
            }
        }
        Ok(())
    }
}
