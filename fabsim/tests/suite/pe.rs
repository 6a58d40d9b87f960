//! Compute elements: tasks, operations, microthreads, host commands, and what is said when they
//! cannot go on.

use crate::support::*;
use fabsim::host::{SimOptions, Simulator};
use fabsim::program::*;
use std::sync::Arc;

const NOTES: u32 = 32;

/// One PE with the given program and loop-back colors.
fn alone(arch: Arch, tile: Tile1, colors: &[u8]) -> Arc<Design> {
    let colors = colors.iter().map(|&c| (c, route(&[R], &[R]))).collect();
    design(arch, 1, vec![(tile, colors)])
}

fn run(design: &Arc<Design>) -> Simulator {
    let mut sim = simulate(design);
    sim.launch("run", &[]).unwrap_or_else(|e| panic!("{e}"));
    sim
}

fn note_task(tile: &mut Tile1, kind: TaskKind, id: u8, digit: u64) {
    let mut code = Code::default();
    code.note(NOTES, digit);
    tile.task(kind, id, 0, code);
}

#[test]
fn the_picker_takes_the_lowest_id_first() {
    let mut tile = Tile1::new(64);
    for (id, digit) in [(12, 3), (8, 1), (10, 2)] {
        note_task(&mut tile, TaskKind::Local, id, digit);
    }
    tile.finish_task(20);
    let mut code = Code::default();
    for id in [20, 10, 12, 8] {
        code.activate(id);
    }
    tile.export("run", code);
    let sim = run(&alone(Arch::Wse2, tile, &[]));
    assert_eq!(word(&sim, 0, 0, 32), 123);
}

#[test]
fn two_activations_before_a_task_runs_give_one_run() {
    let mut tile = Tile1::new(64);
    note_task(&mut tile, TaskKind::Local, 8, 1);
    tile.finish_task(20);
    let mut code = Code::default();
    code.activate(8);
    code.activate(8);
    code.activate(20);
    tile.export("run", code);
    let sim = run(&alone(Arch::Wse2, tile, &[]));
    assert_eq!(word(&sim, 0, 0, 32), 1);
}

#[test]
fn a_blocked_task_runs_once_it_is_unblocked() {
    let mut tile = Tile1::new(64);
    note_task(&mut tile, TaskKind::Local, 10, 1);
    tile.program.blocked_at_start = vec![(BlockTarget::Local(10), true)];
    let mut unblock = Code::default();
    unblock.note(NOTES, 2);
    let id = unblock.constant(10);
    unblock.code.push(Inst::Unblock {
        target: BlockKind::Local,
        id,
    });
    unblock.activate(20);
    tile.task(TaskKind::Local, 9, 0, unblock);
    tile.finish_task(20);
    let mut code = Code::default();
    code.activate(10);
    code.activate(9);
    tile.export("run", code);
    let sim = run(&alone(Arch::Wse2, tile, &[]));
    assert_eq!(word(&sim, 0, 0, 32), 21);
}

#[test]
fn a_data_task_runs_once_per_wavelet_with_the_payload() {
    for (arch, id) in [(Arch::Wse2, 5), (Arch::Wse3, 2)] {
        let mut tile = Tile1::new(128);
        tile.program.memory.push((64, vec![3, 0, 4, 0, 5, 0]));
        tile.input_queue(2, 5);
        let mut task = Code::with_params(1);
        let ty = ScalarType::U32;
        let (at, old, ten) = (task.constant(32), task.slot(), task.constant(10));
        task.code.push(Inst::Load {
            ty,
            dst: old,
            address: at,
        });
        for (op, b) in [(BinaryOp::Mul, ten), (BinaryOp::Add, Slot(0))] {
            task.code.push(Inst::Binary {
                op,
                ty,
                dst: old,
                a: old,
                b,
            });
        }
        task.code.push(Inst::Store {
            ty,
            address: at,
            src: old,
        });
        tile.task(TaskKind::Data, id, 1, task);
        let (mem, out) = (tile.mem(64, 3, 4), tile.fabout(2, 5, 3));
        let mut code = Code::default();
        let (out, mem) = (code.dsd(out), code.dsd(mem));
        code.op(Opcode::Mov32, out, &[mem]);
        code.unblock_host();
        tile.export("run", code);
        let mut sim = run(&alone(arch, tile, &[5]));
        sim.stop().unwrap();
        assert_eq!(word(&sim, 0, 0, 32), 345);
    }
}

