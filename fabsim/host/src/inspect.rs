//! Looking at the memory of PEs, as debuggers do: by the names of variables, at any time. And writing
//! it, as loaders do.

use super::Simulator;
use fabsim_engine::fault::Fault;
use fabsim_engine::report::{HostFault, SimError};
use fabsim_program::program::{SymbolKind, TileProgram, Variable};

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
        let variable = self.variable(name, x, y)?;
        let (_, pe) = self.inspected(x, y)?;
        let memory = &self.machine.pes[pe].core.memory;
        let bytes = (0..variable.bytes).map(|n| {
            let byte = memory.load(u64::from(variable.address + n), 1);
            byte.map(|byte| byte as u8)
                .map_err(|fault| variable_fault(name, &fault))
        });
        bytes.collect()
    }

    /// Gives a variable of PE (x, y), of whole words, all of its bytes.
    pub fn write_variable(
        &mut self,
        name: &str,
        x: u32,
        y: u32,
        bytes: &[u8],
    ) -> Result<(), SimError> {
        let variable = self.variable(name, x, y)?;
        if variable.bytes as usize != bytes.len() || bytes.len() % 2 != 0 {
            let fault = HostFault::VariableBytes {
                name: name.into(),
                given: bytes.len(),
                has: variable.bytes,
            };
            return Err(SimError::from(fault).on((x, y)));
        }
        let (_, pe) = self.inspected(x, y)?;
        let memory = &mut self.machine.pes[pe].core.memory;
        for (n, pair) in bytes.chunks_exact(2).enumerate() {
            let address = u64::from(variable.address) + 2 * n as u64;
            let word = u64::from(pair[0]) | u64::from(pair[1]) << 8;
            memory
                .store(address, 2, word)
                .map_err(|fault| variable_fault(name, &fault).on((x, y)))?;
        }
        Ok(())
    }

    fn variable(&self, name: &str, x: u32, y: u32) -> Result<Variable, SimError> {
        let variables = self.variables(x, y)?;
        let found = variables.into_iter().find(|known| known.name == name);
        found.ok_or_else(|| SimError::from(HostFault::NoVariable(name.into())).on((x, y)))
    }

    fn inspected(&self, x: u32, y: u32) -> Result<(&TileProgram, usize), SimError> {
        let grid = self.machine.fabric.grid;
        if x >= grid.width || y >= grid.height {
            let size = (grid.width, grid.height);
            return Err(SimError::from(HostFault::NoPe { size }).on((x, y)));
        }
        let pe = grid.at(x, y).index();
        let plan = self.machine.pes[pe].plan as usize;
        Ok((&self.machine.plans[plan].program, pe))
    }
}

fn variable_fault(name: &str, fault: &Fault) -> SimError {
    let (name, fault) = (name.into(), fault.kind);
    HostFault::Variable { name, fault }.into()
}
