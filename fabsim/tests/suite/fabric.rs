//! Routers, links, switches and filters, seen through small designs.

use crate::support::*;
use fabsim::host::{SimOptions, VisitOrder};
use fabsim::program::*;
use std::sync::Arc;

const BUFFER: u16 = 32;

/// Sends each item on a color, each by its own operation on one queue; `true` is control.
fn sender(color: u8, items: &[(u32, bool)]) -> Tile1 {
    let mut tile = Tile1::new(64);
    let mut code = Code::default();
    for &(payload, control) in items {
        let out = tile.fabout_with(2, color, 1, control, false);
        let out = code.dsd(out);
        let value = code.u32(payload);
        code.op(Opcode::Mov32, out, &[value]);
    }
    code.unblock_host();
    tile.export("run", code);
    tile
}

/// Sends `count` words 1, 2, .. from memory in one operation, optionally moving its own switch.
fn streamer(color: u8, count: u16, advance_switch: bool) -> Tile1 {
    let mut tile = Tile1::new(u32::from(BUFFER) + 4 * u32::from(count));
    let values = (1..=count).flat_map(|v| [v, 0]).collect();
    tile.program.memory.push((u32::from(BUFFER), values));
    let mem = tile.mem(BUFFER, count, 4);
    let out = tile.fabout_with(2, color, count, false, advance_switch);
    let mut code = Code::default();
    let (out, mem) = (code.dsd(out), code.dsd(mem));
    code.op(Opcode::Mov32, out, &[mem]);
    code.unblock_host();
    tile.export("run", code);
    tile
}

/// Receives `count` words of a color into memory.
fn receiver(color: u8, count: u16) -> Tile1 {
    let mut tile = Tile1::new(u32::from(BUFFER) + 4 * u32::from(count));
    tile.input_queue(2, color);
    let mem = tile.mem(BUFFER, count, 4);
    let fabin = tile.fabin(2, count);
    let mut code = Code::default();
    let (mem, fabin) = (code.dsd(mem), code.dsd(fabin));
    code.op(Opcode::Mov32, mem, &[fabin]);
    code.unblock_host();
    tile.export("run", code);
    tile
}

fn received(sim: &fabsim::host::Simulator, x: u32, y: u32, count: u64) -> Vec<u32> {
    (0..count)
        .map(|n| word(sim, x, y, u64::from(BUFFER) + 4 * n))
        .collect()
}

#[test]
fn a_hop_takes_one_cycle_and_a_ramp_two() {
    let mut tiles = vec![(sender(5, &[(7, false)]), vec![(5, route(&[R], &[E]))])];
    tiles.extend((1..19).map(|_| (Tile1::idle(), vec![(5, route(&[W], &[E]))])));
    tiles.push((receiver(5, 1), vec![(5, route(&[W], &[R]))]));
    let mut sim = traced(&design(Arch::Wse2, 20, tiles));
    let report = sim.launch("run", &[]).unwrap();
    // One DSD operand and the issue: the element is executed in cycle 20.
    let executed = report.start_cycle + 20;
    assert_eq!(landings(&sim, 0, 0, 5), [(executed + 3, R, 7)]);
    assert_eq!(landings(&sim, 1, 0, 5), [(executed + 4, W, 7)]);
    assert_eq!(landings(&sim, 19, 0, 5), [(executed + 22, W, 7)]);
    // Two cycles down the ramp, one to execute.
    assert_eq!(report.end_cycle, executed + 22 + 2 + 1);
    assert_eq!(word(&sim, 19, 0, 32), 7);
}

#[test]
fn a_stream_moves_one_element_a_cycle() {
    let design = design(
        Arch::Wse2,
        2,
        vec![
            (streamer(0, 100, false), vec![(0, route(&[R], &[E]))]),
            (receiver(0, 100), vec![(0, route(&[W], &[R]))]),
        ],
    );
    let mut sim = traced(&design);
    sim.launch("run", &[]).unwrap();
    let arrived = landings(&sim, 1, 0, 0);
    assert_eq!(arrived[99].0 - arrived[0].0, 99);
    assert_eq!(received(&sim, 1, 0, 100), (1..=100).collect::<Vec<u32>>());
}

