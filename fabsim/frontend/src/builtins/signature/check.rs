//! A call against its row: the number of arguments, the place and the target before anything is
//! evaluated, then each argument as soon as its value is there.

use crate::builtins::signature::kind::{Alternative, Class, Kind};
use crate::builtins::signature::table::table;
use crate::builtins::signature::{remedy, Argument, Knowledge, Place, Presence, Signature};
use crate::compiler::{Compiler, Ev, Frame, Stage};
use crate::parse::ast::ExprId;
use crate::types::kinds::Ty;
use crate::types::value::{ModuleId, Value};
use crate::{err, Res};
use fabsim_program::diagnostic::Diagnostic;
use fabsim_program::program::{Arch, Span};

/// An argument that waits for its value to be checked.
#[derive(Clone, Copy)]
pub struct Wanted {
    pub expr: ExprId,
    callee: &'static str,
    /// `None`: its value is only taken down.
    argument: Option<&'static Argument>,
}

impl Compiler {
    /// Checks what can be checked of a builtin's call before its arguments have values, and notes what
    /// these must be. The caller truncates `f.wanted` to what it was.
    pub fn check_call(
        &mut self,
        f: &mut Frame,
        name: &str,
        args: &[ExprId],
        span: Span,
    ) -> Res<&'static Signature> {
        let all = table().forms(name);
        let Some(first) = all.first() else {
            return err(span, format!("fabsim does not know the builtin @{name}"));
        };
        let arch = self.options.arch;
        let here = |row: &&&Signature| row.target.map_or(true, |only| only == arch);
        if !all.iter().any(|row| here(&row)) {
            let only = all[0].target.map_or("", arch_name);
            return err(span, format!("@{name} exists only on {only}"));
        }
        if first.unsupported {
            return err(span, format!("fabsim does not support @{name} yet"));
        }
        let mut fitting = all
            .iter()
            .filter(|row| here(row) && row.takes(args.len()))
            .copied();
        let Some(row) = fitting.next() else {
            return err(span, wrong_number(&format!("@{name}"), all, args.len()));
        };
        self.check_place(f, row, span)?;
        self.expect_row(row, || format!("@{name}"), span)?;
        // Of several forms the values of the arguments tell which it is.
        let alone = fitting.next().is_none();
        for (at, expr) in args.iter().enumerate() {
            let argument = row
                .argument(at)
                .filter(|argument| alone && argument.says_something());
            if argument.is_some() || self.census.is_some() {
                f.wanted.push(Wanted {
                    expr: *expr,
                    callee: row.name,
                    argument,
                });
            }
        }
        Ok(row)
    }

    fn check_place(&self, f: &Frame, row: &Signature, span: Span) -> Res<()> {
        let name = row.name;
        match row.place {
            Place::Anywhere => Ok(()),
            Place::Layout => self.only_layout(name, span),
            Place::Comptime => self.only_comptime(name, span),
            Place::Global if f.function.is_none() && self.stage == Stage::Global => Ok(()),
            Place::Global => err(span, format!("@{name} must initialise a global constant")),
            Place::Run if !f.comptime => Ok(()),
            Place::Run => err(
                span,
                format!("@{name} runs on a PE: it cannot be evaluated at compile time"),
            ),
        }
    }

    /// Evaluates an argument that waits, and checks what comes out.
    pub fn eval_wanted(&mut self, f: &mut Frame, wanted: Wanted, expect: Option<Ty>) -> Res<Ev> {
        let span = f.ast.span(wanted.expr);
        let ev = self.eval_as(f, wanted.expr, expect)?;
        let callee = wanted.callee;
        if let Some(argument) = wanted.argument {
            self.check_argument(&|| format!("@{callee}"), argument, &ev, None, span)?;
        }
        self.census_argument(f, wanted.expr, &ev);
        Ok(ev)
    }

    /// Checks the value of one argument. `module` is the callee's, whose enums the row may name.
    pub fn check_argument(
        &mut self,
        callee: &dyn Fn() -> String,
        argument: &Argument,
        ev: &Ev,
        module: Option<ModuleId>,
        span: Span,
    ) -> Res<()> {
        if !self.fits_any(&argument.kinds, ev, module) {
            let wanted = self.wanted_text(&argument.kinds);
            let found = self.found_text(ev);
            let mut message = format!(
                "{}: '{}' must be {wanted}, found {found}",
                callee(),
                argument.name
            );
            let ty = self.type_of_ev(ev);
            if let Some(remedy) = remedy::remedy(&argument.kinds, ty, ev, self.options.arch) {
                message.push_str(&format!(" ({remedy})"));
            }
            return err(span, message);
        }
        if argument.knowledge != Knowledge::Any && !matches!(ev, Ev::Val(_)) {
            let message = format!(
                "{}: '{}' must be known at compile time",
                callee(),
                argument.name
            );
            return Err(Box::new(Diagnostic::new(span, message)));
        }
        Ok(())
    }

    pub fn fits_any(&mut self, kinds: &[Alternative], ev: &Ev, module: Option<ModuleId>) -> bool {
        let arch = self.options.arch;
        kinds
            .iter()
            .filter(|kind| kind.target.map_or(true, |only| only == arch))
            .any(|kind| self.fits(&kind.kind, ev, module))
    }

    fn fits(&mut self, kind: &Kind, ev: &Ev, module: Option<ModuleId>) -> bool {
        match kind {
            Kind::Class(class) => self.fits_class(*class, ev),
            Kind::Type(ty) => self.converts(ev, *ty),
            Kind::Half => self.converts(ev, self.options.fp16.ty()),
            Kind::PointerTo(pointee) => {
                let ty = self.type_of_ev(ev);
                let wanted = match **pointee {
                    Kind::Type(ty) => ty,
                    _ => self.options.fp16.ty(),
                };
                matches!(self.types.as_pointer(ty), Some((_, true, found)) if found == wanted)
            }
            Kind::EnumOf(name) => {
                let ty = self.type_of_ev(ev);
                self.enum_of(module, name) == Some(ty)
            }
            Kind::EnumType(name) => match ev {
                Ev::Val(Value::Type(ty)) => self.enum_of(module, name) == Some(*ty),
                _ => false,
            },
        }
    }

    /// The type that a module's global holds.
    pub fn enum_of(&mut self, module: Option<ModuleId>, name: &str) -> Option<Ty> {
        let module = module?;
        let name = self.sym(name);
        let index = self.module(module).find(name)?;
        let global = crate::types::value::GlobalRef { module, index };
        match self.global(global, Span::default()) {
            Ok((Value::Type(ty), _)) => Some(ty),
            _ => None,
        }
    }

    /// Whether a value becomes one of type `ty` without `@as`.
    fn converts(&mut self, ev: &Ev, ty: Ty) -> bool {
        match ev {
            Ev::Val(Value::Int(number, _)) if ty.is_int() => {
                let (low, high) = ty.int_range();
                (low..=high).contains(number)
            }
            Ev::Val(Value::Float(_, Ty::COMPTIME_FLOAT)) if ty.is_float() => true,
            _ => self.type_of_ev(ev) == ty,
        }
    }

    fn fits_class(&mut self, class: Class, ev: &Ev) -> bool {
        let named = match ev {
            Ev::Val(Value::Type(ty)) => Some(*ty),
            _ => None,
        };
        let is = |test: &dyn Fn(Ty) -> bool| named.is_some_and(test);
        match class {
            Class::Any | Class::Place => return true,
            Class::Task => return self.is_function(ev, true),
            Class::Function => return self.is_function(ev, false),
            Class::ArrayType => return is(&|ty| self.types.as_array(ty).is_some()),
            Class::PointerType => return is(&|ty| self.types.as_pointer(ty).is_some()),
            Class::NumberType => return is(&is_number),
            Class::IntType => return is(&Ty::is_any_int),
            Class::EnumTypes => return is(&|ty| self.types.is_enum(ty)),
            Class::DsdType => return is(&|ty| ty.is_dsd() && ty != Ty::FIFO),
            Class::DsrType => return is(&Ty::is_dsr),
            _ => {}
        }
        if matches!(ev, Ev::Val(Value::Function(_))) {
            return false;
        }
        let ty = self.type_of_ev(ev);
        match class {
            Class::Int => ty.is_any_int(),
            Class::Float => ty.is_any_float(),
            Class::Number => is_number(ty),
            Class::Enum => self.types.is_enum(ty),
            Class::Handle => ty.is_handle(),
            Class::Struct => is_struct(ev) || self.types.as_struct(ty).is_some(),
            Class::Range => ty == Ty::RANGE || matches!(ev, Ev::TupleParts(_)),
            Class::Dsd => ty.is_dsd(),
            Class::Dsr => ty.is_dsr(),
            Class::Pointer => self.types.as_pointer(ty).is_some(),
            Class::Destination => is_operand(ty, &[Ty::FABIN, Ty::DSR_SRC1, Ty::DSR_FIFO_SRC1]),
            Class::Source => is_operand(ty, &[Ty::FABOUT, Ty::DSR_DEST, Ty::DSR_FIFO_DEST]),
            Class::Done => matches!(ty, Ty::VOID | Ty::BOOL),
            _ => false,
        }
    }

    pub fn is_function(&self, ev: &Ev, task: bool) -> bool {
        match ev {
            Ev::Val(Value::Function(function)) => {
                let (ast, index) = self.decl(*function);
                ast.functions[index].task == task
            }
            _ => false,
        }
    }

    /// What a row asks for, on this target.
    pub fn wanted_text(&self, kinds: &[Alternative]) -> String {
        let arch = self.options.arch;
        let here = kinds
            .iter()
            .filter(|kind| kind.target.map_or(true, |only| only == arch));
        let texts: Vec<String> = here.map(|kind| kind.kind.says(kind.text)).collect();
        match texts.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
            None => "something that only the other target has".into(),
        }
    }

    /// What stands in the call.
    pub fn found_text(&mut self, ev: &Ev) -> String {
        match ev {
            Ev::Val(Value::Type(ty)) => format!("the type {}", self.show(*ty)),
            Ev::Val(Value::Function(_)) if self.is_function(ev, true) => "a task".into(),
            Ev::Val(Value::Function(_)) => "a function".into(),
            Ev::Val(Value::Int(number, _)) => number.to_string(),
            Ev::Val(Value::Anonymous(_)) | Ev::Parts(..) => "a struct".into(),
            Ev::Val(Value::Tuple(_)) | Ev::TupleParts(_) => "a tuple".into(),
            other => {
                let ty = self.type_of_ev(other);
                self.show(ty)
            }
        }
    }
}

