//! Laying out step tables, and what repeats in them.

use std::array::from_fn;
use std::borrow::Cow;

use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::{column, indexes, matrix, same_length, Ints};
use crate::patterns::{self, LoopRules, Meaning, Numbers, FIELDS};
use crate::step_tables::{Joining, Kinds, Line, Transfer};

/// Transfers by column.
#[derive(FromPyObject)]
pub struct TransfersGiven<'py> {
    slot: Ints<'py>,
    step: Ints<'py>,
    hops: Ints<'py>,
    time: Ints<'py>,
    first: Ints<'py>,
    into: Ints<'py>,
    count: Ints<'py>,
    passed: Ints<'py>,
    taken: Ints<'py>,
}

/// The bits of rows, as the plan's enumeration has them.
#[derive(FromPyObject)]
pub struct KindsGiven {
    #[pyo3(attribute("SENDS"))]
    sends: i64,
    #[pyo3(attribute("RELAYS"))]
    relays: i64,
    #[pyo3(attribute("APPLIES"))]
    applies: i64,
    #[pyo3(attribute("ENDS"))]
    ends: i64,
}

type Laid<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray2<i64>>,
    bool,
);

/// See `Line::rows`; relays along the way that leaves fewer parts, if it may be chosen.
#[pyfunction]
#[pyo3(signature = (transfers, size, kinds, *, circuits, most, may_turn))]
pub fn step_rows<'py>(
    py: Python<'py>,
    transfers: TransfersGiven,
    size: (usize, usize),
    kinds: KindsGiven,
    circuits: bool,
    most: Option<i64>,
    may_turn: bool,
) -> PyResult<Laid<'py>> {
    let columns = transfers.columns()?;
    let transfers = (0..columns[0].len()).map(|at| transfer(&columns, at));
    let (places, lanes) = size;
    let line = Line {
        slots: places * lanes,
        lanes,
        kinds: Kinds {
            sends: kinds.sends,
            relays: kinds.relays,
            applies: kinds.applies,
            ends: kinds.ends,
        },
    };
    line.check(transfers.clone())
        .map_err(PyValueError::new_err)?;
    let (rows, descends) = py.detach(|| {
        let descends = !circuits && may_turn && line.is_shorter_descending(transfers.clone(), most);
        let joining = if circuits {
            Joining::Circuits
        } else {
            Joining::Relays {
                ascends: !descends,
                most,
            }
        };
        (line.rows(transfers, joining), descends)
    });
    Ok((
        signed(&rows.starts).into_pyarray(py),
        rows.times.into_pyarray(py),
        matrix(
            py,
            rows.numbers.len(),
            FIELDS,
            rows.numbers.into_flattened(),
        )?,
        descends,
    ))
}

type Column<'a> = Cow<'a, [i64]>;

impl TransfersGiven<'_> {
    fn columns(&self) -> PyResult<[Column<'_>; 9]> {
        let given = [
            &self.slot,
            &self.step,
            &self.hops,
            &self.time,
            &self.first,
            &self.into,
            &self.count,
            &self.passed,
            &self.taken,
        ];
        let columns = given.map(as_given);
        same_length(&columns.each_ref().map(|one| one.len()))?;
        Ok(columns)
    }
}

fn as_given<'a>(one: &'a Ints) -> Column<'a> {
    match one.as_slice() {
        Ok(slice) => Cow::Borrowed(slice),
        Err(_) => Cow::Owned(column(one)),
    }
}

/// A transfer by its numbers; a negative slot or number of hops is outside of any line.
fn transfer(columns: &[Column; 9], at: usize) -> Transfer {
    let [slot, step, hops, time, first, into, count, passed, taken] =
        columns.each_ref().map(|one| one[at]);
    Transfer {
        slot: slot as usize,
        step: step as isize,
        hops: hops as usize,
        time,
        first,
        into,
        count,
        passed,
        taken,
    }
}

/// See `patterns::first_period`.
#[pyfunction]
pub fn first_period(index: Ints, values: Ints, periods: Vec<usize>) -> PyResult<Option<usize>> {
    let (index, values) = (indexes(&index)?, column(&values));
    same_length(&[index.len(), values.len()])?;
    if periods.windows(2).any(|pair| pair[0] > pair[1]) || periods.contains(&0) {
        return Err(PyValueError::new_err("periods ascend from 1 on"));
    }
    Ok(patterns::first_period(&index, &values, &periods))
}

type Found<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray2<i64>>);

/// See `LoopRules::find`, for each table, or for all `together`.
#[pyfunction]
#[pyo3(signature = (rows, starts, slices, *, out, into, header, longest, together))]
#[allow(clippy::too_many_arguments)]
pub fn find_loops<'py>(
    py: Python<'py>,
    rows: PyReadonlyArray2<i64>,
    starts: Ints,
    slices: i64,
    out: i64,
    into: i64,
    header: usize,
    longest: usize,
    together: bool,
) -> PyResult<Found<'py>> {
    let (rows, starts) = (rows.as_array(), indexes(&starts)?);
    if rows.ncols() != FIELDS || slices < 1 {
        return Err(PyValueError::new_err(
            "a row has five numbers, and there are some slices",
        ));
    }
    let rows: Vec<Numbers> = (0..rows.nrows())
        .map(|at| from_fn(|n| rows[(at, n)]))
        .collect();
    let table = |pair: &[usize]| rows.get(pair[0]..pair[1]);
    let tables: Option<Vec<&[Numbers]>> = starts.windows(2).map(table).collect();
    let tables = tables.ok_or_else(|| PyValueError::new_err("there are no such rows"))?;
    let alike = tables.windows(2).all(|pair| pair[0].len() == pair[1].len());
    if together && !alike {
        return Err(PyValueError::new_err(
            "tables whose loops are found together have as many rows",
        ));
    }
    let (counts, found) = py.detach(|| {
        let rules = LoopRules { header, longest };
        let meaning = Meaning { out, into, slices };
        let each = if together { tables.len() } else { 1 };
        let (mut counts, mut found) = (Vec::new(), Vec::new());
        for group in tables.chunks(each.max(1)) {
            let own = rules.find(group, meaning);
            for table in 0..group.len() {
                counts.push(own.len());
                for one in &own {
                    let [first, size, turns] = [one.first, one.size, one.turns].map(|n| n as i64);
                    found.extend([first, size, turns, one.shift[table]]);
                }
            }
        }
        (counts, found)
    });
    Ok((
        signed(&counts).into_pyarray(py),
        matrix(py, found.len() / 4, 4, found)?,
    ))
}

fn signed(numbers: &[usize]) -> Vec<i64> {
    numbers.iter().map(|&number| number as i64).collect()
}
