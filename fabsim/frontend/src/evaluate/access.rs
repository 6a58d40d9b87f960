//! Names, fields, elements and what pointers lead to: reading them, writing them, their addresses.

use crate::compiler::{Compiler, Ev, Frame, Storage};
use crate::parse::ast::GlobalKind;
use crate::parse::ast::{Expr, ExprId};
use crate::parse::intern::Sym;
use crate::types::kinds::{primitive, Ty, TypeKind};
use crate::types::value::{GlobalRef, ModuleId, Pointer, Target, Value};
use crate::{err, Res};
use fabsim_program::program::{BinaryOp, Inst, ScalarType, Slot, Span};
use std::rc::Rc;

/// What an access path leads to.
#[derive(Clone, Debug)]
pub enum Access {
    Ev(Ev),
    /// A constant that could also be addressed.
    Constant(Value, Target, i64),
    /// A place in run-time memory.
    Memory(Addr, Ty, bool),
}

#[derive(Clone, Copy, Debug)]
pub enum Addr {
    Known(Target, i64),
    Slot(Slot),
}

impl Compiler {
    pub fn access(&mut self, f: &mut Frame, e: ExprId) -> Res<Access> {
        let ast = f.ast.clone();
        let span = ast.span(e);
        match ast.expr(e) {
            Expr::Name(name) => self.access_name(f, *name, span),
            Expr::Field(base, name) => {
                let base = self.access_nested(f, *base)?;
                self.access_field(base, *name, span)
            }
            Expr::Index(base, indices) => {
                let base = self.access_nested(f, *base)?;
                self.access_index(f, base, indices, span)
            }
            Expr::Deref(base) => {
                let base = self.access_nested(f, *base)?;
                let pointer = self.read(f, base, span)?;
                self.dereference(pointer, false, span)
            }
            _ => Ok(Access::Ev(self.eval(f, e)?)),
        }
    }

    fn access_nested(&mut self, f: &mut Frame, e: ExprId) -> Res<Access> {
        self.enter(f.ast.span(e))?;
        let result = self.access(f, e)?;
        self.leave();
        Ok(result)
    }

    fn access_name(&mut self, f: &mut Frame, name: Sym, span: Span) -> Res<Access> {
        if let Some(index) = f.local(name) {
            f.mark_read(index);
            let local = &f.locals[index];
            return Ok(match &local.storage {
                Storage::Known(value) => Access::Ev(Ev::Val(value.clone())),
                Storage::Slot(slot) => Access::Ev(Ev::Slot(*slot, local.ty)),
                Storage::Parts(ev) => Access::Ev(ev.clone()),
                Storage::Memory(address) => Access::Memory(
                    Addr::Known(Target::Address(*address), 0),
                    local.ty,
                    local.mutable,
                ),
            });
        }
        match self.module(f.module).find(name) {
            Some(index) => {
                let module = f.module;
                self.access_global(GlobalRef { module, index }, span)
            }
            None => {
                let name = self.text(name);
                // It may have another meaning somewhere else in the file.
                if let Some(ty) = primitive(&name) {
                    self.require_type(f, ty, span)?;
                    return Ok(Access::Ev(Ev::Val(Value::Type(ty))));
                }
                err(span, format!("unknown name '{name}'"))
            }
        }
    }

    pub fn access_global(&mut self, global: GlobalRef, span: Span) -> Res<Access> {
        let (value, ty) = self.global(global, span)?;
        let kind = self.module(global.module).ast.globals[global.index as usize].kind;
        if kind == GlobalKind::Var {
            return Ok(Access::Memory(
                Addr::Known(Target::Global(global), 0),
                ty,
                true,
            ));
        }
        Ok(match value {
            Value::Array(_) | Value::Struct(_) => {
                Access::Constant(value, Target::Global(global), 0)
            }
            value => Access::Ev(Ev::Val(value)),
        })
    }

