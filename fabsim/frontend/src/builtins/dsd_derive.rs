//! DSDs derived from others: another base, length, stride or offset.

use crate::compiler::{Compiler, Ev, Frame};
use crate::evaluate::access::Addr;
use crate::parse::ast::{Expr, ExprId};
use crate::types::kinds::Ty;
use crate::types::value::Value;
use crate::Res;
use fabsim_program::program::{Inst, Slot, Span};
use std::rc::Rc;

impl Compiler {
    pub fn derived(&mut self, make: impl FnOnce(Slot) -> Inst, span: Span) -> Res<Slot> {
        let dst = self.new_slot(span)?;
        self.push(make(dst), span)?;
        Ok(dst)
    }

    pub fn set_base(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<Ev> {
        let dsd = self.eval(f, args[0])?;
        let at = f.ast.span(args[1]);
        let pointer = self.base_argument(f, args[1])?;
        let pointer_ty = self.type_of_ev(&pointer);
        let element = self.pointed_element(pointer_ty, at)?;
        self.dsd_element_bytes(element, at)?;
        if let (Ev::Val(Value::Dsd(dsd)), Ev::Val(Value::Pointer(pointer))) = (&dsd, &pointer) {
            let mut dsd = (**dsd).clone();
            dsd.base = Some((pointer.target, pointer.offset));
            return Ok(Ev::Val(Value::Dsd(Rc::new(dsd))));
        }
        let (slot, ty) = self.slot_of(&dsd, span)?;
        let address = self.base_slot(pointer, at)?;
        let slot = self.derived(
            |dst| Inst::DsdSetBase {
                dst,
                dsd: slot,
                address,
            },
            span,
        )?;
        Ok(Ev::Slot(slot, ty))
    }

    /// A new base of a DSD or DSR: either a pointer or, without '&', an array.
    pub fn base_argument(&mut self, f: &mut Frame, e: ExprId) -> Res<Ev> {
        let at = f.ast.span(e);
        let ty = match f.ast.expr(e) {
            Expr::Name(_) | Expr::Field(..) => {
                let access = self.access(f, e)?;
                match &access {
                    crate::evaluate::access::Access::Memory(_, ty, _)
                        if self.types.as_array(*ty).is_some() =>
                    {
                        None
                    }
                    crate::evaluate::access::Access::Constant(..) => None,
                    _ => Some(self.read(f, access, at)?),
                }
            }
            _ => Some(self.eval(f, e)?),
        };
        match ty {
            Some(pointer) => Ok(pointer),
            None => self.address_of(f, e, at),
        }
    }

    /// The slot with the address that a base leads to.
    pub fn base_slot(&mut self, pointer: Ev, at: Span) -> Res<Slot> {
        match pointer {
            Ev::Val(Value::Pointer(pointer)) => {
                self.address_slot(Addr::Known(pointer.target, pointer.offset), at)
            }
            other => Ok(self.slot_of(&other, at)?.0),
        }
    }

    pub fn set_number(
        &mut self,
        f: &mut Frame,
        name: &str,
        args: &[ExprId],
        span: Span,
    ) -> Res<Ev> {
        let length = name == "set_dsd_length";
        let dsd = self.eval(f, args[0])?;
        let at = f.ast.span(args[1]);
        let ty = if length { Ty::U16 } else { Ty::I8 };
        let number = self.eval_as(f, args[1], Some(ty))?;
        let number = match number {
            Ev::Val(value) => Ev::Val(self.coerce_value(value, ty, at)?),
            Ev::Slot(slot, from) if from.is_int() => {
                let to = if length { Ty::U16 } else { Ty::I16 };
                Ev::Slot(self.convert(slot, from, to, at)?, to)
            }
            other => self.coerce(other, ty, at)?,
        };
        if let (Ev::Val(Value::Dsd(dsd)), Ev::Val(Value::Int(number, _))) = (&dsd, &number) {
            let mut dsd = (**dsd).clone();
            match length {
                true => dsd.extent = *number as u16,
                false => dsd.stride = *number as i16,
            }
            return Ok(Ev::Val(Value::Dsd(Rc::new(dsd))));
        }
        let number = match number {
            Ev::Val(Value::Int(number, _)) => Ev::Val(Value::Int(number & 0xffff, Ty::U16)),
            other => other,
        };
        let (slot, ty) = self.slot_of(&dsd, span)?;
        let (number, _) = self.slot_of(&number, at)?;
        let make = |dst| match length {
            true => Inst::DsdSetLength {
                dst,
                dsd: slot,
                length: number,
            },
            false => Inst::DsdSetStride {
                dst,
                dsd: slot,
                stride: number,
            },
        };
        Ok(Ev::Slot(self.derived(make, span)?, ty))
    }

    pub fn increment_offset(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<Ev> {
        let dsd = self.eval(f, args[0])?;
        let at = f.ast.span(args[1]);
        let by = self.eval_as(f, args[1], Some(Ty::I16))?;
        let by = match by {
            Ev::Val(value) => Ev::Val(self.coerce_value(value, Ty::I16, at)?),
            Ev::Slot(slot, from) if from.is_int() => {
                Ev::Slot(self.convert(slot, from, Ty::I16, at)?, Ty::I16)
            }
            other => self.coerce(other, Ty::I16, at)?,
        };
        let element = self.type_value(f, args[2])?;
        let element_bytes = self.dsd_element_bytes(element, f.ast.span(args[2]))?;
        if let (Ev::Val(Value::Dsd(dsd)), Ev::Val(Value::Int(by, _))) = (&dsd, &by) {
            let mut dsd = (**dsd).clone();
            dsd.base = dsd
                .base
                .map(|(target, at)| (target, at + *by as i64 * i64::from(element_bytes)));
            return Ok(Ev::Val(Value::Dsd(Rc::new(dsd))));
        }
        let (slot, ty) = self.slot_of(&dsd, span)?;
        let (by, _) = self.slot_of(&by, at)?;
        let make = |dst| Inst::DsdAdvance {
            dst,
            dsd: slot,
            by,
            element_bytes,
        };
        Ok(Ev::Slot(self.derived(make, span)?, ty))
    }
}
