//! What fabsim does not have is refused by name when a design is loaded, never ignored.

use crate::fabric::registers::is_known;
use crate::pe::opcode::info;
use crate::program::{
    Design, DsdShape, Inst, Operand, RouterSetup, ScalarType, Simd, SystemCall, TileProgram,
};
use crate::report::SimError;

/// Refuses a design that needs anything missing.
pub fn check(design: &Design) -> Result<(), SimError> {
    let count = usize::from(design.width) * usize::from(design.height);
    if design.tiles.len() != count || count == 0 {
        return Err(SimError::Host(format!(
            "the design has {} tiles for a rectangle of {} x {}",
            design.tiles.len(),
            design.width,
            design.height
        )));
    }
    let dangling = design.tiles.iter().any(|tile| {
        tile.program as usize >= design.programs.len()
            || tile.router as usize >= design.routers.len()
    });
    if dangling {
        return Err(SimError::Host(
            "the design names a tile program it lacks".into(),
        ));
    }
    let mut missing: Vec<String> = Vec::new();
    for router in &design.routers {
        missing.extend(lacking_in_router(router));
    }
    for program in &design.programs {
        missing.extend(lacking_in_program(program));
    }
    missing.sort();
    missing.dedup();
    if missing.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = missing
        .iter()
        .map(|what| format!("fabsim does not support {what} yet"))
        .collect();
    Err(SimError::Unsupported(lines.join("\n")))
}

fn lacking_in_router(router: &RouterSetup) -> Option<String> {
    let swaps = router
        .colors
        .iter()
        .any(|(_, c)| c.color_swap_x || c.color_swap_y);
    swaps.then(|| "color swap".to_string())
}

fn lacking_in_program(program: &TileProgram) -> Vec<String> {
    let mut missing = Vec::new();
    let mut need = |needed: bool, what: &str| {
        if needed {
            missing.push(format!("{what} (in {})", program.file));
        }
    };
    need(!program.fifos.is_empty(), "FIFOs");
    for &(address, _) in program.config.iter().filter(|(at, _)| !is_known(*at)) {
        need(true, &format!("configuration word {address:#06x}"));
    }
    need(
        !program.empty_queue_handlers.is_empty(),
        "empty-queue handlers",
    );
    for shape in &program.shapes {
        let (simd, transform) = match shape {
            DsdShape::FabIn {
                simd,
                control_transform,
                ..
            }
            | DsdShape::FabOut {
                simd,
                control_transform,
                ..
            } => (*simd, *control_transform),
            DsdShape::Fifo { .. } => {
                need(true, "FIFOs");
                continue;
            }
            DsdShape::Mem1d { .. } | DsdShape::Mem4d { .. } => continue,
        };
        need(simd != Simd::One, "simd modes");
        need(transform, "control_transform");
    }
    for inst in program.functions.iter().flat_map(|f| &f.code) {
        if let Some(what) = lacking_in_instruction(inst) {
            need(true, &what);
        }
    }
    missing
}

fn lacking_in_instruction(inst: &Inst) -> Option<String> {
    let named = |what: &str| Some(what.to_string());
    match inst {
        Inst::System {
            call: SystemCall::QueueFlush,
            ..
        } => named("@queue_flush"),
        Inst::Operation(op) => {
            if !info(op.opcode).supported {
                return named(info(op.opcode).name);
            }
            let mut operands = op.sources.iter().chain([&op.dest]);
            let cb16 = operands.any(|o| {
                matches!(
                    o,
                    Operand::Scalar(_, ScalarType::Cb16) | Operand::Pointer(_, ScalarType::Cb16)
                )
            });
            cb16.then(|| "cb16".to_string())
        }
        Inst::Unary { ty, .. } | Inst::Binary { ty, .. } | Inst::Compare { ty, .. } => {
            (*ty == ScalarType::Cb16).then(|| "cb16".to_string())
        }
        Inst::Convert { from, to, .. } => [from, to]
            .contains(&&ScalarType::Cb16)
            .then(|| "cb16".to_string()),
        _ => None,
    }
}
