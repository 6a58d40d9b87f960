//! What is known of a tile program while it is compiled.

use crate::parse::intern::Sym;
use crate::state::census::TileCensus;
use crate::state::registers::Registers;
use crate::types::kinds::Ty;
use crate::types::value::{FnRef, GlobalRef, Value};
use crate::{err, Res};
use fabsim_program::program::{
    ColorSetup, DsdShape, FunctionId, Span, Symbol, TaskBinding, TileProgram,
};
use fabsim_program::quick_hash::QuickMap;
use std::path::PathBuf;

/// One parameter of an instance.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Argument {
    Known(Value),
    Run(Ty),
}

/// A function that must be lowered.
#[derive(Clone, Debug)]
pub struct Pending {
    pub function: FnRef,
    pub arguments: Vec<Argument>,
    pub id: FunctionId,
    /// Where users' text led to it, if it is a standard module's.
    pub caller: Option<Span>,
}

/// What is known of the tile program while it is compiled.
#[derive(Default)]
pub struct TileState {
    pub program: TileProgram,
    /// The first of its modules.
    pub root: usize,
    pub instances: QuickMap<(FnRef, Vec<Argument>), FunctionId>,
    pub pending: Vec<Pending>,
    /// Tasks and what they are bound to.
    pub bound: Vec<(TaskBinding, FnRef)>,
    /// Known local task ids that are activated, and where.
    pub activated: Vec<(u8, Span)>,
    /// Exported symbols with their types and mutability.
    pub symbols: Vec<(Symbol, Ty, bool, Span)>,
    pub colors: Vec<(u8, ColorSetup)>,
    /// The program gives colors routes while it runs.
    pub changes_routes: bool,
    /// Addresses of constants that code needs in memory.
    pub constants: QuickMap<Value, u32>,
    /// (address, value, type, declaration) of what memory starts with.
    pub initial: Vec<(u32, Value, Ty, Span)>,
    /// Places kept for globals.
    pub reserved: QuickMap<GlobalRef, u32>,
    /// Registers, their loads and what works on them.
    pub registers: Registers,
    pub census: TileCensus,
    pub shape_spans: Vec<Span>,
    pub shapes: QuickMap<DsdShape, u16>,
    /// (function, keeps locals in memory, callees, declaration)
    pub calls: Vec<(FunctionId, bool, Vec<u32>, Span)>,
}

impl TileState {
    pub fn shape(&mut self, shape: &DsdShape, span: Span) -> Res<u16> {
        if let Some(index) = self.shapes.get(shape) {
            return Ok(*index);
        }
        let Ok(index) = u16::try_from(self.program.shapes.len()) else {
            return err(span, "this program makes too many different DSDs");
        };
        self.program.shapes.push(shape.clone());
        self.shape_spans.push(span);
        self.shapes.insert(shape.clone(), index);
        Ok(index)
    }
}

/// The colors that the PEs of a program have beside those of the layout.
#[derive(Default)]
pub struct OwnColors {
    pub configured: Vec<(u8, ColorSetup)>,
    /// Without routes until the program gives them some; the layout may have done so.
    pub unrouted: Vec<u8>,
}

impl TileState {
    pub fn own_colors(&self) -> OwnColors {
        let inputs = self.program.input_queues.iter().flatten();
        let outputs = self.program.output_queues.iter().flatten();
        let operands = self.program.shapes.iter().filter_map(|shape| match shape {
            DsdShape::FabIn { color, .. } | DsdShape::FabOut { color, .. } => *color,
            _ => None,
        });
        let colors = inputs.map(|queue| queue.color).chain(operands);
        let mut named: Vec<u8> = colors
            .chain(outputs.filter_map(|queue| queue.color))
            .collect();
        named.sort_unstable();
        named.dedup();
        named.retain(|color| self.changes_routes && !self.colors.iter().any(|(c, _)| c == color));
        OwnColors {
            configured: self.colors.clone(),
            unrouted: named,
        }
    }
}

/// A tile program that some PE runs.
#[derive(Clone, Debug)]
pub struct TileRequest {
    pub path: Option<(PathBuf, bool)>,
    pub params: Vec<(Sym, Value)>,
    pub span: Span,
}
