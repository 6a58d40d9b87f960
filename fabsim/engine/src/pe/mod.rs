//! Compute elements: tasks, microthreads, DSD operations.
//!
//! A compute element issues one instruction a cycle. The main thread runs tasks to completion;
//! asynchronous DSD operations run on microthreads beside it. High and medium microthreads go
//! before the main thread, low ones after it; among equals they take turns.
//!
//! In reading order: `element` is a compute element and its turn, `choose` says which thread has it; `tasks`
//! starts tasks, `main_thread` and `interpret` run their code, `execute` each instruction, `operate` and `map` what
//! takes more than one; `issue` makes an `operation` from what `operands` hold, `simd` and `rate` say how much of it
//! passes in a cycle; `state` is what threads share, with `memory`, `queues`, `fifo` and `settings` in it.
//! `shortcuts` names the places at which `crate::fast` may do something sooner than its cycle; without it the
//! machine is complete.

pub mod action;
mod choose;
mod clock_register;
pub mod element;
pub mod env;
pub mod event;
mod execute;
pub mod fifo;
pub(crate) mod frames;
mod interpret;
pub mod issue;
pub mod lanes;
pub mod main_thread;
pub mod map;
pub mod memory;
pub mod opcode;
mod operands;
pub(crate) mod operate;
pub mod operation;
pub(crate) mod packed;
pub mod plan;
pub mod port;
pub mod queues;
pub mod rate;
pub(crate) mod recent;
pub use fabsim_lowering::scalar;
mod registers;
pub mod settings;
pub mod shortcuts;
pub mod simd;
pub(crate) mod slots;
pub mod state;
mod system;
pub mod tasks;
mod thread_priority;

pub use self::element::{Launch, Pe};
pub use self::main_thread::Doing;
