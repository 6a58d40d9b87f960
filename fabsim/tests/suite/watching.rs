//! Traces and usage reports.

use crate::support::*;
use fabsim::fabric::grid::PeIndex;
use fabsim::host::{SimOptions, Simulator, VisitOrder};
use fabsim::program::*;
use fabsim::trace::{convert, Region, Scope, Told, TraceForm, TraceOptions, TraceSize, Watched};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

const BUFFER: u16 = 32;
const COUNT: u16 = 20;

/// A file that goes away with its owner.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("fabsim-trace-{}-{n}", std::process::id());
        Scratch(std::env::temp_dir().join(name))
    }

    fn text(&self) -> String {
        std::fs::read_to_string(&self.0).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn streamer(count: u16) -> Tile1 {
    let mut tile = Tile1::new(u32::from(BUFFER) + 4 * u32::from(count));
    let mem = tile.mem(BUFFER, count, 4);
    let out = tile.fabout(2, 0, count);
    let mut code = Code::default();
    let (out, mem) = (code.dsd(out), code.dsd(mem));
    code.op(Opcode::Mov32, out, &[mem]);
    code.unblock_host();
    tile.export("run", code);
    tile
}

fn receiver(count: u16) -> Tile1 {
    let mut tile = Tile1::new(u32::from(BUFFER) + 4 * u32::from(count));
    tile.input_queue(2, 0);
    let mem = tile.mem(BUFFER, count, 4);
    let fabin = tile.fabin(2, count);
    let mut code = Code::default();
    let (mem, fabin) = (code.dsd(mem), code.dsd(fabin));
    code.op(Opcode::Mov32, mem, &[fabin]);
    code.unblock_host();
    tile.export("run", code);
    tile
}

/// The first PE of the upper row sends; the second takes a copy; it goes down and to the end.
fn multicast() -> Arc<Design> {
    design(
        Arch::Wse2,
        3,
        vec![
            (streamer(COUNT), vec![(0, route(&[R], &[E]))]),
            (receiver(COUNT), vec![(0, route(&[W], &[R, E, S]))]),
            (receiver(COUNT), vec![(0, route(&[W], &[R]))]),
            (Tile1::idle(), vec![]),
            (receiver(COUNT), vec![(0, route(&[N], &[R]))]),
            (Tile1::idle(), vec![]),
        ],
    )
}

fn watched(path: &Path, form: TraceForm, scope: Scope) -> SimOptions {
    let path = path.to_path_buf();
    SimOptions {
        watched: Watched {
            trace: Some(TraceOptions {
                path,
                form,
                scope,
                size: TraceSize::default(),
                told: Told::default(),
            }),
            usage: true,
        },
        ..SimOptions::default()
    }
}

fn run(design: &Arc<Design>, options: SimOptions) -> Simulator {
    let mut sim = simulate_with(design, options);
    sim.launch("run", &[]).unwrap();
    sim.stop().unwrap();
    sim
}

fn text_of(scope: Scope) -> String {
    let file = Scratch::new();
    run(&multicast(), watched(&file.0, TraceForm::Text, scope));
    file.text()
}

/// A wavelet's line: cycle, place, ident, landing, departing.
struct Hop {
    cycle: u64,
    place: String,
    ident: String,
    landing: char,
    departing: String,
}

/// Reads wavelet lines as a viewer does, by the fields alone.
fn hops(text: &str) -> Vec<Hop> {
    let lines = text.lines().filter(|line| line.contains(") wavelet C"));
    let hop = |line: &str| {
        let after = |mark: &str| line.split(mark).nth(1).unwrap().to_string();
        let head: Vec<&str> = line.split(' ').collect();
        Hop {
            cycle: head[0].trim_start_matches('@').parse().unwrap(),
            place: head[1].to_string(),
            ident: after("ident=")[..16].to_string(),
            landing: after("landing=").chars().next().unwrap(),
            departing: after("departing=/")[..5].to_string(),
        }
    };
    lines.map(hop).collect()
}

#[test]
fn a_wavelet_keeps_its_identity_over_every_branch_of_its_way() {
    let text = text_of(Scope::default());
    assert!(text.starts_with("@0 dimX=3, dimY=2\n"));
    let mut ways: BTreeMap<String, Vec<Hop>> = BTreeMap::new();
    for hop in hops(&text) {
        ways.entry(hop.ident.clone()).or_default().push(hop);
    }
    assert_eq!(ways.len(), usize::from(COUNT));
    for (n, (ident, way)) in ways.iter().enumerate() {
        assert_eq!(*ident, format!("{n:016X}"), "source, color, number");
        let landed = |place: &str, landing: char| {
            let mut here = way.iter().filter(|hop| hop.place == place);
            let found = here.find(|hop| hop.landing == landing);
            found.map(|hop| hop.cycle).unwrap()
        };
        landed("P0.0", 'R');
        landed("P1.0", 'W');
        landed("P2.0", 'W');
        landed("P1.1", 'N');
        let leaves = |place: &str| {
            let mut here = way.iter().filter(|hop| hop.place == place);
            let found = here.find(|hop| hop.departing != "     ");
            found
                .map(|hop| (hop.cycle, hop.departing.as_str()))
                .unwrap()
        };
        assert_eq!(leaves("P0.0").1, "E    ");
        assert_eq!(leaves("P1.0").1, "E  SR");
        assert_eq!(leaves("P2.0").1, "    R");
        assert_eq!(landed("P1.0", 'W'), leaves("P0.0").0 + 1);
        assert_eq!(landed("P1.1", 'N'), leaves("P1.0").0 + 1);
    }
}

#[test]
fn every_sending_line_has_its_writing_line_before_it() {
    let text = text_of(Scope::default());
    let count = |words: &str| text.matches(words).count();
    assert_eq!(
        count("Writing wavelet C0 data to OUT_Q[2]"),
        usize::from(COUNT)
    );
    assert_eq!(count("Sending wavelet C0 data ident:"), usize::from(COUNT));
    let written = text.find("Writing wavelet").unwrap();
    assert!(written < text.find("Sending wavelet").unwrap());
}

#[test]
fn what_a_compute_element_waits_for_is_a_line_behind_an_idle_one() {
    let text = text_of(Scope::default());
    let lines: Vec<&str> = text.lines().collect();
    let starved = lines
        .iter()
        .position(|line| line.contains("Not enough wavelets"));
    let starved = starved.unwrap();
    assert!(lines[starved].ends_with("for SRC0 with C0, IN_Q[2], SIMD-1"));
    assert!(
        lines[starved - 1].ends_with("[EX OP] IDLE"),
        "{}",
        lines[starved - 1]
    );
    assert!(text.contains("T0 MOV32"), "the operation itself");
    let issued = "[IS OP] ^ 0x0002: T0 MOV32 Dest:C0,OUT_Q[2]  Src0:addr32(0020)";
    assert!(text.contains(issued), "{text}");
}

#[test]
fn lines_are_in_the_order_of_cycles_whatever_the_order_of_visits() {
    let texts: Vec<String> = [
        VisitOrder::AsWoken,
        VisitOrder::Reversed,
        VisitOrder::Shuffled(7),
    ]
    .into_iter()
    .map(|visit_order| {
        let file = Scratch::new();
        let options = SimOptions {
            visit_order,
            ..watched(&file.0, TraceForm::Text, Scope::default())
        };
        run(&multicast(), options);
        file.text()
    })
    .collect();
    assert_eq!(texts[0], texts[1]);
    assert_eq!(texts[0], texts[2]);
    let cycles: Vec<u64> = texts[0]
        .lines()
        .map(|line| line[1..line.find(' ').unwrap()].parse().unwrap())
        .collect();
    assert!(cycles.windows(2).all(|pair| pair[0] <= pair[1]));
}

#[test]
fn a_region_and_a_window_hold_the_same_lines_as_the_whole_trace() {
    let region = Region {
        x: 1,
        y: 0,
        width: 2,
        height: 1,
    };
    let whole = text_of(Scope::default());
    let part = text_of(Scope {
        region: Some(region),
        window: Some((45, 55)),
    });
    let in_scope = |line: &&str| {
        let cycle: u64 = line[1..line.find(' ').unwrap()].parse().unwrap();
        let place = line.contains(" P1.0") || line.contains(" P2.0");
        place && (46..=55).contains(&cycle)
    };
    let expected: Vec<&str> = whole.lines().filter(in_scope).collect();
    let found: Vec<&str> = part.lines().filter(in_scope).collect();
    assert!(expected.len() >= 20, "{whole}");
    assert_eq!(found, expected);
    assert_eq!(
        part.lines().count(),
        1 + found.len() + part.matches("@45 P").count()
    );
}

#[test]
fn a_window_begins_with_what_everybody_is_doing() {
    let part = text_of(Scope {
        region: None,
        window: Some((10, 15)),
    });
    // The receivers have waited for a while.
    for place in ["P1.0", "P2.0", "P1.1"] {
        assert!(part.contains(&format!("@10 {place}: [EX OP]")), "{part}");
    }
}

#[test]
fn a_binary_trace_is_smaller_and_becomes_the_same_text() {
    let (binary, text) = (Scratch::new(), Scratch::new());
    run(
        &multicast(),
        watched(&binary.0, TraceForm::Binary, Scope::default()),
    );
    let direct = text_of(Scope::default());
    convert(&binary.0, &text.0, Scope::default()).unwrap();
    assert_eq!(text.text(), direct);
    let size = std::fs::metadata(&binary.0).unwrap().len();
    assert!(size * 3 < direct.len() as u64, "{size} of {}", direct.len());
    let scope = Scope {
        region: Some(Region {
            x: 0,
            y: 0,
            width: 1,
            height: 1,
        }),
        window: Some((20, 30)),
    };
    convert(&binary.0, &text.0, scope).unwrap();
    assert_eq!(text.text(), text_of(scope));
}

static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());

