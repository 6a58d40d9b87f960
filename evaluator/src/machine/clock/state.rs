//! The state of the machine with a clock.

use super::given::{Script, Timing};
use super::trace::Origin;
use crate::machine::plan::{Given, Route, Set};
use crate::machine::state::{shape, window, Shape, Window, NONE};

/// A word of a queue: the first cycle in which it can go on, its color, and the command that it is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Word {
    pub ready: u32,
    pub color: u8,
    pub command: Command,
    /// The own router's position changes as it lands there.
    pub advances: bool,
}

/// What a control wavelet tells routers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Command {
    #[default]
    Data,
    Advance,
    Reset,
    Teardown,
    /// Of routers with a ring as many as are left advance, and take it off.
    HandOver(u8),
}

/// A queue of at most `N` words, the oldest first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue<const N: usize> {
    words: [Word; N],
    head: u8,
    len: u8,
}

impl<const N: usize> Default for Queue<N> {
    fn default() -> Self {
        Queue {
            words: [Word::default(); N],
            head: 0,
            len: 0,
        }
    }
}

impl<const N: usize> Queue<N> {
    pub fn len(&self) -> usize {
        usize::from(self.len)
    }

    pub fn first(&self) -> Option<Word> {
        (self.len > 0).then(|| self.words[usize::from(self.head)])
    }

    pub fn words(&self) -> impl Iterator<Item = &Word> {
        (0..usize::from(self.len)).map(|at| &self.words[(usize::from(self.head) + at) % N])
    }

    pub fn words_mut(&mut self) -> impl Iterator<Item = &mut Word> {
        let (head, len) = (usize::from(self.head), usize::from(self.len));
        let held = move |at: &usize| (at + N - head) % N < len;
        let words = self.words.iter_mut().enumerate();
        words.filter(move |(at, _)| held(at)).map(|(_, word)| word)
    }

    pub fn push(&mut self, word: Word) {
        let at = (usize::from(self.head) + usize::from(self.len)) % N;
        self.words[at] = word;
        self.len += 1;
    }

    pub fn pop(&mut self) -> Option<Word> {
        let first = self.first()?;
        self.head = ((usize::from(self.head) + 1) % N) as u8;
        self.len -= 1;
        Some(first)
    }

    /// How many words can go on in a cycle.
    pub fn ready(&self, now: u64) -> u32 {
        self.words()
            .take_while(|word| u64::from(word.ready) <= now)
            .count() as u32
    }
}

/// The most words of any queue of a router, and of any queue of a PE.
pub(super) const ROUTER: usize = 4;
pub(super) const PE: usize = 8;

/// A router on a color.
#[derive(Clone, Copy, Debug)]
pub(super) struct Router {
    pub setting: u32,
    pub position: u32,
    pub filter: u32,
    pub passed: i64,
    pub queue: Queue<ROUTER>,
    /// How many of its words are commands.
    pub commands: u8,
    /// It is torn down.
    pub down: bool,
}

/// An operation under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thread {
    pub op: u32,
    pub left: u32,
}

/// An input queue, or an output queue, with how many words it may hold; of an input queue the color.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub color: u32,
    pub depth: usize,
    pub queue: Queue<PE>,
}

/// A PE: where its code is, what its tasks wait for, its operations, its queues.
#[derive(Clone, Debug)]
pub(super) struct Pe {
    pub script: u32,
    /// A task runs: its code, and how far that is.
    pub runs: bool,
    pub code: u32,
    pub at: u32,
    pub part: u32,
    /// Code goes on from this cycle on; the registers of operations can be used from those on.
    pub ready_at: u64,
    pub loaded: Vec<u64>,
    pub launched: bool,
    pub active: u32,
    pub blocked: u32,
    pub last_task: u32,
    pub follows: Vec<u32>,
    pub counters: Vec<u32>,
    pub turned: Vec<u32>,
    /// Colors as bits: torn down, of which the PE has not been told; set; awaited.
    pub torn: u32,
    pub in_use: u32,
    pub awaited: u32,
    pub issued: Vec<u32>,
    pub threads: Vec<Thread>,
    pub turn: usize,
    pub outputs: Vec<End>,
    pub output_turn: usize,
    pub inputs: Vec<End>,
    pub done: Option<u64>,
    /// It has done what it does not do again; counters that have begun again, as bits. Both since `runs`
    /// asked last.
    pub irregular: bool,
    pub wrapped: u64,
    /// Bits of colors that the router has words of, and the one that goes first over links.
    pub occupied: u32,
    pub link_turn: u32,
    /// The cycle that it was put down for last, and the one in which it had its turn.
    pub looked: u64,
    pub seen: Option<u64>,
    /// The last cycle in which something had its slot.
    pub taken: Option<u64>,
    /// Whether its router, and its output queues, are looked at in each cycle.
    pub routes: bool,
    pub rises: bool,
}

pub(super) struct Clock<'a> {
    pub given: &'a Given,
    /// Of each PE those on its sides, NONE beyond the edge.
    pub neighbours: Vec<[u32; 4]>,
    pub timing: Timing,
    /// Of each phase what filters count by.
    pub shapes: Vec<Shape>,
    pub scripts: &'a [Script],
    /// Colors in the order of their numbers.
    pub by_number: Vec<u32>,
    pub bit_of: Vec<u32>,
    pub now: u64,
    pub routers: Vec<Router>,
    pub windows: Vec<Window>,
    pub pes: Vec<Pe>,
    pub routing: Vec<u32>,
    pub rising: Vec<u32>,
    pub calendar: super::walk::Calendar,
    pub moves: Vec<super::fabric::Move>,
    /// Words that come to routers of PEs: the color, by which side.
    pub landings: Vec<(u32, u8, u8, Word, Origin)>,
    pub runs: super::runs::Runs,
    /// PEs whose routers are torn down in this cycle.
    pub told: Vec<u32>,
    pub left: usize,
    pub words: u64,
    pub marks: Vec<u64>,
    pub trace: Option<Box<super::trace::Trace>>,
}

