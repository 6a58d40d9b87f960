//! What a compute element does, as those who watch it are told.

use fabsim_program::program::{Opcode, Span};

/// When a compute element wants its next turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// In the next cycle.
    Soon,
    /// In that cycle.
    At(u64),
    /// When a wavelet arrives or an output queue has room again.
    Woken,
}

impl Next {
    /// In a cycle that is to come, in the next one at the earliest.
    pub(crate) fn after(now: u64, at: u64) -> Next {
        match at > now + 1 {
            true => Next::At(at),
            false => Next::Soon,
        }
    }
}

/// Whose turn it is.
pub(crate) enum Choice {
    Main,
    Thread(usize),
    Nothing,
}

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
    Started {
        /// Which one.
        function: u32,
    },
    /// A scalar instruction, from this cycle on. Stretches of code are run at once, so the cycle may lie
    /// ahead. `issuing`: a DSD operation has its operands and is issued.
    Instruction {
        /// The cycle.
        cycle: u64,
        /// Which function.
        function: u32,
        /// Where in the function.
        pc: u32,
        /// Its operands have been paid for.
        issuing: bool,
    },
    /// An element or more of a DSD operation, on a microthread or the main thread.
    Operation {
        /// The microthread, if it runs on one.
        thread: Option<u8>,
        /// What it does with elements.
        opcode: Opcode,
        /// Where it is in the source.
        span: Span,
    },
    /// An element of a `@map`.
    Map {
        /// Where it is in the source.
        span: Span,
    },
}
