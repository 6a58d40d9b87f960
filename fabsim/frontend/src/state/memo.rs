//! What is remembered of calls at compile time.

use crate::types::value::{FnRef, Value};
use fabsim_program::quick_hash::QuickMap;

/// Functions of more parameters are not remembered.
pub const MAX_PARAMS: usize = 4;
/// Sets of arguments that calls of one function read.
pub const MAX_READS: usize = 4;
/// Results kept for one such set; then it starts anew, since neighbours ask alike.
pub const MAX_RESULTS: usize = 1 << 12;
/// After so many calls a function must have been remembered for one in eight.
pub const TRIAL: u64 = 1 << 10;

/// Arguments that are numbers; 0 where one is not read.
pub type Numbers = [i64; MAX_PARAMS];

#[derive(Clone)]
pub struct Known {
    pub value: Value,
    pub steps: u64,
    pub levels: u32,
}

pub type Results = QuickMap<Numbers, Known>;

/// The calls of one function, by the set of parameters they read.
#[derive(Default)]
pub struct Calls {
    pub results: Vec<(u32, Results)>,
    pub hits: u64,
    pub misses: u64,
}

impl Calls {
    pub fn worthwhile(&self) -> bool {
        self.misses < TRIAL || self.hits >= self.misses / 8
    }
}

/// What is known of all functions, and what is watched while one is evaluated.
#[derive(Default)]
pub struct Memo {
    pub calls: QuickMap<FnRef, Calls>,
    /// Counts what a call does beyond returning a value.
    pub effects: u64,
    /// The deepest level since the innermost call that is watched began.
    pub deepest: u32,
}

/// The state before a call that may be remembered.
pub struct Watch {
    pub function: FnRef,
    pub numbers: Numbers,
    pub effects: u64,
    pub steps: u64,
    pub deepest: u32,
}

pub enum Recall {
    Found(Value),
    /// To be evaluated, and remembered.
    Watched(Watch),
    /// To be evaluated.
    No,
}
