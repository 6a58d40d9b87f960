//! The types of CSL, interned: a `Ty` is a number, equal types have equal numbers.

use crate::parse::intern::{Interner, Sym};
use fabsim_program::program::{Dsr, DsrFile, ScalarType};
use fabsim_program::quick_hash::QuickMap;
use std::rc::Rc;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Ty(pub u32);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TypeKind {
    /// A type without structure; its name is in `PRIMITIVES`.
    Primitive,
    Array {
        dims: Rc<[u32]>,
        element: Ty,
    },
    Pointer {
        many: bool,
        mutable: bool,
        pointee: Ty,
    },
    Function {
        params: Rc<[Ty]>,
        result: Ty,
    },
    /// Nominal: equal when the definition site and the contents are.
    Struct {
        site: (u32, u32),
        fields: Rc<[(Sym, Ty)]>,
    },
    Enum {
        site: (u32, u32),
        repr: Ty,
        members: Rc<[(Sym, i128)]>,
    },
    /// Structural: `.{ .a = 1 }`
    Anonymous(Rc<[(Sym, Ty)]>),
    Tuple(Rc<[Ty]>),
}

macro_rules! primitives {
    ($($constant:ident = $index:literal $name:literal,)*) => {
        impl Ty {
            $(pub const $constant: Ty = Ty($index);)*
        }
        /// Names of the types without structure, at their index.
        const PRIMITIVES: &[&str] = &[$($name),*];
    };
}

primitives! {
    VOID = 0 "void",
    BOOL = 1 "bool",
    I8 = 2 "i8",
    U8 = 3 "u8",
    I16 = 4 "i16",
    U16 = 5 "u16",
    I32 = 6 "i32",
    U32 = 7 "u32",
    I64 = 8 "i64",
    U64 = 9 "u64",
    F16 = 10 "f16",
    BF16 = 11 "bf16",
    CB16 = 12 "cb16",
    F32 = 13 "f32",
    COMPTIME_INT = 14 "comptime_int",
    COMPTIME_FLOAT = 15 "comptime_float",
    COMPTIME_STRING = 16 "comptime_string",
    COMPTIME_STRUCT = 17 "comptime_struct",
    TYPE = 18 "type",
    MODULE = 19 "imported_module",
    COLOR = 20 "color",
    DIRECTION = 21 "direction",
    INPUT_QUEUE = 22 "input_queue",
    OUTPUT_QUEUE = 23 "output_queue",
    DATA_TASK_ID = 24 "data_task_id",
    LOCAL_TASK_ID = 25 "local_task_id",
    CONTROL_TASK_ID = 26 "control_task_id",
    UT_ID = 27 "ut_id",
    MEM1D = 28 "mem1d_dsd",
    MEM4D = 29 "mem4d_dsd",
    FABIN = 30 "fabin_dsd",
    FABOUT = 31 "fabout_dsd",
    DSR_DEST = 32 "dsr_dest",
    DSR_SRC0 = 33 "dsr_src0",
    DSR_SRC1 = 34 "dsr_src1",
    RANGE = 35 "range",
    FIFO = 36 "fifo_dsd",
    DSR_FIFO_DEST = 37 "dsr_fifo_dest",
    DSR_FIFO_SRC1 = 38 "dsr_fifo_src1",
    XDSR = 39 "xdsr",
    SR = 40 "sr",
}

/// The primitive type a word names.
pub fn primitive(word: &str) -> Option<Ty> {
    PRIMITIVES
        .iter()
        .position(|name| *name == word)
        .map(|index| Ty(index as u32))
}

pub struct Types {
    kinds: Vec<TypeKind>,
    /// Size, if it has one, and alignment of each.
    measures: Vec<(Option<u64>, u64)>,
    index: QuickMap<TypeKind, Ty>,
}

impl Default for Types {
    fn default() -> Types {
        let mut types = Types {
            kinds: vec![TypeKind::Primitive; PRIMITIVES.len()],
            measures: Vec::new(),
            index: QuickMap::default(),
        };
        let all = (0..PRIMITIVES.len() as u32).map(Ty);
        types.measures = all.map(|ty| types.measured(ty)).collect();
        types
    }
}

