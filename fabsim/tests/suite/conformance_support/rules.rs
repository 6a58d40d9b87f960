//! The numbers of the rules in docs/machine.md.

use std::path::Path;

const MACHINE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/machine.md");

/// Every number that begins an item: `- **M2-1** ...`.
pub fn stated() -> Vec<String> {
    let text = std::fs::read_to_string(Path::new(MACHINE)).expect("docs/machine.md");
    let items = text.lines().filter_map(|line| line.strip_prefix("- **"));
    let numbers = items.filter_map(|item| item.split_once("**"));
    let numbers = numbers.map(|(number, _)| number.to_string());
    numbers.filter(|number| number.starts_with('M')).collect()
}
