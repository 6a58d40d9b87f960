//! The rules between types: what a value may become without `@as`, and what `@as` and `@bitcast` do.

use crate::compiler::{Compiler, Ev};
use crate::types::kinds::{Ty, TypeKind};
use crate::types::ops;
use crate::types::value::{AnonymousValue, Target, Value};
use crate::{err, Res};
use fabsim_program::program::{Arch, Inst, Span};

impl Compiler {
    pub fn type_of(&mut self, value: &Value) -> Ty {
        match value {
            Value::Void => Ty::VOID,
            Value::Undefined(ty)
            | Value::Int(_, ty)
            | Value::Float(_, ty)
            | Value::Handle(_, ty)
            | Value::Enum(_, ty) => *ty,
            Value::Bool(_) => Ty::BOOL,
            Value::Str(_) => Ty::COMPTIME_STRING,
            Value::Type(_) => Ty::TYPE,
            Value::Array(array) => array.ty,
            Value::Struct(value) => value.ty,
            Value::Anonymous(value) => {
                let types: Vec<Ty> = value.values.iter().map(|v| self.type_of(v)).collect();
                let fields = value.names.iter().copied().zip(types).collect();
                self.types.intern(TypeKind::Anonymous(fields))
            }
            Value::Tuple(values) => {
                let types = values.iter().map(|v| self.type_of(v)).collect();
                self.types.intern(TypeKind::Tuple(types))
            }
            Value::Function(function) => self.function_type(*function).unwrap_or(Ty::VOID),
            Value::Module(_) => Ty::MODULE,
            Value::Pointer(pointer) => pointer.ty,
            Value::Range(_) => Ty::RANGE,
            Value::Dsd(dsd) => dsd.ty,
            Value::Dsr(dsr) => crate::types::kinds::dsr_type(*dsr),
            Value::FifoDsr(dsr) => crate::types::kinds::fifo_dsr_type(*dsr),
        }
    }

    pub fn type_of_ev(&mut self, ev: &Ev) -> Ty {
        match ev {
            Ev::Val(value) => self.type_of(value),
            Ev::Slot(_, ty) | Ev::Memory(_, ty) => *ty,
            Ev::Parts(names, parts) => {
                let types: Vec<Ty> = parts.iter().map(|part| self.type_of_ev(part)).collect();
                let fields = names.iter().copied().zip(types).collect();
                self.types.intern(TypeKind::Anonymous(fields))
            }
            Ev::TupleParts(parts) => {
                let types = parts.iter().map(|part| self.type_of_ev(part)).collect();
                self.types.intern(TypeKind::Tuple(types))
            }
        }
    }

    pub fn mismatch<T>(&self, found: Ty, wanted: Ty, span: Span) -> Res<T> {
        let (found, wanted) = (self.show(found), self.show(wanted));
        let found = match found == wanted {
            true => "another type with the same contents",
            false => &found,
        };
        err(
            span,
            format!("type mismatch: expected {wanted}, found {found}"),
        )
    }

    /// `value` as a value of type `ty`, if CSL converts it without being asked.
    pub fn coerce_value(&mut self, value: Value, ty: Ty, span: Span) -> Res<Value> {
        match (&value, ty) {
            (Value::Int(number, Ty::COMPTIME_INT), ty) if ty.is_int() => {
                return self.fit_int(*number, ty, span);
            }
            (Value::Float(number, Ty::COMPTIME_FLOAT), ty) if ty.is_float() => {
                return Ok(Value::Float(ops::round(*number, ty), ty));
            }
            (Value::Struct(_) | Value::Anonymous(_) | Value::Tuple(_), Ty::COMPTIME_STRUCT) => {
                return Ok(value);
            }
            // A known integer converts to any type that holds it.
            (Value::Int(number, _), ty) if ty.is_int() => return self.fit_int(*number, ty, span),
            (Value::Anonymous(fields), ty) if self.is_named_struct(ty) => {
                return self.known_struct(&fields.clone(), ty, span);
            }
            _ => {}
        }
        if let (Value::Function(function), Some(_)) = (&value, self.types.as_function_pointer(ty)) {
            let found = self.function_type(*function)?;
            let wanted = self
                .types
                .as_pointer(ty)
                .map_or(Ty::VOID, |(_, _, pointee)| pointee);
            if found != wanted {
                return self.mismatch(found, wanted, span);
            }
            return Ok(Value::Pointer(crate::types::value::Pointer {
                target: Target::Function(*function),
                offset: 0,
                ty,
            }));
        }
        let found = self.type_of(&value);
        if found == ty {
            return Ok(value);
        }
        match value {
            Value::Pointer(mut pointer) if self.pointer_converts(found, ty) => {
                pointer.ty = ty;
                Ok(Value::Pointer(pointer))
            }
            _ => self.mismatch(found, ty, span),
        }
    }

