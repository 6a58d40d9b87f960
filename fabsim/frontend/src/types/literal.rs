//! Literals of arrays, structs, tuples and types.

use crate::compiler::{Compiler, Ev, Frame, MAX_ELEMENTS};
use crate::dialect::Form;
use crate::parse::ast::{Expr, ExprId};
use crate::parse::intern::Sym;
use crate::types::kinds::{Ty, TypeKind};
use crate::types::value::{AnonymousValue, ArrayValue, Elements, StructValue, Value};
use crate::{err, Res};
use fabsim_program::program::Span;
use std::rc::Rc;

/// An anonymous struct of these values.
pub fn anonymous(names: &Rc<[Sym]>, evs: Vec<Ev>) -> Ev {
    match all_known(&evs) {
        Some(values) => Ev::Val(Value::Anonymous(Rc::new(AnonymousValue {
            names: names.clone(),
            values,
        }))),
        None => Ev::Parts(names.clone(), Rc::new(evs)),
    }
}

impl Compiler {
    pub fn tuple_literal(&mut self, f: &mut Frame, items: &[ExprId]) -> Res<Ev> {
        let mut evs = Vec::with_capacity(items.len());
        for item in items {
            evs.push(self.eval(f, *item)?);
        }
        Ok(match all_known(&evs) {
            Some(values) => Ev::Val(Value::Tuple(Rc::new(values))),
            None => Ev::TupleParts(Rc::new(evs)),
        })
    }

    pub fn struct_literal(
        &mut self,
        f: &mut Frame,
        ty: Option<ExprId>,
        names: &Rc<[Sym]>,
        values: &[ExprId],
        span: Span,
    ) -> Res<Ev> {
        if let Some(ty) = ty {
            let ty = self.type_value(f, ty)?;
            return self.named_struct(f, ty, names, values, span);
        }
        let mut evs = Vec::with_capacity(values.len());
        for value in values {
            evs.push(self.eval(f, *value)?);
        }
        Ok(anonymous(names, evs))
    }

    fn named_struct(
        &mut self,
        f: &mut Frame,
        ty: Ty,
        names: &[Sym],
        values: &[ExprId],
        span: Span,
    ) -> Res<Ev> {
        let fields = self.struct_fields(ty, span)?;
        let mut given = Vec::with_capacity(names.len());
        for (name, value) in names.iter().zip(values) {
            let at = f.ast.span(*value);
            let expect = fields.iter().find(|(field, _)| field == name);
            let ev = self.eval_as(f, *value, expect.map(|(_, ty)| *ty))?;
            given.push((*name, ev, at));
        }
        self.struct_of(ty, &given, span)
    }

    fn struct_fields(&mut self, ty: Ty, span: Span) -> Res<Rc<[(Sym, Ty)]>> {
        match self.types.kind(ty) {
            TypeKind::Struct { fields, .. } => Ok(fields.clone()),
            _ => {
                let ty = self.show(ty);
                err(span, format!("{ty} is not a struct type"))
            }
        }
    }

    /// A value of the named struct type `ty` from its fields in any order.
    pub fn struct_of(&mut self, ty: Ty, given: &[(Sym, Ev, Span)], span: Span) -> Res<Ev> {
        let fields = self.struct_fields(ty, span)?;
        let is_field = |name: Sym| fields.iter().any(|(field, _)| *field == name);
        if let Some((name, _, at)) = given.iter().find(|(name, ..)| !is_field(*name)) {
            let (name, ty) = (self.text(*name), self.show(ty));
            return err(*at, format!("there is no field '{name}' in {ty}"));
        }
        let mut evs = Vec::with_capacity(fields.len());
        for (field, field_ty) in fields.iter() {
            let Some((_, ev, at)) = given.iter().find(|(name, ..)| name == field) else {
                let name = self.text(*field);
                return err(span, format!("the field '{name}' has no value"));
            };
            evs.push(self.coerce(ev.clone(), *field_ty, *at)?);
        }
        match all_known(&evs) {
            Some(values) => Ok(Ev::Val(Value::Struct(Rc::new(StructValue { ty, values })))),
            None => self.struct_in_memory(ty, &evs, span),
        }
    }

    /// A struct whose fields are computed at run time, in memory of its own.
    fn struct_in_memory(&mut self, ty: Ty, evs: &[Ev], span: Span) -> Res<Ev> {
        let fields = self.struct_fields(ty, span)?;
        let base = self.static_memory(ty, 1, span)?;
        self.builder(span)?.uses_memory = true;
        for ((name, field_ty), ev) in fields.iter().zip(evs) {
            let offset = self.types.field(ty, *name).map_or(0, |(offset, _)| offset);
            let address = self.const_slot(u64::from(base) + offset, span)?;
            self.store(address, *field_ty, ev, span)?;
        }
        Ok(Ev::Memory(self.const_slot(u64::from(base), span)?, ty))
    }

