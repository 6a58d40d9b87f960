//! Writes the messages of a program anew, where the program expects a message; never the values.

use super::check::without_numbers;
use super::outcome::Outcome;
use super::program::{Program, MESSAGE};

/// Replaces the text behind every mark of an expected message, and the value of `fails`, by what is said.
pub fn messages(program: &Program) {
    let [first, ..] = program.archs()[..] else {
        return;
    };
    let clock = program.clocks(first).unwrap_or_default();
    let Some(Ok(outcome)) = clock
        .first()
        .map(|&clock| Outcome::of(program, first, clock))
    else {
        return;
    };
    let failure = outcome.failure.as_deref().map(without_numbers);
    let mut out = String::new();
    let mut skip = false;
    for (n, line) in program.text.lines().enumerate() {
        if skip && line.starts_with("// | ") {
            continue;
        }
        skip = false;
        if let (true, Some(failure)) = (line.starts_with("// fails: "), &failure) {
            out += &format!("// fails: {}\n", failure.replace('\n', "\n// | "));
            skip = true;
            continue;
        }
        let said = outcome.messages.iter().filter(|m| m.line as usize == n + 1);
        let said: Vec<String> = said.map(|m| format!("{MESSAGE}{}", m.text)).collect();
        match line.split_once(MESSAGE) {
            Some((code, old)) if !said.is_empty() && !old.starts_with("wse") => {
                out += &format!("{}{}\n", code, said.join(" "));
            }
            _ => out += &format!("{line}\n"),
        }
    }
    if out != program.text {
        std::fs::write(&program.path, out).expect("the program can be written");
    }
}
