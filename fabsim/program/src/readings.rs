//! How a machine without a rule of docs/machine.md would read a compiled program.
//!
//! Each reading is written into the program, so that routers and compute elements know nothing of it:
//! what they do with the program that comes out is what the other machine does with the one that went in.

use crate::direction::{Direction, Directions};
use crate::opcode::Opcode;
use crate::program::{
    BinaryOp, ColorSetup, Completion, Design, DsdOperation, DsdShape, Filter, Inst, OpOptions,
    PopMode, Simd, SwitchPosition, SystemCall, TileProgram,
};
use crate::rules::Switch;
use crate::scalar_type::ScalarType;
use std::sync::Arc;

/// What a machine without a rule does.
pub struct Other {
    /// In words.
    pub what: &'static str,
    /// Writes it into a program.
    pub read: fn(&mut Design),
}

const fn reading(rule: &'static str, what: &'static str, read: fn(&mut Design)) -> Switch {
    Switch {
        rule,
        refusals: &[],
        other: Some(Other { what, read }),
    }
}

/// Rules with another reading.
pub const READINGS: &[Switch] = &[
    reading("M1-1", "y grows north", |design| {
        colors(design, |setup| {
            sides(setup, |side| Directions(mirrored(side.0)))
        });
    }),
    reading("M2-1", "a wavelet leaves by one of its outputs", |design| {
        colors(design, |setup| outputs(setup, first));
    }),
    reading(
        "M2.1-1",
        "what a position leaves out is as in position 0",
        |design| {
            colors(design, |setup| {
                let (rx, tx) = (setup.rx, setup.tx);
                for position in setup.positions.iter_mut().flatten() {
                    position.rx = position.rx.or(Some(rx));
                    position.tx = position.tx.or(Some(tx));
                }
            });
        },
    ),
    reading("M2.1-5", "'.advance_switch' does nothing", |design| {
        shapes(design, |shape| {
            if let DsdShape::FabOut { advance_switch, .. } = shape {
                *advance_switch = false;
            }
        });
    }),
    reading("M2.1-6", "every switch is in ring mode", |design| {
        colors(design, |setup| setup.ring_mode = true);
    }),
    reading("M2.2-2", "no_pop pops", |design| {
        pops(design, PopMode::NoPop, PopMode::AlwaysPop)
    }),
    reading("M2.2-3", "always_pop does not pop", |design| {
        pops(design, PopMode::AlwaysPop, PopMode::NoPop);
    }),
    reading("M2.2-4", "pop_on_advance always pops", |design| {
        pops(design, PopMode::PopOnAdvance, PopMode::AlwaysPop);
    }),
    reading(
        "M2.2-5",
        "pop_on_advance_nop does not pop for a command that is none",
        |design| {
            pops(design, PopMode::PopOnAdvanceNop, PopMode::PopOnAdvance);
        },
    ),
    reading("M2.2-10", "no switch is in ring mode", |design| {
        colors(design, |setup| setup.ring_mode = false);
    }),
    reading("M2.2-11", "every switch starts at position 0", |design| {
        colors(design, |setup| setup.start_position = 0);
    }),
    reading(
        "M2.2-12",
        "positions that are not declared are as the one before, and count",
        |design| {
            colors(design, |setup| {
                let declared = setup.positions.iter().rposition(Option::is_some);
                for position in &mut setup.positions[..declared.unwrap_or(0)] {
                    position.get_or_insert(SwitchPosition { rx: None, tx: None });
                }
            });
        },
    ),
    reading("M2.3-1", "the period of a counter is its limit", |design| {
        filters(design, |filter| match filter {
            Filter::Counter { limit, .. } => *limit = limit.saturating_sub(1),
            Filter::SparseCounter { .. } | Filter::Range { .. } => {}
        });
    }),
    reading("M2.3-3", "counters begin at 0", |design| {
        filters(design, |filter| match filter {
            Filter::Counter { initial, .. } | Filter::SparseCounter { initial, .. } => *initial = 0,
            Filter::Range { .. } => {}
        });
    }),
    reading(
        "M2.3-4",
        "data and commands are counted, whatever is said",
        |design| {
            filters(design, |filter| match filter {
                Filter::Counter {
                    count_data,
                    count_control,
                    ..
                }
                | Filter::SparseCounter {
                    count_data,
                    count_control,
                    ..
                } => {
                    (*count_data, *count_control) = (true, true);
                }
                Filter::Range { .. } => {}
            });
        },
    ),
    reading("M2.3-5", "filter_control does nothing", |design| {
        filters(design, |filter| {
            if let Filter::Counter { filter_control, .. } = filter {
                *filter_control = false;
            }
        });
    }),
    reading("M2.3-6", "a sparse counter has no second limit", |design| {
        filters(design, |filter| {
            if let Filter::SparseCounter { limit2, .. } = filter {
                *limit2 = None;
            }
        });
    }),
    reading("M2.3-7", "the end of a range is not in it", |design| {
        filters(design, |filter| {
            if let Filter::Range { max, .. } = filter {
                *max = max.saturating_sub(1);
            }
        });
    }),
    reading(
        "M2.3-9",
        "the numbers of filters do not change at run time",
        |design| drop_calls(design, SystemCall::SetFilter),
    ),
    reading("M2.4-1", "no color starts torn down", |design| {
        colors(design, |setup| setup.teardown = false);
    }),
    reading("M2.4-4", "one handler of teardowns runs", |design| {
        programs(design, |program| program.teardown_handlers.truncate(1));
    }),
    Switch {
        rule: "M2.5-1",
        refusals: &["color swap exists only on wse2"],
        other: Some(Other {
            what: "colors do not swap",
            read: |design| {
                colors(design, |setup| {
                    (setup.color_swap_x, setup.color_swap_y) = (false, false);
                });
            },
        }),
    },
    reading("M3-9", "operations have no priority", |design| {
        programs(design, |program| {
            for queue in program.input_queues.iter_mut().flatten() {
                queue.priority = crate::program::Priority::Low;
            }
            for shape in &mut program.shapes {
                if let DsdShape::FabIn { priority, .. } | DsdShape::FabOut { priority, .. } = shape
                {
                    *priority = None;
                }
            }
        });
        options(design, |options| options.priority = None);
    }),
    reading(
        "M3.1-7",
        "@activate at compile time does nothing",
        |design| {
            programs(design, |program| program.active_at_start.clear());
        },
    ),
    reading("M3.1-11", "tasks have no priority", |design| {
        programs(design, |program| program.high_tasks = 0);
        drop_calls(design, SystemCall::TaskPriority);
    }),
    reading(
        "M3.1-12",
        "the main thread has its usual priority",
        |design| {
            programs(design, |program| program.main_priority = 0);
            drop_calls(design, SystemCall::MainPriority);
        },
    ),
    reading("M3.1-13", "no task can be bound to id 29", |design| {
        programs(design, |program| program.tasks.retain(|task| task.id != 29));
    }),
    reading(
        "M3.1-14",
        "priorities of a comptime block are lost",
        |design| {
            programs(design, |program| {
                (program.high_tasks, program.main_priority) = (0, 0);
                program.config.clear();
            });
        },
    ),
    reading(
        "M3.2-2",
        "strides are written outermost first, as extents are",
        |design| {
            programs(design, |program| {
                for shape in &mut program.shapes {
                    if let DsdShape::Mem4d { strides, .. } = shape {
                        strides.reverse();
                    }
                }
            });
        },
    ),
    reading("M3.2-5", "wavelet_index_offset does nothing", |design| {
        programs(design, |program| {
            program.shapes.iter_mut().for_each(without_index)
        });
    }),
    reading("M3.2-7", "no color is looped back", |design| {
        colors(design, |setup| {
            if setup.rx.0 == Direction::Ramp.bit() {
                setup.tx.0 &= !Direction::Ramp.bit();
            }
        });
    }),
    Switch {
        rule: "M3.3-1",
        refusals: &["'.save_address' is for memory DSDs"],
        other: Some(Other {
            what: "save_address does nothing",
            read: |design| {
                programs(design, |program| {
                    program
                        .dsrs
                        .iter_mut()
                        .for_each(|load| load.save_address = false);
                });
                instructions(design, |inst| {
                    if let Inst::LoadDsr(load) = inst {
                        load.save_address = false;
                    }
                });
            },
        }),
    },
    reading(
        "M3.3-2",
        "a load does not say what its operations activate",
        |design| {
            programs(design, |program| {
                program.dsrs.iter_mut().for_each(|load| {
                    (load.activate, load.unblock) = (None, None);
                });
            });
            instructions(design, |inst| {
                if let Inst::LoadDsr(load) = inst {
                    load.options.on_done = None;
                }
            });
        },
    ),
    reading(
        "M3.3-4",
        "what a loaded register holds does not change",
        |design| {
            drop_calls(design, SystemCall::SetDsrBase);
            drop_calls(design, SystemCall::SetDsrLength);
        },
    ),
    reading("M3.4-3", "@fmacs is D = b + a * v", |design| {
        operations(design, |operation| {
            let multiplies = matches!(operation.opcode, Opcode::Fmacs | Opcode::Fmach);
            if multiplies && operation.sources.len() > 1 {
                operation.sources.swap(0, 1);
            }
        });
    }),
    reading(
        "M3.4-7",
        "'.unblock' of an operation does nothing",
        |design| {
            options(design, |options| {
                if matches!(options.on_done, Some(Completion::Unblock(..))) {
                    options.on_done = None;
                }
            });
        },
    ),
    reading("M3.4-8", "'.on_control' does nothing", |design| {
        options(design, |options| options.on_control = None);
    }),
    reading("M3.4-13", "@sar16 does not keep the sign", |design| {
        opcodes(design, Opcode::Sar16, Opcode::Slr16);
    }),
    reading("M3.4-15", "@fabss and @fabsh copy", |design| {
        opcodes(design, Opcode::Fabss, Opcode::Fmovs);
        opcodes(design, Opcode::Fabsh, Opcode::Fmovh);
    }),
    reading("M3.5-3", "no operation is asynchronous", |design| {
        programs(design, |program| {
            program
                .dsrs
                .iter_mut()
                .for_each(|load| load.is_async = false);
        });
        options(design, |options| options.is_async = false);
    }),
    Switch {
        rule: "M3.6-4",
        refusals: &[
            "@allocate_fifo needs an array, *",
            "@set_fifo_read_length: 'fifo' must be *",
            "@*: only one source may be a FIFO",
        ],
        other: Some(Other {
            what: "a FIFO activates no task",
            read: |design| {
                programs(design, |program| {
                    program.fifos.iter_mut().for_each(|fifo| {
                        (fifo.activate_pop, fifo.activate_push) = (None, None);
                    });
                });
            },
        }),
    },
    reading("M3.8-1", "simd_32 takes an element a wavelet", |design| {
        modes(design, Simd::Simd32, Simd::One);
    }),
    reading(
        "M3.8-2",
        "simd_64 and simd_32_or_64 take a wavelet",
        |design| {
            modes(design, Simd::Simd64, Simd::Simd32);
            modes(design, Simd::Simd32Or64, Simd::Simd32);
        },
    ),
    reading(
        "M6.1-2",
        "division and remainder are those of unsigned numbers",
        |design| {
            instructions(design, |inst| {
                if let Inst::Binary {
                    op: BinaryOp::Div | BinaryOp::Rem,
                    ty,
                    ..
                } = inst
                {
                    *ty = unsigned(*ty);
                }
            });
        },
    ),
    Switch {
        rule: "M6.1-3",
        refusals: &["a shift count must be unsigned, *"],
        other: Some(Other {
            what: ">> fills with zeros",
            read: |design| {
                instructions(design, |inst| {
                    if let Inst::Binary {
                        op: BinaryOp::Shr,
                        ty,
                        ..
                    } = inst
                    {
                        *ty = unsigned(*ty);
                    }
                });
            },
        }),
    },
    reading("M7-4", "@assert does nothing", |design| {
        replace(design, |inst| matches!(inst, Inst::Assert { .. }));
    }),
];

