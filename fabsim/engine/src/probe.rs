//! Where statistics and traces look in.
//!
//! The engine is compiled once for each kind of probe. With [`Silent`], the one in use unless a
//! recorder is attached, every call below is empty and costs nothing. A probe sees the same events
//! whatever the order of visits, but within a cycle in no particular order.

use crate::fabric::grid::PeIndex;
use crate::fabric::wavelet::Wavelet;
use crate::pe::plan::PePlan;
use crate::pe::Pe;
use fabsim_program::program::{Direction, Directions, Opcode, Span};
use std::any::Any;
use std::fmt::Debug;

/// What a compute element did in a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// The main thread issued.
    Main,
    /// The microthread with this id issued.
    Microthread(u8),
    /// Nothing could be issued. Why, is to be seen from the state of the compute element.
    Nothing,
}

/// One step of a compute element's code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Executed {
    /// The main thread enters a task or a host command, which takes time.
    Started { function: u32 },
    /// A scalar instruction, from this cycle on. Stretches of code are run at once, so the cycle may lie
    /// ahead. `issuing`: a DSD operation has its operands and is issued.
    Instruction {
        cycle: u64,
        function: u32,
        pc: u32,
        issuing: bool,
    },
    /// An element or more of a DSD operation, on a microthread or the main thread.
    Operation {
        thread: Option<u8>,
        opcode: Opcode,
        span: Span,
    },
    /// An element of a `@map`.
    Map { span: Span },
}

/// A wavelet at a router.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passage {
    pub cycle: u64,
    pub pe: PeIndex,
    pub color: u8,
    pub wavelet: Wavelet,
    /// Wavelets in the queue it has entered or left, after it.
    pub level: u8,
}

/// A wavelet between a router and a queue of its compute element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RampPassage {
    pub cycle: u64,
    pub pe: PeIndex,
    pub color: u8,
    pub wavelet: Wavelet,
    /// Number of the queue, as in the program.
    pub queue: u8,
    /// Wavelets in that queue, after this one.
    pub level: u8,
}

/// Told what happens on the machine.
pub trait Probe {
    /// It looks at nothing: what happens may be done in another order.
    #[inline]
    fn is_silent(&self) -> bool {
        false
    }

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

    /// A wavelet is in a router's queue from this cycle on, coming in from a side.
    fn landed(&mut self, _passage: Passage, _from: Direction) {}

    /// A wavelet left a router's queue in this cycle, over these sides. Every side but RAMP is the
    /// use of a link; no side at all is a wavelet that a filter swallowed.
    fn left(&mut self, _passage: Passage, _over: Directions) {}

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

/// The probe that looks at nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Probe for Silent {
    #[inline]
    fn is_silent(&self) -> bool {
        true
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

    fn landed(&mut self, passage: Passage, from: Direction) {
        (**self).landed(passage, from);
    }

    fn left(&mut self, passage: Passage, over: Directions) {
        (**self).left(passage, over);
    }

    fn went_up(&mut self, passage: RampPassage) {
        (**self).went_up(passage);
    }

    fn came_down(&mut self, passage: RampPassage) {
        (**self).came_down(passage);
    }
}
