//! Reading the rows. A mistake in them is a mistake of this crate: it panics, and a test reads them all.

use crate::builtins::signature::kind::{Alternative, Kind};
use crate::builtins::signature::{Argument, Knowledge, Member, Module, Place, Presence, Signature};
use fabsim_program::program::Arch;

/// The release that the vendor's pages describe.
const NEWEST: &str = "2.10";

/// A title with the rows below it.
pub struct Section {
    pub title: &'static str,
    pub source: &'static str,
    pub rows: Vec<Signature>,
}

/// The rows of the builtins, section by section.
pub fn builtins(text: &'static str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for line in lines(text) {
        if let Some(head) = line.strip_prefix("== ") {
            let (title, source) = pair(head, " | ");
            let rows = Vec::new();
            sections.push(Section {
                title,
                source,
                rows,
            });
            continue;
        }
        let section = sections.last_mut().expect("a row stands in a section");
        section.rows.extend(signatures(line, section.source, &[]));
    }
    sections
}

/// The modules and their members.
pub fn modules(text: &'static str) -> Vec<Module> {
    let mut modules: Vec<Module> = Vec::new();
    for line in lines(text) {
        if let Some(head) = line.strip_prefix("module ") {
            let (name, source) = pair(head, " | ");
            let members = Vec::new();
            modules.push(Module {
                name,
                source,
                members,
            });
            continue;
        }
        let module = modules.last_mut().expect("a row stands in a module");
        let members = member(line, module);
        module.members.extend(members);
    }
    modules
}

fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    let lines = text.lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn pair(text: &'static str, by: &str) -> (&'static str, &'static str) {
    let (a, b) = text
        .split_once(by)
        .unwrap_or_else(|| panic!("no '{by}' in '{text}'"));
    (a.trim(), b.trim())
}

fn member(line: &'static str, module: &Module) -> Vec<Member> {
    let (word, rest) = pair(line, " ");
    match word {
        "fn" => {
            let enums: Vec<&str> = module.members.iter().filter_map(enum_name).collect();
            let functions = signatures(rest, module.source, &enums).into_iter();
            functions.map(Member::Function).collect()
        }
        "enum" => {
            let (head, members) = pair(rest, "{");
            let (name, repr) = pair(head, ":");
            let members = members.trim_end_matches('}').split(',').map(str::trim);
            vec![Member::Enum(name, repr, members.collect())]
        }
        "const" | "type" | "param" | "var" => {
            let (names, what) = rest.split_once(':').unwrap_or((rest, word));
            let names = names.split(',').map(str::trim);
            names.map(|name| Member::Other(name, what.trim())).collect()
        }
        _ => panic!("'{word}' begins no member in '{line}'"),
    }
}

fn enum_name(member: &Member) -> Option<&'static str> {
    match member {
        Member::Enum(name, ..) => Some(name),
        _ => None,
    }
}

/// `a, b(x: T) -> U ; on wse3` is a row for each name.
fn signatures(line: &'static str, source: &'static str, enums: &[&'static str]) -> Vec<Signature> {
    let mut parts = line.split(" ; ").map(str::trim);
    let (call, result) = pair(parts.next().unwrap_or_default(), "->");
    let (names, arguments) = pair(call, "(");
    let arguments = arguments.trim_end_matches(')');
    let arguments: Vec<Argument> = match arguments {
        "" => Vec::new(),
        list => list.split(',').map(|a| argument(a.trim(), enums)).collect(),
    };
    let mut row = Signature {
        name: "",
        arity: arity(&arguments),
        arguments,
        result: alternatives(result, enums),
        place: Place::Anywhere,
        target: None,
        since: "1.0",
        until: None,
        pure: false,
        unsupported: false,
        source,
    };
    parts.for_each(|part| attribute(&mut row, part));
    let named = |name: &'static str| Signature {
        name: name.trim(),
        ..row.clone()
    };
    names.split(',').map(named).collect()
}

fn arity(arguments: &[Argument]) -> (usize, Option<usize>) {
    let count = |presence| arguments.iter().filter(|a| a.presence == presence).count();
    let low = count(Presence::One);
    match count(Presence::Repeated) {
        0 => (low, Some(arguments.len())),
        _ => (low, None),
    }
}

fn attribute(row: &mut Signature, part: &'static str) {
    match part.split_once(' ').unwrap_or((part, "")) {
        ("pure", "") => row.pure = true,
        ("unsupported", "") => row.unsupported = true,
        ("from", source) => row.source = source,
        ("on", target) => row.target = Some(arch(target)),
        ("sdk", releases) => {
            let (since, until) = match releases.split_once("..") {
                Some((since, until)) => (since, Some(until).filter(|until| *until != NEWEST)),
                None => (releases, None),
            };
            (row.since, row.until) = (since, until);
        }
        ("in", "layout") => row.place = Place::Layout,
        ("in", "comptime") => row.place = Place::Comptime,
        ("in", "global") => row.place = Place::Global,
        ("in", "run") => row.place = Place::Run,
        _ => panic!("'{part}' is no attribute"),
    }
}

fn arch(name: &str) -> Arch {
    match name {
        "wse2" => Arch::Wse2,
        "wse3" => Arch::Wse3,
        _ => panic!("'{name}' is no target"),
    }
}

fn argument(text: &'static str, enums: &[&'static str]) -> Argument {
    let (head, kinds) = pair(text, ":");
    let (knowledge, name) = match head.split_once(' ') {
        Some(("known", name)) => (Knowledge::Known, name),
        Some(("comptime", name)) => (Knowledge::Comptime, name),
        _ => (Knowledge::Any, head),
    };
    let (presence, name) = match (name.strip_suffix('?'), name.strip_suffix("...")) {
        (Some(name), _) => (Presence::Optional, name),
        (_, Some(name)) => (Presence::Repeated, name),
        _ => (Presence::One, name),
    };
    Argument {
        name,
        presence,
        knowledge,
        kinds: alternatives(kinds, enums),
    }
}

fn alternatives(text: &'static str, enums: &[&'static str]) -> Vec<Alternative> {
    let one = |part: &'static str| {
        let (text, target) = match part.trim().split_once('[') {
            Some((text, target)) => (text, Some(arch(target.trim_end_matches(']')))),
            None => (part.trim(), None),
        };
        let Some(kind) = Kind::named(text, enums) else {
            panic!("'{text}' is no kind")
        };
        Alternative { kind, target, text }
    };
    text.split(" / ").map(one).collect()
}