    /// A member of a module instance.
    fn module_member(&mut self, module: ModuleId, name: Sym, span: Span) -> Res<Access> {
        self.check_member(module, &self.text(name), span)?;
        match self.module(module).find(name) {
            Some(index) => {
                self.require_member(module, name, span)?;
                self.access_global(GlobalRef { module, index }, span)
            }
            None => {
                let (name, path) = (
                    self.text(name),
                    self.module(module).path.display().to_string(),
                );
                err(span, format!("the module '{path}' has no member '{name}'"))
            }
        }
    }

    pub fn access_field(&mut self, base: Access, name: Sym, span: Span) -> Res<Access> {
        let ev = match base {
            Access::Memory(addr, ty, mutable) => {
                let Some((offset, field)) = self.types.field(ty, name) else {
                    return self.no_field(ty, name, span);
                };
                let addr = self.offset_address(addr, offset as i64, span)?;
                return Ok(Access::Memory(addr, field, mutable));
            }
            Access::Constant(value, target, at) => {
                let ty = self.type_of(&value);
                let offset = self.types.field(ty, name).map(|(offset, _)| offset as i64);
                let value = self.value_field(&value, name, span)?;
                return Ok(match offset {
                    Some(offset) => Access::Constant(value, target, at + offset),
                    None => Access::Ev(Ev::Val(value)),
                });
            }
            Access::Ev(ev) => ev,
        };
        match ev {
            Ev::Val(Value::Module(module)) => self.module_member(module, name, span),
            Ev::Val(value) => Ok(Access::Ev(Ev::Val(self.value_field(&value, name, span)?))),
            Ev::Parts(names, parts) => match names.iter().position(|other| *other == name) {
                Some(index) => Ok(Access::Ev(parts[index].clone())),
                None => {
                    let ty = self.type_of_ev(&Ev::Parts(names, parts));
                    self.no_field(ty, name, span)
                }
            },
            Ev::Memory(slot, ty) => {
                self.access_field(Access::Memory(Addr::Slot(slot), ty, false), name, span)
            }
            other => {
                let ty = self.type_of_ev(&other);
                self.no_field(ty, name, span)
            }
        }
    }

    fn no_field<T>(&self, ty: Ty, name: Sym, span: Span) -> Res<T> {
        let (name, ty) = (self.text(name), self.show(ty));
        err(span, format!("there is no field '{name}' in {ty}"))
    }

    fn value_field(&mut self, value: &Value, name: Sym, span: Span) -> Res<Value> {
        let found = match value {
            Value::Anonymous(anonymous) => anonymous.get(name).cloned(),
            Value::Struct(fields) => match self.types.kind(fields.ty) {
                TypeKind::Struct { fields: types, .. } => types
                    .iter()
                    .position(|(field, _)| *field == name)
                    .and_then(|index| fields.values.get(index).cloned()),
                _ => None,
            },
            Value::Type(ty) => match self.types.kind(*ty) {
                TypeKind::Enum { members, .. } => members
                    .iter()
                    .find(|(member, _)| *member == name)
                    .map(|(_, value)| Value::Enum(*value, *ty)),
                _ => None,
            },
            _ => None,
        };
        match found {
            Some(value) => Ok(value),
            None => {
                let ty = match value {
                    Value::Type(ty) => *ty,
                    other => self.type_of(other),
                };
                self.no_field(ty, name, span)
            }
        }
    }