#[test]
fn a_multicast_waits_until_every_output_has_room() {
    let design = design(
        Arch::Wse2,
        3,
        vec![
            (streamer(0, 40, false), vec![(0, route(&[R], &[E]))]),
            (receiver(0, 40), vec![(0, route(&[W], &[R, E]))]),
            (receiver(0, 0), vec![(0, route(&[W], &[R]))]),
        ],
    );
    let mut sim = traced(&design);
    let stuck = sim.launch("run", &[]).unwrap_err();
    let text = stuck.to_string();
    assert_eq!(stuck.kind(), "stuck", "the last PE does not read");
    // The last PE holds four in its router and four in input queue 2; no more reach the middle.
    assert_eq!(landings(&sim, 2, 0, 0).len(), 8);
    assert!(
        text.contains("PE (1, 0)") && text.contains("32 elements are missing"),
        "{text}"
    );
}

#[test]
fn the_whole_path_of_a_pe_holds_fourteen_wavelets() {
    // Reads input queue 2 and forwards through output queue 3, whose color nobody takes.
    let mut relay = Tile1::new(64);
    relay.input_queue(2, 0);
    let (fabin, out) = (relay.fabin(2, 100), relay.fabout(3, 1, 100));
    let mut code = Code::default();
    let (fabin, out) = (code.dsd(fabin), code.dsd(out));
    code.op(Opcode::Mov16, out, &[fabin]);
    relay.export("run", code);
    let design = design(
        Arch::Wse2,
        2,
        vec![
            (streamer(0, 40, false), vec![(0, route(&[R], &[E]))]),
            (relay, vec![(0, route(&[W], &[R]))]),
        ],
    );
    let mut sim = traced(&design);
    assert!(sim.launch("run", &[]).is_err());
    assert_eq!(landings(&sim, 1, 0, 0).len(), 14);
}

fn colliding() -> std::sync::Arc<Design> {
    design(
        Arch::Wse2,
        3,
        vec![
            (sender(4, &[(1, false)]), vec![(4, route(&[R], &[E]))]),
            (receiver(4, 2), vec![(4, route(&[W, E], &[R]))]),
            (sender(4, &[(2, false)]), vec![(4, route(&[R], &[W]))]),
        ],
    )
}

#[test]
fn two_arrivals_in_one_cycle_are_undefined() {
    let error = simulate(&colliding()).launch("run", &[]).unwrap_err();
    assert_eq!(error.kind(), "undefined");
    assert_eq!(
        error.to_string(),
        "PE (1, 0): two wavelets of color 4 arrive in cycle 24, from WEST (PE 0, 0) and from EAST \
         (PE 2, 0); what the machine does then is undefined\n  \
         @24 ERROR: P1.0 (hwtile) wavelet C4 from East: ctrl=0, idx=0000, data=0002 (+0.002(-15))\n  \
         @24 ERROR: P1.0 (hwtile) wavelet C4 from West: ctrl=0, idx=0000, data=0001 (+0.001(-15))\n  \
         @24 ERROR: P1.0 (hwtile) C4 arrived from East and West on the same cycle\n  \
         @24 FATAL: this breaks a rule of the architecture; look at the routes of the adjacent tiles"
    );
}

#[test]
fn a_lenient_run_notes_two_arrivals_and_keeps_both() {
    let options = SimOptions {
        lenient: true,
        ..SimOptions::default()
    };
    for visit_order in [VisitOrder::AsWoken, VisitOrder::Reversed] {
        let options = SimOptions {
            visit_order,
            ..options.clone()
        };
        let mut sim = simulate_with(&colliding(), options);
        sim.launch("run", &[]).unwrap();
        assert_eq!(received(&sim, 1, 0, 2), [1, 2]);
        assert_eq!(sim.stop().unwrap().warnings.len(), 1);
    }
}

