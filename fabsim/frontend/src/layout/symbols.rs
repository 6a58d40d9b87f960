//! The names under which variables are found in the memory of a PE.

use crate::compiler::Compiler;
use crate::state::module::GlobalState;
use crate::types::value::Value;
use fabsim_program::program::Variable;

impl Compiler {
    /// The variables with a place in memory of the modules from `first` on, the root of a program. A
    /// variable of an imported module is named after the variables that hold the modules, unless it
    /// is declared `export`.
    pub fn variables(&self, first: usize) -> Vec<Variable> {
        let mut found = Vec::new();
        // Who imports a module comes before it.
        let mut prefixes = vec![None; self.modules.len().saturating_sub(first)];
        if let Some(root) = prefixes.first_mut() {
            *root = Some(String::new());
        }
        for (n, module) in self.modules.iter().enumerate().skip(first) {
            let Some(prefix) = prefixes[n - first].take() else {
                continue;
            };
            for (decl, global) in module.ast.globals.iter().zip(&module.globals) {
                let GlobalState::Known(value, ty) = &global.state else {
                    continue;
                };
                let name = self.text(decl.name);
                if let Value::Module(imported) = value {
                    let place = (imported.0 as usize).checked_sub(first);
                    let slot = place.and_then(|place| prefixes.get_mut(place));
                    if let Some(slot) = slot.filter(|slot| slot.is_none()) {
                        *slot = Some(format!("{prefix}{name}."));
                    }
                }
                let size = self
                    .types
                    .size(*ty)
                    .and_then(|size| u32::try_from(size).ok());
                if let (Some(address), Some(bytes)) = (global.address, size) {
                    let prefix = if decl.exported { "" } else { &prefix };
                    found.push(Variable {
                        name: format!("{prefix}{name}"),
                        address,
                        bytes,
                    });
                }
            }
        }
        found
    }
}
