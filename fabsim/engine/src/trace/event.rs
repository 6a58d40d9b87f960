//! What a trace records, independent of the form it is written in.

use crate::fabric::wavelet::Wavelet;
use crate::pe::simd::Supply;
use fabsim_program::program::{Direction, Directions};

/// A name in the table of a trace: an opcode, a reason to wait, operands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Name(pub u32);

/// Which thread of a compute element.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Thread {
    /// The main thread, with the id of its task.
    Task(u8),
    /// A microthread, by its number.
    Microthread(u8),
}

/// What happened at one PE in one cycle. The order of the variants is the order within a cycle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Event {
    /// A wavelet lands in a router, leaves it, or both.
    Router(Visit),
    /// The compute element puts a wavelet into an output queue.
    Write {
        /// The output queue.
        queue: u8,
        /// Its color.
        color: u8,
    },
    /// A wavelet leaves an output queue for the router.
    Send {
        /// The output queue.
        queue: u8,
        /// Its color.
        color: u8,
        /// Which wavelet it is.
        ident: u64,
    },
    /// The router stops taking the color from an output queue.
    Held {
        /// The queue.
        queue: u8,
        /// Its color.
        color: u8,
    },
    /// The router takes the color again.
    Freed {
        /// The queue.
        queue: u8,
        /// Its color.
        color: u8,
    },
    /// A DSD operation is issued; `operands` as the issue line shows them.
    Issue {
        /// Where in the code.
        pc: u16,
        /// The thread it runs on.
        thread: Thread,
        /// What is done with elements.
        opcode: Name,
        /// Its operands.
        operands: Name,
        /// `file:line` in the program.
        place: Name,
    },
    /// Another instruction than before is executed.
    Execute {
        /// Where in the code.
        pc: u16,
        /// The thread it runs on.
        thread: Thread,
        /// What is done with elements.
        opcode: Name,
    },
    /// Nothing is executed from here on.
    Idle,
    /// An operation waits for a wavelet of source operand `source`.
    Starved {
        /// Which source it is.
        source: u8,
        /// The color it waits for.
        color: u8,
        /// The queue it waits at.
        queue: u8,
        /// What is there and what is needed.
        supply: Supply,
    },
    /// An operation waits for something else.
    Stalled {
        /// Why.
        reason: Name,
    },
    /// Of a run that is stuck: it waits for PE `on`, because of a color.
    WaitsFor {
        /// What it waits for.
        why: Name,
        /// The color.
        color: u8,
        /// The PE it waits for.
        on: u32,
    },
}

/// A wavelet at a router.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Visit {
    /// The color.
    pub color: u8,
    /// The wavelet.
    pub wavelet: Wavelet,
    /// Which wavelet it is, the same at all routers.
    pub ident: u64,
    /// The side it lands from in this cycle; none if it landed before.
    pub landing: Option<Direction>,
    /// The sides it leaves by in this cycle.
    pub departing: Directions,
}

/// One event with its time and place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Record {
    /// The cycle.
    pub cycle: u64,
    /// Row-major index of the PE.
    pub pe: u32,
    /// What happened.
    pub event: Event,
}

impl Event {
    /// The event says what the compute element does until the next such event.
    pub fn is_state(&self) -> bool {
        matches!(
            self,
            Event::Execute { .. } | Event::Idle | Event::Starved { .. } | Event::Stalled { .. }
        )
    }
}
