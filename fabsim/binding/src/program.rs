//! `fabsim.Program`: what a compiled program says of itself.

use super::names::arch_name;
use fabsim_host::Lowered;
use fabsim_lowering::inline::{expand, Callees};
use fabsim_program::program::{
    Direction, Directions, Function, FunctionId, Inst, Tile, TileProgram,
};
use fabsim_program::sdk::Sdk;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A compiled program.
#[pyclass(frozen, module = "fabsim")]
pub struct Program {
    pub lowered: Lowered,
    pub warnings: Vec<String>,
    pub printed: Vec<String>,
    pub constructs: Vec<(String, String, u32)>,
    pub sdk: Sdk,
    pub since: Sdk,
    pub assumed: Option<String>,
}

#[pymethods]
impl Program {
    #[getter]
    fn arch(&self) -> &'static str {
        arch_name(self.lowered.design().arch)
    }

    #[getter]
    fn width(&self) -> u16 {
        self.lowered.design().width
    }

    #[getter]
    fn height(&self) -> u16 {
        self.lowered.design().height
    }

    /// Exported names; the index is the symbol's id.
    #[getter]
    fn exports(&self) -> Vec<&str> {
        let exports = self.lowered.design().exports.iter();
        exports.map(|export| export.name.as_str()).collect()
    }

    /// What the compiler warns of.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// What `@comptime_print` says.
    #[getter]
    fn printed(&self) -> Vec<String> {
        self.printed.clone()
    }

    /// What the program uses of the language, if that was asked for: constructs with the file and line
    /// of their first place.
    #[getter]
    fn constructs(&self) -> Vec<(String, String, u32)> {
        self.constructs.clone()
    }

    /// The release the program is compiled for.
    #[getter]
    fn sdk(&self) -> &'static str {
        self.sdk.name()
    }

    /// The first release that has everything the program uses, as far as is known.
    #[getter]
    fn since(&self) -> &'static str {
        self.since.name()
    }

    /// Which release was assumed and why, where none was said and it is not the newest.
    #[getter]
    fn assumed(&self) -> Option<&str> {
        self.assumed.as_deref()
    }

    /// Source files the program was compiled from.
    #[getter]
    fn sources(&self) -> &[String] {
        &self.lowered.design().files
    }

    /// The functions in the memory of PE (x, y), with their numbers of instructions; a constant is
    /// part of the instruction that uses it.
    fn functions(&self, x: u16, y: u16) -> PyResult<Vec<(String, usize)>> {
        let takes_time = |inst: &&Inst| !matches!(inst, Inst::Const { .. });
        let count = |f: &Function| f.code.iter().filter(takes_time).count();
        let functions = self.program_of(x, y)?.functions.iter();
        Ok(functions.map(|f| (f.name.clone(), count(f))).collect())
    }

    /// The same with functions in the place of their calls, before anything is optimised: numbers of
    /// instructions, among them constants and where blocks end, and of variables.
    fn inlined(&self, x: u16, y: u16) -> PyResult<Vec<(String, usize, u16)>> {
        let functions = &self.program_of(x, y)?.functions;
        let callees = Callees::new(functions);
        let ids = (0..functions.len() as u32).map(FunctionId);
        let expanded = ids.map(|id| (callees.function(id).name.clone(), expand(&callees, id)));
        Ok(expanded
            .map(|(name, cfg)| (name, cfg.size(), cfg.slots))
            .collect())
    }

    /// Where the colors of PE (x, y) come from and go to: color, number of the switch position, and
    /// the letters of its inputs and outputs.
    fn routes(&self, x: u16, y: u16) -> PyResult<Vec<(u8, u8, String, String)>> {
        let router = &self.lowered.design().routers[self.tile_of(x, y)?.router as usize];
        let rows = router.colors.iter().flat_map(|(color, setup)| {
            let sides = setup.sides().into_iter();
            sides.map(|(number, rx, tx)| (*color, number, letters(rx), letters(tx)))
        });
        Ok(rows.collect())
    }

    /// Bytes of memory that the variables of PE (x, y) take.
    fn data_bytes(&self, x: u16, y: u16) -> PyResult<u32> {
        Ok(self.program_of(x, y)?.memory_bytes)
    }
}

impl Program {
    fn program_of(&self, x: u16, y: u16) -> PyResult<&TileProgram> {
        let tile = self.tile_of(x, y)?;
        Ok(&self.lowered.design().programs[tile.program as usize])
    }

    fn tile_of(&self, x: u16, y: u16) -> PyResult<&Tile> {
        let (width, height) = (self.lowered.design().width, self.lowered.design().height);
        let place = usize::from(y) * usize::from(width) + usize::from(x);
        let inside = x < width && y < height;
        let tile = self.lowered.design().tiles.get(place).filter(|_| inside);
        tile.ok_or_else(|| {
            let text = format!("PE ({x}, {y}) is outside the {width} x {height} rectangle");
            PyValueError::new_err(text)
        })
    }
}

/// Sides by their letters, the ramp first.
fn letters(sides: Directions) -> String {
    const LETTERS: [(Direction, char); 5] = [
        (Direction::Ramp, 'R'),
        (Direction::East, 'E'),
        (Direction::West, 'W'),
        (Direction::North, 'N'),
        (Direction::South, 'S'),
    ];
    let known = LETTERS.iter().filter(|(side, _)| sides.has(*side));
    known.map(|(_, letter)| *letter).collect()
}
