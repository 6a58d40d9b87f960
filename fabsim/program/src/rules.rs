//! Rules of docs/machine.md that can be switched off, so that another machine can be played: the tool
//! that looks for rules the vendor's tools do not share is tried on fabsim with some of them changed.
//!
//! One table. A rule is switched off in one of two ways, or both: what its checks refuse is accepted,
//! the checks being known by their messages; and a compiled program is read as a machine without the
//! rule would read it (`readings`). What has no row cannot be switched off; `FIXED` says why.

use crate::readings::READINGS;
use crate::switch::Switch;

/// A row of rules that the compiler checks.
const fn check(rule: &'static str, refusals: &'static [&'static str]) -> Switch {
    Switch {
        rule,
        refusals,
        other: None,
    }
}

/// The row of a rule.
pub fn switch(rule: &str) -> Option<&'static Switch> {
    SWITCHES
        .iter()
        .chain(READINGS)
        .find(|switch| switch.rule == rule)
}

/// Every row, by table.
pub fn switches() -> impl Iterator<Item = &'static Switch> {
    SWITCHES.iter().chain(READINGS)
}

/// Why a rule has no row: the first entry that its number begins with.
pub fn fixed(rule: &str) -> Option<&'static str> {
    let found = FIXED.iter().find(|(start, _)| rule.starts_with(start));
    found
        .map(|(_, why)| *why)
        .filter(|_| switch(rule).is_none())
}

