//! Comptime values. Aggregates are shared and copied on write.

use crate::parse::ast::FnId;
use crate::parse::intern::Sym;
use crate::types::kinds::Ty;
use fabsim_program::program::{DsdShape, Dsr, Span};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

#[derive(Clone, Debug)]
pub enum Value {
    Void,
    /// A variable that has not been given a value.
    Undefined(Ty),
    Bool(bool),
    /// `comptime_int` or a fixed integer, in range.
    Int(i128, Ty),
    /// `comptime_float` or a fixed float, already rounded to its type.
    Float(f64, Ty),
    Str(Rc<[u8]>),
    Type(Ty),
    /// Ids of colors, queues, tasks, and directions.
    Handle(u16, Ty),
    Enum(i128, Ty),
    Array(Rc<ArrayValue>),
    /// A value of a named struct type.
    Struct(Rc<StructValue>),
    /// `.{ .a = 1 }`
    Anonymous(Rc<AnonymousValue>),
    Tuple(Rc<Vec<Value>>),
    Function(FnRef),
    Module(ModuleId),
    Pointer(Pointer),
    Range(Rc<RangeValue>),
    Dsd(Rc<DsdValue>),
    Dsr(Dsr),
    /// A DSR that is known to hold a FIFO.
    FifoDsr(Dsr),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ModuleId(pub u32);

/// A function of a module instance.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FnRef {
    pub module: ModuleId,
    pub function: FnId,
}

/// A global of a module instance.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct GlobalRef {
    pub module: ModuleId,
    pub index: u32,
}

#[derive(Clone, Debug)]
pub struct ArrayValue {
    pub ty: Ty,
    pub elements: Elements,
}

/// A large array of one value stays small.
#[derive(Clone, Debug)]
pub enum Elements {
    Same(Value, usize),
    List(Vec<Value>),
}

impl Elements {
    pub fn len(&self) -> usize {
        match self {
            Elements::Same(_, count) => *count,
            Elements::List(list) => list.len(),
        }
    }

    pub fn get(&self, index: usize) -> Option<&Value> {
        match self {
            Elements::Same(value, count) => (index < *count).then_some(value),
            Elements::List(list) => list.get(index),
        }
    }

    pub fn get_mut(&mut self, index: usize) -> Option<&mut Value> {
        if let Elements::Same(value, count) = self {
            *self = Elements::List(vec![value.clone(); *count]);
        }
        match self {
            Elements::List(list) => list.get_mut(index),
            Elements::Same(..) => None,
        }
    }
}

#[derive(Clone, Debug)]
pub struct StructValue {
    pub ty: Ty,
    /// In the order of the type's fields.
    pub values: Vec<Value>,
}

#[derive(Clone, Debug)]
pub struct AnonymousValue {
    pub names: Rc<[Sym]>,
    pub values: Vec<Value>,
}

impl AnonymousValue {
    pub fn get(&self, name: Sym) -> Option<&Value> {
        let index = self.names.iter().position(|other| *other == name)?;
        self.values.get(index)
    }
}

/// The address of a global, of a part of it, or of static memory at a known place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Pointer {
    pub target: Target,
    pub offset: i64,
    pub ty: Ty,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    Global(GlobalRef),
    Function(FnRef),
    Address(u32),
}

#[derive(Clone, Debug, PartialEq)]
pub struct RangeValue {
    pub ty: Ty,
    pub start: i128,
    pub stop: i128,
    pub step: i128,
}

impl RangeValue {
    pub fn count(&self) -> u64 {
        let distance = match self.step > 0 {
            true => self.stop - self.start,
            false => self.start - self.stop,
        };
        if distance <= 0 || self.step == 0 {
            return 0;
        }
        let step = self.step.unsigned_abs();
        (distance as u128).div_ceil(step) as u64
    }
}

/// A DSD all of whose parts are known.
#[derive(Clone, Debug, PartialEq)]
pub struct DsdValue {
    pub ty: Ty,
    pub shape: DsdShape,
    /// mem DSDs: where the base array is.
    pub base: Option<(Target, i64)>,
    pub extent: u16,
    pub stride: i16,
    pub span: Span,
}

impl Value {
    pub fn int(value: i128) -> Value {
        Value::Int(value, Ty::COMPTIME_INT)
    }

    /// The number in an integer value.
    pub fn as_int(&self) -> Option<i128> {
        match self {
            Value::Int(value, _) => Some(*value),
            _ => None,
        }
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }
}

/// Equality for memo keys: equal type and equal content.
impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        use Value::*;
        match (self, other) {
            (Void, Void) => true,
            (Undefined(a), Undefined(b)) => a == b,
            (Bool(a), Bool(b)) => a == b,
            (Int(a, s), Int(b, t)) => a == b && s == t,
            (Float(a, s), Float(b, t)) => a.to_bits() == b.to_bits() && s == t,
            (Str(a), Str(b)) => a == b,
            (Type(a), Type(b)) => a == b,
            (Handle(a, s), Handle(b, t)) => a == b && s == t,
            (Enum(a, s), Enum(b, t)) => a == b && s == t,
            (Array(a), Array(b)) => Rc::ptr_eq(a, b) || arrays_equal(a, b),
            (Struct(a), Struct(b)) => a.ty == b.ty && a.values == b.values,
            (Anonymous(a), Anonymous(b)) => a.names == b.names && a.values == b.values,
            (Tuple(a), Tuple(b)) => a == b,
            (Function(a), Function(b)) => a == b,
            (Module(a), Module(b)) => a == b,
            (Pointer(a), Pointer(b)) => a == b,
            (Range(a), Range(b)) => a == b,
            (Dsd(a), Dsd(b)) => a == b,
            (Dsr(a), Dsr(b)) | (FifoDsr(a), FifoDsr(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Value {}

fn arrays_equal(a: &ArrayValue, b: &ArrayValue) -> bool {
    if a.ty != b.ty || a.elements.len() != b.elements.len() {
        return false;
    }
    if let (Elements::Same(x, _), Elements::Same(y, _)) = (&a.elements, &b.elements) {
        return x == y;
    }
    (0..a.elements.len()).all(|i| a.elements.get(i) == b.elements.get(i))
}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Value::Void | Value::Undefined(_) | Value::Dsd(_) | Value::Range(_) => {}
            Value::Bool(value) => value.hash(state),
            Value::Int(value, ty) | Value::Enum(value, ty) => (*value as i64, ty).hash(state),
            Value::Float(value, ty) => (value.to_bits(), ty).hash(state),
            Value::Str(bytes) => bytes.hash(state),
            Value::Type(ty) => ty.hash(state),
            Value::Handle(value, ty) => (value, ty).hash(state),
            Value::Array(array) => {
                // Equal arrays may be stored differently: only what both forms share is hashed.
                array.ty.hash(state);
                array.elements.get(0).hash(state);
            }
            Value::Struct(value) => (value.ty, &value.values).hash(state),
            Value::Anonymous(value) => (&value.names, &value.values).hash(state),
            Value::Tuple(values) => values.hash(state),
            Value::Function(function) => function.hash(state),
            Value::Module(module) => module.hash(state),
            Value::Pointer(pointer) => pointer.hash(state),
            Value::Dsr(dsr) | Value::FifoDsr(dsr) => dsr.hash(state),
        }
    }
}
