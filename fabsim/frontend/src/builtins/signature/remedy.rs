//! What to write instead, where the vendor's text says it.

use crate::builtins::signature::kind::{Alternative, Kind};
use crate::compiler::Ev;
use crate::types::kinds::Ty;
use crate::types::value::Value;
use fabsim_program::program::Arch;

/// How a value of the wanted type is made; the first column is the type wanted.
const MADE_BY: &[(Ty, &str)] = &[
    (Ty::COLOR, "@get_color(n)"),
    (Ty::LOCAL_TASK_ID, "@get_local_task_id(n)"),
    (Ty::CONTROL_TASK_ID, "@get_control_task_id(n)"),
    (Ty::INPUT_QUEUE, "@get_input_queue(n)"),
    (Ty::OUTPUT_QUEUE, "@get_output_queue(n)"),
    (Ty::UT_ID, "@get_ut_id(n)"),
    (Ty::DSR_DEST, "@get_dsr(dsr_dest, n)"),
];

/// What helps against a value of type `found` where one of `kinds` is wanted.
pub fn remedy(kinds: &[Alternative], found: Ty, ev: &Ev, arch: Arch) -> Option<String> {
    let here = || {
        let on = |kind: &&Alternative| kind.target.map_or(true, |only| only == arch);
        kinds.iter().filter(on)
    };
    let types = || {
        here().filter_map(|kind| match kind.kind {
            Kind::Type(ty) => Some(ty),
            _ => None,
        })
    };
    if here().any(|kind| matches!(kind.kind, Kind::EnumType(_))) {
        return Some("an enum of the module names the setting".into());
    }
    for wanted in types() {
        let text = match (wanted, found) {
            (Ty::DATA_TASK_ID, Ty::COLOR) if arch == Arch::Wse2 => "@get_data_task_id(color)",
            (Ty::DATA_TASK_ID, Ty::INPUT_QUEUE) => "@get_data_task_id(queue)",
            (Ty::DATA_TASK_ID, Ty::COLOR) => "on wse3 @get_data_task_id(queue)",
            (wanted, found) if found.is_any_int() && !wanted.is_int() => {
                let made = MADE_BY.iter().find(|(ty, _)| *ty == wanted);
                match made {
                    Some((_, text)) => text,
                    None => continue,
                }
            }
            (wanted, found) if wanted.is_int() && found.is_int() && !known(ev) => {
                return Some(format!("convert it with @as({}, ...)", int_name(wanted)));
            }
            (wanted, found) if wanted.is_int() && found.is_handle() => "@get_int(id)",
            _ => continue,
        };
        return Some(format!("write {text}"));
    }
    None
}

fn known(ev: &Ev) -> bool {
    matches!(ev, Ev::Val(Value::Int(..)))
}

fn int_name(ty: Ty) -> String {
    let sign = if ty.is_signed() { "i" } else { "u" };
    format!("{sign}{}", ty.bits())
}