fn colors(design: &mut Design, change: impl Fn(&mut ColorSetup)) {
    for router in &mut design.routers {
        for (_, setup) in &mut Arc::make_mut(router).colors {
            change(setup);
        }
    }
}

/// Changes the inputs and outputs of every position.
fn sides(setup: &mut ColorSetup, change: impl Fn(Directions) -> Directions) {
    setup.rx = change(setup.rx);
    for position in setup.positions.iter_mut().flatten() {
        position.rx = position.rx.map(&change);
    }
    outputs(setup, change);
}

fn outputs(setup: &mut ColorSetup, change: impl Fn(Directions) -> Directions) {
    setup.tx = change(setup.tx);
    for position in setup.positions.iter_mut().flatten() {
        position.tx = position.tx.map(&change);
    }
}

fn mirrored(sides: u8) -> u8 {
    let (north, south) = (Direction::North.bit(), Direction::South.bit());
    let kept = sides & !(north | south);
    let has = |bit: u8| sides & bit != 0;
    kept | if has(north) { south } else { 0 } | if has(south) { north } else { 0 }
}

fn first(outputs: Directions) -> Directions {
    Directions(outputs.0 & outputs.0.wrapping_neg())
}

fn pops(design: &mut Design, from: PopMode, to: PopMode) {
    colors(design, |setup| {
        if setup.pop_mode == from {
            setup.pop_mode = to;
        }
    });
}

