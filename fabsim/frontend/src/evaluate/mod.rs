//! Walks trees, computing what is known and emitting code for what is not: `module` makes instances and their
//! globals; `expressions` (`quick` where they are small integers), `access` and `choice`; `statements`,
//! `loops`, `assign` and `declare`; `call` (`memo` remembers); `emit` writes code.

pub(crate) mod access;
pub(crate) mod assign;
pub(crate) mod call;
pub(crate) mod choice;
pub(crate) mod declare;
pub(crate) mod emit;
pub(crate) mod expressions;
pub(crate) mod loops;
pub(crate) mod memo;
pub(crate) mod module;
pub(crate) mod quick;
pub(crate) mod statements;