#[test]
fn a_trivial_data_task_repeats_every_thirty_two_cycles() {
    let mut tile = Tile1::new(128);
    tile.input_queue(2, 5);
    let mut task = Code::with_params(1);
    for _ in 0..11 {
        task.code.push(Inst::Copy {
            dst: Slot(0),
            src: Slot(0),
        });
    }
    tile.task(TaskKind::Data, 2, 1, task);
    let (mem, out) = (tile.mem(64, 10, 4), tile.fabout(2, 5, 10));
    let mut code = Code::default();
    let (out, mem) = (code.dsd(out), code.dsd(mem));
    code.op(Opcode::Mov32, out, &[mem]);
    code.unblock_host();
    tile.export("run", code);
    let mut sim = run(&alone(Arch::Wse3, tile, &[5]));
    let start = sim.cycle();
    let end = sim.stop().unwrap().cycles;
    assert!((end - start).abs_diff(10 * 32) < 20, "{}", end - start);
}

/// Sends 6 words to itself asynchronously and receives them asynchronously; then task 20.
fn looping(tile: &mut Tile1, code: &mut Code) {
    tile.program
        .memory
        .push((64, (1..=6).flat_map(|v| [v, 0]).collect()));
    tile.input_queue(2, 0);
    let (from, to) = (tile.mem(64, 6, 4), tile.mem(96, 6, 4));
    let (out, fabin) = (tile.fabout(3, 0, 6), tile.fabin(2, 6));
    let (out, from) = (code.dsd(out), code.dsd(from));
    let (to, fabin) = (code.dsd(to), code.dsd(fabin));
    code.spawn(Opcode::Mov32, out, &[from], 21);
    code.spawn(Opcode::Mov32, to, &[fabin], 20);
}

#[test]
fn microthreads_send_and_receive_beside_the_main_thread() {
    let mut tile = Tile1::new(256);
    let mut code = Code::default();
    looping(&mut tile, &mut code);
    tile.finish_task(20);
    tile.export("run", code);
    let mut sim = run(&alone(Arch::Wse2, tile, &[0]));
    let got: Vec<u32> = (0..6).map(|n| word(&sim, 0, 0, 96 + 4 * n)).collect();
    assert_eq!(got, [1, 2, 3, 4, 5, 6]);
    sim.stop().unwrap();
}

#[test]
fn starting_a_microthread_that_still_runs_is_an_error() {
    let mut tile = Tile1::new(256);
    tile.input_queue(2, 0);
    let mut code = Code::default();
    for _ in 0..2 {
        let (to, fabin) = (tile.mem(96, 6, 4), tile.fabin(2, 6));
        let (to, fabin) = (code.dsd(to), code.dsd(fabin));
        code.spawn(Opcode::Mov32, to, &[fabin], 20);
    }
    tile.export("run", code);
    let error = simulate(&alone(Arch::Wse2, tile, &[0]))
        .launch("run", &[])
        .unwrap_err();
    assert_eq!(error.kind(), "undefined");
    let text = error.to_string();
    assert!(
        text.starts_with("pe.csl:17: PE (0, 0), cycle 76: "),
        "{text}"
    );
    assert!(
        text.contains("microthread 2") && text.contains("line 13"),
        "{text}"
    );
}

#[test]
fn a_pointer_destination_accumulates() {
    let mut tile = Tile1::new(256);
    let values = [1.0f32, 2.0, 3.5].into_iter().map(f32::to_bits);
    let halves = values.flat_map(|v| [v as u16, (v >> 16) as u16]).collect();
    tile.program.memory.push((64, halves));
    let mem = tile.mem(64, 3, 4);
    let mut code = Code::default();
    let (sum, mem) = (code.pointer(NOTES, ScalarType::F32), code.dsd(mem));
    code.op(Opcode::Fadds, sum, &[sum, mem]);
    code.unblock_host();
    tile.export("run", code);
    let sim = run(&alone(Arch::Wse2, tile, &[]));
    assert_eq!(f32::from_bits(word(&sim, 0, 0, 32)), 6.5);
}

