//! A program of the suite: its header, its parts, the messages written beside its lines.

use fabsim::program::{Arch, Clock};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const COMMON_LAYOUT: &str = include_str!("../../conformance/common/layout.csl");
const COMMON_PE: &str = include_str!("../../conformance/common/pe.csl");

/// Begins a part: `//--- name.csl`.
const PART: &str = "//--- ";
/// Begins an expected message at the end of a line.
pub const MESSAGE: &str = "//~ ";

/// A line of the header after the first: for one architecture or both, a key, a value.
#[derive(Clone, Debug)]
pub struct Entry {
    pub arch: Option<Arch>,
    pub key: String,
    pub value: String,
}

/// A message that the compiler has to give at a line; line 0 is none in particular.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Message {
    pub line: u32,
    /// `error: text`, `warning: text` or `note: text`.
    pub text: String,
}

pub struct Program {
    pub path: PathBuf,
    pub text: String,
    pub rules: Vec<String>,
    pub title: String,
    pub entries: Vec<Entry>,
    messages: Vec<(Option<Arch>, Message)>,
}

fn arch_of(word: &str) -> Option<Arch> {
    match word {
        "wse2" => Some(Arch::Wse2),
        "wse3" => Some(Arch::Wse3),
        _ => None,
    }
}

/// `wse3 rest` as the architecture and the rest.
fn split_arch(text: &str) -> (Option<Arch>, &str) {
    match text.split_once(' ') {
        Some((word, rest)) if arch_of(word).is_some() => (arch_of(word), rest),
        _ => (None, text),
    }
}

impl Program {
    pub fn read(path: &Path) -> Result<Program, String> {
        let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
        let mut header = text.lines().map_while(|line| line.strip_prefix("// "));
        let first = header.next().ok_or("there is no header")?;
        let (rules, title) = first.split_once(": ").ok_or("the header names no rule")?;
        let mut entries: Vec<Entry> = Vec::new();
        for line in header {
            match (line.strip_prefix("| "), entries.last_mut()) {
                (Some(more), Some(last)) => last.value += &format!("\n{more}"),
                _ => entries.push(entry(line)?),
            }
        }
        let messages = messages(&text, &entries);
        Ok(Program {
            path: path.to_path_buf(),
            rules: rules.split(", ").map(str::to_string).collect(),
            title: title.to_string(),
            entries,
            messages,
            text,
        })
    }

    /// The values of a key, for one architecture.
    pub fn values<'a>(&'a self, key: &'a str, arch: Arch) -> impl Iterator<Item = &'a str> {
        let fits = move |e: &&Entry| e.key == key && !e.arch.is_some_and(|only| only != arch);
        self.entries.iter().filter(fits).map(|e| e.value.as_str())
    }

    /// The architectures it is for; both unless the header says otherwise.
    pub fn archs(&self) -> Vec<Arch> {
        let said = self.entries.iter().find(|e| e.key == "arch");
        match said {
            Some(entry) => entry.value.split(' ').filter_map(arch_of).collect(),
            None => vec![Arch::Wse2, Arch::Wse3],
        }
    }

    /// The clocks it runs by.
    pub fn clocks(&self, arch: Arch) -> Result<Vec<Clock>, String> {
        match self.values("timing", arch).next() {
            None => Ok(vec![Clock::Streams]),
            Some("all") => Ok(Clock::ALL.to_vec()),
            Some(names) => names
                .split_whitespace()
                .map(Clock::named)
                .collect::<Option<_>>()
                .ok_or("timing: simfabric, silicon, streams or all".into()),
        }
    }

    /// The messages of the compiler, sorted.
    pub fn messages(&self, arch: Arch) -> Vec<Message> {
        let fits = |only: &Option<Arch>| !only.is_some_and(|only| only != arch);
        let own = self.messages.iter().filter(|(only, _)| fits(only));
        let mut all: Vec<Message> = own.map(|(_, message)| message.clone()).collect();
        all.sort();
        all
    }

    /// The files to compile. Lines keep their numbers: parts begin with as many empty lines as
    /// stand before them, and what is common comes last.
    pub fn sources(&self) -> BTreeMap<PathBuf, String> {
        let mut files: BTreeMap<PathBuf, String> = BTreeMap::new();
        let mut name = "pe.csl";
        for (n, line) in self.text.lines().enumerate() {
            if let Some(part) = line.strip_prefix(PART) {
                name = part;
            }
            let text = files.entry(name.into()).or_insert_with(|| "\n".repeat(n));
            *text += line;
            text.push('\n');
        }
        if !files.contains_key(Path::new("layout.csl")) {
            let pe = files.entry("pe.csl".into()).or_default();
            *pe += COMMON_PE;
            for name in ["run", "again"] {
                if self.text.contains(&format!("fn {name}(")) {
                    *pe += &format!("comptime {{ @export_symbol({name}); }}\n");
                }
            }
            files.insert("layout.csl".into(), COMMON_LAYOUT.into());
        }
        files
    }

    pub fn has_own_layout(&self) -> bool {
        self.text.contains("//--- layout.csl")
    }
}

fn entry(line: &str) -> Result<Entry, String> {
    let (arch, rest) = split_arch(line);
    let (key, value) = rest
        .split_once(": ")
        .ok_or(format!("not \"key: value\": {line}"))?;
    Ok(Entry {
        arch,
        key: key.to_string(),
        value: value.to_string(),
    })
}

fn messages(text: &str, entries: &[Entry]) -> Vec<(Option<Arch>, Message)> {
    let mut all = Vec::new();
    for (n, line) in text.lines().enumerate() {
        for message in line.split(MESSAGE).skip(1) {
            let (arch, text) = split_arch(message.trim_end());
            let line = n as u32 + 1;
            let text = text.to_string();
            all.push((arch, Message { line, text }));
        }
    }
    let errors = entries.iter().filter(|entry| entry.key == "error");
    all.extend(errors.map(|entry| {
        let text = format!("error: {}", entry.value);
        (entry.arch, Message { line: 0, text })
    }));
    all
}
