//! Declarations in functions and blocks: what is known stays a value, the rest gets a slot or memory.

use crate::compiler::{Compiler, Ev, Frame, Local, Storage};
use crate::parse::ast::{Declare, ExprId};
use crate::parse::intern::Sym;
use crate::types::kinds::Ty;
use crate::types::value::Value;
use crate::{err, Res};
use fabsim_program::program::Span;

impl Compiler {
    pub fn declare(&mut self, f: &mut Frame, declare: &Declare, span: Span) -> Res<()> {
        if declare.comptime && !f.comptime {
            f.comptime = true;
            let result = self.declare(f, declare, span);
            f.comptime = false;
            return result;
        }
        let taken = f.locals.get(f.scope..).unwrap_or_default();
        if taken.iter().any(|local| local.name == declare.name) {
            let name = self.text(declare.name);
            return err(span, format!("'{name}' is declared twice in this block"));
        }
        let ty = match declare.ty {
            Some(ty) => Some(self.type_value(f, ty)?),
            None => None,
        };
        let (ty, storage) = match (declare.value, ty) {
            (Some(value), ty) => self.initialised(f, declare, value, ty, span)?,
            (None, Some(ty)) if f.comptime => (ty, Storage::Known(Value::Undefined(ty))),
            (None, Some(ty)) => (ty, self.run_time_storage(f, declare.name, ty, span)?),
            (None, None) => return err(span, "this declaration needs a type or a value"),
        };
        f.locals.push(Local {
            name: declare.name,
            ty,
            mutable: declare.mutable,
            guarded: f.guarded,
            storage,
        });
        Ok(())
    }

    /// Type and place of a variable or constant with a value.
    fn initialised(
        &mut self,
        f: &mut Frame,
        declare: &Declare,
        value: ExprId,
        ty: Option<Ty>,
        span: Span,
    ) -> Res<(Ty, Storage)> {
        // Reserved first, so that what evaluation needs can be released.
        let reserved = match f.comptime {
            true => None,
            false => Some(self.new_slot(span)?),
        };
        let mark = self.mark();
        let at = f.ast.span(value);
        let ev = self.eval_as(f, value, ty)?;
        let ev = match ty {
            Some(ty) => self.coerce(ev, ty, at)?,
            None => ev,
        };
        let found = self.type_of_ev(&ev);
        if found == Ty::VOID && declare.mutable {
            return err(at, "a variable cannot be void");
        }
        match ev {
            Ev::Val(value) if f.comptime || !declare.mutable => {
                self.release(mark);
                Ok((found, Storage::Known(value)))
            }
            _ if f.comptime => err(at, "this value is not known at compile time"),
            Ev::Parts(..) | Ev::TupleParts(_) if declare.mutable => err(
                at,
                "fabsim does not support variables of anonymous struct type yet",
            ),
            Ev::Parts(..) | Ev::TupleParts(_) => Ok((found, Storage::Parts(ev))),
            ev => {
                self.check_run_time_type(declare.name, found, at)?;
                let storage = self.run_time_storage_in(f, declare.name, found, reserved, span)?;
                self.initialise(&storage, found, &ev, at)?;
                self.release(mark);
                Ok((found, storage))
            }
        }
    }

    fn check_run_time_type(&mut self, name: Sym, ty: Ty, span: Span) -> Res<()> {
        if self.types.is_runtime(ty) {
            return Ok(());
        }
        let (name, ty) = (self.text(name), self.show(ty));
        err(
            span,
            format!("the variable '{name}' cannot have the comptime-only type {ty}"),
        )
    }

    /// Stores the first value.
    fn initialise(&mut self, storage: &Storage, ty: Ty, ev: &Ev, span: Span) -> Res<()> {
        match storage {
            Storage::Slot(slot) => self.move_to(*slot, ev, span),
            Storage::Memory(address) => {
                let slot = self.const_slot(u64::from(*address), span)?;
                self.store(slot, ty, ev, span)
            }
            Storage::Known(_) | Storage::Parts(_) => Ok(()),
        }
    }

    fn run_time_storage(&mut self, f: &Frame, name: Sym, ty: Ty, span: Span) -> Res<Storage> {
        if !self.types.is_runtime(ty) {
            let ty = self.show(ty);
            return err(
                span,
                format!("a run-time variable cannot have the comptime-only type {ty}"),
            );
        }
        let slot = self.new_slot(span)?;
        self.run_time_storage_in(f, name, ty, Some(slot), span)
    }

    /// A slot, or static memory for aggregates and for variables whose address is taken.
    fn run_time_storage_in(
        &mut self,
        f: &Frame,
        name: Sym,
        ty: Ty,
        slot: Option<fabsim_program::program::Slot>,
        span: Span,
    ) -> Res<Storage> {
        let addressed = match f.function {
            Some(function) => f.ast.functions[function.0 as usize]
                .addressed
                .contains(&name),
            None => false,
        };
        match slot {
            Some(slot) if self.types.in_slot(ty) && !addressed => Ok(Storage::Slot(slot)),
            _ => {
                self.builder(span)?.uses_memory = true;
                Ok(Storage::Memory(self.static_memory(ty, 1, span)?))
            }
        }
    }
}