#[test]
fn memory_operations_run_at_their_documented_rate() {
    let cycles = |opcode, bytes: u8, arch| {
        let mut tile = Tile1::new(4096);
        let (a, b) = (tile.mem(64, 64, bytes), tile.mem(1024, 64, bytes));
        let mut code = Code::default();
        let (a, b) = (code.dsd(a), code.dsd(b));
        code.op(opcode, a, &[b]);
        code.unblock_host();
        tile.export("run", code);
        let mut sim = simulate(&alone(arch, tile, &[]));
        sim.launch("run", &[]).unwrap().cycles()
    };
    assert_eq!(cycles(Opcode::Fmovs, 4, Arch::Wse2), 2 * 18 + 2 + 64 / 2);
    assert_eq!(cycles(Opcode::Mov16, 2, Arch::Wse2), 2 * 18 + 2 + 64 / 4);
    assert_eq!(cycles(Opcode::Mov16, 2, Arch::Wse3), 2 * 11 + 2 + 64 / 8);
}

#[test]
fn a_map_calls_its_function_for_every_element() {
    let mut tile = Tile1::new(256);
    tile.program.memory.push((64, vec![1, 2, 3]));
    let mut square = Code::with_params(1);
    let result = square.slot();
    square.code.push(Inst::Binary {
        op: BinaryOp::Mul,
        ty: ScalarType::U16,
        dst: result,
        a: Slot(0),
        b: Slot(0),
    });
    square.code.push(Inst::Return { src: Some(result) });
    let function = tile.function(1, square);
    // Out through the fabric and back in.
    tile.input_queue(2, 0);
    let (from, out) = (tile.mem(64, 3, 2), tile.fabout(3, 0, 3));
    let (fabin, to) = (tile.fabin(2, 3), tile.mem(96, 3, 2));
    let mut code = Code::default();
    let map = |code: &mut Code, input: Dsd, output: Dsd| {
        let (input, output) = (code.dsd(input), code.dsd(output));
        code.code.push(Inst::Map(Box::new(MapOperation {
            function,
            inputs: vec![(input, ScalarType::U16)],
            output: Some((output, ScalarType::U16)),
        })));
    };
    map(&mut code, from, out);
    map(&mut code, fabin, to);
    code.unblock_host();
    tile.export("run", code);
    let mut sim = run(&alone(Arch::Wse2, tile, &[0]));
    sim.stop().unwrap();
    assert_eq!(word(&sim, 0, 0, 96), 1 | 16 << 16);
    assert_eq!(word(&sim, 0, 0, 100) & 0xffff, 81);
}

#[test]
fn launch_arguments_arrive_in_the_first_slots() {
    let mut tile = Tile1::new(64);
    let mut code = Code::with_params(2);
    let sum = code.slot();
    code.code.push(Inst::Binary {
        op: BinaryOp::Add,
        ty: ScalarType::F32,
        dst: sum,
        a: Slot(0),
        b: Slot(1),
    });
    code.store(ScalarType::F32, 32, sum);
    code.unblock_host();
    tile.export("run", code);
    let mut sim = simulate(&alone(Arch::Wse2, tile, &[]));
    sim.launch("run", &[1.5f32.to_bits(), 2.0f32.to_bits()])
        .unwrap();
    assert_eq!(f32::from_bits(word(&sim, 0, 0, 32)), 3.5);
}

#[test]
fn column_major_copies_run_down_the_columns() {
    let tiles = (0..4).map(|_| {
        let mut tile = Tile1::idle();
        tile.program.memory_bytes = 64;
        tile.pointer("x", 0, 32);
        (tile, vec![])
    });
    let mut sim = simulate(&design(Arch::Wse2, 2, tiles.collect()));
    let data: Vec<u32> = (0..8).collect();
    sim.memcpy_h2d("x", 0, 0, 2, 2, 2, &data, false, true)
        .unwrap();
    // (i * width + x) * height + y
    assert_eq!((word(&sim, 0, 1, 32), word(&sim, 1, 0, 36)), (1, 6));
    let rows = sim.memcpy_d2h("x", 0, 0, 2, 2, 2, false, false).unwrap();
    assert_eq!(rows, [0, 4, 2, 6, 1, 5, 3, 7]);
    let halves = sim.memcpy_d2h("x", 1, 1, 1, 1, 4, true, false).unwrap();
    assert_eq!(halves, [3, 0, 7, 0]);
    let error = sim
        .memcpy_d2h("x", 1, 1, 2, 1, 1, false, false)
        .unwrap_err();
    assert_eq!(error.kind(), "host");
}

