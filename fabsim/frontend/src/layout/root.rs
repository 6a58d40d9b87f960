//! What the command line binds: parameters of the root file, and its colors.

use crate::compiler::Compiler;
use crate::parse::ast::GlobalKind;
use crate::parse::intern::Sym;
use crate::types::kinds::Ty;
use crate::types::value::{ModuleId, Value};
use crate::{err, Res};
use fabsim_program::diagnostic::Diagnostic;
use fabsim_program::program::Span;

impl Compiler {
    /// The values of `--params` and `--colors`.
    pub fn root_params(&mut self) -> Res<Vec<(Sym, Value)>> {
        let mut bindings = Vec::new();
        for (name, value) in self.options.params.clone() {
            bindings.push((self.sym(&name), Value::int(i128::from(value))));
        }
        for (name, id) in self.options.colors.clone() {
            if !(0..=23).contains(&id) {
                let message = format!("--colors={name}:{id}: the colors go from 0 to 23");
                return err(Span::default(), message);
            }
            bindings.push((self.sym(&name), Value::Handle(id as u16, Ty::COLOR)));
        }
        Ok(bindings)
    }

    /// Reports bound names that the root file does not declare.
    pub fn check_root_params(&mut self, root: ModuleId) {
        let options = &self.options;
        let params = options.params.iter().map(|(name, _)| ("parameter", name));
        let colors = options.colors.iter().map(|(name, _)| ("color", name));
        let bound: Vec<_> = params
            .chain(colors)
            .map(|(what, name)| (what, name.clone()))
            .collect();
        let ast = self.module(root).ast.clone();
        for (what, name) in bound {
            let sym = self.sym(&name);
            let mut globals = ast.globals.iter();
            if !globals.any(|global| global.name == sym && global.kind == GlobalKind::Param) {
                let span = Span {
                    file: ast.file,
                    ..Span::default()
                };
                let message = format!("the program has no {what} '{name}'");
                self.report(Diagnostic::new(span, message));
            }
        }
    }
}
