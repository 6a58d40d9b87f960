//! Where registers are taken, loaded and used.

use crate::types::value::{GlobalRef, ModuleId};
use fabsim_program::program::{Dsr, Span};
use fabsim_program::quick_hash::{QuickMap, QuickSet};

/// Where registers are taken, loaded and used.
#[derive(Default)]
pub struct Registers {
    pub taken: QuickMap<Dsr, (Span, ModuleId)>,
    pub loads: Vec<Load>,
    pub operations: Vec<Operation>,
    /// Variables that are fabric operands of asynchronous operations.
    pub fabric_variables: Vec<(GlobalRef, String, Span)>,
    /// Variables that are assigned to.
    pub assigned: QuickSet<GlobalRef>,
}

pub struct Load {
    pub dsr: Dsr,
    pub is_async: bool,
    pub completes: bool,
    pub save_address: bool,
    pub single_step: bool,
}

/// An operation, or a `@map`, with the registers among its operands.
pub struct Operation {
    pub span: Span,
    pub dsrs: Vec<(Dsr, Span)>,
    pub is_map: bool,
    pub is_async: bool,
    /// It names a completion, and none of its operands is a fabric DSD.
    pub completes: bool,
}

impl Registers {
    pub fn loads_of(&self, dsr: Dsr) -> Vec<&Load> {
        self.loads.iter().filter(|load| load.dsr == dsr).collect()
    }

    pub fn is_async(&self, operation: &Operation) -> bool {
        let loaded = |(dsr, _): &(Dsr, Span)| self.loads_of(*dsr).iter().any(|l| l.is_async);
        operation.is_async || operation.dsrs.iter().any(loaded)
    }

    /// Whether an operation on registers says how it completes and none of their loads does.
    pub fn lacks_completion(&self, operation: &Operation) -> bool {
        let mut loads = operation
            .dsrs
            .iter()
            .flat_map(|(dsr, _)| self.loads_of(*dsr));
        operation.completes && !loads.any(|load| load.completes)
    }
}
