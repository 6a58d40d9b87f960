//! Where source text comes from: files, an in-memory map for tests, the embedded standard modules.

use fabsim_program::diagnostic::Place;
use fabsim_program::program::Span;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Largest source file that is read.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Supplies the text of files.
#[derive(Clone)]
pub enum Provider {
    Disk,
    Memory(BTreeMap<PathBuf, String>),
}

impl Provider {
    pub fn exists(&self, path: &Path) -> bool {
        match self {
            Provider::Disk => path.is_file(),
            Provider::Memory(files) => files.contains_key(path),
        }
    }

    /// `read` of a file that is in one of these folders, or is CSL by its name: programs import such text from
    /// beside them, and no other file of the machine is to be read, let alone shown.
    pub fn read_within(&self, path: &Path, folders: &[PathBuf]) -> Result<String, String> {
        if let (Provider::Disk, Ok(real)) = (self, path.canonicalize()) {
            let real_folders = folders
                .iter()
                .filter_map(|folder| folder.canonicalize().ok());
            let is_csl = real.extension().is_some_and(|ending| ending == "csl");
            if !is_csl
                && !real_folders
                    .into_iter()
                    .any(|folder| real.starts_with(folder))
            {
                return Err(format!(
                    "'{}' is not read: outside of the folders of the layout, of --import-path and of where \
                     the compiler runs only .csl files are, where links are followed",
                    path.display()
                ));
            }
        }
        self.read(path)
    }

    pub fn read(&self, path: &Path) -> Result<String, String> {
        let failed = |why: String| format!("cannot read '{}': {why}", path.display());
        match self {
            Provider::Memory(files) => files
                .get(path)
                .cloned()
                .ok_or_else(|| failed("no such file".into())),
            Provider::Disk => {
                let size = std::fs::metadata(path).map_err(|e| failed(e.to_string()))?;
                if size.len() > MAX_FILE_BYTES {
                    return Err(failed("the file is too large".into()));
                }
                std::fs::read_to_string(path).map_err(|e| failed(e.to_string()))
            }
        }
    }
}

/// Every text read so far, by file number.
#[derive(Default)]
pub struct SourceMap {
    pub names: Vec<String>,
    texts: Vec<String>,
}

impl SourceMap {
    pub fn add(&mut self, name: String, text: String) -> u32 {
        self.names.push(name);
        self.texts.push(text);
        self.names.len() as u32 - 1
    }

    pub fn text(&self, file: u32) -> &str {
        &self.texts[file as usize]
    }

    /// File name and line text of a span.
    pub fn place(&self, span: Span) -> Place {
        let file = self.names.get(span.file as usize).cloned();
        let line = self
            .texts
            .get(span.file as usize)
            .and_then(|text| text.lines().nth((span.line as usize).saturating_sub(1)));
        Place {
            file: file.unwrap_or_else(|| "?".into()),
            line: match span.line {
                0 => String::new(),
                _ => line.unwrap_or("").to_string(),
            },
        }
    }
}

/// `path` without `.` and with `..` folded, so that one file has one name.
pub fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir if out.file_name().is_some() => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}