#[test]
fn two_arrivals_one_cycle_apart_are_fine() {
    let mut late = sender(4, &[(2, false)]);
    let delay = Inst::Copy {
        dst: Slot(9),
        src: Slot(9),
    };
    let function = Arc::make_mut(&mut late.program.functions[0]);
    function.slots = 10;
    function.code.insert(0, delay);
    let design = design(
        Arch::Wse2,
        3,
        vec![
            (sender(4, &[(1, false)]), vec![(4, route(&[R], &[E]))]),
            (receiver(4, 2), vec![(4, route(&[W, E], &[R]))]),
            (late, vec![(4, route(&[R], &[W]))]),
        ],
    );
    let mut sim = simulate(&design);
    sim.launch("run", &[]).unwrap();
    assert_eq!(received(&sim, 1, 0, 2), [1, 2]);
}

#[test]
fn a_control_wavelet_takes_the_old_position_and_what_follows_the_new() {
    let advance = commands(&[(ADV, true)], 0);
    let mut switched = route(&[W], &[R]);
    switched.positions[0] = pos_tx(E);
    let design = design(
        Arch::Wse2,
        3,
        vec![
            (
                sender(0, &[(1, false), (advance, true), (2, false)]),
                vec![(0, route(&[R], &[E]))],
            ),
            (receiver(0, 1), vec![(0, switched)]),
            (receiver(0, 1), vec![(0, route(&[W], &[R]))]),
        ],
    );
    let mut sim = traced(&design);
    sim.launch("run", &[]).unwrap();
    assert_eq!(word(&sim, 1, 0, 32), 1);
    assert_eq!(word(&sim, 2, 0, 32), 2);
    // The control wavelet itself ended where the old position led.
    assert_eq!(landings(&sim, 2, 0, 0).len(), 1);
    sim.stop().unwrap();
}

#[test]
fn the_senders_own_router_executes_the_command_too() {
    let advance = commands(&[(ADV, true)], 0);
    let mut switched = route(&[R], &[E]);
    switched.positions[0] = pos_tx(S);
    let design = design(
        Arch::Wse2,
        2,
        vec![
            (
                sender(0, &[(1, false), (advance, true), (2, false)]),
                vec![(0, switched)],
            ),
            (receiver(0, 1), vec![(0, route(&[W], &[R]))]),
            (receiver(0, 1), vec![(0, route(&[N], &[R]))]),
            (Tile1::idle(), vec![]),
        ],
    );
    let mut sim = simulate(&design);
    sim.launch("run", &[]).unwrap();
    assert_eq!((word(&sim, 1, 0, 32), word(&sim, 0, 1, 32)), (1, 2));
    sim.stop().unwrap();
}

#[test]
fn ring_mode_returns_to_the_base_and_a_reset_does_from_anywhere() {
    let (advance, reset) = (commands(&[(ADV, true)], 0), commands(&[(RST, true)], 0));
    let mut ring = route(&[R], &[E]);
    ring.positions[0] = pos_tx(S);
    let line = ring.clone();
    ring.ring_mode = true;
    // Without a ring the second advance does nothing.
    for (setup, second, east) in [
        (ring, advance, 2),
        (line.clone(), reset, 2),
        (line.clone(), advance, 1),
    ] {
        let items = [
            (1, false),
            (advance, true),
            (2, false),
            (second, true),
            (3, false),
        ];
        let design = design(
            Arch::Wse2,
            2,
            vec![
                (sender(0, &items), vec![(0, setup)]),
                (receiver(0, east), vec![(0, route(&[W], &[R]))]),
                (receiver(0, 3 - east), vec![(0, route(&[N], &[R]))]),
                (Tile1::idle(), vec![]),
            ],
        );
        let mut sim = simulate(&design);
        sim.launch("run", &[]).unwrap();
        sim.stop().unwrap();
    }
}