    pub fn array_literal(
        &mut self,
        f: &mut Frame,
        ty: ExprId,
        values: &[ExprId],
        span: Span,
    ) -> Res<Ev> {
        let ty = self.type_value(f, ty)?;
        let Some((dims, element)) = self.types.as_array(ty) else {
            return err(span, "this is not an array type");
        };
        let count: u64 = dims.iter().map(|d| u64::from(*d)).product();
        if count != values.len() as u64 {
            let found = values.len();
            return err(
                span,
                format!("the array has {count} elements, but {found} are given"),
            );
        }
        let mut evs = Vec::with_capacity(values.len());
        for value in values {
            let at = f.ast.span(*value);
            let ev = self.eval_as(f, *value, Some(element))?;
            evs.push(self.coerce(ev, element, at)?);
        }
        if let Some(values) = all_known(&evs) {
            let elements = Elements::List(values);
            return Ok(Ev::Val(Value::Array(Rc::new(ArrayValue { ty, elements }))));
        }
        let base = self.static_memory(ty, 1, span)?;
        self.builder(span)?.uses_memory = true;
        let size = self.element_size(element, span)?;
        for (index, ev) in evs.iter().enumerate() {
            let at = u64::from(base) + index as u64 * u64::from(size);
            let address = self.const_slot(at, span)?;
            self.store(address, element, ev, span)?;
        }
        Ok(Ev::Memory(self.const_slot(u64::from(base), span)?, ty))
    }

    pub fn type_literal(&mut self, f: &mut Frame, e: ExprId, span: Span) -> Res<Ev> {
        self.memo.effects += 1;
        let ast = f.ast.clone();
        let ty = match ast.expr(e) {
            Expr::ArrayType(dims, element) => self.array_type(f, dims, *element, span)?,
            Expr::PointerType {
                many,
                mutable,
                pointee,
            } => {
                let pointee = self.type_value(f, *pointee)?;
                self.types.pointer(*many, *mutable, pointee)
            }
            Expr::FnType(params, result) => {
                let mut types = Vec::with_capacity(params.len());
                for param in params {
                    types.push(self.type_value(f, *param)?);
                }
                let result = self.type_value(f, *result)?;
                let params = types.into();
                self.types.intern(TypeKind::Function { params, result })
            }
            Expr::StructType(fields) => {
                self.expect(Form::StructType, span)?;
                let mut types = Vec::with_capacity(fields.len());
                for (name, ty) in fields {
                    types.push((*name, self.type_value(f, *ty)?));
                }
                let site = (ast.file, e.0);
                let fields = types.into();
                self.types.intern(TypeKind::Struct { site, fields })
            }
            Expr::EnumType(base, members) => self.enum_type(f, *base, members, e, span)?,
            _ => return err(span, "expected a type"),
        };
        Ok(Ev::Val(Value::Type(ty)))
    }

    fn array_type(
        &mut self,
        f: &mut Frame,
        dims: &[ExprId],
        element: ExprId,
        span: Span,
    ) -> Res<Ty> {
        let mut lengths = Vec::with_capacity(dims.len());
        let mut count = 1u64;
        for dim in dims {
            let length = self.comptime_int(f, *dim)?;
            let Ok(length) = u32::try_from(length) else {
                return err(
                    f.ast.span(*dim),
                    format!("an array cannot have {length} elements"),
                );
            };
            count = count.saturating_mul(u64::from(length));
            lengths.push(length);
        }
        if count > MAX_ELEMENTS {
            return err(span, "this array is larger than the memory of a PE");
        }
        let element = self.type_value(f, element)?;
        if self.types.as_array(element).is_some() {
            return err(
                span,
                "the element of an array cannot be an array: write [n, m]T",
            );
        }
        Ok(self.types.array(&lengths, element))
    }

    fn enum_type(
        &mut self,
        f: &mut Frame,
        base: Option<ExprId>,
        members: &[(Sym, Option<ExprId>)],
        e: ExprId,
        span: Span,
    ) -> Res<Ty> {
        let repr = match base {
            Some(base) => self.type_value(f, base)?,
            None => Ty::U16,
        };
        if !repr.is_int() {
            return err(span, "the type of an enum's values must be an integer type");
        }
        let mut values: Vec<Option<i128>> = Vec::with_capacity(members.len());
        for (_, value) in members {
            values.push(match value {
                Some(expr) => Some(self.comptime_int(f, *expr)?),
                None => None,
            });
        }
        // The others get the smallest unused numbers, left to right.
        let mut taken: Vec<i128> = values.iter().flatten().copied().collect();
        let mut next = 0;
        let mut numbered = Vec::with_capacity(members.len());
        for ((name, _), value) in members.iter().zip(values) {
            let number = match value {
                Some(value) => value,
                None => {
                    while taken.contains(&next) {
                        next += 1;
                    }
                    taken.push(next);
                    next
                }
            };
            self.fit_int(number, repr, span)?;
            if numbered
                .iter()
                .any(|(other, n)| other == name || *n == number)
            {
                let name = self.text(*name);
                return err(
                    span,
                    format!("the enum member '{name}' or its value appears twice"),
                );
            }
            numbered.push((*name, number));
        }
        let kind = TypeKind::Enum {
            site: (f.ast.file, e.0),
            repr,
            members: numbered.into(),
        };
        Ok(self.types.intern(kind))
    }
}

/// The values, if all are known.
pub fn all_known(evs: &[Ev]) -> Option<Vec<Value>> {
    evs.iter()
        .map(|ev| match ev {
            Ev::Val(value) => Some(value.clone()),
            _ => None,
        })
        .collect()
}