#[test]
fn a_trace_ends_at_its_limit_and_says_so_and_the_run_goes_on() {
    let long = || {
        let pes = [(streamer(600), vec![(0, route(&[R], &[E]))])];
        let pes = pes.into_iter();
        let last = (receiver(600), vec![(0, route(&[W], &[R]))]);
        design(Arch::Wse2, 2, pes.chain([last]).collect())
    };
    let whole = Scratch::new();
    let cycles = run(
        &long(),
        watched(&whole.0, TraceForm::Text, Scope::default()),
    )
    .cycle();
    let whole = whole.text();
    let (large, limit) = (whole.len() as u64 / 4, whole.len() as u64 / 2);
    let cut = Scratch::new();
    let mut options = watched(&cut.0, TraceForm::Text, Scope::default());
    if let Some(trace) = &mut options.watched.trace {
        let limit = Some(limit);
        trace.size = TraceSize { large, limit };
        trace.told = Told(Some(|text| TOLD.lock().unwrap().push(text.into())));
    }
    assert_eq!(run(&long(), options).cycle(), cycles);
    let cut = cut.text();
    assert!(whole.starts_with(&cut), "it is the beginning of the whole");
    let slack = 20_000;
    assert!(
        (limit..limit + slack).contains(&(cut.len() as u64)),
        "{} of {limit}",
        cut.len()
    );
    let told = TOLD.lock().unwrap();
    let last = cut.lines().last().unwrap().split(' ').next().unwrap();
    assert!(told[0].contains("and grows"), "{told:?}");
    assert!(
        told[1].ends_with(&format!("ends with cycle {}", &last[1..])),
        "{told:?}"
    );
    assert_eq!(told.len(), 2);
}

