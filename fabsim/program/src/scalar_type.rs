//! The types of scalars that code computes with.

/// The type of a scalar.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ScalarType {
    /// `bool`
    Bool,
    /// `i8`
    I8,
    /// `u8`
    U8,
    /// `i16`
    I16,
    /// `u16`
    U16,
    /// `i32`
    I32,
    /// `u32`
    U32,
    /// `i64`
    I64,
    /// `u64`
    U64,
    /// `f16`
    #[default]
    F16,
    /// `bf16`
    Bf16,
    /// `cb16`
    Cb16,
    /// `f32`
    F32,
}

impl ScalarType {
    /// Size in memory.
    pub fn size_bytes(self) -> u32 {
        match self {
            ScalarType::Bool | ScalarType::I8 | ScalarType::U8 => 1,
            ScalarType::I16
            | ScalarType::U16
            | ScalarType::F16
            | ScalarType::Bf16
            | ScalarType::Cb16 => 2,
            ScalarType::I32 | ScalarType::U32 | ScalarType::F32 => 4,
            ScalarType::I64 | ScalarType::U64 => 8,
        }
    }

    /// Whether it is a float, of 16 or 32 bits.
    pub fn is_float(self) -> bool {
        use ScalarType::{Bf16, Cb16, F16, F32};
        matches!(self, F16 | Bf16 | Cb16 | F32)
    }

    /// Whether it is an integer with a sign.
    pub fn is_signed(self) -> bool {
        use ScalarType::{I16, I32, I64, I8};
        matches!(self, I8 | I16 | I32 | I64)
    }
}
