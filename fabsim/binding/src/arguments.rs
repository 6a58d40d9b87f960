//! Arguments of a launch, by the types that the function declares.

use fabsim_program::program::{Design, ExportKind, ScalarType};
use fabsim_program::rounding::{cb16_bits, single_for_rounding};
use half::f16;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// The raw bits of launch arguments, by the types the function declares.
pub fn bits_of(design: &Design, name: &str, args: &Bound<'_, PyTuple>) -> PyResult<Vec<u32>> {
    let declared = parameters(design, name, args.len())?;
    let types = declared.into_iter().flatten().copied().map(Some);
    let types = types.chain(std::iter::repeat(None));
    args.iter()
        .zip(types)
        .map(|(arg, ty)| bits(&arg, ty))
        .collect()
}

/// The types of an exported function's parameters, if it exists; `given` must be as many.
pub fn parameters<'a>(
    design: &'a Design,
    name: &str,
    given: usize,
) -> PyResult<Option<&'a Vec<ScalarType>>> {
    let mut exports = design.exports.iter();
    let declared = exports.find_map(|export| match &export.kind {
        ExportKind::Function { params } if export.name == name => Some(params),
        _ => None,
    });
    match declared {
        Some(params) if params.len() != given => Err(PyTypeError::new_err(format!(
            "{name} takes {} arguments, {given} are given",
            params.len(),
        ))),
        other => Ok(other),
    }
}

/// An argument as its type's bits; without a type, by what Python takes it for.
fn bits(arg: &Bound<'_, PyAny>, ty: Option<ScalarType>) -> PyResult<u32> {
    let is_float = match ty {
        Some(ScalarType::F16 | ScalarType::F32 | ScalarType::Bf16 | ScalarType::Cb16) => true,
        Some(_) => false,
        None => arg.extract::<i64>().is_err(),
    };
    if !is_float {
        let value: i64 = arg.extract()?;
        if !(lowest(ty)..=highest(ty)).contains(&value) {
            let text = format!("{value} does not fit into the type of its parameter");
            return Err(PyValueError::new_err(text));
        }
        // Two's complement: negative arguments keep their low bits.
        return Ok(value as u32);
    }
    let value: f64 = arg.extract()?;
    Ok(match ty {
        Some(ScalarType::F16) => {
            let near = f16::from_f32(single_for_rounding(value));
            u32::from(near.to_bits())
        }
        Some(ScalarType::Bf16) => {
            let near = half::bf16::from_f32(single_for_rounding(value));
            u32::from(near.to_bits())
        }
        Some(ScalarType::Cb16) => u32::from(cb16_bits(value)),
        _ => (value as f32).to_bits(),
    })
}

/// The least argument of an integer type; an argument is one word at most.
fn lowest(ty: Option<ScalarType>) -> i64 {
    match ty {
        Some(ScalarType::I8) => i64::from(i8::MIN),
        Some(ScalarType::I16) => i64::from(i16::MIN),
        None | Some(ScalarType::I32 | ScalarType::I64) => i64::from(i32::MIN),
        Some(_) => 0,
    }
}

fn highest(ty: Option<ScalarType>) -> i64 {
    match ty {
        Some(ScalarType::Bool) => 1,
        Some(ScalarType::I8) => i64::from(i8::MAX),
        Some(ScalarType::U8) => i64::from(u8::MAX),
        Some(ScalarType::I16) => i64::from(i16::MAX),
        Some(ScalarType::U16) => i64::from(u16::MAX),
        Some(ScalarType::I32 | ScalarType::I64) => i64::from(i32::MAX),
        _ => i64::from(u32::MAX),
    }
}
