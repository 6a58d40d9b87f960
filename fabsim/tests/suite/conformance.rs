//! The programs of `conformance/`: one small CSL program for each rule of the machine and the
//! language, compiled and run, compared with what its header expects. `conformance/README.md` says
//! how they are written.

use crate::conformance_support::outcome::Outcome;
use crate::conformance_support::program::Program;
use crate::conformance_support::{check, refresh, rules};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance")
}

/// All programs, by path; `ONLY=text` in the environment leaves those whose path has the text.
pub fn programs() -> Vec<Program> {
    let only = std::env::var("ONLY").unwrap_or_default();
    let mut paths = Vec::new();
    let areas = std::fs::read_dir(folder()).expect("the folder of the suite");
    for area in areas.map(|entry| entry.expect("an entry").path()) {
        if area.is_dir() && !area.ends_with("common") {
            let files = std::fs::read_dir(&area).expect("an area");
            paths.extend(files.map(|entry| entry.expect("an entry").path()));
        }
    }
    paths.sort();
    paths.retain(|path| path.to_string_lossy().contains(&only));
    let read = |path: &PathBuf| match Program::read(path) {
        Ok(program) => program,
        Err(text) => panic!("{}: {text}", path.display()),
    };
    paths.iter().map(read).collect()
}

pub fn name(program: &Program) -> String {
    let path = program.path.strip_prefix(folder());
    path.unwrap_or(&program.path).display().to_string()
}

#[test]
fn every_program_does_what_its_header_says() {
    let programs = programs();
    let (mut runs, mut pending, mut failures) = (0, Vec::new(), Vec::new());
    for program in &programs {
        if std::env::var_os("REFRESH").is_some() {
            refresh::messages(program);
        }
        for arch in program.archs() {
            runs += 1;
            let who = format!("{} ({arch:?})", name(program));
            let rules = program.rules.join(", ");
            let what = format!("{who}: {rules}: {}", program.title);
            let reason = program.values("pending", arch).next();
            match (check::run(program, arch), reason) {
                (Ok(()), None) => {}
                (Err(_), Some(reason)) => pending.push(format!("{what}\n  {reason}")),
                (Ok(()), Some(_)) => {
                    failures.push(format!("{what}\n  it passes: remove the mark \"pending\""))
                }
                (Err(text), None) => failures.push(format!("{what}\n  {text}")),
            }
        }
    }
    println!(
        "{} programs, {runs} runs, {} pending",
        programs.len(),
        pending.len()
    );
    for line in &pending {
        println!("pending: {line}");
    }
    let count = failures.len();
    assert!(count == 0, "{count} failures\n{}", failures.join("\n"));
}

#[test]
fn every_rule_a_program_names_is_stated() {
    let stated = rules::stated();
    for program in programs() {
        for rule in &program.rules {
            let name = name(&program);
            assert!(
                stated.contains(rule),
                "{name}: docs/machine.md has no rule {rule}"
            );
        }
    }
}

#[test]
fn a_rule_is_stated_once() {
    let mut stated = rules::stated();
    let count = stated.len();
    stated.sort();
    stated.dedup();
    assert_eq!(
        stated.len(),
        count,
        "a rule of docs/machine.md has two statements"
    );
}

#[test]
fn a_wrong_expectation_fails() {
    let dir = std::env::temp_dir().join(format!("fabsim-conformance-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a folder");
    let path = dir.join("p.csl");
    let body = "fn run() void { out[0] = 3; done(); }\n";
    for (header, fine) in [
        ("// out: 3", true),
        ("// out: 4", false),
        ("// out (1, 0): 3\n// size: 2 1", true),
        ("// relation: out[0] (0, 0) = 3", true),
        ("// relation: out[0] (0, 0) > 3", false),
        ("// error: missing", false),
        ("// fails: stuck: missing", false),
        ("// otu: 3", false),
    ] {
        std::fs::write(&path, format!("// M1-1: a test\n{header}\n{body}")).expect("a file");
        let program = Program::read(&path).expect("a program");
        let arch = fabsim::program::Arch::Wse2;
        assert_eq!(check::run(&program, arch).is_ok(), fine, "{header}");
        let clock = fabsim::program::Clock::Streams;
        Outcome::of(&program, arch, clock)
            .map(drop)
            .expect("it runs");
    }
    std::fs::remove_dir_all(&dir).expect("it was there");
}
