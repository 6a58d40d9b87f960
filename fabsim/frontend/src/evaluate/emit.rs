//! Emitting scalar code: the builder of a function, and bringing values into slots.

use crate::compiler::{Compiler, Ev};
use crate::types::kinds::Ty;
use crate::types::ops;
use crate::types::value::Value;
use crate::{err, Res};
use fabsim_program::program::{Inst, ScalarType, Slot, Span};

impl Compiler {
    pub fn push(&mut self, inst: Inst, span: Span) -> Res<usize> {
        self.builder(span)?.push(inst, span)
    }

    pub fn new_slot(&mut self, span: Span) -> Res<Slot> {
        self.builder(span)?.slot(span)
    }

    pub fn const_slot(&mut self, bits: u64, span: Span) -> Res<Slot> {
        self.builder(span)?.constant(bits, span)
    }

    pub fn jump(&mut self, span: Span) -> Res<usize> {
        self.push(Inst::Jump { to: 0 }, span)
    }

    pub fn branch(&mut self, condition: Slot, when: bool, span: Span) -> Res<usize> {
        let inst = Inst::Branch {
            condition,
            when,
            to: 0,
        };
        self.push(inst, span)
    }

    /// The raw bits of a known value of a type that fits a slot.
    pub fn bits(&mut self, value: &Value, span: Span) -> Res<u64> {
        Ok(match value {
            Value::Bool(value) => u64::from(*value),
            Value::Int(value, ty) if ty.is_int() => {
                let mask = (1i128 << ty.bits()) - 1;
                (value & mask) as u64
            }
            Value::Float(value, ty) if ty.is_float() => ops::float_bits(*value, *ty),
            Value::Handle(value, _) => u64::from(*value),
            Value::Enum(value, ty) => {
                let repr = self.types.enum_repr(*ty).unwrap_or(Ty::U16);
                let mask = (1i128 << repr.bits()) - 1;
                (value & mask) as u64
            }
            Value::Pointer(pointer) => {
                u64::from(self.address(pointer.target, pointer.offset, span)?)
            }
            Value::Dsd(dsd) => self.pack(dsd, span)?,
            Value::Undefined(_) => 0,
            other => {
                let ty = self.type_of(other);
                let ty = self.show(ty);
                return err(
                    span,
                    format!("a value of type {ty} exists only at compile time"),
                );
            }
        })
    }

    /// Brings a value into a slot; arrays and structs become their address.
    pub fn slot_of(&mut self, ev: &Ev, span: Span) -> Res<(Slot, Ty)> {
        match ev {
            Ev::Slot(slot, ty) | Ev::Memory(slot, ty) => Ok((*slot, *ty)),
            Ev::Val(value @ (Value::Array(_) | Value::Struct(_))) => {
                let ty = self.type_of(value);
                let address = self.constant_data(value, ty, span)?;
                Ok((self.const_slot(u64::from(address), span)?, ty))
            }
            Ev::Val(value) => {
                let ty = self.type_of(value);
                let bits = self.bits(value, span)?;
                Ok((self.const_slot(bits, span)?, ty))
            }
            Ev::Parts(..) | Ev::TupleParts(_) => {
                err(span, "an anonymous struct exists only at compile time")
            }
        }
    }

    /// Copies `ev` into the slot `dst`.
    pub fn move_to(&mut self, dst: Slot, ev: &Ev, span: Span) -> Res<()> {
        if let Ev::Val(value) = ev {
            if !matches!(value, Value::Array(_) | Value::Struct(_)) {
                let bits = self.bits(value, span)?;
                self.push(Inst::Const { dst, bits }, span)?;
                return Ok(());
            }
        }
        let (src, _) = self.slot_of(ev, span)?;
        if src != dst {
            self.push(Inst::Copy { dst, src }, span)?;
        }
        Ok(())
    }

    pub fn scalar(&self, ty: Ty, span: Span) -> Res<ScalarType> {
        match self.types.scalar(ty) {
            Some(scalar) => Ok(scalar),
            None => err(
                span,
                format!("a value of type {} is not a scalar", self.show(ty)),
            ),
        }
    }

    /// An address as a `u16` in a slot from an integer value.
    pub fn u16_slot(&mut self, ev: &Ev, span: Span) -> Res<Slot> {
        let (slot, ty) = self.slot_of(ev, span)?;
        if !ty.is_int() {
            return err(
                span,
                format!("expected an integer, found {}", self.show(ty)),
            );
        }
        self.convert(slot, ty, Ty::U16, span)
    }

    pub fn convert(&mut self, a: Slot, from: Ty, to: Ty, span: Span) -> Res<Slot> {
        let (from, to) = (self.scalar(from, span)?, self.scalar(to, span)?);
        if from == to {
            return Ok(a);
        }
        let dst = self.new_slot(span)?;
        self.push(Inst::Convert { from, to, dst, a }, span)?;
        Ok(dst)
    }

    pub fn load(&mut self, address: Slot, ty: Ty, span: Span) -> Res<Ev> {
        if !self.types.in_slot(ty) {
            return Ok(Ev::Memory(address, ty));
        }
        let dst = self.new_slot(span)?;
        let inst = match self.types.scalar(ty) {
            Some(ty) => Inst::Load { ty, dst, address },
            None => Inst::LoadDsd { dst, address },
        };
        self.push(inst, span)?;
        Ok(Ev::Slot(dst, ty))
    }

    /// Stores a value that already has type `ty`.
    pub fn store(&mut self, address: Slot, ty: Ty, ev: &Ev, span: Span) -> Res<()> {
        if let Ev::Val(Value::Undefined(_)) = ev {
            return Ok(());
        }
        let (src, _) = self.slot_of(ev, span)?;
        let inst = match (self.types.scalar(ty), ty.is_dsd()) {
            (Some(ty), _) => Inst::Store { ty, address, src },
            (None, true) => Inst::StoreDsd { address, src },
            (None, false) => {
                let bytes = self.size(ty, span)?;
                Inst::CopyMemory {
                    to: address,
                    from: src,
                    bytes,
                }
            }
        };
        self.push(inst, span)?;
        Ok(())
    }
}
