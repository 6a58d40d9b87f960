//! Assignments: to comptime variables and their parts, to slots, to memory.

use crate::compiler::{Compiler, Ev, Frame, Storage};
use crate::evaluate::access::{linear, Access, Addr};
use crate::parse::ast::{Arith, Expr, ExprId};
use crate::parse::intern::Sym;
use crate::types::kinds::{Ty, TypeKind, Types};
use crate::types::value::{ArrayValue, Elements, Target, Value};
use crate::{err, Res};
use fabsim_program::program::Span;
use std::rc::Rc;

impl Compiler {
    pub fn assign(
        &mut self,
        f: &mut Frame,
        op: Option<Arith>,
        left: ExprId,
        right: ExprId,
        span: Span,
    ) -> Res<()> {
        if let Some((index, steps)) = self.comptime_target(f, left)? {
            return self.assign_known(f, op, index, steps, left, right, span);
        }
        if f.comptime {
            return err(
                span,
                "a run-time variable cannot be written at compile time",
            );
        }
        let ast = f.ast.clone();
        if let Expr::Name(name) = ast.expr(left) {
            if let Some(index) = f.local(*name) {
                let (storage, ty, mutable) = {
                    let local = &f.locals[index];
                    (local.storage.clone(), local.ty, local.mutable)
                };
                if !mutable {
                    let name = self.text(*name);
                    return err(span, format!("cannot assign to the constant '{name}'"));
                }
                if let Storage::Slot(slot) = storage {
                    let ev = self.assigned(f, op, Ev::Slot(slot, ty), ty, right, span)?;
                    return self.move_to(slot, &ev, span);
                }
            }
        }
        let access = self.access(f, left)?;
        let Access::Memory(addr, ty, mutable) = access else {
            return err(span, "cannot assign to this: it is a constant or a value");
        };
        if !mutable {
            return err(
                span,
                "cannot assign through a pointer to const or to a constant",
            );
        }
        if let (true, Addr::Known(Target::Global(global), _)) = (ty.is_dsd(), addr) {
            self.tile(span)?.registers.assigned.insert(global);
        }
        let address = self.address_slot(addr, span)?;
        let old = match op {
            Some(_) => self.load(address, ty, span)?,
            None => Ev::Slot(address, ty),
        };
        let ev = self.assigned(f, op, old, ty, right, span)?;
        self.store(address, ty, &ev, span)
    }

    /// The value that an assignment stores.
    pub fn assigned(
        &mut self,
        f: &mut Frame,
        op: Option<Arith>,
        old: Ev,
        ty: Ty,
        right: ExprId,
        span: Span,
    ) -> Res<Ev> {
        let at = f.ast.span(right);
        let value = self.eval_as(f, right, Some(ty))?;
        let value = match op {
            Some(op) => self.arith(op, old, value, span)?,
            None => value,
        };
        self.coerce(value, ty, at)
    }

    /// The comptime variable that `e` is a part of.
    fn comptime_target(&mut self, f: &mut Frame, e: ExprId) -> Res<Option<(usize, Vec<Step>)>> {
        self.enter(f.ast.span(e))?;
        let target = self.comptime_path(f, e)?;
        self.leave();
        Ok(target)
    }

    /// The comptime variable that the value of `e` is a part of; what a pointer leads to is not.
    fn comptime_base(&mut self, f: &mut Frame, e: ExprId) -> Res<Option<(usize, Vec<Step>)>> {
        let target = self.comptime_target(f, e)?;
        Ok(target.filter(|(index, _)| {
            !matches!(f.locals[*index].storage, Storage::Known(Value::Pointer(_)))
        }))
    }

