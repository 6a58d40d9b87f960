//! The DSD operations.

/// An operation on DSDs, by the builtin that issues it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Opcode {
    /// `@add16`: the sum of 16-bit integers.
    Add16,
    /// `@addc16`: the sum of 16-bit integers and the carry.
    Addc16,
    /// `@and16`: bitwise and.
    And16,
    /// `@or16`: bitwise or.
    Or16,
    /// `@xor16`: bitwise exclusive or.
    Xor16,
    /// `@sar16`: shift to the right, the sign kept.
    Sar16,
    /// `@sll16`: shift to the left.
    Sll16,
    /// `@slr16`: shift to the right, zeros put in.
    Slr16,
    /// `@sub16`: the difference of 16-bit integers.
    Sub16,
    /// `@clz`: zeros before the first one bit.
    Clz,
    /// `@ctz`: zeros after the last one bit.
    Ctz,
    /// `@popcnt`: how many bits are one.
    Popcnt,
    /// `@mov16`: 16 bits as they are.
    Mov16,
    /// `@mov32`: 32 bits as they are.
    Mov32,
    /// `@fmovh`: a 16-bit float as it is.
    Fmovh,
    /// `@fmovs`: an f32 as it is.
    Fmovs,
    /// `@faddh`: the sum of 16-bit floats.
    Faddh,
    /// `@fadds`: the sum of f32.
    Fadds,
    /// `@fsubh`: the difference of 16-bit floats.
    Fsubh,
    /// `@fsubs`: the difference of f32.
    Fsubs,
    /// `@fmulh`: the product of 16-bit floats.
    Fmulh,
    /// `@fmuls`: the product of f32.
    Fmuls,
    /// `@fmaxh`: the greater of 16-bit floats.
    Fmaxh,
    /// `@fmaxs`: the greater of f32.
    Fmaxs,
    /// `@faddhs`: the sum of a 16-bit float and an f32.
    Faddhs,
    /// `@fmach`: a 16-bit float and the product of two more.
    Fmach,
    /// `@fmacs`: an f32 and the product of two more.
    Fmacs,
    /// `@fmachs`: an f32 and the product of two 16-bit floats.
    Fmachs,
    /// `@fabsh`: a 16-bit float without its sign.
    Fabsh,
    /// `@fabss`: an f32 without its sign.
    Fabss,
    /// `@fnegh`: a 16-bit float with the other sign.
    Fnegh,
    /// `@fnegs`: an f32 with the other sign.
    Fnegs,
    /// `@fnormh`: the mantissa of a 16-bit float.
    Fnormh,
    /// `@fnorms`: the mantissa of an f32.
    Fnorms,
    /// `@fscaleh`: a 16-bit float times a power of two.
    Fscaleh,
    /// `@fscales`: an f32 times a power of two.
    Fscales,
    /// `@fh2s`: a 16-bit float as an f32.
    Fh2s,
    /// `@fs2h`: an f32 as a 16-bit float.
    Fs2h,
    /// `@fh2xp16`: a 16-bit float as an integer.
    Fh2xp16,
    /// `@fs2xp16`: an f32 as an integer.
    Fs2xp16,
    /// `@xp162fh`: an integer as a 16-bit float.
    Xp162fh,
    /// `@xp162fs`: an integer as an f32.
    Xp162fs,
    /// `@dfilt`
    Dfilt,
}

impl Opcode {
    /// The name of the builtin.
    pub fn name(self) -> &'static str {
        match self {
            Opcode::Add16 => "@add16",
            Opcode::Addc16 => "@addc16",
            Opcode::And16 => "@and16",
            Opcode::Or16 => "@or16",
            Opcode::Xor16 => "@xor16",
            Opcode::Sar16 => "@sar16",
            Opcode::Sll16 => "@sll16",
            Opcode::Slr16 => "@slr16",
            Opcode::Sub16 => "@sub16",
            Opcode::Clz => "@clz",
            Opcode::Ctz => "@ctz",
            Opcode::Popcnt => "@popcnt",
            Opcode::Mov16 => "@mov16",
            Opcode::Mov32 => "@mov32",
            Opcode::Fmovh => "@fmovh",
            Opcode::Fmovs => "@fmovs",
            Opcode::Faddh => "@faddh",
            Opcode::Fadds => "@fadds",
            Opcode::Fsubh => "@fsubh",
            Opcode::Fsubs => "@fsubs",
            Opcode::Fmulh => "@fmulh",
            Opcode::Fmuls => "@fmuls",
            Opcode::Fmaxh => "@fmaxh",
            Opcode::Fmaxs => "@fmaxs",
            Opcode::Faddhs => "@faddhs",
            Opcode::Fmach => "@fmach",
            Opcode::Fmacs => "@fmacs",
            Opcode::Fmachs => "@fmachs",
            Opcode::Fabsh => "@fabsh",
            Opcode::Fabss => "@fabss",
            Opcode::Fnegh => "@fnegh",
            Opcode::Fnegs => "@fnegs",
            Opcode::Fnormh => "@fnormh",
            Opcode::Fnorms => "@fnorms",
            Opcode::Fscaleh => "@fscaleh",
            Opcode::Fscales => "@fscales",
            Opcode::Fh2s => "@fh2s",
            Opcode::Fs2h => "@fs2h",
            Opcode::Fh2xp16 => "@fh2xp16",
            Opcode::Fs2xp16 => "@fs2xp16",
            Opcode::Xp162fh => "@xp162fh",
            Opcode::Xp162fs => "@xp162fs",
            Opcode::Dfilt => "@dfilt",
        }
    }
}
