//! docs/csl-signatures.md: the table as a page.

use crate::builtins::signature::kind::{Alternative, CLASSES};
use crate::builtins::signature::table::table;
use crate::builtins::signature::{Argument, Knowledge, Member, Module, Place, Presence, Signature};
use fabsim_program::program::Arch;
use std::fmt::Write;

/// What a source of the table is.
const SOURCES: &[(&str, &str)] = &[
    ("builtins", "the vendor's page on builtins [doc]"),
    ("dsds", "the vendor's page on DSDs [doc]"),
    ("dsrs", "the vendor's page on DSRs [doc]"),
    ("libraries", "the vendor's page on libraries [doc]"),
    (
        "ex",
        "the vendor's example programs, where no page has it [ex]",
    ),
];

const HEAD: &str = "# What builtins and standard modules take

The table that fabsim's front end checks calls by: `fabsim/frontend/signatures/*.txt`. This page is made
from it by `make signatures`; a test holds the two equal.

`known` is an argument whose value the compiler must know, `comptime` one that it computes, calls included; `?` may be left
out, `...` is given any number of times. \"since\" is the oldest release whose public programs or text have it, as far as known; where a
second release is named, it is the last. A mark behind a kind names the only target that takes it.
";

/// The whole page.
pub fn page() -> String {
    let mut out = HEAD.to_string();
    out.push_str("\n| source | what it is |\n|---|---|\n");
    for (name, what) in SOURCES {
        line(&mut out, &format!("| {name} | {what} |"));
    }
    out.push_str("\n| kind | what it takes |\n|---|---|\n");
    line(
        &mut out,
        "| `half` | the program's float of 16 bits, `@fp16()` |",
    );
    line(
        &mut out,
        "| `pointer T` | a pointer to a variable of type T |",
    );
    line(&mut out, "| `type E` | the enum E itself |");
    for (name, _, says) in CLASSES {
        line(&mut out, &format!("| `{name}` | {says} |"));
    }
    out.push_str("\n## Builtins\n");
    for section in table().sections {
        heading(&mut out, section.title, section.source);
        out.push_str("| call | gives | where | since |\n|---|---|---|---|\n");
        let rows = section.rows.iter();
        rows.for_each(|row| signature(&mut out, row, "@", section.source));
    }
    out.push_str("\n## Standard modules\n");
    table().modules.iter().for_each(|m| module(&mut out, m));
    out
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

fn heading(out: &mut String, title: &str, source: &str) {
    let _ = write!(out, "\n### {title}\n\nSource: {source}.\n\n");
}

fn module(out: &mut String, module: &Module) {
    heading(out, &format!("`<{}>`", module.name), module.source);
    for member in &module.members {
        match member {
            Member::Enum(name, repr, members) => {
                let members = members.join("`, `");
                line(out, &format!("- `{name}`: enum of {repr} with `{members}`"));
            }
            Member::Other(name, what) => line(out, &format!("- `{name}`: {what}")),
            Member::Function(_) => {}
        }
    }
    let functions: Vec<&Signature> = module.members.iter().filter_map(function).collect();
    if functions.is_empty() {
        return;
    }
    if functions.len() < module.members.len() {
        out.push('\n');
    }
    out.push_str("| call | gives | where | since |\n|---|---|---|---|\n");
    let rows = functions.into_iter();
    rows.for_each(|row| signature(out, row, "", module.source));
}

fn function(member: &Member) -> Option<&Signature> {
    match member {
        Member::Function(signature) => Some(signature),
        _ => None,
    }
}

fn signature(out: &mut String, row: &Signature, mark: &str, source: &str) {
    let arguments: Vec<String> = row.arguments.iter().map(argument).collect();
    let mut wheres = Vec::new();
    match row.place {
        Place::Anywhere => {}
        Place::Layout => wheres.push("layout"),
        Place::Comptime => wheres.push("top-level comptime"),
        Place::Global => wheres.push("initialiser of a global"),
        Place::Run => wheres.push("run time"),
    }
    match row.target {
        Some(Arch::Wse2) => wheres.push("wse2"),
        Some(Arch::Wse3) => wheres.push("wse3"),
        None => {}
    }
    if row.unsupported {
        wheres.push("not supported yet");
    }
    let from = format!("[{}]", row.source);
    if row.source != source {
        wheres.push(&from);
    }
    let since = match row.until {
        Some(until) => format!("{} to {until}", row.since),
        None => row.since.to_string(),
    };
    let (name, arguments) = (row.name, arguments.join(", "));
    let (gives, wheres) = (kinds(&row.result), wheres.join(", "));
    line(
        out,
        &format!("| `{mark}{name}({arguments})` | `{gives}` | {wheres} | {since} |"),
    );
}

fn argument(argument: &Argument) -> String {
    let knowledge = match argument.knowledge {
        Knowledge::Any => "",
        Knowledge::Known => "known ",
        Knowledge::Comptime => "comptime ",
    };
    let presence = match argument.presence {
        Presence::One => "",
        Presence::Optional => "?",
        Presence::Repeated => "...",
    };
    let (name, kinds) = (argument.name, kinds(&argument.kinds));
    format!("{knowledge}{name}{presence}: {kinds}")
}

fn kinds(kinds: &[Alternative]) -> String {
    let one = |kind: &Alternative| match kind.target {
        Some(Arch::Wse2) => format!("{} [wse2]", kind.text),
        Some(Arch::Wse3) => format!("{} [wse3]", kind.text),
        None => kind.text.to_string(),
    };
    kinds.iter().map(one).collect::<Vec<_>>().join(" / ")
}