    fn access_index(
        &mut self,
        f: &mut Frame,
        base: Access,
        indices: &[ExprId],
        span: Span,
    ) -> Res<Access> {
        let mut values = Vec::with_capacity(indices.len());
        for index in indices {
            let at = f.ast.span(*index);
            let value = self.eval(f, *index)?;
            let ty = self.type_of_ev(&value);
            if !ty.is_any_int() {
                let ty = self.show(ty);
                return err(at, format!("an index must be an integer, found {ty}"));
            }
            values.push(value);
        }
        match base {
            Access::Ev(Ev::Val(Value::Tuple(items))) => {
                let index = known_index(&values).ok_or(());
                match index.ok().and_then(|index| items.get(index)) {
                    Some(item) => Ok(Access::Ev(Ev::Val(item.clone()))),
                    None => err(span, "a tuple needs one known index within its length"),
                }
            }
            Access::Ev(Ev::TupleParts(items)) => {
                match known_index(&values).and_then(|index| items.get(index)) {
                    Some(item) => Ok(Access::Ev(item.clone())),
                    None => err(span, "a tuple needs one known index within its length"),
                }
            }
            Access::Ev(Ev::Val(value @ Value::Array(_))) => {
                self.index_value(value, None, &values, span)
            }
            Access::Constant(value, target, at) => {
                self.index_value(value, Some((target, at)), &values, span)
            }
            Access::Ev(Ev::Memory(slot, ty)) => {
                self.index_memory(Addr::Slot(slot), ty, false, &values, span)
            }
            Access::Memory(addr, ty, mutable) if self.types.as_array(ty).is_some() => {
                self.index_memory(addr, ty, mutable, &values, span)
            }
            other => {
                let pointer = self.read(f, other, span)?;
                let place = self.dereference(pointer, true, span)?;
                match place {
                    Access::Memory(addr, ty, mutable) => {
                        self.index_many(addr, ty, mutable, &values, span)
                    }
                    _ => err(span, "this value cannot be indexed"),
                }
            }
        }
    }

    /// An element of a known array; with a run-time index the array must be in memory.
    fn index_value(
        &mut self,
        value: Value,
        home: Option<(Target, i64)>,
        indices: &[Ev],
        span: Span,
    ) -> Res<Access> {
        let Value::Array(array) = &value else {
            return err(span, "only arrays can be indexed");
        };
        let (dims, strides, element) = self.array_parts(array.ty, indices.len(), span)?;
        let known: Option<Vec<i128>> = indices.iter().map(known_int).collect();
        if let Some(known) = known {
            let at = linear(&known, &dims, &strides, span)?;
            let Some(item) = array.elements.get(at) else {
                return err(span, "index out of bounds");
            };
            let item = item.clone();
            if let (Some((target, base)), true) = (home, self.types.is_runtime(element)) {
                let offset = at as i64 * i64::from(self.element_size(element, span)?);
                return Ok(Access::Constant(item, target, base + offset));
            }
            return Ok(Access::Ev(Ev::Val(item)));
        }
        let (target, at) = match home {
            Some(home) => home,
            None => {
                let address = self.constant_data(&value, array.ty, span)?;
                (Target::Address(address), 0)
            }
        };
        self.index_memory(Addr::Known(target, at), array.ty, false, indices, span)
    }

    /// Dimensions, element strides (row-major) and element type of an array type.
    pub fn array_parts(
        &self,
        ty: Ty,
        indices: usize,
        span: Span,
    ) -> Res<(Rc<[u32]>, Vec<i64>, Ty)> {
        let Some((dims, element)) = self.types.as_array(ty) else {
            let ty = self.show(ty);
            return err(span, format!("a value of type {ty} cannot be indexed"));
        };
        if dims.len() != indices {
            return err(
                span,
                format!(
                    "an array of rank {} needs as many indices, found {indices}",
                    dims.len()
                ),
            );
        }
        let mut strides = vec![1i64; dims.len()];
        for d in (1..dims.len()).rev() {
            strides[d - 1] = strides[d] * i64::from(dims[d]);
        }
        Ok((dims, strides, element))
    }

    fn index_memory(
        &mut self,
        addr: Addr,
        ty: Ty,
        mutable: bool,
        indices: &[Ev],
        span: Span,
    ) -> Res<Access> {
        let (dims, strides, element) = self.array_parts(ty, indices.len(), span)?;
        let size = i64::from(self.element_size(element, span)?);
        let mut place = addr;
        for (d, index) in indices.iter().enumerate() {
            let step = strides[d] * size;
            if let Some(known) = known_int(index) {
                if known < 0 || known >= i128::from(dims[d]) {
                    let length = dims[d];
                    return err(
                        span,
                        format!("index out of bounds: {known} of {length} elements"),
                    );
                }
                place = self.offset_address(place, known as i64 * step, span)?;
            } else {
                place = self.add_scaled(place, index, step, span)?;
            }
        }
        Ok(Access::Memory(place, element, mutable))
    }

