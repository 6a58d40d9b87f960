//! What is known of the layout while it is evaluated.

use crate::state::tile::TileRequest;
use crate::types::kinds::Ty;
use crate::types::value::Value;
use fabsim_program::program::{ColorSetup, Export, Span};
use fabsim_program::quick_hash::QuickMap;
use std::path::PathBuf;

/// Globals with a place, in order: the number of the module in the program, and the declaration.
pub type Order = Vec<(u32, u32)>;

#[derive(Clone, Debug)]
pub struct Declared {
    pub export: Export,
    pub ty: Ty,
    pub span: Span,
}

/// A set-up that is the same for all PEs, and the steps of evaluating it.
#[derive(Clone, Copy)]
pub struct LiteralSetup {
    pub index: u32,
    pub steps: u64,
}

/// Key of a tile program: the file and the parameters.
pub type TileKey = (Option<(PathBuf, bool)>, Option<Value>);

#[derive(Default)]
pub struct LayoutState {
    pub rectangle: Option<(u16, u16)>,
    /// Program of every PE and where it was set.
    pub tiles: Vec<Option<(u32, Span)>>,
    pub requests: Vec<TileRequest>,
    pub request_index: QuickMap<TileKey, u32>,
    pub resolved: QuickMap<String, (PathBuf, bool)>,
    /// Colors of every PE, as indices of `setups`, in order of declaration.
    pub colors: Vec<Vec<(u8, u32, Span)>>,
    pub setups: Vec<ColorSetup>,
    pub setup_index: QuickMap<ColorSetup, u32>,
    /// What a configuration without names in it led to, by its place and the color.
    pub literal_setups: QuickMap<(Span, u8), LiteralSetup>,
    pub exports: Vec<Declared>,
    /// The order of globals in the last program made of a file.
    pub orders: QuickMap<PathBuf, Order>,
}
