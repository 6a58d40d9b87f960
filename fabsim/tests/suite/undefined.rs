//! What is undefined, stuck or beyond a limit, and how it is told.

use crate::support::*;
use fabsim::host::{SimOptions, Simulator};
use fabsim::program::*;
use std::sync::Arc;

fn fails(design: &Arc<Design>, options: SimOptions) -> (String, &'static str) {
    let error = simulate_with(design, options)
        .launch("run", &[])
        .unwrap_err();
    (error.to_string(), error.kind())
}

/// Sends `count` words on one color and only then receives as many on another.
fn exchanger(out: u8, into: u8, count: u16) -> Tile1 {
    let mut tile = Tile1::new(32 + 4 * u32::from(count));
    tile.input_queue(2, into);
    let mem = tile.mem(32, count, 4);
    let (fabin, fabout) = (tile.fabin(2, count), tile.fabout(2, out, count));
    let mut code = Code::default();
    let (mem, fabin, fabout) = (code.dsd(mem), code.dsd(fabin), code.dsd(fabout));
    code.op(Opcode::Mov32, fabout, std::slice::from_ref(&mem));
    code.op(Opcode::Mov32, mem, &[fabin]);
    code.unblock_host();
    tile.export("run", code);
    tile
}

fn exchange(count: u16) -> Arc<Design> {
    let (east, west) = (route(&[R], &[E]), route(&[R], &[W]));
    design(
        Arch::Wse2,
        2,
        vec![
            (
                exchanger(0, 1, count),
                vec![(0, east), (1, route(&[E], &[R]))],
            ),
            (
                exchanger(1, 0, count),
                vec![(0, route(&[W], &[R])), (1, west)],
            ),
        ],
    )
}

#[test]
fn two_who_send_before_they_receive_are_a_circle_of_waits() {
    let (text, kind) = fails(&exchange(40), SimOptions::default());
    assert_eq!(kind, "stuck");
    let circle = text.split("a circle of waits:\n").nth(1).expect(&text);
    let lines: Vec<&str> = circle.lines().map(str::trim).collect();
    assert_eq!(
        lines[0],
        "PE (0, 0) waits at pe.csl:13 for room to send color 0"
    );
    assert_eq!(
        lines[1],
        "color 0 in the router of PE (0, 0) waits for room in that of PE (1, 0)"
    );
    assert_eq!(
        lines[2],
        "color 0 in the router of PE (1, 0) waits to be read there"
    );
    assert_eq!(
        lines[3],
        "PE (1, 0) waits at pe.csl:13 for room to send color 1"
    );
    assert_eq!(lines.len(), 6);
}

#[test]
fn what_fits_into_the_queues_is_no_circle() {
    let mut sim = simulate(&exchange(8));
    sim.launch("run", &[]).unwrap();
    sim.stop().unwrap();
}

#[test]
fn two_who_receive_before_they_send_wait_for_each_other() {
    let taker = |out: u8, into: u8| {
        let mut tile = Tile1::new(64);
        tile.input_queue(2, into);
        let mem = tile.mem(32, 4, 4);
        let (fabin, fabout) = (tile.fabin(2, 4), tile.fabout(2, out, 4));
        let mut code = Code::default();
        let (mem, fabin, fabout) = (code.dsd(mem), code.dsd(fabin), code.dsd(fabout));
        code.op(Opcode::Mov32, mem, &[fabin]);
        code.op(Opcode::Mov32, fabout, &[mem]);
        code.unblock_host();
        tile.export("run", code);
        tile
    };
    let (east, west) = (route(&[R], &[E]), route(&[R], &[W]));
    let design = design(
        Arch::Wse3,
        3,
        vec![
            (taker(0, 1), vec![(0, east), (1, route(&[E], &[R]))]),
            (
                Tile1::idle(),
                vec![(0, route(&[W], &[E])), (1, route(&[E], &[W]))],
            ),
            (taker(1, 0), vec![(0, route(&[W], &[R])), (1, west)]),
        ],
    );
    let (text, _) = fails(&design, SimOptions::default());
    assert!(
        text.contains(
            "a circle of waits:\n  \
             PE (0, 0) waits at pe.csl:13 for color 1, which PE (2, 0) has to send\n  \
             PE (2, 0) waits at pe.csl:13 for color 0, which PE (0, 0) has to send"
        ),
        "{text}"
    );
}

#[test]
fn waiting_for_somebody_who_is_done_is_no_circle() {
    let mut receiver = Tile1::new(64);
    receiver.input_queue(2, 0);
    let (mem, fabin) = (receiver.mem(32, 4, 4), receiver.fabin(2, 4));
    let mut code = Code::default();
    let (mem, fabin) = (code.dsd(mem), code.dsd(fabin));
    code.op(Opcode::Mov32, mem, &[fabin]);
    code.unblock_host();
    receiver.export("run", code);
    let design = design(
        Arch::Wse2,
        2,
        vec![
            (Tile1::idle(), vec![(0, route(&[R], &[E]))]),
            (receiver, vec![(0, route(&[W], &[R]))]),
        ],
    );
    let (text, kind) = fails(&design, SimOptions::default());
    assert_eq!(kind, "stuck");
    assert!(
        text.contains("4 elements are missing") && !text.contains("circle"),
        "{text}"
    );
}