/// Payloads of a control wavelet where it lands, PE by PE, along a row whose routers pop so.
fn payloads_along_a_row(pop: PopMode, positions: bool, payload: u32) -> Vec<u32> {
    let relay = |rx: Direction| {
        let mut setup = route(&[rx], &[E]);
        setup.pop_mode = pop;
        if positions {
            setup.positions[0] = pos_tx(E);
        }
        vec![(0, setup)]
    };
    let design = design(
        Arch::Wse2,
        4,
        vec![
            (sender(0, &[(payload, true)]), relay(R)),
            (Tile1::idle(), relay(W)),
            (Tile1::idle(), relay(W)),
            (Tile1::idle(), vec![(0, route(&[W], &[R]))]),
        ],
    );
    let mut sim = traced(&design);
    sim.launch("run", &[]).unwrap();
    let _ = sim.stop();
    (0..4).map(|x| landings(&sim, x, 0, 0)[0].2).collect()
}

#[test]
fn without_popping_every_router_sees_slot_zero() {
    let payload = commands(&[(ADV, true), (RST, true)], 0);
    let seen = payloads_along_a_row(PopMode::NoPop, true, payload);
    assert_eq!(seen, [payload; 4]);
}

#[test]
fn always_pop_uses_up_a_slot_at_every_router() {
    let payload = commands(&[(ADV, true), (RST, true), (ADV, true)], 0);
    let seen = payloads_along_a_row(PopMode::AlwaysPop, false, payload);
    let rest = [
        commands(&[(RST, true), (ADV, true)], 0),
        commands(&[(ADV, true)], 0),
        commands(&[], 0),
    ];
    assert_eq!(seen, [payload, rest[0], rest[1], rest[2]]);
}

#[test]
fn pop_on_advance_pops_only_where_the_switch_moved() {
    let payload = commands(&[(ADV, true), (NOP, true), (ADV, true)], 0);
    let after = commands(&[(NOP, true), (ADV, true)], 0);
    // The first router advances; the rest meet a NOP and leave it.
    let seen = payloads_along_a_row(PopMode::PopOnAdvance, true, payload);
    assert_eq!(seen, [payload, after, after, after]);
    // Routers without positions cannot advance and use nothing up.
    let seen = payloads_along_a_row(PopMode::PopOnAdvance, false, payload);
    assert_eq!(seen, [payload; 4]);
    // With advance-or-nop the second router pops the NOP, the third advances again.
    let seen = payloads_along_a_row(PopMode::PopOnAdvanceNop, true, payload);
    assert_eq!(
        seen,
        [
            payload,
            after,
            commands(&[(ADV, true)], 0),
            commands(&[], 0)
        ]
    );
}

#[test]
fn an_operation_moves_its_own_switch_when_its_last_wavelet_has_left() {
    let mut switched = route(&[R], &[W]);
    switched.positions[0] = pos_rx(E);
    let design = design(
        Arch::Wse2,
        3,
        vec![
            (receiver(0, 13), vec![(0, route(&[E], &[R]))]),
            (streamer(0, 10, true), vec![(0, switched)]),
            (streamer(0, 3, false), vec![(0, route(&[R], &[W]))]),
        ],
    );
    let mut sim = traced(&design);
    sim.launch("run", &[]).unwrap();
    let seen = landings(&sim, 1, 0, 0);
    let sides: Vec<Direction> = seen.iter().map(|(_, side, _)| *side).collect();
    assert_eq!(sides, [vec![R; 10], vec![E; 3]].concat());
    assert_eq!(seen[10].0, seen[9].0 + 1);
    sim.stop().unwrap();
}

