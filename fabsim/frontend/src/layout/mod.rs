//! The two halves of a program: `block` (with `root` and `task_queues`) is the layout block, `tile` (with `place`,
//! `symbols` and `memory`) the program of each PE.

pub(crate) mod block;
pub(crate) mod memory;
pub(crate) mod place;
pub(crate) mod root;
pub(crate) mod symbols;
pub(crate) mod task_queues;
pub(crate) mod tile;