    fn comptime_path(&mut self, f: &mut Frame, e: ExprId) -> Res<Option<(usize, Vec<Step>)>> {
        let ast = f.ast.clone();
        match ast.expr(e) {
            Expr::Name(name) => Ok(f
                .local(*name)
                .filter(|index| matches!(f.locals[*index].storage, Storage::Known(_)))
                .map(|index| (index, Vec::new()))),
            Expr::Field(base, name) => {
                let Some((index, mut steps)) = self.comptime_base(f, *base)? else {
                    return Ok(None);
                };
                steps.push(Step::Field(*name));
                Ok(Some((index, steps)))
            }
            Expr::Index(base, indices) => {
                let Some((index, mut steps)) = self.comptime_base(f, *base)? else {
                    return Ok(None);
                };
                let mut known = Vec::with_capacity(indices.len());
                for index in indices {
                    known.push(self.comptime_int(f, *index)?);
                }
                steps.push(match known.as_slice() {
                    [one]
                        if *one >= 0
                            && matches!(
                                &f.locals[index].storage,
                                Storage::Known(Value::Tuple(_))
                            ) =>
                    {
                        Step::Item(*one as usize)
                    }
                    _ => Step::Element(known),
                });
                Ok(Some((index, steps)))
            }
            _ => Ok(None),
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn assign_known(
        &mut self,
        f: &mut Frame,
        op: Option<Arith>,
        index: usize,
        steps: Vec<Step>,
        left: ExprId,
        right: ExprId,
        span: Span,
    ) -> Res<()> {
        if !f.locals[index].mutable {
            let name = self.text(f.locals[index].name);
            return err(span, format!("cannot assign to the constant '{name}'"));
        }
        if f.guarded > f.locals[index].guarded {
            return err(
                span,
                "a comptime variable cannot change under a run-time condition",
            );
        }
        let old = match (op, steps.is_empty()) {
            (None, true) => Value::Undefined(f.locals[index].ty),
            (None, false) => Value::Undefined(Ty::VOID),
            _ => self.value(f, left)?,
        };
        let ty = match (&old, steps.is_empty()) {
            (_, true) => f.locals[index].ty,
            (Value::Undefined(_), false) => self.step_type(f.locals[index].ty, &steps, span)?,
            (old, false) => self.type_of(old),
        };
        let ev = self.assigned(f, op, Ev::Val(old), ty, right, span)?;
        let Ev::Val(value) = ev else {
            return err(span, "this value is not known at compile time");
        };
        let Storage::Known(place) = &mut f.locals[index].storage else {
            return Ok(());
        };
        match store_step(&self.types, place, &steps, value, span)? {
            true => Ok(()),
            false => err(span, "this part of a comptime variable cannot be assigned"),
        }
    }

    fn step_type(&self, mut ty: Ty, steps: &[Step], span: Span) -> Res<Ty> {
        for step in steps {
            let next = match (self.types.kind(ty), step) {
                (TypeKind::Array { element, .. }, Step::Element(_)) => Some(*element),
                (
                    TypeKind::Struct { fields, .. } | TypeKind::Anonymous(fields),
                    Step::Field(name),
                ) => fields
                    .iter()
                    .find(|(field, _)| field == name)
                    .map(|(_, ty)| *ty),
                (TypeKind::Tuple(types), Step::Item(index)) => types.get(*index).copied(),
                _ => None,
            };
            ty = match next {
                Some(next) => next,
                None => return err(span, "this part of the variable does not exist"),
            };
        }
        Ok(ty)
    }
}

/// A step into a comptime variable.
enum Step {
    Element(Vec<i128>),
    Item(usize),
    Field(Sym),
}

/// Stores into a part of a comptime value; false if there is no such part.
fn store_step(
    types: &Types,
    place: &mut Value,
    steps: &[Step],
    value: Value,
    span: Span,
) -> Res<bool> {
    let Some((step, rest)) = steps.split_first() else {
        *place = value;
        return Ok(true);
    };
    if let (Value::Undefined(ty), Some((dims, element))) = (&*place, undefined_array(types, place))
    {
        let count = dims.iter().map(|d| *d as usize).product();
        *place = Value::Array(Rc::new(ArrayValue {
            ty: *ty,
            elements: Elements::Same(Value::Undefined(element), count),
        }));
    }
    let inner = match (place, step) {
        (Value::Array(array), Step::Element(indices)) => {
            let array = Rc::make_mut(array);
            let Some((dims, _)) = types.as_array(array.ty) else {
                return Ok(false);
            };
            if dims.len() != indices.len() {
                return Ok(false);
            }
            let mut strides = vec![1i64; dims.len()];
            for d in (1..dims.len()).rev() {
                strides[d - 1] = strides[d] * i64::from(dims[d]);
            }
            let at = linear(indices, &dims, &strides, span)?;
            array.elements.get_mut(at)
        }
        (Value::Tuple(items), Step::Item(index)) => Rc::make_mut(items).get_mut(*index),
        (Value::Anonymous(fields), Step::Field(name)) => {
            let fields = Rc::make_mut(fields);
            let index = fields.names.iter().position(|field| field == name);
            index.and_then(|index| fields.values.get_mut(index))
        }
        (Value::Struct(fields), Step::Field(name)) => {
            let fields = Rc::make_mut(fields);
            let index = types
                .as_struct(fields.ty)
                .and_then(|types| types.iter().position(|(field, _)| field == name));
            index.and_then(|index| fields.values.get_mut(index))
        }
        _ => None,
    };
    match inner {
        Some(inner) => store_step(types, inner, rest, value, span),
        None => Ok(false),
    }
}

fn undefined_array(types: &Types, value: &Value) -> Option<(Rc<[u32]>, Ty)> {
    match value {
        Value::Undefined(ty) => types.as_array(*ty),
        _ => None,
    }
}