impl Ty {
    pub fn is_int(self) -> bool {
        (Ty::I8..=Ty::U64).contains(&self)
    }

    pub fn is_any_int(self) -> bool {
        self.is_int() || self == Ty::COMPTIME_INT
    }

    pub fn is_signed(self) -> bool {
        matches!(self, Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64)
    }

    pub fn is_float(self) -> bool {
        (Ty::F16..=Ty::F32).contains(&self)
    }

    pub fn is_fp16(self) -> bool {
        (Ty::F16..=Ty::CB16).contains(&self)
    }

    pub fn is_any_float(self) -> bool {
        self.is_float() || self == Ty::COMPTIME_FLOAT
    }

    pub fn is_dsd(self) -> bool {
        (Ty::MEM1D..=Ty::FABOUT).contains(&self) || self == Ty::FIFO
    }

    pub fn is_dsr(self) -> bool {
        (Ty::DSR_DEST..=Ty::DSR_SRC1).contains(&self) || self.is_fifo_dsr()
    }

    /// A DSR that is known to hold a FIFO.
    pub fn is_fifo_dsr(self) -> bool {
        matches!(self, Ty::DSR_FIFO_DEST | Ty::DSR_FIFO_SRC1)
    }

    /// Ids of colors, tasks, queues: numbers under a type of their own.
    pub fn is_handle(self) -> bool {
        (Ty::COLOR..=Ty::UT_ID).contains(&self)
    }

    /// Width in bits of a fixed integer.
    pub fn bits(self) -> u32 {
        match self {
            Ty::I8 | Ty::U8 => 8,
            Ty::I16 | Ty::U16 => 16,
            Ty::I32 | Ty::U32 => 32,
            _ => 64,
        }
    }

    /// Smallest and largest value of a fixed integer.
    pub fn int_range(self) -> (i128, i128) {
        let bits = self.bits();
        match self.is_signed() {
            true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
            false => (0, (1i128 << bits) - 1),
        }
    }
}

impl Types {
    pub fn kind(&self, ty: Ty) -> &TypeKind {
        &self.kinds[ty.0 as usize]
    }

    pub fn intern(&mut self, kind: TypeKind) -> Ty {
        if let Some(ty) = self.index.get(&kind) {
            return *ty;
        }
        let ty = Ty(self.kinds.len() as u32);
        self.kinds.push(kind.clone());
        self.measures.push(self.measured(ty));
        self.index.insert(kind, ty);
        ty
    }

    pub fn pointer(&mut self, many: bool, mutable: bool, pointee: Ty) -> Ty {
        self.intern(TypeKind::Pointer {
            many,
            mutable,
            pointee,
        })
    }

    pub fn array(&mut self, dims: &[u32], element: Ty) -> Ty {
        self.intern(TypeKind::Array {
            dims: dims.into(),
            element,
        })
    }

    /// (many, mutable, pointee)
    pub fn as_pointer(&self, ty: Ty) -> Option<(bool, bool, Ty)> {
        match self.kind(ty) {
            TypeKind::Pointer {
                many,
                mutable,
                pointee,
            } => Some((*many, *mutable, *pointee)),
            _ => None,
        }
    }

    pub fn as_array(&self, ty: Ty) -> Option<(Rc<[u32]>, Ty)> {
        match self.kind(ty) {
            TypeKind::Array { dims, element } => Some((dims.clone(), *element)),
            _ => None,
        }
    }

    pub fn as_struct(&self, ty: Ty) -> Option<Rc<[(Sym, Ty)]>> {
        match self.kind(ty) {
            TypeKind::Struct { fields, .. } | TypeKind::Anonymous(fields) => Some(fields.clone()),
            _ => None,
        }
    }

    pub fn is_enum(&self, ty: Ty) -> bool {
        matches!(self.kind(ty), TypeKind::Enum { .. })
    }

    pub fn enum_repr(&self, ty: Ty) -> Option<Ty> {
        match self.kind(ty) {
            TypeKind::Enum { repr, .. } => Some(*repr),
            _ => None,
        }
    }

