//! Users' calls of standard modules: which names there are, what they take, and whose place a message
//! names. An error inside a module belongs to the call that led there.

use crate::builtins::signature::check::wrong_number;
use crate::builtins::signature::{Member, Signature};
use crate::compiler::{Compiler, Ev};
use crate::types::value::{FnRef, ModuleId};
use crate::{err, Res};
use fabsim_program::diagnostic::Diagnostic;
use fabsim_program::program::Span;

impl Compiler {
    /// Whether a place is in the text of a standard module.
    pub fn is_inside(&self, span: Span) -> bool {
        let name = self.sources.names.get(span.file as usize);
        span.line != 0 && name.is_some_and(|name| name.starts_with('<'))
    }

    /// Checks that users may name `name` of a module.
    pub fn check_member(&mut self, module: ModuleId, name: &str, span: Span) -> Res<()> {
        let Some(known) = self.module(module).rows.filter(|_| !self.is_inside(span)) else {
            return Ok(());
        };
        let path = known.name;
        let Some(member) = known.member(name) else {
            return err(span, format!("the module <{path}> has no member '{name}'"));
        };
        let missing = match member {
            Member::Function(signature) => signature.unsupported,
            Member::Other(_, what) => what.ends_with("not supported"),
            Member::Enum(..) => false,
        };
        if missing {
            return err(
                span,
                format!("fabsim does not support '{name}' of <{path}> yet"),
            );
        }
        match member {
            Member::Function(Signature {
                target: Some(only), ..
            }) if *only != self.options.arch => {
                let arch = self.arch_name();
                err(span, format!("<{path}> {name} does not exist on {arch}"))
            }
            Member::Function(row) => {
                self.census_member(path, member, span);
                self.expect_row(row, || format!("<{path}> {name}"), span)
            }
            _ => {
                self.census_member(path, member, span);
                Ok(())
            }
        }
    }

    /// The row of a function that is called from outside its standard module, once the number of
    /// arguments is right.
    pub fn called_outside(
        &self,
        function: FnRef,
        name: &str,
        found: usize,
        span: Span,
    ) -> Res<Option<(&'static str, &'static Signature)>> {
        if self.is_inside(span) {
            return Ok(None);
        }
        let Some(module) = self.module(function.module).rows else {
            return Ok(None);
        };
        let Some(row) = module.function(name) else {
            return Ok(None);
        };
        match row.takes(found) {
            true => Ok(Some((module.name, row))),
            false => {
                let callee = format!("<{}> {name}", module.name);
                err(span, wrong_number(&callee, &[row], found))
            }
        }
    }

    /// Checks one argument of such a call.
    pub fn check_outside(
        &mut self,
        (module, row): (&'static str, &'static Signature),
        at: usize,
        ev: &Ev,
        function: FnRef,
        span: Span,
    ) -> Res<()> {
        let Some(argument) = row.argument(at) else {
            return Ok(());
        };
        let callee = || format!("<{module}> {}", row.name);
        self.check_argument(&callee, argument, ev, Some(function.module), span)
    }

    /// What goes on in a standard module on behalf of the user's text at `caller`.
    pub fn on_behalf<T>(
        &mut self,
        caller: Option<Span>,
        work: impl FnOnce(&mut Compiler) -> Res<T>,
    ) -> Res<T> {
        let before = std::mem::replace(&mut self.caller, caller);
        let result = work(self).map_err(|error| match caller {
            Some(_) => Box::new(self.outward(*error)),
            None => error,
        });
        self.caller = before;
        result
    }

    /// The place in users' text that leads to `span`.
    pub fn user_place(&self, span: Span) -> Option<Span> {
        match self.is_inside(span) {
            true => self.caller,
            false => Some(span).filter(|span| span.line != 0),
        }
    }

    /// A diagnostic that points into a standard module, pointing at the user's call instead.
    pub fn outward(&self, mut diagnostic: Diagnostic) -> Diagnostic {
        let Some(caller) = self.caller else {
            return diagnostic;
        };
        if diagnostic.message.is_empty() || !self.is_inside(diagnostic.span) {
            return diagnostic;
        }
        let inner = std::mem::replace(&mut diagnostic.span, caller);
        diagnostic.notes.insert(
            0,
            (inner, "in the standard module, which this leads to".into()),
        );
        diagnostic
    }
}
