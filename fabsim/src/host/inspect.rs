//! Looking at the memory of PEs, as debuggers do: by the names of variables, at any time.

use super::Simulator;
use crate::program::{SymbolKind, TileProgram, Variable};
use crate::report::SimError;

/// Exported names that only debuggers look for; they name what the exported pointer points to.
const DEBUG_PREFIX: &str = "$$csl_debug.";

impl Simulator {
    /// The variables in the memory of PE (x, y).
    pub fn variables(&self, x: u32, y: u32) -> Result<Vec<Variable>, SimError> {
        let (program, pe) = self.inspected(x, y)?;
        let mut all = program.variables.clone();
        for symbol in &program.symbols {
            let SymbolKind::Pointer { pointer, .. } = symbol.kind else {
                continue;
            };
            if !symbol.name.starts_with(DEBUG_PREFIX) {
                continue;
            }
            let memory = &self.machine.pes[pe].core.memory;
            let address = memory.load(u64::from(pointer), 2).unwrap_or(0);
            let mut variables = program.variables.iter();
            if let Some(target) = variables.find(|v| u64::from(v.address) == address) {
                all.push(Variable {
                    name: symbol.name.clone(),
                    ..*target
                });
            }
        }
        Ok(all)
    }

    /// The bytes that a variable of PE (x, y) holds now.
    pub fn read_variable(&self, name: &str, x: u32, y: u32) -> Result<Vec<u8>, SimError> {
        let variables = self.variables(x, y)?;
        let Some(variable) = variables.iter().find(|known| known.name == name) else {
            return Err(SimError::Host(format!(
                "PE ({x}, {y}) has no variable {name:?} in its memory"
            )));
        };
        let (_, pe) = self.inspected(x, y)?;
        let memory = &self.machine.pes[pe].core.memory;
        let bytes = (0..variable.bytes).map(|n| {
            let byte = memory.load(u64::from(variable.address + n), 1);
            byte.map(|byte| byte as u8)
                .map_err(|fault| SimError::Host(format!("variable {name:?}: {}", fault.text)))
        });
        bytes.collect()
    }

    fn inspected(&self, x: u32, y: u32) -> Result<(&TileProgram, usize), SimError> {
        let grid = self.machine.fabric.grid;
        if x >= grid.width || y >= grid.height {
            return Err(SimError::Host(format!(
                "there is no PE ({x}, {y}): the program has {} x {}",
                grid.width, grid.height
            )));
        }
        let pe = grid.at(x, y).index();
        let plan = self.machine.pes[pe].plan as usize;
        Ok((&self.machine.plans[plan].program, pe))
    }
}
