//! Where statistics and traces look in.
//!
//! The engine is compiled once for each kind of probe. With [`Silent`], the one in use unless a
//! recorder is attached, every call below is empty and costs nothing. A probe sees the same events
//! whatever the order of visits, but within a cycle in no particular order.

use crate::fabric::grid::PeIndex;
use crate::fabric::observer::{Observer, Passage, Silent};
use crate::fabric::wavelet::Wavelet;
use crate::pe::event::{Executed, Turn};
use crate::pe::plan::PePlan;
use crate::pe::Pe;
use fabsim_program::program::{Direction, Directions};
use std::any::Any;
use std::fmt::Debug;

/// A wavelet between a router and a queue of its compute element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RampPassage {
    /// The cycle.
    pub cycle: u64,
    /// The PE.
    pub pe: PeIndex,
    /// The color.
    pub color: u8,
    /// The wavelet.
    pub wavelet: Wavelet,
    /// Number of the queue, as in the program.
    pub queue: u8,
    /// Wavelets in that queue, after this one.
    pub level: u8,
}

/// Told what happens on the machine.
pub trait Probe: Observer {
    /// A compute element had its turn. One that sleeps has none: until its next turn it goes on
    /// waiting for what it waits for now, or, if its main thread is busy, executing.
    fn turn(&mut self, _cycle: u64, _pe: PeIndex, _state: &Pe, _plan: &PePlan, _turn: Turn) {}

    /// The identity it has given to the wavelet that landed at a PE last from a side.
    fn ident(&self, _pe: PeIndex, _color: u8, _side: Direction) -> Option<u64> {
        None
    }

    /// Whether `executed` is to be called; collecting what it is told takes time.
    fn wants_code(&self) -> bool {
        false
    }

    /// What a compute element executed in its turn, of which `turn` tells next.
    fn executed(&mut self, _cycle: u64, _pe: PeIndex, _plan: &PePlan, _code: &[Executed]) {}

    /// An output queue gave a wavelet to the router.
    fn went_up(&mut self, _passage: RampPassage) {}

    /// A wavelet entered an input queue.
    fn came_down(&mut self, _passage: RampPassage) {}
}

/// A probe that can be attached to a simulator.
pub trait Recorder: Probe + Debug + Send + Sync + 'static {
    /// Itself, for whoever attached it and takes it back.
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

impl Probe for Silent {}

impl<P: Probe + ?Sized> Observer for Box<P> {
    fn landed(&mut self, passage: Passage, from: Direction) {
        (**self).landed(passage, from);
    }

    fn left(&mut self, passage: Passage, over: Directions) {
        (**self).left(passage, over);
    }
}

impl<P: Probe + ?Sized> Probe for Box<P> {
    fn turn(&mut self, cycle: u64, pe: PeIndex, state: &Pe, plan: &PePlan, turn: Turn) {
        (**self).turn(cycle, pe, state, plan, turn);
    }

    fn ident(&self, pe: PeIndex, color: u8, side: Direction) -> Option<u64> {
        (**self).ident(pe, color, side)
    }

    fn wants_code(&self) -> bool {
        (**self).wants_code()
    }

    fn executed(&mut self, cycle: u64, pe: PeIndex, plan: &PePlan, code: &[Executed]) {
        (**self).executed(cycle, pe, plan, code);
    }

    fn went_up(&mut self, passage: RampPassage) {
        (**self).went_up(passage);
    }

    fn came_down(&mut self, passage: RampPassage) {
        (**self).came_down(passage);
    }
}