impl Argument {
    /// Whether its value has to be looked at.
    fn says_something(&self) -> bool {
        let open = |kind: &Alternative| matches!(kind.kind, Kind::Class(Class::Any | Class::Place));
        self.knowledge != Knowledge::Any || !self.kinds.iter().any(open)
    }
}

/// What is wrong with a call of `found` arguments that no form takes.
pub fn wrong_number(callee: &str, forms: &[&'static Signature], found: usize) -> String {
    let row = forms[0];
    let (low, high) = forms
        .iter()
        .fold((usize::MAX, Some(0)), |(low, high), row| {
            let (least, most) = row.arity;
            (
                low.min(least),
                high.zip(most).map(|(a, b): (usize, usize)| a.max(b)),
            )
        });
    let count = match high {
        Some(high) if low == high => low.to_string(),
        Some(high) => format!("{low} to {high}"),
        None => format!("at least {low}"),
    };
    let s = if count == "1" { "" } else { "s" };
    let name = |argument: &Argument| match argument.presence {
        Presence::Optional => format!("[{}]", argument.name),
        Presence::Repeated => format!("{}...", argument.name),
        Presence::One => argument.name.to_string(),
    };
    let names: Vec<String> = row.arguments.iter().map(name).collect();
    let names = match names.is_empty() {
        true => String::new(),
        false => format!(" ({})", names.join(", ")),
    };
    format!("{callee} takes {count} argument{s}{names}, found {found}")
}

fn arch_name(arch: Arch) -> &'static str {
    match arch {
        Arch::Wse2 => "wse2",
        Arch::Wse3 => "wse3",
    }
}

fn is_number(ty: Ty) -> bool {
    ty == Ty::BOOL || ty.is_any_int() || ty.is_any_float()
}

fn is_operand(ty: Ty, except: &[Ty]) -> bool {
    (ty.is_dsd() || ty.is_dsr()) && !except.contains(&ty)
}

fn is_struct(ev: &Ev) -> bool {
    matches!(
        ev,
        Ev::Val(Value::Anonymous(_) | Value::Struct(_) | Value::Tuple(_))
            | Ev::Parts(..)
            | Ev::TupleParts(_)
    )
}
