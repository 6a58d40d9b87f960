//! What readings write into a compiled program: every configuration, program, or instruction, changed.

use crate::direction::{Direction, Directions};
use crate::opcode::Opcode;
use crate::program::{
    ColorSetup, Design, DsdOperation, DsdShape, Filter, Inst, OpOptions, PopMode, Simd, SystemCall,
    TileProgram,
};
use crate::scalar_type::ScalarType;
use std::sync::Arc;

/// Changes what is configured of every color.
pub fn colors(design: &mut Design, change: impl Fn(&mut ColorSetup)) {
    for router in &mut design.routers {
        for (_, setup) in &mut Arc::make_mut(router).colors {
            change(setup);
        }
    }
}

/// Changes the inputs and outputs of every position.
pub fn sides(setup: &mut ColorSetup, change: impl Fn(Directions) -> Directions) {
    setup.rx = change(setup.rx);
    for position in setup.positions.iter_mut().flatten() {
        position.rx = position.rx.map(&change);
    }
    outputs(setup, change);
}

/// Changes the outputs of every position.
pub fn outputs(setup: &mut ColorSetup, change: impl Fn(Directions) -> Directions) {
    setup.tx = change(setup.tx);
    for position in setup.positions.iter_mut().flatten() {
        position.tx = position.tx.map(&change);
    }
}

/// North for south.
pub fn mirrored(sides: u8) -> u8 {
    let (north, south) = (Direction::North.bit(), Direction::South.bit());
    let kept = sides & !(north | south);
    let has = |bit: u8| sides & bit != 0;
    kept | if has(north) { south } else { 0 } | if has(south) { north } else { 0 }
}

/// The first of several outputs.
pub fn first(outputs: Directions) -> Directions {
    Directions(outputs.0 & outputs.0.wrapping_neg())
}

/// Takes one way of popping for another.
pub fn pops(design: &mut Design, from: PopMode, to: PopMode) {
    colors(design, |setup| {
        if setup.pop_mode == from {
            setup.pop_mode = to;
        }
    });
}

/// Changes every filter.
pub fn filters(design: &mut Design, change: impl Fn(&mut Filter)) {
    colors(design, |setup| setup.filter.iter_mut().for_each(&change));
}

/// Changes every program.
pub fn programs(design: &mut Design, change: impl Fn(&mut TileProgram)) {
    for program in &mut design.programs {
        change(Arc::make_mut(program));
    }
}

/// Changes the static parts of DSDs.
pub fn shapes(design: &mut Design, change: impl Fn(&mut DsdShape)) {
    programs(design, |program| {
        program.shapes.iter_mut().for_each(&change)
    });
}

/// Takes one mode of fabric operands for another.
pub fn modes(design: &mut Design, from: Simd, to: Simd) {
    shapes(design, |shape| {
        if let DsdShape::FabIn { simd, .. } | DsdShape::FabOut { simd, .. } = shape {
            if *simd == from {
                *simd = to;
            }
        }
    });
}

/// Changes every instruction.
pub fn instructions(design: &mut Design, change: impl Fn(&mut Inst)) {
    programs(design, |program| {
        for function in &mut program.functions {
            Arc::make_mut(function).code.iter_mut().for_each(&change);
        }
    });
}

/// Changes every operation on DSDs.
pub fn operations(design: &mut Design, change: impl Fn(&mut DsdOperation)) {
    instructions(design, |inst| {
        if let Inst::Operation(operation) = inst {
            change(operation);
        }
    });
}

/// What operations and loads say of how they run.
pub fn options(design: &mut Design, change: impl Fn(&mut OpOptions)) {
    instructions(design, |inst| match inst {
        Inst::Operation(operation) => change(&mut operation.options),
        Inst::LoadDsr(load) => change(&mut load.options),
        _ => {}
    });
}

/// Takes one operation for another.
pub fn opcodes(design: &mut Design, from: Opcode, to: Opcode) {
    operations(design, |operation| {
        if operation.opcode == from {
            operation.opcode = to;
        }
    });
}

/// Takes calls of the system out.
pub fn drop_calls(design: &mut Design, dropped: SystemCall) {
    replace(
        design,
        |inst| matches!(inst, Inst::System { call, .. } if *call == dropped),
    );
}

/// Puts jumps to what follows in place of instructions.
pub fn replace(design: &mut Design, dropped: impl Fn(&Inst) -> bool) {
    programs(design, |program| {
        for function in &mut program.functions {
            let code = &mut Arc::make_mut(function).code;
            for (inst, next) in code.iter_mut().zip(1..) {
                if dropped(inst) {
                    *inst = Inst::Jump { to: next };
                }
            }
        }
    });
}

/// A DSD without `wavelet_index_offset`.
pub fn without_index(shape: &mut DsdShape) {
    if let DsdShape::Mem1d {
        wavelet_index_offset,
        ..
    }
    | DsdShape::Mem4d {
        wavelet_index_offset,
        ..
    }
    | DsdShape::FabOut {
        wavelet_index_offset,
        ..
    } = shape
    {
        *wavelet_index_offset = false;
    }
}

/// The unsigned type of the same width.
pub fn unsigned(ty: ScalarType) -> ScalarType {
    match ty {
        ScalarType::I8 => ScalarType::U8,
        ScalarType::I16 => ScalarType::U16,
        ScalarType::I32 => ScalarType::U32,
        ScalarType::I64 => ScalarType::U64,
        other => other,
    }
}
