//! What fabsim does not have is refused by name when a design is loaded, never ignored.

use fabsim_engine::fabric::registers::is_known;
use fabsim_engine::pe::opcode::info;
use fabsim_engine::report::{Cause, HostFault, SimError};
use fabsim_program::limits::COLORS;
use fabsim_program::program::{Design, DsdShape, Inst, RouterSetup, TileProgram};

/// Refuses a design that needs anything missing.
pub fn check(design: &Design) -> Result<(), SimError> {
    let count = usize::from(design.width) * usize::from(design.height);
    if design.tiles.len() != count || count == 0 {
        return Err(HostFault::Tiles {
            tiles: design.tiles.len(),
            size: (design.width, design.height),
        }
        .into());
    }
    let dangling = design.tiles.iter().any(|tile| {
        tile.program as usize >= design.programs.len()
            || tile.router as usize >= design.routers.len()
    });
    if dangling {
        return Err(HostFault::NoProgram.into());
    }
    let malformed = design
        .routers
        .iter()
        .find_map(|router| malformed_router(router));
    let malformed = malformed.or_else(|| design.programs.iter().find_map(|p| malformed_program(p)));
    if let Some(what) = malformed {
        return Err(HostFault::Malformed(what).into());
    }
    let mut missing: Vec<String> = Vec::new();
    for program in &design.programs {
        missing.extend(lacking_in_program(program));
    }
    missing.sort();
    missing.dedup();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Cause::Unsupported(missing).into())
}

/// Tables are indexed and bits are shifted by what is checked here. The front end never makes such
/// designs; other callers of the library may.
fn malformed_router(router: &RouterSetup) -> Option<String> {
    let colors: Vec<u8> = router.colors.iter().map(|(color, _)| *color).collect();
    if !colors.windows(2).all(|pair| pair[0] < pair[1]) {
        return Some("the colors of a router are not in order".into());
    }
    colors.into_iter().find_map(not_a_color)
}

fn malformed_program(program: &TileProgram) -> Option<String> {
    if program.memory_bytes > 1 << 16 {
        return Some(format!("{} bytes of memory", program.memory_bytes));
    }
    let inputs = program.input_queues.iter().flatten().map(|q| q.color);
    let outputs = program.output_queues.iter().flatten();
    let outputs = outputs.filter_map(|q| q.color);
    let handled = program.teardown_handlers.iter().map(|(color, _)| *color);
    let named = program.shapes.iter().filter_map(|shape| match shape {
        DsdShape::FabIn { color, .. } | DsdShape::FabOut { color, .. } => *color,
        _ => None,
    });
    let mut colors = inputs.chain(outputs).chain(handled).chain(named);
    colors
        .find_map(not_a_color)
        .or_else(|| program.shapes.iter().find_map(malformed_shape))
}

fn not_a_color(color: u8) -> Option<String> {
    (usize::from(color) >= COLORS).then(|| format!("there is no color {color}"))
}

fn malformed_shape(shape: &DsdShape) -> Option<String> {
    match shape {
        DsdShape::FabIn { queue, .. } | DsdShape::FabOut { queue, .. } if *queue > 7 => {
            Some(format!("there is no queue {queue}"))
        }
        DsdShape::Mem4d {
            extents, strides, ..
        } if extents.len() != strides.len() => Some("a DSD lacks extents or strides".into()),
        _ => None,
    }
}

fn lacking_in_program(program: &TileProgram) -> Vec<String> {
    let mut missing = Vec::new();
    let mut need = |needed: bool, what: &str| {
        if needed {
            missing.push(format!("{what} (in {})", program.file));
        }
    };
    for &(address, _) in program.config.iter().filter(|(at, _)| !is_known(*at)) {
        need(true, &format!("configuration word {address:#06x}"));
    }
    let transforms = program.shapes.iter().any(|shape| match shape {
        DsdShape::FabIn {
            control_transform, ..
        }
        | DsdShape::FabOut {
            control_transform, ..
        } => *control_transform,
        DsdShape::Mem1d { .. } | DsdShape::Mem4d { .. } | DsdShape::Fifo { .. } => false,
    });
    need(transforms, "control_transform");
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
        Inst::Operation(op) => match info(op.opcode).supported {
            true => None,
            false => named(op.opcode.name()),
        },
        _ => None,
    }
}
