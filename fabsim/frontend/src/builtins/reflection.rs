//! Builtins about types and values: conversions, reflection, arrays, ranges, structs, strings,
//! handles, imports.

use crate::compiler::{Compiler, Ev, Frame, MAX_ELEMENTS};
use crate::dialect::Form;
use crate::parse::ast::{Expr, ExprId};
use crate::types::kinds::{Ty, TypeKind};
use crate::types::value::{AnonymousValue, ArrayValue, Elements, RangeValue, Value};
use crate::{err, Res};
use fabsim_program::diagnostic::Diagnostic;
use fabsim_program::program::Span;
use std::rc::Rc;

/// The largest number that stands for a color in programs, though no route can have it. The sources
/// have 32 alone; a color's name has no more than 6 bits anywhere. [guess]
const LAST_COLOR_NAME: i128 = 63;

impl Compiler {
    pub fn type_builtin(
        &mut self,
        f: &mut Frame,
        name: &str,
        args: &[ExprId],
        span: Span,
    ) -> Res<Option<Ev>> {
        let value = match name {
            "as" | "bitcast" | "ptrcast" => return self.conversion(f, name, args, span).map(Some),
            "type_of" | "is_same_type" | "rank" | "element_count" | "element_type"
            | "dimensions" | "fp16" | "is_arch" | "is_comptime" => {
                self.reflection(f, name, args, span)?
            }
            "zeros" | "constants" => self.array_builtin(f, name, args, span)?,
            "range" => return self.range_builtin(f, args, span).map(Some),
            "range_start" | "range_stop" | "range_step" => self.range_part(f, name, args, span)?,
            "field" => return self.field_builtin(f, args, span).map(Some),
            "has_field" => self.has_field(f, args)?,
            "concat_structs" => {
                self.require_of_user(Form::ConcatStructs, f.module, span)?;
                self.concat_structs(f, args, span)?
            }
            "strlen" | "strcat" | "get_array" | "get_string_from_byte" => {
                self.string_builtin(f, name, args, span)?
            }
            "comptime_assert" => self.comptime_assert(f, args, span)?,
            "comptime_print" => {
                let mut values = Vec::with_capacity(args.len());
                for arg in args {
                    values.push(self.comptime_value(f, *arg)?);
                }
                self.print(span, &values);
                Value::Void
            }
            "import_module" => self.import_module(f, args, span)?,
            "get_color"
            | "get_data_task_id"
            | "get_local_task_id"
            | "get_control_task_id"
            | "get_input_queue"
            | "get_output_queue"
            | "get_ut_id" => return self.handle_builtin(f, name, args).map(Some),
            "get_int" | "get_color_id" => return self.get_int(f, args).map(Some),
            _ => return Ok(None),
        };
        Ok(Some(Ev::Val(value)))
    }

    fn conversion(&mut self, f: &mut Frame, name: &str, args: &[ExprId], span: Span) -> Res<Ev> {
        let ty = self.type_value(f, args[0])?;
        let expect = if name == "as" { Some(ty) } else { None };
        let ev = self.eval_as(f, args[1], expect)?;
        match name {
            "as" => self.cast(ev, ty, span),
            "bitcast" => self.bitcast(ev, ty, span),
            _ => {
                let from = self.type_of_ev(&ev);
                let both =
                    self.types.as_pointer(from).is_some() && self.types.as_pointer(ty).is_some();
                if !both {
                    return err(span, "@ptrcast converts a pointer to another pointer type");
                }
                Ok(match ev {
                    Ev::Val(Value::Pointer(mut pointer)) => {
                        pointer.ty = ty;
                        Ev::Val(Value::Pointer(pointer))
                    }
                    Ev::Slot(slot, _) => Ev::Slot(slot, ty),
                    _ => return err(span, "this pointer has no value"),
                })
            }
        }
    }