#[test]
fn a_control_wavelet_is_delivered_unless_it_says_ce_ignore() {
    for (hidden, ran) in [(false, 5), (true, 0)] {
        let mut listener = Tile1::new(64);
        listener.input_queue(2, 0);
        listener.program.blocked_at_start = vec![(BlockTarget::Color(0), false)];
        let mut note = Code::default();
        note.note(32, 5);
        listener.task(TaskKind::Control, 40, 0, note);
        let mut code = Code::default();
        code.unblock_host();
        listener.export("run", code);
        let payload = commands(&[(NOP, hidden)], 40);
        let design = design(
            Arch::Wse2,
            2,
            vec![
                (sender(0, &[(payload, true)]), vec![(0, route(&[R], &[E]))]),
                (listener, vec![(0, route(&[W], &[R]))]),
            ],
        );
        let mut sim = simulate(&design);
        sim.launch("run", &[]).unwrap();
        sim.stop().unwrap();
        assert_eq!(word(&sim, 1, 0, 32), ran);
    }
}

#[test]
fn two_colors_share_a_link_turn_by_turn() {
    let mut tile = streamer(0, 20, false);
    // A second stream, asynchronous, on another queue and color.
    let mem = tile.mem(BUFFER, 20, 4);
    let out = tile.fabout(3, 1, 20);
    let mut code = Code::default();
    let (out, mem) = (code.dsd(out), code.dsd(mem));
    code.op_with(
        Opcode::Mov32,
        out,
        &[mem],
        OpOptions {
            is_async: true,
            ..OpOptions::default()
        },
    );
    let first = tile.program.functions[0].code.clone();
    let shift = 2;
    code.code.extend(first.into_iter().map(|inst| match inst {
        Inst::Const { dst, bits } => Inst::Const {
            dst: Slot(dst.0 + shift),
            bits,
        },
        Inst::Operation(mut op) => {
            op.dest = Operand::Dsd(Slot(shift));
            op.sources = vec![Operand::Dsd(Slot(shift + 1))];
            Inst::Operation(op)
        }
        other => other,
    }));
    tile.program.functions.clear();
    tile.program.symbols.clear();
    tile.export("run", code);
    Arc::make_mut(&mut tile.program.functions[0]).slots = 10;
    let mut other = receiver(0, 20);
    other.input_queue(3, 1);
    let both =
        |rx: Direction, tx: Direction| vec![(0, route(&[rx], &[tx])), (1, route(&[rx], &[tx]))];
    let mut sim = {
        let design = design(Arch::Wse2, 2, vec![(tile, both(R, E)), (other, both(W, R))]);
        traced(&design)
    };
    sim.launch("run", &[]).unwrap();
    let mut cycles: Vec<u64> = [0, 1]
        .into_iter()
        .flat_map(|color| landings(&sim, 1, 0, color))
        .map(|(cycle, _, _)| cycle)
        .collect();
    cycles.sort_unstable();
    let count = cycles.len();
    cycles.dedup();
    assert_eq!(
        cycles.len(),
        count,
        "two wavelets crossed one link in one cycle"
    );
}

#[test]
fn a_torn_down_color_takes_nothing_in() {
    let mut torn = route(&[W], &[R]);
    torn.teardown = true;
    let design = design(
        Arch::Wse2,
        2,
        vec![
            (sender(0, &[(1, false)]), vec![(0, route(&[R], &[E]))]),
            (receiver(0, 1), vec![(0, torn)]),
        ],
    );
    let mut sim = traced(&design);
    let error = sim.launch("run", &[]).unwrap_err();
    assert_eq!(error.kind(), "stuck");
    assert!(landings(&sim, 1, 0, 0).is_empty());
}

#[test]
fn a_teardown_command_passes_and_then_closes_every_router_of_its_path() {
    let teardown = commands(&[(TEARDOWN, true)], 31);
    let design = design(
        Arch::Wse2,
        3,
        vec![
            (
                sender(0, &[(1, false), (teardown, true), (2, false)]),
                vec![(0, route(&[R], &[E]))],
            ),
            (Tile1::idle(), vec![(0, route(&[W], &[E]))]),
            (receiver(0, 1), vec![(0, route(&[W], &[R]))]),
        ],
    );
    let mut sim = simulate(&design);
    sim.launch("run", &[]).unwrap();
    assert_eq!(word(&sim, 2, 0, 32), 1);
    let text = sim.stop().unwrap_err().to_string();
    assert!(
        text.contains("PE (0, 0): color 0: stays in output queue 2"),
        "{text}"
    );
    let machine = sim.machine();
    for x in 0..3 {
        let pe = machine.fabric.grid.at(x, 0);
        assert!(machine.fabric.channel(pe, 0).unwrap().torn_down);
    }
}

