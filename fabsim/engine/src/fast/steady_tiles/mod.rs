//! Flows: tiles that do the same every cycle and are not visited for it.
//!
//! A tile in full flow passes one data wavelet through each of its occupied channels and one element
//! through its running operation, cycle by cycle. Relative to the clock its state then comes back
//! every cycle, so as long as its neighbours go on sending and accepting, nothing has to be looked
//! at: only values change. Such a tile leaves the set of tiles to visit, and its state stays what it
//! was in the cycle it joined, except that whoever looks at how full its queues are still finds
//! the truth, because that does not change.
//!
//! Values are worked out when somebody needs them. A queue that holds `n` wavelets and passes one
//! on every cycle is a delay of `n` cycles, so a whole tile is a function from what its neighbours
//! sent to what it sends. `Stream` holds what leaves a channel by the cycle it leaves in, and is
//! filled in long runs from the stream, or the operation, before it (`values`).
//!
//! Between two cycles `Flows::between` sees to it that a flow ends before anything could differ
//! from what visits would have led to:
//!
//! - a wavelet that lands where none was foreseen, or none that was (`caught`, `inlets`);
//! - a neighbour outside of all flows that will not accept the next wavelet (`outlets`);
//! - the last element but one of the operation, or the cycle the main thread is ready (`expiry`).
//!
//! Leaving a flow brings the tile's state up to date (`leave`). It is always allowed, at any cycle;
//! joining is allowed under the conditions in `join`. So results, cycles and tile-cycles are the same with and
//! without flows, which tests check.

mod border;
mod currents;
mod join;
mod leave;
mod values;

use self::currents::Current;
use crate::alarm::Alarm;
use crate::fabric::grid::PeIndex;
use crate::fabric::router::Caught;
use crate::fabric::tiles::TileSet;
use crate::fabric::Moving;
use crate::pe::operation::Running;
use crate::pe::plan::PePlan;
use crate::pe::Pe;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How often in a row a tile does what it did in the cycle before until it is asked whether it flows.
pub const STREAK: u8 = 1;
/// A flow that would end sooner is not worth it.
const SHORTEST: u64 = 8;
/// Longer ones are interrupted, so that streams stay short.
const LONGEST: u64 = 512;
/// Cycles for which values are worked out at once for a tile that is visited.
const AHEAD: u64 = 32;

/// The number of a stream.
type StreamId = u32;

/// Where a stream comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    /// From the stream of a neighbour that is in a flow, too.
    Stream(StreamId),
    /// From a neighbour that is visited: its wavelets are noted as they land.
    Landings,
    /// From the tile's own operation.
    Operation,
}

/// What leaves a channel of a tile in a flow.
#[derive(Debug)]
struct Stream {
    /// Not between two uses.
    is_used: bool,
    tile: u32,
    current: Current,
    source: Source,
    /// Cycles from entering the channel, or the output queue before it, until leaving it.
    delay: u64,
    /// Payloads by the cycle they leave in, from `base` on.
    values: Vec<u32>,
    base: u64,
    /// The streams of neighbours that come from this one, by link.
    into: [Option<StreamId>; 4],
    /// The links to neighbours that are visited.
    open: u8,
    /// It is in the list of outlets, of inlets.
    is_outlet: bool,
    is_inlet: bool,
}

impl Stream {
    /// The first cycle for which the value is not known.
    fn known(&self) -> u64 {
        self.base + self.values.len() as u64
    }

    /// The values of the cycles from `from` to before `to`, as far as they are known.
    fn span(&self, from: u64, to: u64) -> &[u32] {
        let last = (to.saturating_sub(self.base) as usize).min(self.values.len());
        let first = (from.saturating_sub(self.base) as usize).min(last);
        &self.values[first..last]
    }
}

/// Which operation of a compute element takes part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Doer {
    Main,
    /// By its place among the running ones.
    Thread(usize),
}

impl Doer {
    fn of(self, pe: &Pe) -> Option<&Running> {
        match self {
            Doer::Main => pe.main.running.as_deref(),
            Doer::Thread(n) => pe.threads.get(n),
        }
    }

    fn of_mut(self, pe: &mut Pe) -> Option<&mut Running> {
        match self {
            Doer::Main => pe.main.running.as_deref_mut(),
            Doer::Thread(n) => pe.threads.get_mut(n),
        }
    }
}

/// An input of an operation.
#[derive(Clone, Copy, Debug)]
struct Intake {
    /// The place of the input queue, and how many wavelets it holds.
    queue: u8,
    held: u64,
    stream: StreamId,
}