/// Whether one of the rules that are off is what a message is about.
pub fn accepted(off: &[&'static Switch], message: &str) -> bool {
    let mut patterns = off.iter().flat_map(|switch| switch.refusals);
    patterns.any(|pattern| matches(pattern, message))
}

/// Whether a text is a pattern's, in which `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, inner)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in inner {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// Rules that the front end checks, by the messages that it gives.
const SWITCHES: &[Switch] = &[
    check("M1-4", &["the program does not fit the memory of a PE*"]),
    check("M2.1-2", &["the color * has no switches on *"]),
    check(
        "M3-4",
        &[
            "the task id * is reserved for memcpy",
            "the task id * is bound twice",
        ],
    ),
    check("M3-11", &["fabsim does not know the builtin @*"]),
    check("M3.1-5", &["@get_data_task_id: 'id' must be *"]),
    check(
        "M3.2-4",
        &[
            "@*: a fab* cannot be a *",
            "@set_dsd_length: 'dsd' must be *",
            "@set_dsd_stride: 'dsd' must be *",
        ],
    ),
    check("M3.2-8", &["'fabric_color' is known only at run time, *"]),
    check("M3.3-3", &["a dsr_* cannot hold a value of type *"]),
    check(
        "M3.4-6",
        &[
            "@map cannot * a value of type *",
            "this @map needs * operands after the function, *",
            "@map cannot stream elements of type *",
        ],
    ),
    check(
        "M3.4-16",
        &[
            "@*: an asynchronous operation needs a fabric operand",
            "@*: '*' must be a source DSD or DSR*",
            "@fmacs: 'x' must be *",
            "@* takes * arguments (dest, *",
            "an operation has at most one of '.activate' and '.unblock'",
        ],
    ),
    check(
        "M3.5-1",
        &[
            "input queue * is initialised twice",
            "this DSD wants color *, but output queue * has color *",
        ],
    ),
    check(
        "M3.5-2",
        &["the configuration of an operation has no field 'ut_id'*"],
    ),
    check("M3.5-4", &["@*: wse3 allows one fabin_dsd in an operation"]),
    check(
        "M3.5-6",
        &["* queue * has already been set: it is reserved for memcpy"],
    ),
    check("M3.5-8", &["@queue_flush exists only on wse3"]),
    check(
        "M3.5-9",
        &[
            "a fabout_dsd needs the field '.output_queue'",
            "@*: the fabric DSD of an asynchronous operation needs a queue: *",
        ],
    ),
    check(
        "M3.5-10",
        &["this DSD wants color *, but input queue * has color *"],
    ),
    check(
        "M3.7-2",
        &[
            "integer out of range: * does not fit *",
            "type mismatch: expected i32, found u16",
        ],
    ),
    check("M3.7-13", &["@bind_task exists only on wse2"]),
    check(
        "M3.7-20",
        &["'fabric_color' must be a color known at compile time, found *"],
    ),
    check(
        "M3.7-25",
        &["the color * stands for none: it can have no route"],
    ),
    check("M3.7-26", &["the architecture \"wse1\" exists up to SDK *"]),
    check(
        "M3.7-27",
        &["the member 'target' of <tile_config> exists up to SDK *"],
    ),
    check(
        "M3.9-1",
        &[
            "@*: '*' must be *, found *",
            "@* takes * arguments *, found *",
            "@* is only possible in *",
            "@* runs on a PE: it cannot be evaluated at compile time",
            "@import_module must initialise a global constant",
        ],
    ),
    check(
        "M3.9-2",
        &[
            "<*> *: '*' must be *, found *",
            "<*> * takes * arguments *",
            "the module <*> has no member '*'",
            "fabsim does not support '*' of <*> yet",
            "comptime assertion failed: trace takes *",
        ],
    ),
    check(
        "M3.9-3",
        &["<tile_config/switch_config> get_switch_config_addr: 'setting_ty' *"],
    ),
    check(
        "M3.9-4",
        &["<tile_config/*> *: '*' must be known at compile time"],
    ),
    check(
        "M3.9-5",
        &[
            "'.async', '.activate', '.unblock' and '.on_control' of @load_to_dsr are *",
            "'.save_address' is for memory DSDs",
            "@load_to_dsr: 'dsd' must be *",
        ],
    ),
    check(
        "M3.9-6",
        &[
            "@map: * is never loaded with '.single_step = true', *",
            "* is loaded with '.single_step = true', which is for @map alone",
        ],
    ),
    check(
        "M3.9-8",
        &[
            "@map cannot read from a value of type fifo_dsd",
            "@*: of several sources the first cannot be a FIFO",
            "@dfilt needs '.async = true'",
            "@dfilt takes * arguments *",
        ],
    ),
    check("M3.9-9", &["* [dsr-pair]"]),
    check("M3.9-10", &["* [dsr-twice]"]),
    check("M3.9-11", &["* [dsr-zero]"]),
    check("M3.9-12", &["* [save-address]"]),
    check("M3.9-13", &["* [run-time-fabric-dsd]"]),
    check("M3.9-14", &["* [extent-zero]"]),
    check("M3.9-15", &["* [map-advance]"]),
    check("M3.9-16", &["* [teardown-task]"]),
    check("M3.9-17", &["* [memory]"]),
    check("M3.9-18", &["* [dsr-completion]"]),
    check("M6.1-5", &["@bitcast needs types of equal width, *"]),
    check(
        "M6.1-6",
        &[
            "type mismatch: expected *, found comptime_*",
            "type mismatch: the operands have types *",
            "integer out of range: * does not fit *",
            "type mismatch: expected i16, found u16",
        ],
    ),
    check("M6.1-7", &["the operator '*' is not defined on *"]),
    check(
        "M6.1-11",
        &[
            "index out of bounds: *",
            "an array of rank * needs as many indices, *",
            "the element of an array cannot be an array: *",
        ],
    ),
    check(
        "M6.1-13",
        &[
            "type mismatch: expected struct *",
            "the field '*' has no value",
            "there is no field '*' in struct *",
            "type mismatch: expected i16, found bool",
        ],
    ),
    check(
        "M6.1-14",
        &[
            "@as cannot convert enum*",
            "type mismatch: expected enum*",
            "there is no field '*' in enum*",
            "type mismatch: expected u16, found enum*",
        ],
    ),
    check(
        "M6.1-15",
        &[
            "cannot assign through a pointer to const *",
            "type mismatch: expected *i32, found *const i32",
        ],
    ),
    check(
        "M6.1-18",
        &[
            "@concat_structs: both structs have the field *",
            "@concat_structs needs two anonymous structs *",
            "a tuple needs one known index within its length",
        ],
    ),
    check(
        "M6.1-19",
        &["@*: '*' must be a source DSD or DSR or an @fp16(), found bf16"],
    ),
    check(
        "M6.1-20",
        &[
            "a DSD cannot describe elements of type *",
            "a task cannot take an argument of type *",
            "a data task takes arguments of 32 bits in all, *",
        ],
    ),
    check("M6.2-1", &["expected an expression, found *"]),
    check("M6.2-2", &["type mismatch: expected bool, found *"]),
    check("M6.2-5", &["this inline loop has more than * iterations *"]),
    check(
        "M6.2-6",
        &[
            "this value is not known at compile time",
            "compile-time evaluation recurses too deeply",
        ],
    ),
    check(
        "M6.2-7",
        &["the argument '*' must be known at compile time"],
    ),
    check(
        "M6.2-8",
        &["a comptime variable cannot change under a run-time condition"],
    ),
    check(
        "M6.2-9",
        &[
            "'*' is declared twice*",
            "a run-time variable cannot be read at compile time",
            "the value of '*' depends on itself",
            "unknown name '*'",
            "fabsim does not know the builtin @*",
        ],
    ),
    check(
        "M6.2-10",
        &[
            "cannot assign to this: it is a constant or a value",
            "cannot assign to the constant '*'",
        ],
    ),
    check(
        "M6.2-11",
        &[
            "this switch does not cover all values: *",
            "this value appears twice in the switch",
        ],
    ),
    check("M6.2-12", &["the task '*' cannot be called: *"]),
    check("M6.2-13", &["comptime assertion failed: *"]),
    check(
        "M6.2-16",
        &[
            "'*' can end without returning a value",
            "type mismatch: expected i32, found *",
            "'*' takes * arguments, found *",
        ],
    ),
    check("M6.3-2", &["the parameter '*'*"]),
    check(
        "M6.3-4",
        &[
            "cannot find the file '*'",
            "fabsim does not know the module <*>",
        ],
    ),
    check(
        "M6.3-5",
        &[
            "the module <*> has no member '*'",
            "the variable '*' cannot have the comptime-only type *",
            "@import_module must initialise a global constant",
        ],
    ),
    check("M6.3-7", &["no module of this program has 'export var *'"]),
    check(
        "M6.4-1",
        &[
            "the PE * lies outside the * rectangle",
            "the code of the PE * is set twice",
            "this file needs exactly one layout block",
            "the PE * has no code: *",
            "call @set_rectangle first",
        ],
    ),
    check(
        "M6.4-2",
        &[
            "the color * is configured twice*",
            "a color configuration needs the field '.routes'",
        ],
    ),
    check(
        "M6.4-3",
        &[
            "the 'rx' of a switch position is one direction",
            "'pop_mode' has no field *",
            "on wse2 cannot have both an input and an output in the same switch position",
            "'current_switch_pos' must be between *",
        ],
    ),
    check("M6.4-4", &["@*: * is not a* of wse* (they go from * to *)"]),
    check(
        "M6.4-5",
        &[
            "the color * is reserved for memcpy",
            "the task id * is reserved for memcpy",
        ],
    ),
    check(
        "M6.4-6",
        &["the task id * is bound twice", "this task is bound twice"],
    ),
    check(
        "M6.4-7",
        &[
            "the symbol '*' has type *",
            "the name '*' is exported twice",
            "the symbol '*' is not declared *",
            "the symbol '*' is a variable, *",
            "@export_name of a pointer needs a third argument: *",
        ],
    ),
    check("M6.4-8", &["* has no field '*' (fields: *)"]),
    check(
        "M6.4-10",
        &[
            "@* is only possible in *",
            "@* runs on a PE: it cannot be evaluated at compile time",
        ],
    ),
    check(
        "M6.4-12",
        &["a filter needs a 'kind': *", "'filter' has no field '*"],
    ),
];

/// Why the rules without a row have none; the first entry that fits counts.
const FIXED: &[(&str, &str)] = &[
    (
        "M1-",
        "a size or the shape of the machine: nothing else in it would fit",
    ),
    (
        "M2.6",
        "registers by address: another map of them is another front end",
    ),
    (
        "M2",
        "the way of a router through a cycle, which has no second form here",
    ),
    ("M3.6", "what the host does, not the machine"),
    (
        "M3.7",
        "a form that is accepted or an order of the compiler's, which has no second form here",
    ),
    ("M3.9", "a form that is accepted"),
    (
        "M3",
        "the way of a compute element through a cycle, which has no second form here",
    ),
    (
        "M4",
        "a number or what follows from numbers: constants are changed, not switched",
    ),
    (
        "M6",
        "what text means: another meaning is another front end",
    ),
    (
        "M7",
        "what the simulator says of a fault, not what the machine does",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_star_stands_for_any_text() {
        assert!(matches("a * c*", "a b c"));
        assert!(matches("*: x", "y: x"));
        assert!(matches("a", "a"));
        assert!(!matches("a", "ab"));
        assert!(!matches("a * c", "a b d"));
        assert!(!matches("ab*ba", "aba"));
    }

    #[test]
    fn a_rule_has_one_row() {
        let names: Vec<&str> = switches().map(|switch| switch.rule).collect();
        let distinct: BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(names.len(), distinct.len());
    }

    #[test]
    fn a_rule_without_a_row_has_a_reason() {
        assert!(fixed("M2-2").is_some());
        assert!(fixed("M6.2-12").is_none());
        assert!(fixed("M9-1").is_none());
    }
}