fn filters(design: &mut Design, change: impl Fn(&mut Filter)) {
    colors(design, |setup| setup.filter.iter_mut().for_each(&change));
}

fn programs(design: &mut Design, change: impl Fn(&mut TileProgram)) {
    for program in &mut design.programs {
        change(Arc::make_mut(program));
    }
}

fn shapes(design: &mut Design, change: impl Fn(&mut DsdShape)) {
    programs(design, |program| {
        program.shapes.iter_mut().for_each(&change)
    });
}

/// Takes one mode of fabric operands for another.
fn modes(design: &mut Design, from: Simd, to: Simd) {
    shapes(design, |shape| {
        if let DsdShape::FabIn { simd, .. } | DsdShape::FabOut { simd, .. } = shape {
            if *simd == from {
                *simd = to;
            }
        }
    });
}

fn instructions(design: &mut Design, change: impl Fn(&mut Inst)) {
    programs(design, |program| {
        for function in &mut program.functions {
            Arc::make_mut(function).code.iter_mut().for_each(&change);
        }
    });
}

fn operations(design: &mut Design, change: impl Fn(&mut DsdOperation)) {
    instructions(design, |inst| {
        if let Inst::Operation(operation) = inst {
            change(operation);
        }
    });
}

/// What operations and loads say of how they run.
fn options(design: &mut Design, change: impl Fn(&mut OpOptions)) {
    instructions(design, |inst| match inst {
        Inst::Operation(operation) => change(&mut operation.options),
        Inst::LoadDsr(load) => change(&mut load.options),
        _ => {}
    });
}

fn opcodes(design: &mut Design, from: Opcode, to: Opcode) {
    operations(design, |operation| {
        if operation.opcode == from {
            operation.opcode = to;
        }
    });
}

fn drop_calls(design: &mut Design, dropped: SystemCall) {
    replace(
        design,
        |inst| matches!(inst, Inst::System { call, .. } if *call == dropped),
    );
}

/// Puts jumps to what follows in place of instructions.
fn replace(design: &mut Design, dropped: impl Fn(&Inst) -> bool) {
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

fn without_index(shape: &mut DsdShape) {
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

fn unsigned(ty: ScalarType) -> ScalarType {
    match ty {
        ScalarType::I8 => ScalarType::U8,
        ScalarType::I16 => ScalarType::U16,
        ScalarType::I32 => ScalarType::U32,
        ScalarType::I64 => ScalarType::U64,
        other => other,
    }
}