#[test]
fn a_filter_withholds_a_wavelet_from_its_own_pe_only() {
    let mut filtered = route(&[W], &[R, E]);
    filtered.filter = Some(Filter::Counter {
        count_data: true,
        count_control: false,
        filter_control: false,
        initial: 0,
        limit: 3,
        max: 0,
    });
    let design = design(
        Arch::Wse2,
        3,
        vec![
            (streamer(0, 8, false), vec![(0, route(&[R], &[E]))]),
            (receiver(0, 2), vec![(0, filtered)]),
            (receiver(0, 8), vec![(0, route(&[W], &[R]))]),
        ],
    );
    let mut sim = simulate(&design);
    sim.launch("run", &[]).unwrap();
    assert_eq!(received(&sim, 1, 0, 2), [1, 5]);
    assert_eq!(received(&sim, 2, 0, 8), [1, 2, 3, 4, 5, 6, 7, 8]);
    sim.stop().unwrap();
}

/// Writes `value` over the bits `mask` of a configuration word.
fn change_register(code: &mut Code, address: u64, mask: u64, value: u64) {
    let (at, old) = (code.constant(address), code.slot());
    let (keep, value) = (code.constant(!mask & 0xffff), code.constant(value));
    code.code.push(Inst::ReadConfig {
        dst: old,
        address: at,
    });
    for (op, b) in [(BinaryOp::And, keep), (BinaryOp::Or, value)] {
        let (ty, dst, a) = (ScalarType::U16, old, old);
        code.code.push(Inst::Binary { op, ty, dst, a, b });
    }
    code.code.push(Inst::WriteConfig {
        address: at,
        src: old,
    });
}

#[test]
fn a_teardown_handler_gives_a_color_new_routes() {
    let teardown = commands(&[(TEARDOWN, true)], 31);
    const COLOR: u64 = 0x7f20;
    const TORN_DOWN: u64 = 1 << 14;
    const TX: u64 = 0x1f;
    let mut first = sender(0, &[(1, false), (teardown, true), (2, false)]);
    let mut code = Code::default();
    change_register(&mut code, COLOR, TORN_DOWN | TX, u64::from(S.bit()));
    let handler = first.function(0, code);
    first.program.teardown_handlers.push((0, handler));
    let design = design(
        Arch::Wse2,
        2,
        vec![
            (first, vec![(0, route(&[R], &[E]))]),
            (receiver(0, 1), vec![(0, route(&[W], &[R]))]),
            (receiver(0, 1), vec![(0, route(&[N], &[R]))]),
            (Tile1::idle(), vec![]),
        ],
    );
    let mut sim = simulate(&design);
    sim.launch("run", &[]).unwrap();
    assert_eq!((word(&sim, 1, 0, 32), word(&sim, 0, 1, 32)), (1, 2));
    sim.stop().unwrap();
}

/// A word waits for a neighbour to accept its color. It moves in the cycle of the write that lets it, whichever
/// of the two is visited first.
#[test]
fn a_neighbour_moves_in_the_cycle_of_the_write() {
    let landed = |writer_first: bool| {
        let (to, from) = if writer_first { (W, E) } else { (E, W) };
        let mut code = Code::default();
        (0..40).for_each(|_| code.note(0, 1));
        let word = u64::from(R.bit()) | u64::from(from.bit()) << 5;
        change_register(&mut code, 0x7f20, 0x3ff, word);
        code.unblock_host();
        let mut writer = Tile1::new(64);
        writer.input_queue(2, 0);
        writer.export("run", code);
        let mut tiles = vec![
            (sender(0, &[(7, false)]), vec![(0, route(&[R], &[to]))]),
            (writer, vec![(0, route(&[N], &[R]))]),
        ];
        if writer_first {
            tiles.reverse();
        }
        let mut sim = traced(&design(Arch::Wse2, 2, tiles));
        let report = sim.launch("run", &[]).unwrap();
        let found = landings(&sim, u32::from(!writer_first), 0, 0);
        assert_eq!(found.len(), 1);
        found[0].0 as i64 - report.end_cycle as i64
    };
    // The command ends in the cycle after the write.
    assert_eq!((landed(false), landed(true)), (0, 0));
}