/// The output of an operation.
#[derive(Clone, Copy, Debug)]
struct Outflow {
    /// The place of the output queue, and how many wavelets it holds.
    queue: u8,
    held: u64,
    stream: StreamId,
}

/// The operation of a tile in a flow.
#[derive(Clone, Copy, Debug)]
struct Work {
    doer: Doer,
    /// The cycle up to which elements have been worked out.
    done: u64,
    intakes: [Option<Intake>; 2],
    outflow: Option<Outflow>,
}

/// A tile in a flow.
#[derive(Debug)]
struct Tile {
    /// Not between two uses.
    is_used: bool,
    pe: PeIndex,
    /// The cycle its state is of.
    since: u64,
    /// The cycle in which it is visited again at the latest.
    expiry: u64,
    streams: Vec<StreamId>,
    work: Option<Work>,
}

/// What flows read and change outside of themselves: the tiles of a zone, between two cycles.
pub struct Site<'a, 'b> {
    pub pes: &'a mut [Pe],
    pub plans: &'a [PePlan],
    pub moving: &'a mut Moving<'b>,
    pub awake: &'a mut TileSet,
    pub alarm: &'a mut Alarm,
    /// The cycle that has just passed.
    pub now: u64,
}

impl Site<'_, '_> {
    /// Where a PE is among those of the zone.
    fn place(&self, pe: PeIndex) -> usize {
        pe.index() - self.moving.first().index()
    }
}

/// All flows of a zone.
#[derive(Debug, Default)]
pub struct Flows {
    tiles: Vec<Tile>,
    free_tiles: Vec<u32>,
    streams: Vec<Stream>,
    free_streams: Vec<StreamId>,
    /// How many tiles are in flows.
    count: usize,
    /// How often one has joined.
    pub joined: u64,
    /// Streams into neighbours that are visited. Some may have ended.
    outlets: Vec<StreamId>,
    /// Streams from neighbours that are visited. Some may have ended.
    inlets: Vec<StreamId>,
    /// When which tile is to be visited again. Some may have left before.
    expiries: BinaryHeap<Reverse<(u64, u32)>>,
    /// Tiles that may join.
    pub candidates: Vec<PeIndex>,
    caught: Vec<Caught>,
    disturbed: Vec<Caught>,
    /// Streams to be worked out, and up to which cycle; whether those before them have been.
    asked: Vec<(StreamId, u64, bool)>,
    /// What an operation sends in a run.
    sent: Vec<u32>,
}

impl Flows {
    /// How many tiles are in flows.
    pub fn count(&self) -> usize {
        self.count
    }

    fn tile(&self, id: u32) -> &Tile {
        &self.tiles[id as usize]
    }

    fn stream(&self, id: StreamId) -> &Stream {
        &self.streams[id as usize]
    }

    fn stream_mut(&mut self, id: StreamId) -> &mut Stream {
        &mut self.streams[id as usize]
    }

    /// The stream of a tile that has a color.
    fn stream_of(&self, tile: u32, color: u8) -> Option<StreamId> {
        let streams = self.tile(tile).streams.iter().copied();
        let mut found = streams.filter(|&id| self.stream(id).current.color == color);
        found.next()
    }

    fn note_outlet(&mut self, id: StreamId) {
        if !std::mem::replace(&mut self.stream_mut(id).is_outlet, true) {
            self.outlets.push(id);
        }
    }

    fn note_inlet(&mut self, id: StreamId) {
        if !std::mem::replace(&mut self.stream_mut(id).is_inlet, true) {
            self.inlets.push(id);
        }
    }

    /// Whether there is anything to do between two cycles.
    pub fn has_work(&self) -> bool {
        self.count > 0 || !self.candidates.is_empty()
    }

    /// After all moves of a cycle, before the next one.
    pub fn between(&mut self, site: &mut Site) {
        if self.count > 0 {
            self.pour_out(site);
            self.take_in(site);
            self.end_those_that_miss(site);
            self.end_those_due(site);
        }
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.drain(..).for_each(|pe| self.join(pe, site));
        self.candidates = candidates;
        if self.count > 0 {
            self.end_those_refused(site);
        }
    }

    /// The tiles in flows, in no order.
    pub fn tiles(&self) -> Vec<PeIndex> {
        let used = self.tiles.iter().filter(|tile| tile.is_used);
        used.map(|tile| tile.pe).collect()
    }

    /// Those of the tiles that are in flows are brought up to date and visited from cycle `at` on.
    pub fn end(&mut self, tiles: &[PeIndex], at: u64, site: &mut Site) {
        for &pe in tiles {
            if let Some(tile) = site.moving.flow(pe) {
                self.leave(tile, at, site);
            }
        }
    }
}