    /// An element behind a `[*]T`.
    fn index_many(
        &mut self,
        addr: Addr,
        element: Ty,
        mutable: bool,
        indices: &[Ev],
        span: Span,
    ) -> Res<Access> {
        let [index] = indices else {
            return err(span, "a pointer takes one index");
        };
        let size = i64::from(self.element_size(element, span)?);
        let place = match known_int(index) {
            Some(known) if !(-65536..=65535).contains(&known) => {
                return err(
                    span,
                    format!("the index {known} leads out of the memory of a PE"),
                );
            }
            Some(known) => self.offset_address(addr, known as i64 * size, span)?,
            None => self.add_scaled(addr, index, size, span)?,
        };
        Ok(Access::Memory(place, element, mutable))
    }

    fn offset_address(&mut self, addr: Addr, offset: i64, span: Span) -> Res<Addr> {
        match addr {
            Addr::Known(target, base) => Ok(Addr::Known(target, base + offset)),
            Addr::Slot(slot) if offset == 0 => Ok(Addr::Slot(slot)),
            Addr::Slot(a) => {
                let b = self.const_slot(offset as u64 & 0xffff, span)?;
                Ok(Addr::Slot(self.add_u16(BinaryOp::Add, a, b, span)?))
            }
        }
    }

    fn add_u16(&mut self, op: BinaryOp, a: Slot, b: Slot, span: Span) -> Res<Slot> {
        let dst = self.new_slot(span)?;
        let ty = ScalarType::U16;
        self.push(Inst::Binary { op, ty, dst, a, b }, span)?;
        Ok(dst)
    }

    fn add_scaled(&mut self, addr: Addr, index: &Ev, step: i64, span: Span) -> Res<Addr> {
        let index = self.u16_slot(index, span)?;
        let scaled = match step {
            1 => index,
            _ => {
                let factor = self.const_slot(step as u64 & 0xffff, span)?;
                self.add_u16(BinaryOp::Mul, index, factor, span)?
            }
        };
        let base = self.address_slot(addr, span)?;
        Ok(Addr::Slot(self.add_u16(
            BinaryOp::Add,
            base,
            scaled,
            span,
        )?))
    }

    pub fn address_slot(&mut self, addr: Addr, span: Span) -> Res<Slot> {
        match addr {
            Addr::Slot(slot) => Ok(slot),
            Addr::Known(target, offset) => {
                let address = self.address(target, offset, span)?;
                self.const_slot(u64::from(address), span)
            }
        }
    }

    /// What a pointer leads to.
    pub fn dereference(&mut self, pointer: Ev, many: bool, span: Span) -> Res<Access> {
        let ty = self.type_of_ev(&pointer);
        let Some((is_many, mutable, pointee)) = self.types.as_pointer(ty) else {
            let ty = self.show(ty);
            let what = if many {
                "be indexed"
            } else {
                "be dereferenced"
            };
            return err(span, format!("a value of type {ty} cannot {what}"));
        };
        if is_many != many {
            let how = if is_many {
                "indexed, not dereferenced"
            } else {
                "dereferenced first"
            };
            return err(span, format!("this pointer must be {how}"));
        }
        let addr = match pointer {
            Ev::Val(Value::Pointer(pointer)) => Addr::Known(pointer.target, pointer.offset),
            Ev::Slot(slot, _) => Addr::Slot(slot),
            _ => return err(span, "this pointer has no value"),
        };
        Ok(Access::Memory(addr, pointee, mutable))
    }

