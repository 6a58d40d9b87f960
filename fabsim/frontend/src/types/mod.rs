//! What programs compute with at compile time: `kinds` of types, a `value` of one, `ops` between values, `coerce` the
//! rules between types, `literal` values that are written down.

pub(crate) mod coerce;
pub(crate) mod kinds;
pub(crate) mod literal;
pub(crate) mod ops;
pub(crate) mod value;