/// Writes the routes of color 0 once five wavelets of it have been sent.
fn rewriting(rx: u64, tx: u64) -> Arc<Design> {
    let mut tile = Tile1::new(64);
    let mem = tile.mem(32, 5, 4);
    let fabout = tile.fabout(2, 0, 5);
    let mut code = Code::default();
    let (mem, fabout) = (code.dsd(mem), code.dsd(fabout));
    code.op(Opcode::Mov32, fabout, &[mem]);
    // Long enough for the wavelets to be in the router.
    for _ in 0..20 {
        let (dst, a) = (code.slot(), code.slot());
        code.code.push(Inst::Copy { dst, src: a });
    }
    let address = code.constant(0x7f20);
    let src = code.constant(tx | rx << 5);
    code.code.push(Inst::WriteConfig { address, src });
    code.unblock_host();
    tile.export("run", code);
    design(
        Arch::Wse2,
        2,
        vec![
            (tile, vec![(0, route(&[R], &[E]))]),
            (Tile1::idle(), vec![(0, route(&[N], &[R]))]),
        ],
    )
}

const EAST: u64 = 1 << 1;
const RAMP: u64 = 1 << 4;

#[test]
fn changing_the_routes_of_waiting_wavelets_is_undefined() {
    let (text, kind) = fails(&rewriting(RAMP, RAMP), SimOptions::default());
    assert_eq!(kind, "undefined");
    assert!(
        text.starts_with("pe.csl:") && text.contains("color 0 is configured while it is live"),
        "{text}"
    );
}

#[test]
fn writing_the_same_routes_again_is_not() {
    simulate(&rewriting(RAMP, EAST)).launch("run", &[]).unwrap();
}

/// Adds the words at 32 and 36 and stores the sum; the first has an initial value.
fn summing(writes: bool) -> Arc<Design> {
    let mut tile = Tile1::new(64);
    tile.program.memory.push((32, vec![1, 0]));
    tile.pointer("y", 48, 36);
    let ty = ScalarType::U32;
    let mut code = Code::default();
    if writes {
        let five = code.constant(5);
        code.store(ty, 36, five);
    }
    let (a, b) = (code.slot(), code.slot());
    for (dst, at) in [(a, 32), (b, 36)] {
        let address = code.constant(at);
        code.code.push(Inst::Load { ty, dst, address });
    }
    code.store(ty, 40, b);
    code.unblock_host();
    tile.export("run", code);
    design(Arch::Wse2, 1, vec![(tile, vec![])])
}

fn checked() -> SimOptions {
    SimOptions {
        check_uninitialized: true,
        ..SimOptions::default()
    }
}

#[test]
fn reading_what_nobody_has_written_is_an_error_where_that_is_asked_for() {
    let (text, kind) = fails(&summing(false), checked());
    assert_eq!(kind, "undefined");
    assert!(
        text.starts_with(
            "pe.csl:13: PE (0, 0), cycle 0: address 36 is read, which has no initial value"
        ),
        "{text}"
    );
    simulate(&summing(false)).launch("run", &[]).unwrap();
}

#[test]
fn what_the_program_or_the_host_has_written_may_be_read() {
    simulate_with(&summing(true), checked())
        .launch("run", &[])
        .unwrap();
    let mut sim = simulate_with(&summing(false), checked());
    sim.memcpy_h2d("y", 0, 0, 1, 1, 1, &[7], false, false)
        .unwrap();
    sim.launch("run", &[]).unwrap();
    assert_eq!(word(&sim, 0, 0, 40), 7);
}

#[test]
fn operands_of_operations_are_checked_too() {
    let mut tile = Tile1::new(64);
    tile.program.memory.push((32, vec![1, 0, 2, 0]));
    let (from, to) = (tile.mem(32, 3, 4), tile.mem(48, 3, 4));
    let mut code = Code::default();
    let (from, to) = (code.dsd(from), code.dsd(to));
    code.op(Opcode::Mov32, to, &[from]);
    code.unblock_host();
    tile.export("run", code);
    let design = design(Arch::Wse2, 1, vec![(tile, vec![])]);
    let (text, _) = fails(&design, checked());
    assert!(
        text.contains("pe.csl:12") && text.contains("address 40 is read"),
        "{text}"
    );
}

#[test]
fn a_dsd_that_leaves_memory_is_an_error_with_its_line() {
    let mut tile = Tile1::new(64);
    let (from, to) = (tile.mem(56, 4, 4), tile.mem(0, 4, 4));
    let mut code = Code::default();
    let (from, to) = (code.dsd(from), code.dsd(to));
    code.op(Opcode::Mov32, to, &[from]);
    code.unblock_host();
    tile.export("run", code);
    let design = design(Arch::Wse2, 1, vec![(tile, vec![])]);
    let (text, kind) = fails(&design, SimOptions::default());
    assert_eq!(kind, "undefined");
    assert!(
        text.starts_with("pe.csl:12: PE (0, 0)") && text.contains("outside"),
        "{text}"
    );
}

#[test]
fn a_design_that_takes_too_much_memory_is_refused_before_it_takes_it() {
    let design = exchange(8);
    let options = |max_memory_bytes| SimOptions {
        max_memory_bytes,
        ..SimOptions::default()
    };
    let Err(error) = Simulator::new(Arc::clone(&design), options(1000)) else {
        panic!("two PEs take more than 1000 bytes");
    };
    assert_eq!(error.kind(), "limit");
    assert!(error.to_string().contains("--max-memory"), "{error}");
    assert!(Simulator::new(design, options(1_000_000)).is_ok());
}

#[test]
fn the_limit_of_cycles_says_how_to_raise_it() {
    let mut tile = Tile1::new(64);
    let mut code = Code::default();
    code.code.push(Inst::Jump { to: 0 });
    tile.export("run", code);
    let options = SimOptions {
        max_cycles: 1000,
        ..SimOptions::default()
    };
    let (text, kind) = fails(&design(Arch::Wse2, 1, vec![(tile, vec![])]), options);
    assert_eq!(kind, "limit");
    assert!(
        text.contains("1000 cycles") && text.contains("--max-cycles"),
        "{text}"
    );
}