#[test]
fn a_hang_is_reported_as_who_waits_for_what() {
    let receive = || {
        let mut tile = Tile1::new(256);
        tile.input_queue(2, 0);
        let (to, fabin) = (tile.mem(96, 6, 4), tile.fabin(2, 6));
        let mut code = Code::default();
        let (to, fabin) = (code.dsd(to), code.dsd(fabin));
        code.spawn(Opcode::Fmovs, to, &[fabin], 20);
        tile.finish_task(20);
        tile.export("run", code);
        tile
    };
    let send = || {
        let mut tile = Tile1::new(256);
        let (from, out) = (tile.mem(96, 2, 4), tile.fabout(2, 0, 2));
        let mut code = Code::default();
        let (out, from) = (code.dsd(out), code.dsd(from));
        code.op(Opcode::Fmovs, out, &[from]);
        code.unblock_host();
        tile.export("run", code);
        tile
    };
    let design = design(
        Arch::Wse2,
        4,
        vec![
            (receive(), vec![(0, route(&[W], &[R]))]),
            (send(), vec![(0, route(&[R], &[W]))]),
            (receive(), vec![(0, route(&[E], &[R]))]),
            (send(), vec![(0, route(&[R], &[W]))]),
        ],
    );
    let error = simulate(&design).launch("run", &[]).unwrap_err();
    assert_eq!(error.kind(), "stuck");
    let expected = "\
nothing can move any more in cycle 47; 2 of 4 PEs have not finished
  PE (0, 0): pe.csl:23: @fmovs on microthread 2 has not begun: it waits for a wavelet of color 0 (input queue 2), 6 elements are missing
  PE (2, 0): pe.csl:23: @fmovs on microthread 2 waits for a wavelet of color 0 (input queue 2), 4 elements are missing
  PE (1, 0): color 0: wavelet from RAMP waits in the router, rx = {RAMP}, tx = {WEST}, switch position 0; the PE to the WEST takes it from {WEST}";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_function_that_forgets_the_command_stream_is_reported() {
    let mut tile = Tile1::new(64);
    tile.export("run", Code::default());
    let error = simulate(&alone(Arch::Wse2, tile, &[]))
        .launch("run", &[])
        .unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("unblock_cmd_stream has not been called"),
        "{text}"
    );
}

#[test]
fn wavelets_left_over_are_an_error_at_the_end() {
    let mut tile = Tile1::new(256);
    tile.input_queue(2, 0);
    let (from, out) = (tile.mem(96, 2, 4), tile.fabout(3, 0, 2));
    let mut code = Code::default();
    let (out, from) = (code.dsd(out), code.dsd(from));
    code.op(Opcode::Fmovs, out, &[from]);
    code.unblock_host();
    tile.export("run", code);
    let error = run(&alone(Arch::Wse2, tile, &[0])).stop().unwrap_err();
    assert_eq!(error.kind(), "leftover");
    assert_eq!(
        error.to_string(),
        "wavelets are left over after the last command\n  \
         PE (0, 0): color 0: not read from input queue 2"
    );
}

#[test]
fn a_loop_without_end_reaches_the_cycle_limit() {
    let mut tile = Tile1::new(64);
    let mut code = Code::default();
    code.code.push(Inst::Jump { to: 0 });
    tile.export("run", code);
    let options = SimOptions {
        max_cycles: 100_000,
        ..SimOptions::default()
    };
    let mut sim = simulate_with(&alone(Arch::Wse2, tile, &[]), options);
    assert_eq!(sim.launch("run", &[]).unwrap_err().kind(), "limit");
    assert_eq!(sim.launch("run", &[]).unwrap_err().kind(), "host");
}

#[test]
fn an_address_outside_memory_names_the_line() {
    let mut tile = Tile1::new(64);
    let mut code = Code::default();
    let value = code.constant(1);
    code.store(ScalarType::F32, 64, value);
    tile.export("run", code);
    let error = simulate(&alone(Arch::Wse2, tile, &[]))
        .launch("run", &[])
        .unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("pe.csl:12: PE (0, 0), cycle 0: address 64"),
        "{text}"
    );
}

