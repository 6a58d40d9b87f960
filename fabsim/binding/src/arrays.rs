//! NumPy's arrays and the words that the host copies.

use fabsim_host::CopyFormat;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

pub fn format_of(order: &str, is16: bool) -> PyResult<CopyFormat> {
    let col_major = match order {
        "row_major" => false,
        "col_major" => true,
        other => {
            let text = format!("unknown order {other:?}; there are row_major and col_major");
            return Err(PyValueError::new_err(text));
        }
    };
    Ok(CopyFormat { is16, col_major })
}

/// Bytes of an element of a dtype, which the host can copy: numbers of 16 or 32 bits in the
/// machine's byte order, types NumPy does not know itself (bfloat16) among them.
pub fn element_bytes(dtype: &Bound<'_, PyAny>) -> PyResult<usize> {
    let bytes: usize = dtype.getattr("itemsize")?.extract()?;
    let kind: String = dtype.getattr("kind")?.extract()?;
    let fields = dtype.getattr("names")?;
    if !matches!(bytes, 2 | 4) || !"fiuV".contains(&kind) || !fields.is_none() {
        return Err(PyTypeError::new_err(format!(
            "numbers of 16 or 32 bits are copied, not {dtype}"
        )));
    }
    if !dtype.getattr("isnative")?.extract::<bool>()? {
        return Err(PyTypeError::new_err(format!(
            "{dtype} is not in this machine's byte order"
        )));
    }
    Ok(bytes)
}

/// The elements of a one-dimensional array, a word each, and how many bytes they have.
pub fn words_of(py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<(Vec<u32>, usize)> {
    let numpy = py.import("numpy")?;
    if !data.is_instance(&numpy.getattr("ndarray")?)? {
        let text = format!("a NumPy array is copied, not {}", data.get_type().name()?);
        return Err(PyTypeError::new_err(text));
    }
    let bytes = element_bytes(&data.getattr("dtype")?)?;
    if data.getattr("ndim")?.extract::<usize>()? != 1 {
        return Err(PyValueError::new_err("the array must have one dimension"));
    }
    let data = numpy.call_method1("ascontiguousarray", (data,))?;
    if bytes == 2 {
        let halves = data.call_method1("view", ("uint16",))?;
        let halves: PyReadonlyArray1<'_, u16> = halves.extract()?;
        let words = halves.as_slice()?.iter().map(|&half| u32::from(half));
        return Ok((words.collect(), bytes));
    }
    let words = data.call_method1("view", ("uint32",))?;
    let words: PyReadonlyArray1<'_, u32> = words.extract()?;
    Ok((words.as_slice()?.to_vec(), bytes))
}

/// A new array of a dtype whose elements have these bits.
pub fn array_of<'py>(
    py: Python<'py>,
    dtype: Bound<'py, PyAny>,
    words: Vec<u32>,
) -> PyResult<Bound<'py, PyAny>> {
    if element_bytes(&dtype)? == 2 {
        let halves = words.into_iter().map(|word| word as u16).collect();
        return PyArray1::<u16>::from_vec(py, halves).call_method1("view", (dtype,));
    }
    PyArray1::<u32>::from_vec(py, words).call_method1("view", (dtype,))
}
