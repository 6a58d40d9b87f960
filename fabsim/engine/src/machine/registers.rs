//! Whether code may change settings of routers while it runs.

use fabsim_program::program::{Arch, Design, Inst, SystemCall, TileProgram};

/// Addresses of registers, counted in words or in bytes.
const REGISTERS: std::ops::RangeInclusive<u64> = 0x6000..=0xffff;

/// Whether any code of a design, or what it begins with, changes settings of routers.
pub(super) fn writes_registers(design: &Design) -> bool {
    let programs = &design.programs;
    programs.iter().any(|program| {
        let mut code = program.functions.iter().flat_map(|f| &f.code);
        let pointers = design.arch == Arch::Wse2 && leads_to_registers(program);
        !program.config.is_empty() || pointers || code.any(changes_router)
    })
}

fn changes_router(inst: &Inst) -> bool {
    match inst {
        Inst::WriteConfig { .. } => true,
        Inst::System { call, .. } => matches!(
            call,
            SystemCall::SetSwitchSides | SystemCall::SetFilter | SystemCall::BindInputQueue
        ),
        _ => false,
    }
}

/// Whether code stores anywhere and names a number that may be the address of a register, in words
/// or in bytes: on wse2 pointers lead to them, too.
fn leads_to_registers(program: &TileProgram) -> bool {
    let mut code = program.functions.iter().flat_map(|f| &f.code);
    let mut words = program.memory.iter().flat_map(|(_, words)| words);
    let stores = code.clone().any(|inst| matches!(inst, Inst::Store { .. }));
    let named =
        code.any(|inst| matches!(inst, Inst::Const { bits, .. } if REGISTERS.contains(bits)));
    stores && (named || words.any(|&word| REGISTERS.contains(&u64::from(word))))
}