    /// Whether a value of this type is a pointer to a function.
    pub fn as_function_pointer(&self, ty: Ty) -> Option<(Rc<[Ty]>, Ty)> {
        let (_, _, pointee) = self.as_pointer(ty)?;
        match self.kind(pointee) {
            TypeKind::Function { params, result } => Some((params.clone(), *result)),
            _ => None,
        }
    }

    /// The machine type of a value that fits one slot; DSDs have none of their own.
    pub fn scalar(&self, ty: Ty) -> Option<ScalarType> {
        Some(match ty {
            Ty::BOOL => ScalarType::Bool,
            Ty::I8 => ScalarType::I8,
            Ty::U8 => ScalarType::U8,
            Ty::I16 => ScalarType::I16,
            Ty::U16 => ScalarType::U16,
            Ty::I32 => ScalarType::I32,
            Ty::U32 => ScalarType::U32,
            Ty::I64 => ScalarType::I64,
            Ty::U64 => ScalarType::U64,
            Ty::F16 => ScalarType::F16,
            Ty::BF16 => ScalarType::Bf16,
            Ty::CB16 => ScalarType::Cb16,
            Ty::F32 => ScalarType::F32,
            _ if ty.is_handle() => ScalarType::U16,
            _ => match self.kind(ty) {
                TypeKind::Pointer { .. } => ScalarType::U16,
                TypeKind::Enum { repr, .. } => return self.scalar(*repr),
                _ => return None,
            },
        })
    }

    /// Whether a run-time value of this type fits one slot.
    pub fn in_slot(&self, ty: Ty) -> bool {
        ty.is_dsd() || self.scalar(ty).is_some()
    }

    /// Whether values of this type can exist at run time at all.
    pub fn is_runtime(&self, ty: Ty) -> bool {
        match self.kind(ty) {
            TypeKind::Array { element, .. } => self.is_runtime(*element),
            TypeKind::Struct { fields, .. } => fields.iter().all(|(_, ty)| self.is_runtime(*ty)),
            _ => self.in_slot(ty),
        }
    }

    /// Bytes a value occupies in memory. A lone 8-bit value or bool takes a whole word; 8-bit
    /// elements of arrays are packed. `None` for comptime-only types.
    pub fn size(&self, ty: Ty) -> Option<u64> {
        self.measures[ty.0 as usize].0
    }

    /// Size and alignment, where those of all that it consists of are known.
    fn measured(&self, ty: Ty) -> (Option<u64>, u64) {
        let size = |align| match ty.is_dsd() {
            true => Some(8),
            false => self.measured_size(ty, align),
        };
        let align = match self.kind(ty) {
            TypeKind::Array { element, .. } => self.align(*element),
            TypeKind::Struct { fields, .. } => {
                let all = fields.iter().map(|(_, ty)| self.align(*ty));
                all.max().unwrap_or(2)
            }
            _ => match size(0) {
                Some(4) | Some(8) => 4,
                _ => 2,
            },
        };
        (size(align), align)
    }

    fn measured_size(&self, ty: Ty, align: u64) -> Option<u64> {
        match self.kind(ty) {
            TypeKind::Array { dims, element } => {
                let count = dims
                    .iter()
                    .try_fold(1u64, |n, d| n.checked_mul(u64::from(*d)))?;
                let bytes = count.checked_mul(self.element_size(*element)?)?;
                Some(bytes + bytes % 2)
            }
            TypeKind::Struct { fields, .. } => {
                let mut offset = 0u64;
                for (_, ty) in fields.iter() {
                    offset = round_up(offset, self.align(*ty)) + self.size(*ty)?;
                }
                Some(round_up(offset, align))
            }
            _ => Some(match self.scalar(ty)? {
                ScalarType::I32 | ScalarType::U32 | ScalarType::F32 => 4,
                ScalarType::I64 | ScalarType::U64 => 8,
                _ => 2,
            }),
        }
    }