/// Two colors that want a link go one after the other, and a write beside them changes nothing of it.
#[test]
fn who_goes_first_stays_as_it_was_when_a_router_looks_again() {
    let arrivals = |writes: bool| {
        let mut middle = Tile1::new(64);
        let mut code = Code::default();
        for _ in 0..30 {
            let address = code.constant(0x7f25);
            let dst = code.slot();
            code.code.push(Inst::ReadConfig { dst, address });
            if writes {
                code.code.push(Inst::WriteConfig { address, src: dst });
            }
        }
        code.unblock_host();
        middle.export("run", code);
        let spare = || route(&[R], &[R]);
        let through = [(0, route(&[W], &[E])), (1, route(&[N], &[E]))];
        let middle_colors = through.into_iter().chain([(5, spare())]).collect();
        let end = vec![(0, route(&[W], &[R])), (1, route(&[W], &[R]))];
        let mut receiver = Tile1::new(600);
        for (queue, color) in [(2, 0), (3, 1)] {
            receiver.input_queue(queue, color);
        }
        let mut code = Code::default();
        for queue in [2, 3] {
            let (mem, fabin) = (receiver.mem(BUFFER, 40, 4), receiver.fabin(queue, 40));
            let (mem, fabin) = (code.dsd(mem), code.dsd(fabin));
            let options = OpOptions {
                is_async: true,
                ut_id: Some(code.constant(u64::from(queue))),
                ..OpOptions::default()
            };
            code.op_with(Opcode::Mov32, mem, &[fabin], options);
        }
        code.unblock_host();
        receiver.export("run", code);
        let tiles = vec![
            (Tile1::idle(), vec![]),
            (streamer(1, 40, false), vec![(1, route(&[R], &[S]))]),
            (Tile1::idle(), vec![]),
            (streamer(0, 40, false), vec![(0, route(&[R], &[E]))]),
            (middle, middle_colors),
            (receiver, end),
        ];
        let mut sim = traced(&design(Arch::Wse2, 3, tiles));
        sim.launch("run", &[]).unwrap();
        [0, 1].map(|color| landings(&sim, 2, 1, color))
    };
    assert_eq!(arrivals(true), arrivals(false));
}

#[test]
fn switch_registers_read_as_they_were_declared_and_written() {
    let mut switched = route(&[R], &[E]);
    switched.positions[0] = pos_tx(S);
    switched.positions[1] = pos_rx(E);
    switched.ring_mode = true;
    let design = design(Arch::Wse2, 1, vec![(Tile1::idle(), vec![(3, switched)])]);
    let sim = simulate(&design);
    let mut machine = fabsim::machine::Machine::new(sim.design(), false, VisitOrder::AsWoken);
    let fabric = &mut machine.fabric;
    let pe = fabric.grid.at(0, 0);
    // S = 2; E = 1 with the input bit; the last position invalid; ring.
    assert_eq!(fabric.read_register(pe, 0x7f43), Some(0x1592));
    assert_eq!(fabric.write_register(pe, 0x7f43, 0x3592), Ok(()));
    assert_eq!(
        fabric.channel(pe, 3).map(|c| (c.position, c.tx)),
        Some((1, set(&[S])))
    );
    assert_eq!(fabric.read_register(pe, 0x7f43), Some(0x3592));
    assert_eq!(fabric.read_register(pe, 0x7f23), Some(0x0202));
    assert_eq!(fabric.read_register(pe, 0x7f24), None);
}

