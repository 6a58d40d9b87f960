//! How much memory a simulation takes, told before it is taken.

use fabsim_engine::fabric::channel::Channel;
use fabsim_engine::pe::Pe;
use fabsim_engine::report::{Cause, SimError};
use fabsim_program::program::Design;
use std::mem::size_of;

/// Queues and tables of a PE that are allocated beside it, on average.
const BESIDE: u64 = 1024;

/// The bytes that a simulation of the design begins with, about.
pub fn bytes(design: &Design) -> u64 {
    let tiles = design.tiles.iter().map(|tile| {
        let program = design.programs.get(tile.program as usize);
        let router = design.routers.get(tile.router as usize);
        let memory = program.map_or(0, |program| u64::from(program.memory_bytes));
        let channels = router.map_or(0, |router| router.colors.len() as u64);
        memory + channels * size_of::<Channel>() as u64
    });
    tiles.sum::<u64>() + design.tiles.len() as u64 * (size_of::<Pe>() as u64 + BESIDE)
}

/// Refuses a design that takes more than `limit`.
pub fn check(design: &Design, limit: u64) -> Result<(), SimError> {
    let needed = bytes(design);
    if needed <= limit {
        return Ok(());
    }
    Err(Cause::MemoryLimit {
        size: (design.width, design.height),
        needed_bytes: needed,
        allowed_bytes: limit,
    }
    .into())
}