proptest! {
    #[test]
    fn a_damaged_binary_trace_is_an_error_or_another_trace(at in 0usize..2000, byte: u8, cut: bool) {
        let (binary, text) = (Scratch::new(), Scratch::new());
        run(&multicast(), watched(&binary.0, TraceForm::Binary, Scope::default()));
        let mut bytes = std::fs::read(&binary.0).unwrap();
        let at = at % bytes.len();
        bytes[at] = byte;
        if cut {
            bytes.truncate(at);
        }
        std::fs::write(&binary.0, bytes).unwrap();
        let _ = convert(&binary.0, &text.0, Scope::default());
    }
}

#[test]
fn a_run_that_gets_stuck_leaves_its_trace() {
    let design = design(
        Arch::Wse2,
        2,
        vec![
            (streamer(COUNT), vec![(0, route(&[R], &[E]))]),
            (receiver(COUNT + 1), vec![(0, route(&[W], &[R]))]),
        ],
    );
    let file = Scratch::new();
    let mut sim = simulate_with(&design, watched(&file.0, TraceForm::Text, Scope::default()));
    assert_eq!(sim.launch("run", &[]).unwrap_err().kind(), "stuck");
    assert_eq!(
        file.text().matches("Sending wavelet").count(),
        usize::from(COUNT)
    );
}