#[test]
fn what_is_missing_is_refused_by_name() {
    let mut tile = Tile1::new(64);
    tile.program.shapes.push(DsdShape::FabIn {
        queue: 2,
        color: None,
        control_transform: true,
        simd: Simd::One,
        priority: None,
    });
    let design = alone(Arch::Wse2, tile, &[]);
    let error = Simulator::new(design, SimOptions::default()).err().unwrap();
    assert_eq!(
        error.to_string(),
        "fabsim does not support control_transform (in pe.csl) yet"
    );
}

#[test]
fn a_color_that_no_queue_takes_is_named() {
    let mut tile = Tile1::new(64);
    let out = tile.fabout(2, 0, 1);
    let mut code = Code::default();
    let (out, value) = (code.dsd(out), code.u32(1));
    code.op(Opcode::Mov32, out, &[value]);
    code.unblock_host();
    tile.export("run", code);
    let text = run(&alone(Arch::Wse2, tile, &[0]))
        .stop()
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("no input queue of this PE takes the color"),
        "{text}"
    );
}

#[test]
fn tasks_active_at_start_run_before_the_first_launch() {
    let mut tile = Tile1::new(64);
    note_task(&mut tile, TaskKind::Local, 8, 1);
    tile.program.active_at_start = vec![8];
    let mut code = Code::default();
    code.note(NOTES, 2);
    code.unblock_host();
    tile.export("run", code);
    let sim = run(&alone(Arch::Wse2, tile, &[]));
    assert_eq!(word(&sim, 0, 0, 32), 12);
}

/// A map without output.
fn map_over(code: &mut Code, function: FunctionId, input: Dsd) {
    let input = code.dsd(input);
    code.code.push(Inst::Map(Box::new(MapOperation {
        function,
        inputs: vec![(input, ScalarType::U16)],
        output: None,
    })));
}

#[test]
fn a_map_that_calls_itself_is_stopped() {
    let mut tile = Tile1::new(256);
    let mem = tile.mem(64, 1, 2);
    let mut body = Code::with_params(1);
    map_over(&mut body, FunctionId(0), mem);
    let function = tile.function(1, body);
    let mut code = Code::default();
    map_over(&mut code, function, mem);
    tile.export("run", code);
    let error = simulate(&alone(Arch::Wse2, tile, &[]))
        .launch("run", &[])
        .unwrap_err();
    assert!(
        error.to_string().contains("calls are nested 256 deep"),
        "{error}"
    );
}

#[test]
fn a_map_may_not_read_a_queue_that_a_microthread_reads() {
    let mut tile = Tile1::new(256);
    let nothing = tile.function(1, Code::with_params(1));
    tile.input_queue(2, 0);
    let (to, fabin) = (tile.mem(96, 6, 4), tile.fabin(2, 6));
    let mut code = Code::default();
    let (to, source) = (code.dsd(to), code.dsd(fabin));
    code.spawn(Opcode::Mov32, to, &[source], 20);
    map_over(&mut code, nothing, fabin);
    tile.export("run", code);
    let error = simulate(&alone(Arch::Wse2, tile, &[0]))
        .launch("run", &[])
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("two operations use input queue 2 at once"),
        "{error}"
    );
}

#[test]
fn a_tensor_of_32767_elements_ends() {
    let mut tile = Tile1::new(256);
    let mut tensor = tile.mem(64, 0, 2);
    tile.program.shapes.push(DsdShape::Mem4d {
        element_bytes: 2,
        extents: vec![7, 31, 151],
        strides: vec![0, 0, 0],
        wavelet_index_offset: false,
    });
    tensor.shape += 1;
    let mut code = Code::default();
    let (to, value) = (code.dsd(tensor), code.u32(5));
    code.op(Opcode::Mov16, to, &[value]);
    code.unblock_host();
    tile.export("run", code);
    let options = SimOptions {
        max_cycles: 100_000,
        ..SimOptions::default()
    };
    let mut sim = simulate_with(&alone(Arch::Wse2, tile, &[]), options);
    let cycles = sim.launch("run", &[]).unwrap().cycles();
    assert!(cycles >= 32767 / 4, "{cycles}");
}