    fn reflection(&mut self, f: &mut Frame, name: &str, args: &[ExprId], span: Span) -> Res<Value> {
        match name {
            "type_of" => Ok(Value::Type(self.type_of_expr(f, args[0])?)),
            "is_same_type" => {
                let (a, b) = (self.type_value(f, args[0])?, self.type_value(f, args[1])?);
                Ok(Value::Bool(a == b))
            }
            "fp16" => Ok(Value::Type(self.options.fp16.ty())),
            "is_comptime" => Ok(Value::Bool(f.comptime)),
            "is_arch" => {
                let arch = self.string_argument(f, args[0])?;
                if arch == "wse1" {
                    self.require(Form::FirstArch, span)?;
                    return Ok(Value::Bool(false));
                }
                if !matches!(arch.as_str(), "wse2" | "wse3") {
                    return err(
                        span,
                        format!("unknown architecture \"{arch}\" (known: wse2, wse3)"),
                    );
                }
                Ok(Value::Bool(arch == self.arch_name()))
            }
            _ => {
                let ty = self.type_value(f, args[0])?;
                let Some((dims, element)) = self.types.as_array(ty) else {
                    let ty = self.show(ty);
                    return err(span, format!("@{name} needs an array type, found {ty}"));
                };
                Ok(match name {
                    "rank" => Value::Int(dims.len() as i128, Ty::U16),
                    "element_count" => {
                        Value::Int(dims.iter().map(|d| i128::from(*d)).product(), Ty::U32)
                    }
                    "element_type" => Value::Type(element),
                    _ => {
                        let ty = self.types.array(&[dims.len() as u32], Ty::U32);
                        let list = dims
                            .iter()
                            .map(|d| Value::Int(i128::from(*d), Ty::U32))
                            .collect();
                        let elements = Elements::List(list);
                        Value::Array(Rc::new(ArrayValue { ty, elements }))
                    }
                })
            }
        }
    }

    /// The type of an expression, whose value is not needed: run-time variables may be named.
    pub fn type_of_expr(&mut self, f: &mut Frame, e: ExprId) -> Res<Ty> {
        use crate::evaluate::access::Access;
        let path = matches!(
            f.ast.expr(e),
            Expr::Name(_) | Expr::Field(..) | Expr::Index(..) | Expr::Deref(_)
        );
        if !path {
            let ev = self.eval(f, e)?;
            return Ok(self.type_of_ev(&ev));
        }
        match self.access(f, e)? {
            Access::Memory(_, ty, _) => Ok(ty),
            Access::Constant(value, ..) => Ok(self.type_of(&value)),
            Access::Ev(ev) => Ok(self.type_of_ev(&ev)),
        }
    }

    fn array_builtin(
        &mut self,
        f: &mut Frame,
        name: &str,
        args: &[ExprId],
        span: Span,
    ) -> Res<Value> {
        let ty = self.type_value(f, args[0])?;
        let Some((dims, element)) = self.types.as_array(ty) else {
            let ty = self.show(ty);
            return err(span, format!("@{name} needs an array type, found {ty}"));
        };
        let value = match name {
            "zeros" if element.is_int() => Value::Int(0, element),
            "zeros" if element.is_float() => Value::Float(0.0, element),
            "zeros" => {
                let element = self.show(element);
                return err(
                    span,
                    format!("@zeros needs an array of numbers, not of {element}"),
                );
            }
            _ => {
                let value = self.value_as(f, args[1], Some(element))?;
                self.coerce_value(value, element, f.ast.span(args[1]))?
            }
        };
        let count: u64 = dims.iter().map(|d| u64::from(*d)).product();
        let elements = Elements::Same(value, count.min(MAX_ELEMENTS) as usize);
        Ok(Value::Array(Rc::new(ArrayValue { ty, elements })))
    }