    pub fn is_named_struct(&self, ty: Ty) -> bool {
        matches!(self.types.kind(ty), TypeKind::Struct { .. })
    }

    /// An anonymous struct as a value of a named struct type with the same fields.
    fn known_struct(&mut self, fields: &AnonymousValue, ty: Ty, span: Span) -> Res<Value> {
        let values = fields.values.iter().map(|value| Ev::Val(value.clone()));
        let given: Vec<_> = fields.names.iter().zip(values).collect();
        let given: Vec<_> = given.into_iter().map(|(n, ev)| (*n, ev, span)).collect();
        match self.struct_of(ty, &given, span)? {
            Ev::Val(value) => Ok(value),
            _ => err(span, "this struct is not known at compile time"),
        }
    }

    pub fn fit_int(&self, number: i128, ty: Ty, span: Span) -> Res<Value> {
        let (low, high) = ty.int_range();
        if number < low || number > high {
            let ty = self.show(ty);
            return err(
                span,
                format!("integer out of range: {number} does not fit {ty}"),
            );
        }
        Ok(Value::Int(number, ty))
    }

    /// `*[n]T` to `[*]T`, and adding `const`.
    fn pointer_converts(&self, from: Ty, to: Ty) -> bool {
        let (Some((many, mutable, pointee)), Some((to_many, to_mutable, to_pointee))) =
            (self.types.as_pointer(from), self.types.as_pointer(to))
        else {
            return false;
        };
        if to_mutable && !mutable {
            return false;
        }
        if many == to_many {
            return pointee == to_pointee;
        }
        // The rank must be 1 by the manual, but its own examples export matrices through `[*]T`.
        match self.types.as_array(pointee) {
            Some((_, element)) => to_many && element == to_pointee,
            None => false,
        }
    }

    pub fn coerce(&mut self, ev: Ev, ty: Ty, span: Span) -> Res<Ev> {
        match ev {
            Ev::Val(value) => Ok(Ev::Val(self.coerce_value(value, ty, span)?)),
            Ev::Slot(slot, from) if from == ty || self.pointer_converts(from, ty) => {
                Ok(Ev::Slot(slot, ty))
            }
            Ev::Memory(_, from) if from == ty => Ok(ev),
            Ev::Parts(names, parts) if self.is_named_struct(ty) => {
                let parts = names.iter().zip(parts.iter());
                let given: Vec<_> = parts.map(|(n, ev)| (*n, ev.clone(), span)).collect();
                self.struct_of(ty, &given, span)
            }
            other => {
                let found = self.type_of_ev(&other);
                self.mismatch(found, ty, span)
            }
        }
    }

    /// The common type of two operands, and the operands as that type.
    pub fn peers(&mut self, a: Ev, b: Ev, span: Span) -> Res<(Ev, Ev, Ty)> {
        let (left, right) = (self.type_of_ev(&a), self.type_of_ev(&b));
        if left == right {
            return Ok((a, b, left));
        }
        let flexible = |from: Ty, to: Ty| {
            (from == Ty::COMPTIME_INT && to.is_int())
                || (from == Ty::COMPTIME_FLOAT && to.is_float())
        };
        if flexible(left, right) {
            return Ok((self.coerce(a, right, span)?, b, right));
        }
        if flexible(right, left) {
            return Ok((a, self.coerce(b, left, span)?, left));
        }
        let (left, right) = (self.show(left), self.show(right));
        err(
            span,
            format!("type mismatch: the operands have types {left} and {right}"),
        )
    }

    /// `@as(ty, ev)`
    pub fn cast(&mut self, ev: Ev, ty: Ty, span: Span) -> Res<Ev> {
        let from = self.type_of_ev(&ev);
        if from == ty {
            return Ok(ev);
        }
        let (from_number, to_number) = (self.castable(from), self.castable(ty));
        let both_enums = self.types.is_enum(from) && self.types.is_enum(ty);
        if !from_number || !to_number || both_enums {
            return match ev {
                Ev::Val(Value::Int(..) | Value::Float(..) | Value::Bool(_))
                | Ev::Slot(..)
                | Ev::Val(_)
                    if !from_number || !to_number =>
                {
                    self.coerce(ev, ty, span)
                }
                _ => {
                    let (from, to) = (self.show(from), self.show(ty));
                    err(span, format!("@as cannot convert {from} to {to}"))
                }
            };
        }
        match ev {
            Ev::Val(value) => Ok(Ev::Val(self.cast_value(&value, ty, span)?)),
            other => {
                let (slot, from) = self.slot_of(&other, span)?;
                let slot = self.convert(slot, from, ty, span)?;
                Ok(Ev::Slot(slot, ty))
            }
        }
    }

