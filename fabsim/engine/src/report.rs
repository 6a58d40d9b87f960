//! What can go wrong in a run, in words for the user.

use fabsim_program::program::Span;
use std::fmt;

/// Why a simulation ended without a result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SimError {
    /// The program did what is undefined on the machine.
    Undefined(String),
    /// Nothing can move any more.
    Stuck(String),
    /// The allowed number of cycles is used up.
    Limit(String),
    /// Wavelets are left over after the last command.
    Leftover(String),
    /// A host command that cannot be carried out.
    Host(String),
    /// The program needs what fabsim does not have.
    Unsupported(String),
    /// The caller asked to stop.
    Interrupted,
}

impl SimError {
    /// A short name for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            SimError::Undefined(_) => "undefined",
            SimError::Stuck(_) => "stuck",
            SimError::Limit(_) => "limit",
            SimError::Leftover(_) => "leftover",
            SimError::Host(_) => "host",
            SimError::Unsupported(_) => "unsupported",
            SimError::Interrupted => "interrupted",
        }
    }
}

impl fmt::Display for SimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SimError::Undefined(text)
            | SimError::Stuck(text)
            | SimError::Limit(text)
            | SimError::Leftover(text)
            | SimError::Host(text)
            | SimError::Unsupported(text) => f.write_str(text),
            SimError::Interrupted => f.write_str("the simulation was interrupted"),
        }
    }
}

impl std::error::Error for SimError {}

/// An instruction of one PE cannot be carried out; the machine adds which PE and when.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    pub text: String,
    pub span: Option<Span>,
}

impl Fault {
    pub fn new(text: impl Into<String>) -> Fault {
        Fault {
            text: text.into(),
            span: None,
        }
    }

    /// With the place in the source, unless a more exact one is known.
    pub fn at(self, span: Span) -> Fault {
        Fault {
            span: self.span.or(Some(span)),
            ..self
        }
    }
}