    /// The value at the end of an access path.
    pub fn read(&mut self, f: &Frame, access: Access, span: Span) -> Res<Ev> {
        match access {
            Access::Ev(Ev::Val(Value::Undefined(_))) => err(span, "this variable has no value yet"),
            Access::Ev(Ev::Slot(..) | Ev::Memory(..)) if f.comptime => {
                err(span, "this value is not known at compile time")
            }
            Access::Ev(ev) => Ok(ev),
            Access::Constant(value, ..) => Ok(Ev::Val(value)),
            Access::Memory(..) if f.comptime || self.builder.is_none() => {
                err(span, "a run-time variable cannot be read at compile time")
            }
            Access::Memory(addr, ty, _) => {
                let address = self.address_slot(addr, span)?;
                self.load(address, ty, span)
            }
        }
    }

    /// `&e`
    pub fn address_of(&mut self, f: &mut Frame, e: ExprId, span: Span) -> Res<Ev> {
        let access = match f.ast.clone().expr(e) {
            Expr::Name(name) if f.local(*name).is_none() => match self.module(f.module).find(*name)
            {
                Some(index) => self.global_place(
                    GlobalRef {
                        module: f.module,
                        index,
                    },
                    span,
                )?,
                None => self.access(f, e)?,
            },
            Expr::Field(base, name) => match self.access_nested(f, *base)? {
                Access::Ev(Ev::Val(Value::Module(module))) => match self.module(module).find(*name)
                {
                    Some(index) => self.global_place(GlobalRef { module, index }, span)?,
                    None => self.module_member(module, *name, span)?,
                },
                base => self.access_field(base, *name, span)?,
            },
            _ => self.access(f, e)?,
        };
        let (addr, ty, mutable) = match access {
            Access::Memory(addr, ty, mutable) => (addr, ty, mutable),
            Access::Constant(value, target, offset) => {
                let ty = self.type_of(&value);
                (Addr::Known(target, offset), ty, false)
            }
            Access::Ev(Ev::Val(Value::Function(function))) => {
                let pointee = self.function_type(function)?;
                let ty = self.types.pointer(false, false, pointee);
                let target = Target::Function(function);
                return Ok(Ev::Val(Value::Pointer(Pointer {
                    target,
                    offset: 0,
                    ty,
                })));
            }
            Access::Ev(Ev::Val(value @ (Value::Array(_) | Value::Struct(_))))
                if matches!(f.ast.clone().expr(e), Expr::Name(_)) =>
            {
                let ty = self.type_of(&value);
                let address = self.constant_in_memory(value, ty, span)?;
                (Addr::Known(Target::Address(address), 0), ty, false)
            }
            Access::Ev(_) => {
                return err(
                    span,
                    "fabsim does not support the address of this value yet",
                )
            }
        };
        let ty = self.types.pointer(false, mutable, ty);
        Ok(match addr {
            Addr::Known(target, offset) => Ev::Val(Value::Pointer(Pointer { target, offset, ty })),
            Addr::Slot(slot) => Ev::Slot(slot, ty),
        })
    }

    /// Like `access_global`, but scalar constants have a place too.
    fn global_place(&mut self, global: GlobalRef, span: Span) -> Res<Access> {
        let (value, _) = self.global(global, span)?;
        Ok(match self.access_global(global, span)? {
            Access::Ev(Ev::Val(Value::Function(function))) => {
                Access::Ev(Ev::Val(Value::Function(function)))
            }
            Access::Ev(Ev::Val(_)) => Access::Constant(value, Target::Global(global), 0),
            access => access,
        })
    }
}

fn known_int(ev: &Ev) -> Option<i128> {
    match ev {
        Ev::Val(value) => value.as_int(),
        _ => None,
    }
}

fn known_index(indices: &[Ev]) -> Option<usize> {
    match indices {
        [index] => known_int(index).and_then(|index| usize::try_from(index).ok()),
        _ => None,
    }
}

/// The row-major position of known indices, which must be in bounds.
pub fn linear(indices: &[i128], dims: &[u32], strides: &[i64], span: Span) -> Res<usize> {
    let mut at = 0usize;
    for ((index, length), stride) in indices.iter().zip(dims).zip(strides) {
        if *index < 0 || *index >= i128::from(*length) {
            return err(
                span,
                format!("index out of bounds: {index} of {length} elements"),
            );
        }
        at += *index as usize * *stride as usize;
    }
    Ok(at)
}