#[test]
fn an_odd_address_of_a_word_is_an_error() {
    let mut by_store = Code::default();
    let value = by_store.constant(1);
    by_store.store(ScalarType::U16, 33, value);
    let mut tile = Tile1::new(64);
    let odd = tile.mem(33, 2, 2);
    let mut by_operation = Code::default();
    let (odd, one) = (by_operation.dsd(odd), by_operation.u32(1));
    by_operation.op(Opcode::Mov16, odd, &[one]);
    tile.export("store", by_store);
    tile.export("operation", by_operation);
    let design = alone(Arch::Wse2, tile, &[]);
    for name in ["store", "operation"] {
        let error = simulate(&design).launch(name, &[]).unwrap_err();
        assert!(error.to_string().contains("address 33 is odd"), "{error}");
    }
}

#[test]
fn a_hang_names_the_route_that_is_missing() {
    let hang = |sends: &[u8], reads: &[u8]| {
        let mut tile = Tile1::new(256);
        tile.input_queue(2, 0);
        let (from, out) = (tile.mem(96, 9, 4), tile.fabout(2, 1, 9));
        let (to, fabin) = (tile.mem(96, 9, 4), tile.fabin(2, 9));
        let mut code = Code::default();
        if !reads.is_empty() {
            let (to, fabin) = (code.dsd(to), code.dsd(fabin));
            code.op(Opcode::Fmovs, to, &[fabin]);
        }
        let (out, from) = (code.dsd(out), code.dsd(from));
        code.op(Opcode::Fmovs, out, &[from]);
        tile.export("run", code);
        let colors = sends.iter().chain(reads).copied();
        let colors = colors.map(|c| (c, route(&[W], &[E])));
        let design = design(Arch::Wse2, 1, vec![(tile, colors.collect())]);
        simulate(&design)
            .launch("run", &[])
            .unwrap_err()
            .to_string()
    };
    let seen = hang(&[], &[]);
    assert!(
        seen.contains("color 1: stays in output queue 2; this PE has no route for the color"),
        "{seen}"
    );
    let seen = hang(&[1], &[]);
    assert!(
        seen.contains("output queue 2; the router takes the color from {WEST}, not from RAMP"),
        "{seen}"
    );
    let seen = hang(&[], &[0]);
    assert!(
        seen.contains(
            "(input queue 2, but the router sends the color to {EAST} at switch position 0)"
        ),
        "{seen}"
    );
}

#[test]
fn an_activated_task_that_is_not_bound_is_named() {
    let mut tile = Tile1::new(64);
    let mut code = Code::default();
    code.activate(9);
    tile.export("run", code);
    let error = simulate(&alone(Arch::Wse2, tile, &[]))
        .launch("run", &[])
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("local task 9 is active, but no task is bound to it"),
        "{error}"
    );
}

#[test]
fn malformed_designs_are_refused() {
    let refused = |tile: Tile1, colors: &[u8]| {
        let made = Simulator::new(alone(Arch::Wse2, tile, colors), SimOptions::default());
        made.err().map(|e| e.to_string()).unwrap_or_default()
    };
    assert!(refused(Tile1::idle(), &[24]).ends_with("there is no color 24"));
    assert!(refused(Tile1::idle(), &[3, 3]).contains("not in order"));
    let mut tile = Tile1::idle();
    tile.input_queue(2, 200);
    assert!(refused(tile, &[]).ends_with("there is no color 200"));
    let mut tile = Tile1::idle();
    let _ = tile.fabin(8, 1);
    assert!(refused(tile, &[]).ends_with("there is no queue 8"));
    assert!(refused(Tile1::new(1 << 17), &[]).contains("131072 bytes of memory"));
    assert_eq!(refused(Tile1::idle(), &[0, 23]), "");
}

#[test]
fn a_copy_that_no_pe_could_hold_is_refused_before_it_is_allocated() {
    let mut tile = Tile1::idle();
    tile.program.memory_bytes = 64;
    tile.pointer("x", 0, 32);
    let mut sim = simulate(&alone(Arch::Wse2, tile, &[]));
    let error = sim
        .memcpy_d2h("x", 0, 0, 1, 1, usize::MAX / 2, false, false)
        .unwrap_err();
    assert_eq!(error.kind(), "host");
    assert!(error.to_string().contains("do not fit"), "{error}");
}
