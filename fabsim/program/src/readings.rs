//! How a machine without a rule of docs/machine.md would read a compiled program.
//!
//! Each reading is written into the program, so that routers and compute elements know nothing of it:
//! what they do with the program that comes out is what the other machine does with the one that went in.

mod rewrite;

use crate::direction::{Direction, Directions};
use crate::opcode::Opcode;
use crate::program::{
    BinaryOp, Completion, Design, DsdShape, Filter, Inst, PopMode, Simd, SwitchPosition, SystemCall,
};
use crate::switch::{Other, Switch};
use rewrite::{
    colors, drop_calls, filters, first, instructions, mirrored, modes, opcodes, operations,
    options, outputs, pops, programs, replace, shapes, sides, unsigned, without_index,
};

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
