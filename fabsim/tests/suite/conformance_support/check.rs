//! Whether a program does what its header says.

use super::outcome::Outcome;
use super::program::{Message, Program};
use fabsim::host::{SimOptions, VisitOrder};
use fabsim::program::{Arch, Clock};

/// Keys of a header that are no expected values.
const SETTINGS: [&str; 9] = [
    "arch", "sdk", "size", "param", "launch", "lenient", "fp16", "strict", "timing",
];

/// Numbers behind these are timing, layout of memory or lines of library modules, which other rules
/// and tests are about.
const VARIABLE: [&str; 5] = ["cycle ", "@", "address ", "outside the ", ">:"];

/// The text with `*` for what may change by timing or by the layout of memory.
pub fn without_numbers(text: &str) -> String {
    VARIABLE.iter().fold(text.to_string(), |text, words| {
        let mut parts = text.split(words);
        let mut out = parts.next().unwrap_or_default().to_string();
        for part in parts {
            let rest = part.trim_start_matches(|c: char| c.is_ascii_digit());
            out += words;
            out += if rest.len() < part.len() { "*" } else { "" };
            out += rest;
        }
        out
    })
}

/// Compiles and runs the program by each of its clocks and compares everything, in two orders of visiting PEs.
pub fn run(program: &Program, arch: Arch) -> Result<(), String> {
    program.clocks(arch)?.into_iter().try_for_each(|clock| {
        run_by(program, arch, clock).map_err(|text| format!("by {}: {text}", clock.name()))
    })
}

fn run_by(program: &Program, arch: Arch, clock: Clock) -> Result<(), String> {
    let mut outcome = Outcome::of(program, arch, clock)?;
    check(program, arch, &mut outcome)?;
    let (cycles, failure) = (outcome.cycles.clone(), outcome.failure.clone());
    let reversed = SimOptions {
        visit_order: VisitOrder::Reversed,
        ..SimOptions::default()
    };
    outcome.run(program, arch, reversed)?;
    match outcome.cycles == cycles && outcome.failure == failure {
        true => Ok(()),
        false => Err("the order in which PEs are visited changes the result".into()),
    }
}

fn check(program: &Program, arch: Arch, outcome: &mut Outcome) -> Result<(), String> {
    let wanted = program.messages(arch);
    if outcome.messages != wanted {
        return Err(difference(&outcome.messages, &wanted));
    }
    let wanted = program.values("fails", arch).next();
    let found = outcome.failure.as_deref().map(without_numbers);
    if found.as_deref() != wanted {
        let found = found.as_deref().unwrap_or("no error");
        let wanted = wanted.unwrap_or("no error");
        return Err(format!(
            "the run ends with\n    {found}\n  and not with\n    {wanted}"
        ));
    }
    for entry in &program.entries {
        if entry.arch.is_some_and(|only| only != arch) {
            continue;
        }
        match entry.key.as_str() {
            "fails" | "error" | "pending" => {}
            key if SETTINGS.contains(&key) => {}
            "warns" => outcome.check_warning(&entry.value)?,
            "relation" => outcome.check_relation(&entry.value)?,
            key => outcome.check_values(key, &entry.value)?,
        }
    }
    Ok(())
}

fn difference(found: &[Message], wanted: &[Message]) -> String {
    let list = |these: &[Message], those: &[Message]| -> String {
        let only = these.iter().filter(|message| !those.contains(message));
        let lines: Vec<String> = only
            .map(|m| format!("\n    line {}: {}", m.line, m.text))
            .collect();
        match lines.is_empty() {
            true => " nothing else".into(),
            false => lines.concat(),
        }
    };
    format!(
        "the compiler says{}\n  and not{}",
        list(found, wanted),
        list(wanted, found)
    )
}