    fn range_builtin(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<Ev> {
        if args.len() != 2 && args.len() != 4 {
            return err(
                span,
                "@range takes 2 or 4 arguments: @range(T, stop) or @range(T, start, stop, step)",
            );
        }
        let ty = self.type_value(f, args[0])?;
        if !ty.is_int() && ty != Ty::COMPTIME_INT {
            let ty = self.show(ty);
            return err(span, format!("@range needs an integer type, found {ty}"));
        }
        let mut parts = Vec::with_capacity(4);
        for arg in &args[1..] {
            let at = f.ast.span(*arg);
            let ev = self.eval_as(f, *arg, Some(ty))?;
            parts.push(match ev {
                Ev::Val(value) => Ev::Val(self.coerce_value(value, ty, at)?),
                other => self.coerce(other, ty, at)?,
            });
        }
        let int = |value| Ev::Val(Value::Int(value, ty));
        if parts.len() == 1 {
            parts = vec![int(0), parts.remove(0), int(1)];
        }
        if let [Ev::Val(Value::Int(start, _)), Ev::Val(Value::Int(stop, _)), Ev::Val(Value::Int(step, _))] =
            parts[..]
        {
            if step == 0 {
                return err(span, "the step of a range cannot be 0");
            }
            return Ok(Ev::Val(Value::Range(Rc::new(RangeValue {
                ty,
                start,
                stop,
                step,
            }))));
        }
        parts.insert(0, Ev::Val(Value::Type(ty)));
        Ok(Ev::TupleParts(Rc::new(parts)))
    }

    fn range_part(&mut self, f: &mut Frame, name: &str, args: &[ExprId], span: Span) -> Res<Value> {
        match self.value(f, args[0])? {
            Value::Range(range) => Ok(Value::Int(
                match name {
                    "range_start" => range.start,
                    "range_stop" => range.stop,
                    _ => range.step,
                },
                range.ty,
            )),
            _ => err(span, format!("@{name} needs a range")),
        }
    }

    fn field_builtin(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<Ev> {
        let name = self.string_argument(f, args[1])?;
        let name = self.sym(&name);
        let base = self.access(f, args[0])?;
        let access = self.access_field(base, name, span)?;
        self.read(f, access, span)
    }

    fn has_field(&mut self, f: &mut Frame, args: &[ExprId]) -> Res<Value> {
        let name = self.string_argument(f, args[1])?;
        let name = self.sym(&name);
        let ty = self.type_of_expr(f, args[0])?;
        if ty == Ty::MODULE {
            if let Value::Module(module) = self.value(f, args[0])? {
                return Ok(Value::Bool(self.module(module).find(name).is_some()));
            }
        }
        let found = self
            .types
            .as_struct(ty)
            .is_some_and(|fields| fields.iter().any(|(field, _)| *field == name));
        Ok(Value::Bool(found))
    }

    fn concat_structs(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<Value> {
        let (a, b) = (self.value(f, args[0])?, self.value(f, args[1])?);
        let empty = |value: &Value| matches!(value, Value::Anonymous(v) if v.names.is_empty());
        match (&a, &b) {
            (Value::Tuple(x), Value::Tuple(y)) => Ok(Value::Tuple(Rc::new(
                x.iter().chain(y.iter()).cloned().collect(),
            ))),
            (other, none) | (none, other) if empty(none) => Ok(other.clone()),
            (Value::Anonymous(x), Value::Anonymous(y)) => {
                if let Some(name) = x.names.iter().find(|name| y.names.contains(name)) {
                    let name = self.text(*name);
                    return err(
                        span,
                        format!("@concat_structs: both structs have the field '{name}'"),
                    );
                }
                Ok(Value::Anonymous(Rc::new(AnonymousValue {
                    names: x.names.iter().chain(y.names.iter()).copied().collect(),
                    values: x.values.iter().chain(&y.values).cloned().collect(),
                })))
            }
            _ => err(
                span,
                "@concat_structs needs two anonymous structs or two tuples",
            ),
        }
    }

    fn string_builtin(
        &mut self,
        f: &mut Frame,
        name: &str,
        args: &[ExprId],
        span: Span,
    ) -> Res<Value> {
        if name == "get_string_from_byte" {
            let byte = self.int_argument(f, args[0], 0, 255, "a byte")?;
            return Ok(Value::Str(vec![byte as u8].into()));
        }
        let mut strings = Vec::with_capacity(args.len());
        for arg in args {
            match self.comptime_value(f, *arg)? {
                Value::Str(bytes) => strings.push(bytes),
                other => {
                    let ty = self.type_of(&other);
                    return self.mismatch(ty, Ty::COMPTIME_STRING, f.ast.span(*arg));
                }
            }
        }
        if name == "strcat" {
            let total: usize = strings.iter().map(|s| s.len()).sum();
            if total as u64 > MAX_ELEMENTS {
                return err(span, "this string is too long");
            }
            return Ok(Value::Str(strings.concat().into()));
        }
        let bytes = &strings[0];
        if name == "strlen" {
            return Ok(Value::int(bytes.len() as i128));
        }
        let ty = self.types.array(&[bytes.len() as u32], Ty::U8);
        let list = bytes
            .iter()
            .map(|b| Value::Int(i128::from(*b), Ty::U8))
            .collect();
        let elements = Elements::List(list);
        Ok(Value::Array(Rc::new(ArrayValue { ty, elements })))
    }

    fn comptime_assert(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<Value> {
        if self.bool_argument(f, args[0])? {
            return Ok(Value::Void);
        }
        match args.get(1) {
            Some(message) => {
                let message = self.string_argument(f, *message)?;
                err(span, format!("comptime assertion failed: {message}"))
            }
            None => err(span, "comptime assertion failed"),
        }
    }

    fn import_module(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<Value> {
        let name = self.string_argument(f, args[0])?;
        let bindings = match args.get(1) {
            Some(arg) => {
                let at = f.ast.span(*arg);
                let value = self.comptime_value(f, *arg)?;
                self.bindings(&value, at)?
            }
            None => Vec::new(),
        };
        let importer = self.module(f.module).path.clone();
        let (path, standard) = self.resolve(&name, &importer, span)?;
        let module = self.instantiate(&path, standard, bindings, span)?;
        Ok(Value::Module(module))
    }

    /// The (name, value) pairs of a struct of parameters.
    pub fn bindings(
        &mut self,
        value: &Value,
        span: Span,
    ) -> Res<Vec<(crate::parse::intern::Sym, Value)>> {
        match value {
            Value::Anonymous(fields) => Ok(fields
                .names
                .iter()
                .copied()
                .zip(fields.values.iter().cloned())
                .collect()),
            Value::Struct(fields) => {
                let names = self
                    .types
                    .as_struct(fields.ty)
                    .unwrap_or_else(|| Vec::new().into());
                Ok(names
                    .iter()
                    .map(|(name, _)| *name)
                    .zip(fields.values.iter().cloned())
                    .collect())
            }
            other => {
                let ty = self.type_of(other);
                let ty = self.show(ty);
                err(
                    span,
                    format!("parameters are given by a struct, found {ty}"),
                )
            }
        }
    }

    fn handle_builtin(&mut self, f: &mut Frame, name: &str, args: &[ExprId]) -> Res<Ev> {
        let at = f.ast.span(args[0]);
        let ev = self.eval(f, args[0])?;
        if name == "get_data_task_id" && self.type_of_ev(&ev).is_handle() {
            return Ok(self.data_task_id(ev));
        }
        let wse3 = self.wse3();
        let (ty, low, high) = match name {
            "get_color" => (Ty::COLOR, 0, 23),
            "get_data_task_id" => (Ty::DATA_TASK_ID, 0, if wse3 { 7 } else { 23 }),
            "get_local_task_id" => (Ty::LOCAL_TASK_ID, if wse3 { 8 } else { 0 }, 30),
            "get_control_task_id" => (Ty::CONTROL_TASK_ID, 0, 63),
            "get_input_queue" => (Ty::INPUT_QUEUE, 0, 7),
            "get_output_queue" => (Ty::OUTPUT_QUEUE, 0, if wse3 { 7 } else { 5 }),
            _ => (Ty::UT_ID, 0, 7),
        };
        match ev {
            Ev::Val(Value::Int(value, _)) => {
                let beyond = ty == Ty::COLOR && (high + 1..=LAST_COLOR_NAME).contains(&value);
                let accepted = beyond && self.has(Form::ColorBeyondRoutes);
                if (value < low || value > high) && !accepted {
                    let arch = self.arch_name();
                    let what = with_article(&self.show(ty));
                    let error = Diagnostic::new(
                        at,
                        format!("@{name}: {value} is not {what} of {arch} (they go from {low} to {high})"),
                    );
                    return Err(Box::new(match beyond {
                        true => error.until(self.last_with(Form::ColorBeyondRoutes)),
                        false => error,
                    }));
                }
                Ok(Ev::Val(Value::Handle(value as u16, ty)))
            }
            Ev::Slot(slot, Ty::U16) if !matches!(ty, Ty::INPUT_QUEUE | Ty::OUTPUT_QUEUE) => {
                Ok(Ev::Slot(slot, ty))
            }
            other => {
                let found = self.type_of_ev(&other);
                let found = self.show(found);
                err(
                    at,
                    format!("@{name} needs an integer known at compile time, found {found}"),
                )
            }
        }
    }

    fn data_task_id(&self, ev: Ev) -> Ev {
        match ev {
            Ev::Val(Value::Handle(value, _)) => Ev::Val(Value::Handle(value, Ty::DATA_TASK_ID)),
            Ev::Slot(slot, _) => Ev::Slot(slot, Ty::DATA_TASK_ID),
            other => other,
        }
    }

    fn get_int(&mut self, f: &mut Frame, args: &[ExprId]) -> Res<Ev> {
        let ev = self.eval(f, args[0])?;
        let ty = self.type_of_ev(&ev);
        let target = match self.types.kind(ty) {
            TypeKind::Enum { repr, .. } => *repr,
            _ if ty.is_handle() => Ty::U16,
            _ => return Ok(ev),
        };
        Ok(match ev {
            Ev::Val(Value::Handle(value, _)) => Ev::Val(Value::Int(i128::from(value), target)),
            Ev::Val(Value::Enum(value, _)) => Ev::Val(Value::Int(value, target)),
            Ev::Slot(slot, _) => Ev::Slot(slot, target),
            other => other,
        })
    }
}

/// The name of a type behind `a` or `an`.
fn with_article(name: &str) -> String {
    let article = match name.starts_with(['i', 'o']) {
        true => "an",
        false => "a",
    };
    format!("{article} {name}")
}