impl<'a> Clock<'a> {
    /// A machine before its first cycle; `numbers` are those of colors, `starts` say when PEs begin.
    pub fn new(
        given: &'a Given,
        timing: Timing,
        scripts: &'a [Script],
        script_at: &[u32],
        numbers: &[i64],
        starts: &[i64],
    ) -> Self {
        let colors = given.colors.len();
        let mut by_number: Vec<u32> = (0..colors as u32).collect();
        by_number.sort_by_key(|color| numbers[*color as usize]);
        let mut bit_of = vec![0; colors];
        for (bit, color) in by_number.iter().enumerate() {
            bit_of[*color as usize] = bit as u32;
        }
        let closed = Router {
            setting: NONE,
            position: 0,
            filter: NONE,
            passed: 0,
            queue: Queue::default(),
            commands: 0,
            down: false,
        };
        let beside = |pe: usize, side: u8| given.neighbour(pe, side).map_or(NONE, |pe| pe as u32);
        let neighbours = (0..given.pes()).map(|pe| [0, 1, 2, 3].map(|side| beside(pe, side)));
        let mut clock = Clock {
            given,
            neighbours: neighbours.collect(),
            timing,
            shapes: given
                .phases
                .iter()
                .map(|one| shape(one, given.pes()))
                .collect(),
            scripts,
            by_number,
            bit_of,
            now: 0,
            routers: vec![closed; given.pes() * colors],
            windows: Vec::new(),
            pes: Vec::with_capacity(given.pes()),
            routing: Vec::new(),
            rising: Vec::new(),
            calendar: Default::default(),
            moves: Vec::new(),
            landings: Vec::new(),
            runs: Default::default(),
            told: Vec::new(),
            left: given.pes(),
            words: 0,
            marks: Vec::new(),
            trace: None,
        };
        for (script, start) in script_at.iter().zip(starts) {
            clock.pes.push(begun(scripts, *script, *start as u64));
        }
        clock.set_routers();
        clock
    }

    pub fn slot(&self, pe: usize, color: u32) -> usize {
        pe * self.given.colors.len() + color as usize
    }

    /// The PE on a side of another; none beyond the edge.
    pub fn neighbour(&self, pe: usize, side: u8) -> Option<usize> {
        let next = self.neighbours[pe][side as usize];
        (next != NONE).then_some(next as usize)
    }

    pub fn route_at(&self, router: &Router, position: u32) -> Option<Route> {
        let setting = self.given.settings.get(router.setting as usize)?;
        setting.positions.get(position as usize).copied()
    }

    /// All routers are as some phase sets them.
    fn set_routers(&mut self) {
        let pes = self.given.pes();
        for (color, down) in self.given.torn_down.iter().enumerate() {
            for pe in 0..pes {
                let slot = self.slot(pe, color as u32);
                self.routers[slot].down = *down;
            }
        }
        let given = self.given;
        for (number, phase) in given.phases.iter().enumerate() {
            for set in &phase.sets {
                if !given.torn_down[set.color as usize] {
                    self.set(number, set);
                }
            }
        }
    }

    /// A router is as a phase sets it.
    fn set(&mut self, phase: usize, set: &Set) {
        let (slot, of) = (
            self.slot(set.pe as usize, set.color),
            &self.given.phases[phase],
        );
        let place = of.place_at[set.pe as usize] as i64;
        let filter = set.filter.map_or(NONE, |filter| {
            let found = window(&of.filters[filter as usize], &self.shapes[phase], place);
            self.windows.push(found);
            self.windows.len() as u32 - 1
        });
        let router = &mut self.routers[slot];
        (router.setting, router.filter) = (set.setting, filter);
        (router.position, router.passed, router.down) = (0, 0, false);
    }

    /// A PE sets its router for a phase on a color, which is no longer torn down.
    pub(super) fn set_router(&mut self, pe: usize, color: u32, phase: u32) {
        let sets = &self.given.phases[phase as usize].sets;
        let first = sets.partition_point(|set| (set.pe as usize) < pe);
        let mut own = sets[first..].iter().take_while(|set| set.pe as usize == pe);
        if let Some(set) = own.find(|set| set.color == color) {
            self.set(phase as usize, set);
        }
        self.pes[pe].in_use |= 1 << color;
        self.changed(pe);
    }
}

fn begun(scripts: &[Script], script: u32, start: u64) -> Pe {
    let of = &scripts[script as usize];
    let end = |color: u32, depth: u32| End {
        color,
        depth: depth as usize,
        queue: Queue::default(),
    };
    Pe {
        script,
        runs: false,
        code: 0,
        at: 0,
        part: 0,
        ready_at: start,
        loaded: vec![0; of.ops.len()],
        launched: false,
        active: 0,
        blocked: of.blocked,
        last_task: 0,
        follows: vec![0; 32],
        counters: vec![0; of.counters as usize],
        turned: vec![0; of.turns.len()],
        torn: 0,
        in_use: 0,
        awaited: 0,
        issued: vec![0; of.ops.len()],
        threads: Vec::new(),
        turn: 0,
        outputs: of.outputs.iter().map(|depth| end(0, *depth)).collect(),
        output_turn: 0,
        inputs: of
            .inputs
            .iter()
            .map(|(color, depth)| end(*color, *depth))
            .collect(),
        done: None,
        irregular: false,
        wrapped: 0,
        occupied: 0,
        link_turn: 0,
        looked: u64::MAX,
        seen: None,
        taken: None,
        routes: false,
        rises: false,
    }
}