/// The words on a color, one a cycle, all as control wavelets.
fn control_streamer(color: u8, payloads: &[u32]) -> Tile1 {
    let count = payloads.len() as u16;
    let mut tile = Tile1::new(u32::from(BUFFER) + 4 * u32::from(count));
    let halves = payloads.iter().flat_map(|&p| [p as u16, (p >> 16) as u16]);
    tile.program
        .memory
        .push((u32::from(BUFFER), halves.collect()));
    let (mem, out) = (
        tile.mem(BUFFER, count, 4),
        tile.fabout_with(2, color, count, true, false),
    );
    let mut code = Code::default();
    let (out, mem) = (code.dsd(out), code.dsd(mem));
    code.op(Opcode::Mov32, out, &[mem]);
    code.unblock_host();
    tile.export("run", code);
    tile
}

#[test]
fn what_follows_a_command_at_once_is_judged_by_the_new_position() {
    // The second wavelet closes the way from the west; the third is right behind it. When the
    // third asks, the second has landed but not been executed.
    let nothing = commands(&[(NOP, true)], 0);
    let advance = commands(&[(ADV, true)], 0);
    let mut switched = route(&[W], &[R]);
    switched.positions[0] = pos_rx(R);
    let design = design(
        Arch::Wse2,
        2,
        vec![
            (
                control_streamer(0, &[nothing, advance, nothing]),
                vec![(0, route(&[R], &[E]))],
            ),
            (Tile1::idle(), vec![(0, switched)]),
        ],
    );
    let mut sim = traced(&design);
    sim.launch("run", &[]).unwrap();
    let text = sim.stop().unwrap_err().to_string();
    assert_eq!(landings(&sim, 1, 0, 0).len(), 2);
    assert!(
        text.contains("PE (0, 0): color 0: control wavelet from RAMP waits"),
        "{text}"
    );
}

#[test]
fn three_arrivals_queue_in_the_order_of_their_sides_whoever_was_visited_first() {
    let send = |value, to| (sender(4, &[(value, false)]), vec![(4, route(&[R], &[to]))]);
    let design = design(
        Arch::Wse2,
        3,
        vec![
            send(1, E),
            (receiver(4, 3), vec![(4, route(&[W, E, S], &[R]))]),
            send(2, W),
            (Tile1::idle(), vec![]),
            send(3, N),
            (Tile1::idle(), vec![]),
        ],
    );
    let shuffled = (0..20).map(VisitOrder::Shuffled);
    for visit_order in shuffled.chain([VisitOrder::AsWoken, VisitOrder::Reversed]) {
        let options = SimOptions {
            lenient: true,
            visit_order,
            ..SimOptions::default()
        };
        let mut sim = simulate_with(&design, options);
        sim.launch("run", &[]).unwrap();
        assert_eq!(received(&sim, 1, 0, 3), [1, 2, 3]);
        let warnings = sim.stop().unwrap().warnings;
        assert_eq!(warnings.len(), 1);
        assert!(
            warnings[0].starts_with("PE (1, 0): 3 wavelets of color 4 arrive in cycle 24"),
            "{warnings:?}"
        );
    }
}

#[test]
fn an_operation_cannot_turn_its_own_outputs() {
    let mut switched = route(&[R], &[E]);
    switched.positions[0] = pos_tx(W);
    let design = design(
        Arch::Wse2,
        2,
        vec![
            (streamer(0, 3, true), vec![(0, switched)]),
            (receiver(0, 3), vec![(0, route(&[W], &[R]))]),
        ],
    );
    let error = simulate(&design).launch("run", &[]).unwrap_err();
    assert_eq!(error.kind(), "undefined");
    assert!(
        error
            .to_string()
            .starts_with("PE (0, 0): advance_switch leads color 0"),
        "{error}"
    );
}