    /// Distance between neighbouring elements of an array.
    pub fn element_size(&self, element: Ty) -> Option<u64> {
        match self.scalar(element) {
            Some(ScalarType::I8 | ScalarType::U8) => Some(1),
            _ => self.size(element),
        }
    }

    pub fn align(&self, ty: Ty) -> u64 {
        self.measures[ty.0 as usize].1
    }

    /// Byte offset and type of a field of a named struct.
    pub fn field(&self, ty: Ty, name: Sym) -> Option<(u64, Ty)> {
        let TypeKind::Struct { fields, .. } = self.kind(ty) else {
            return None;
        };
        let mut offset = 0u64;
        for (field, field_ty) in fields.iter() {
            offset = round_up(offset, self.align(*field_ty));
            if *field == name {
                return Some((offset, *field_ty));
            }
            offset += self.size(*field_ty)?;
        }
        None
    }

    /// The type as a CSL programmer writes it.
    pub fn show(&self, ty: Ty, interner: &Interner) -> String {
        let list = |types: &[Ty]| -> String {
            let shown: Vec<String> = types.iter().map(|ty| self.show(*ty, interner)).collect();
            shown.join(", ")
        };
        match self.kind(ty) {
            TypeKind::Primitive => PRIMITIVES[ty.0 as usize].to_string(),
            TypeKind::Array { dims, element } => {
                let dims: Vec<String> = dims.iter().map(u32::to_string).collect();
                format!("[{}]{}", dims.join(", "), self.show(*element, interner))
            }
            TypeKind::Pointer {
                many,
                mutable,
                pointee,
            } => {
                let star = if *many { "[*]" } else { "*" };
                let qualifier = if *mutable { "" } else { "const " };
                format!("{star}{qualifier}{}", self.show(*pointee, interner))
            }
            TypeKind::Function { params, result } => {
                format!("fn({}) {}", list(params), self.show(*result, interner))
            }
            TypeKind::Struct { fields, .. } | TypeKind::Anonymous(fields) => {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|(name, ty)| {
                        format!("{}: {}", interner.str(*name), self.show(*ty, interner))
                    })
                    .collect();
                format!("struct {{ {} }}", fields.join(", "))
            }
            TypeKind::Enum { repr, members, .. } => {
                let members: Vec<&str> = members
                    .iter()
                    .map(|(name, _)| interner.str(*name))
                    .collect();
                format!(
                    "enum({}) {{ {} }}",
                    self.show(*repr, interner),
                    members.join(", ")
                )
            }
            TypeKind::Tuple(types) => format!("struct {{ {} }}", list(types)),
        }
    }
}

pub fn round_up(value: u64, align: u64) -> u64 {
    value.div_ceil(align.max(1)) * align.max(1)
}

/// The type of a register that is known to hold a FIFO.
pub fn fifo_dsr_type(dsr: Dsr) -> Ty {
    match dsr.file {
        DsrFile::Dest => Ty::DSR_FIFO_DEST,
        DsrFile::Src0 | DsrFile::Src1 => Ty::DSR_FIFO_SRC1,
    }
}

pub fn dsr_type(dsr: Dsr) -> Ty {
    match dsr.file {
        DsrFile::Dest => Ty::DSR_DEST,
        DsrFile::Src0 => Ty::DSR_SRC0,
        DsrFile::Src1 => Ty::DSR_SRC1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primitive_names_and_constants_agree() {
        for (word, ty) in [
            ("u16", Ty::U16),
            ("fabout_dsd", Ty::FABOUT),
            ("range", Ty::RANGE),
        ] {
            assert_eq!(primitive(word), Some(ty));
        }
        assert_eq!(primitive("u7"), None);
    }

    #[test]
    fn equal_types_are_one_and_have_the_size_of_their_words() {
        let mut types = Types::default();
        let a = types.array(&[3, 5], Ty::F32);
        assert_eq!(a, types.array(&[3, 5], Ty::F32));
        assert_eq!(types.size(a), Some(60));
        let bytes = types.array(&[3], Ty::U8);
        assert_eq!(types.size(bytes), Some(4));
        assert_eq!(types.size(Ty::COMPTIME_INT), None);
    }
}
