//! Binary traces to text.

use super::binary::BinaryReader;
use super::event::Record;
use super::filter::Filter;
use super::options::Scope;
use super::text::TextWriter;
use std::fs::File;
use std::io::{self, BufReader, BufWriter};
use std::path::Path;

/// Writes the text form of the part of a binary trace that lies in `scope`.
pub fn convert(from: &Path, to: &Path, scope: Scope) -> io::Result<()> {
    let mut reader = BinaryReader::new(BufReader::new(File::open(from)?))?;
    let mut writer = TextWriter::new(BufWriter::new(File::create(to)?), reader.grid)?;
    let mut filter = Filter::new(scope, reader.grid);
    while let Some(record) = reader.next_record()? {
        let names = &reader.names;
        let mut pass = |record: &Record| writer.record(record, names);
        filter.record(&record, &mut pass)?;
    }
    let names = &reader.names;
    filter.finish(&mut |record: &Record| writer.record(record, names))?;
    writer.finish()
}