    fn castable(&self, ty: Ty) -> bool {
        ty.is_any_int() || ty.is_any_float() || ty == Ty::BOOL || self.types.is_enum(ty)
    }

    fn cast_value(&mut self, value: &Value, ty: Ty, span: Span) -> Res<Value> {
        let number = match value {
            Value::Int(number, from) => {
                if *from == Ty::COMPTIME_INT && ty.is_int() {
                    return self.fit_int(*number, ty, span);
                }
                Ok(*number)
            }
            Value::Enum(number, _) => Ok(*number),
            Value::Bool(flag) => Ok(i128::from(*flag)),
            Value::Float(number, _) => Err(*number),
            _ => return err(span, "@as needs a number"),
        };
        if ty == Ty::BOOL {
            return Ok(Value::Bool(match number {
                Ok(number) => number != 0,
                Err(number) => number != 0.0,
            }));
        }
        if ty.is_any_float() {
            let number = match number {
                Ok(number) => number as f64,
                Err(number) => number,
            };
            return Ok(Value::Float(ops::round(number, ty), ty));
        }
        let number = match number {
            Ok(number) => number,
            Err(number) if number.is_finite() && number.abs() < 1.9e19 => number.trunc() as i128,
            Err(_) => return err(span, "@as: this float has no integer value"),
        };
        if let TypeKind::Enum { members, .. } = self.types.kind(ty) {
            if !members.iter().any(|(_, member)| *member == number) {
                return err(
                    span,
                    format!("@as: the enum has no member with the value {number}"),
                );
            }
            return Ok(Value::Enum(number, ty));
        }
        Ok(Value::Int(ops::wrap(number, ty), ty))
    }

    /// `@bitcast(ty, ev)`
    pub fn bitcast(&mut self, ev: Ev, ty: Ty, span: Span) -> Res<Ev> {
        let from = self.type_of_ev(&ev);
        let width = |this: &Self, ty: Ty| match ty {
            Ty::BOOL => None,
            ty if ty.is_int() => Some(ty.bits()),
            ty if ty.is_fp16() => Some(16),
            Ty::F32 => Some(32),
            ty => this.types.as_pointer(ty).map(|_| 16),
        };
        let widths = (width(self, from), width(self, ty));
        if widths.0.is_none() || widths.0 != widths.1 {
            let (from, to) = (self.show(from), self.show(ty));
            return err(
                span,
                format!("@bitcast needs types of equal width, found {from} and {to}"),
            );
        }
        if self.types.as_pointer(ty).is_some() && !from.is_int() {
            return err(span, "@bitcast to a pointer needs an integer");
        }
        // On wse2 it may lead to a register.
        if let Some(tile) = self.tile.as_mut() {
            tile.changes_routes |= self.options.arch == Arch::Wse2 && from.is_int();
        }
        match ev {
            Ev::Val(Value::Pointer(_)) => {
                let (slot, _) = self.slot_of(&ev, span)?;
                Ok(Ev::Slot(slot, ty))
            }
            Ev::Val(value) => {
                let bits = self.bits(&value, span)?;
                Ok(Ev::Val(self.value_of_bits(bits, ty)))
            }
            Ev::Slot(src, _) => {
                let dst = self.new_slot(span)?;
                self.push(Inst::Copy { dst, src }, span)?;
                Ok(Ev::Slot(dst, ty))
            }
            _ => err(span, "@bitcast needs a scalar"),
        }
    }

    fn value_of_bits(&mut self, bits: u64, ty: Ty) -> Value {
        if ty.is_int() {
            return Value::Int(ops::wrap(i128::from(bits), ty), ty);
        }
        if ty.is_float() {
            return Value::Float(ops::float_from_bits(bits, ty), ty);
        }
        Value::Pointer(crate::types::value::Pointer {
            target: Target::Address(bits as u32),
            offset: 0,
            ty,
        })
    }
}
