//! Expected results: values of exported symbols, and relations between values and cycles.

use super::check::without_numbers;
use super::outcome::Outcome;
use fabsim::program::{Export, ExportKind, ScalarType};

/// `name` or `name (x, y)`, where x or y may be `*`.
struct Place<'a> {
    name: &'a str,
    x: Option<u16>,
    y: Option<u16>,
}

fn coordinate(text: &str) -> Result<Option<u16>, String> {
    match text.trim() {
        "*" => Ok(None),
        number => number
            .parse()
            .map(Some)
            .map_err(|_| format!("no coordinate: {number}")),
    }
}

fn place(key: &str) -> Result<Place<'_>, String> {
    let Some((name, rest)) = key.split_once(" (") else {
        let (x, y) = (Some(0), Some(0));
        return Ok(Place { name: key, x, y });
    };
    let inside = rest.strip_suffix(')').ok_or("a ) is missing")?;
    let (x, y) = inside.split_once(',').ok_or("a , is missing")?;
    let (x, y) = (coordinate(x)?, coordinate(y)?);
    Ok(Place { name, x, y })
}

/// The raw bits of a number as a value of the type; hexadecimal numbers are the bits themselves.
fn bits(text: &str, ty: ScalarType) -> Result<u32, String> {
    let wrong = |_| format!("no value of this type: {text}");
    if let Some(hex) = text.strip_prefix("0x") {
        return u32::from_str_radix(hex, 16).map_err(|_| format!("no number: {text}"));
    }
    Ok(match ty {
        ScalarType::F32 => text.parse::<f32>().map_err(|_| wrong(()))?.to_bits(),
        ScalarType::F16 => {
            let value = text.parse::<f32>().map_err(|_| wrong(()))?;
            u32::from(half::f16::from_f32(value).to_bits())
        }
        ScalarType::I16 => text.parse::<i16>().map_err(|_| wrong(()))? as u16 as u32,
        ScalarType::U16 => text.parse::<u16>().map_err(|_| wrong(()))?.into(),
        ScalarType::U32 => text.parse().map_err(|_| wrong(()))?,
        _ => text.parse::<i32>().map_err(|_| wrong(()))? as u32,
    })
}

fn shown(bits: u32, ty: ScalarType) -> String {
    match ty {
        ScalarType::F32 => format!("{} (0x{bits:08x})", f32::from_bits(bits)),
        ScalarType::F16 => {
            let value = half::f16::from_bits(bits as u16);
            format!("{value} (0x{bits:04x})")
        }
        ScalarType::I16 => (bits as u16 as i16).to_string(),
        ScalarType::U16 | ScalarType::U32 => bits.to_string(),
        _ => (bits as i32).to_string(),
    }
}

fn is16(ty: ScalarType) -> bool {
    matches!(ty, ScalarType::F16 | ScalarType::I16 | ScalarType::U16)
}

impl Outcome {
    fn export(&self, name: &str) -> Option<&Export> {
        let design = self.design.as_ref()?;
        design.exports.iter().find(|export| export.name == name)
    }

    fn element(&self, name: &str) -> Result<ScalarType, String> {
        match self.export(name).map(|export| &export.kind) {
            Some(ExportKind::Tensor { element, .. }) => Ok(*element),
            _ => Err(format!("there is no exported array {name:?}")),
        }
    }

    /// Compares the beginning of an array with the values, on every PE that is meant.
    pub fn check_values(&mut self, key: &str, values: &str) -> Result<(), String> {
        let place = place(key)?;
        let ty = self.element(place.name)?;
        let wanted: Result<Vec<u32>, String> = values.split(' ').map(|v| bits(v, ty)).collect();
        let wanted = wanted?;
        let (width, height) = self.size();
        for y in (0..height).filter(|y| !place.y.is_some_and(|only| only != *y)) {
            for x in (0..width).filter(|x| !place.x.is_some_and(|only| only != *x)) {
                let found = self.read(place.name, (x, y), wanted.len(), is16(ty))?;
                if found != wanted {
                    let list = |all: &[u32]| -> String {
                        let all: Vec<String> = all.iter().map(|v| shown(*v, ty)).collect();
                        all.join(" ")
                    };
                    let name = place.name;
                    let (found, wanted) = (list(&found), list(&wanted));
                    return Err(format!(
                        "{name} of PE ({x}, {y}) is {found}\n    and not {wanted}"
                    ));
                }
            }
        }
        Ok(())
    }

    /// A warning of the run.
    pub fn check_warning(&self, wanted: &str) -> Result<(), String> {
        let warnings = self.warnings()?;
        let mut found = warnings.iter().map(|text| without_numbers(text));
        match found.any(|text| text == wanted) {
            true => Ok(()),
            false => Err(format!("no such warning among {warnings:?}")),
        }
    }

    /// `TERM - TERM OP NUMBER`, where a term is `cycles(NAME)` or `NAME[INDEX] (X, Y)`.
    pub fn check_relation(&mut self, text: &str) -> Result<(), String> {
        let op = [" <= ", " >= ", " = ", " < ", " > "]
            .into_iter()
            .find(|op| text.contains(op))
            .ok_or("the relation has no comparison")?;
        let (left, right) = text.split_once(op).unwrap_or((text, ""));
        let right: i64 = right.parse().map_err(|_| format!("no number: {right}"))?;
        let left = match left.split_once(" - ") {
            Some((a, b)) => self.term(a)? - self.term(b)?,
            None => self.term(left)?,
        };
        let holds = match op.trim() {
            "<=" => left <= right,
            ">=" => left >= right,
            "=" => left == right,
            "<" => left < right,
            _ => left > right,
        };
        match holds {
            true => Ok(()),
            false => Err(format!("{text} does not hold: the left side is {left}")),
        }
    }

    fn term(&mut self, text: &str) -> Result<i64, String> {
        let name = text
            .strip_prefix("cycles(")
            .and_then(|t| t.strip_suffix(')'));
        if let Some(name) = name {
            let cycles = self.cycles.iter().find(|(known, _)| known == name);
            let cycles = cycles.ok_or(format!("{name} was not launched"))?;
            return Ok(cycles.1 as i64);
        }
        let (name, rest) = text.split_once('[').ok_or(format!("no term: {text}"))?;
        let (index, at) = rest.split_once(']').ok_or("a ] is missing")?;
        let index: usize = index.parse().map_err(|_| format!("no index: {index}"))?;
        let place = place(&format!("{name}{at}")).map(|p| (p.x, p.y))?;
        let (Some(x), Some(y)) = place else {
            return Err(format!("no single PE: {text}"));
        };
        let found = self.read(name, (x, y), index + 1, false)?;
        Ok(i64::from(found[index] as i32))
    }
}
