//! Builtins by name: which group implements one, and what the groups share.

use crate::compiler::{Compiler, Ev, Frame, Stage};
use crate::parse::ast::ExprId;
use crate::parse::intern::Sym;
use crate::types::kinds::Ty;
use crate::types::value::Value;
use crate::{err, Res};
use fabsim_program::program::Span;

/// The intrinsic of standard modules, which has no row.
const NATIVE: &str = "fabsim_system";

impl Compiler {
    pub fn builtin(&mut self, f: &mut Frame, name: Sym, args: &[ExprId], span: Span) -> Res<Ev> {
        let text = self.text(name);
        let name = &*text;
        let waiting = f.wanted.len();
        let row = match name == NATIVE && self.module(f.module).standard {
            true => None,
            false => Some(self.check_call(f, name, args, span)?),
        };
        if !row.is_some_and(|row| row.pure) {
            self.memo.effects += 1;
        }
        self.census_open(args);
        let result = self.dispatch(f, name, args, span);
        f.wanted.truncate(waiting);
        self.census_close(f, row, &result, span);
        let ev = result?;
        if let Some(row) = row {
            debug_assert!(
                self.fits_any(&row.result, &ev, None),
                "@{name} gives {ev:?}, which its row does not say"
            );
        }
        Ok(ev)
    }

    fn dispatch(&mut self, f: &mut Frame, name: &str, args: &[ExprId], span: Span) -> Res<Ev> {
        if let Some(ev) = self.layout_builtin(f, name, args, span)? {
            return Ok(ev);
        }
        if let Some(ev) = self.type_builtin(f, name, args, span)? {
            return Ok(ev);
        }
        if let Some(ev) = self.bind_builtin(f, name, args, span)? {
            return Ok(ev);
        }
        if let Some(ev) = self.run_builtin(f, name, args, span)? {
            return Ok(ev);
        }
        if let Some(ev) = self.dsd_builtin(f, name, args, span)? {
            return Ok(ev);
        }
        if let Some(ev) = self.dsd_operation(f, name, args, span)? {
            return Ok(ev);
        }
        err(span, format!("fabsim does not know the builtin @{name}"))
    }

    /// A builtin that configures the PE works in top-level comptime blocks.
    pub fn only_comptime(&self, name: &str, span: Span) -> Res<()> {
        match self.stage {
            Stage::Comptime => Ok(()),
            _ => err(
                span,
                format!("@{name} is only possible in a top-level comptime block"),
            ),
        }
    }

    pub fn only_layout(&self, name: &str, span: Span) -> Res<()> {
        match self.stage {
            Stage::Layout => Ok(()),
            _ => err(
                span,
                format!("@{name} is only possible in the layout block"),
            ),
        }
    }

    /// A known integer argument within a range.
    pub fn int_argument(
        &mut self,
        f: &mut Frame,
        e: ExprId,
        low: i128,
        high: i128,
        what: &str,
    ) -> Res<i128> {
        let span = f.ast.span(e);
        let value = self.comptime_int(f, e)?;
        if value < low || value > high {
            return err(
                span,
                format!("{what} must be between {low} and {high}, found {value}"),
            );
        }
        Ok(value)
    }

    pub fn string_argument(&mut self, f: &mut Frame, e: ExprId) -> Res<String> {
        let span = f.ast.span(e);
        match self.comptime_value(f, e)? {
            Value::Str(bytes) => match String::from_utf8(bytes.to_vec()) {
                Ok(text) => Ok(text),
                Err(_) => err(span, "this string is not UTF-8"),
            },
            other => {
                let ty = self.type_of(&other);
                self.mismatch(ty, Ty::COMPTIME_STRING, span)
            }
        }
    }

    pub fn bool_argument(&mut self, f: &mut Frame, e: ExprId) -> Res<bool> {
        let span = f.ast.span(e);
        match self.comptime_value(f, e)? {
            Value::Bool(value) => Ok(value),
            other => {
                let ty = self.type_of(&other);
                self.mismatch(ty, Ty::BOOL, span)
            }
        }
    }

    /// The fields of an anonymous struct argument, whose names must be among `allowed`.
    pub fn fields(
        &mut self,
        ev: &Ev,
        allowed: &[&str],
        what: &str,
        span: Span,
    ) -> Res<Vec<(String, Ev)>> {
        let fields: Vec<(String, Ev)> = match ev {
            Ev::Val(Value::Anonymous(value)) => value
                .names
                .iter()
                .zip(&value.values)
                .map(|(name, value)| (self.interner.str(*name).to_string(), Ev::Val(value.clone())))
                .collect(),
            Ev::Val(Value::Struct(value)) => {
                let names = self
                    .types
                    .as_struct(value.ty)
                    .unwrap_or_else(|| Vec::new().into());
                names
                    .iter()
                    .zip(&value.values)
                    .map(|((name, _), value)| {
                        (self.interner.str(*name).to_string(), Ev::Val(value.clone()))
                    })
                    .collect()
            }
            Ev::Parts(names, parts) => names
                .iter()
                .zip(parts.iter())
                .map(|(name, part)| (self.interner.str(*name).to_string(), part.clone()))
                .collect(),
            Ev::Val(Value::Tuple(items)) if items.is_empty() => Vec::new(),
            other => {
                let ty = self.type_of_ev(other);
                let ty = self.show(ty);
                return err(
                    span,
                    format!("{what} needs an anonymous struct, found {ty}"),
                );
            }
        };
        for (name, _) in &fields {
            if !allowed.contains(&name.as_str()) {
                let known: Vec<String> = allowed.iter().map(|name| format!(".{name}")).collect();
                let known = known.join(", ");
                return err(
                    span,
                    format!("{what} has no field '{name}' (fields: {known})"),
                );
            }
        }
        self.census_fields(what, &fields);
        Ok(fields)
    }

    /// A known boolean field.
    pub fn flag(&mut self, ev: &Ev, what: &str, span: Span) -> Res<bool> {
        match ev {
            Ev::Val(Value::Bool(value)) => Ok(*value),
            _ => err(
                span,
                format!("'{what}' must be true or false and known at compile time"),
            ),
        }
    }

    /// The number in a known handle of type `ty`.
    pub fn handle(&mut self, ev: &Ev, ty: Ty, what: &str, span: Span) -> Res<u8> {
        match ev {
            Ev::Val(Value::Handle(value, found)) if *found == ty => Ok(*value as u8),
            other => {
                let found = self.type_of_ev(other);
                let (found, wanted) = (self.show(found), self.show(ty));
                err(
                    span,
                    format!("{what} must be a {wanted} known at compile time, found {found}"),
                )
            }
        }
    }
}