#[test]
fn back_pressure_has_a_line_for_every_cycle_of_the_trace() {
    // Nobody reads: the way fills up, and the queue is held until the end.
    let design = design(
        Arch::Wse2,
        2,
        vec![
            (streamer(COUNT), vec![(0, route(&[R], &[E]))]),
            (Tile1::idle(), vec![(0, route(&[W], &[R]))]),
        ],
    );
    let file = Scratch::new();
    let mut sim = simulate_with(&design, watched(&file.0, TraceForm::Text, Scope::default()));
    assert_eq!(sim.launch("run", &[]).unwrap_err().kind(), "stuck");
    let text = file.text();
    assert!(text.contains("P0.0: Backpressure on C0 for OUT_Q[2]\n"));
    assert!(text.contains("Msg: stall: OUT_Q[2] full"));
}

#[test]
fn a_trace_that_cannot_be_written_is_refused_by_name() {
    let options = watched(
        Path::new("/nowhere/at/all"),
        TraceForm::Text,
        Scope::default(),
    );
    let Err(error) = Simulator::new(multicast(), options) else {
        panic!("the directory does not exist");
    };
    assert!(error.to_string().contains("/nowhere/at/all"));
}

fn usage_of(design: &Arc<Design>) -> (Simulator, fabsim::trace::Usage) {
    let options = SimOptions {
        watched: Watched {
            trace: None,
            usage: true,
        },
        ..SimOptions::default()
    };
    let mut sim = run(design, options);
    let usage = sim.usage().unwrap();
    (sim, usage)
}

#[test]
fn the_cycles_of_every_pe_add_up_to_those_of_the_run() {
    let (sim, usage) = usage_of(&multicast());
    for element in &usage.elements {
        assert_eq!(element.by_kind.iter().sum::<u64>(), sim.cycle());
    }
    let [_, code, operation, input, ..] = usage.elements[2].by_kind;
    assert_eq!(operation, u64::from(COUNT), "one element a cycle");
    assert_eq!(usage.elements[0].by_kind[2], u64::from(COUNT));
    assert!(code >= 38, "two registers loaded, one operation issued");
    assert!(input > 0, "it starts before anything arrives");
}

#[test]
fn links_ramps_and_colors_are_counted() {
    let (sim, usage) = usage_of(&multicast());
    let count = u32::from(COUNT);
    assert_eq!(usage.links[0], [0, count, 0, 0, count, 0]);
    assert_eq!(usage.links[1], [0, count, count, 0, 0, count]);
    assert_eq!(usage.hops[0], 3 * u64::from(count));
    assert_eq!(usage.hottest_color(), Some(0));
    assert_eq!(usage.hottest_link(), Some((PeIndex(0), E, count)));
    assert!(usage.input_queues[2].level >= 1 && usage.input_queues[2].level <= 4);
    assert_eq!(sim.machine().fabric.departures(), 4 * u64::from(count));
}

#[test]
fn reports_name_what_they_count() {
    let (sim, usage) = usage_of(&multicast());
    let (table, json) = (usage.table(), usage.json());
    assert!(table.starts_with(&format!("{} cycles on 3 x 2 PEs", sim.cycle())));
    assert!(
        table.contains("0 (hottest)") && table.contains("(2, 0)"),
        "{table}"
    );
    assert!(
        table.contains("hottest link: EAST of PE (0, 0), 20 wavelets"),
        "{table}"
    );
    assert!(json.contains("\"hottest_color\": 0") && json.contains("\"waits_for_input\""));
}

#[test]
fn large_rectangles_are_summed_up() {
    let mut tiles = vec![(streamer(COUNT), vec![(0, route(&[R], &[E]))])];
    tiles.extend((2..100).map(|_| (Tile1::idle(), vec![(0, route(&[W], &[E]))])));
    tiles.push((receiver(COUNT), vec![(0, route(&[W], &[R]))]));
    let (_, usage) = usage_of(&design(Arch::Wse2, 100, tiles));
    let table = usage.table();
    assert!(table.lines().count() < 20, "{table}");
    assert!(
        table.contains("mean") && table.contains("most no input: (99, 0)"),
        "{table}"
    );
}

#[test]
fn watching_changes_nothing() {
    let plain = {
        let mut sim = simulate(&multicast());
        (sim.launch("run", &[]).unwrap(), sim.stop().unwrap())
    };
    let file = Scratch::new();
    let mut sim = simulate_with(
        &multicast(),
        watched(&file.0, TraceForm::Text, Scope::default()),
    );
    assert_eq!(
        (sim.launch("run", &[]).unwrap(), sim.stop().unwrap()),
        plain
    );
}
