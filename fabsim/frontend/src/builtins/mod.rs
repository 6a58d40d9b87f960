//! The builtins: `dispatch` finds them by name, `signature` holds them against one table. `reflection` asks about types,
//! `bind`, `config` and `task` bind what a program has, `run` is what happens at run time; `tensor`, `dsd`,
//! `dsd_derive` and `dsd_fabric` make descriptors, `dsr`, `fifo` and `registers` keep them, `operations` and `map` use
//! them. `unnamed_queue` finds queues, and `older` is what builtins took before 1.0.

pub(crate) mod bind;
pub(crate) mod config;
pub(crate) mod dispatch;
pub(crate) mod dsd;
pub(crate) mod dsd_derive;
pub(crate) mod dsd_fabric;
pub(crate) mod dsr;
pub(crate) mod fifo;
pub(crate) mod map;
pub(crate) mod older;
pub(crate) mod operations;
pub(crate) mod reflection;
pub(crate) mod registers;
pub(crate) mod run;
pub(crate) mod signature;
pub(crate) mod task;
pub(crate) mod tensor;
pub(crate) mod unnamed_queue;
