//! The machine without any shortcut comes to the same results, cycles and stalls as with all of them.
//!
//! `PROGRAMS=5000` in the environment tries so many random programs; `make agreement` does.

use crate::ahead_support;
use crate::conformance::{name, programs};
use crate::conformance_support::check::without_numbers;
use crate::conformance_support::outcome::Outcome;
use crate::csl_support::BOTH;
use crate::flows_support;
use fabsim::host::{SimOptions, Simulator};
use fabsim::program::{Clock, Design};
use fabsim::trace::Watched;
use std::sync::Arc;

/// Random programs of each kind where nobody says how many.
const FEW: u64 = 24;

fn count() -> u64 {
    let said = std::env::var("PROGRAMS").ok();
    said.and_then(|text| text.parse().ok()).unwrap_or(FEW)
}

/// Both ways to look at a run: nobody watches, where all shortcuts are taken, or stalls and landings are noted.
fn ways() -> [SimOptions; 2] {
    let silent = SimOptions {
        max_cycles: 100_000,
        ..SimOptions::default()
    };
    let watched = SimOptions {
        trace_landings: true,
        watched: Watched {
            usage: true,
            ..Watched::default()
        },
        ..silent.clone()
    };
    [silent, watched]
}

/// What is left of a run: wavelets, and all memory, queues and registers of PEs.
fn left(simulator: &mut Simulator, complete: bool) -> Vec<String> {
    let usage = simulator.usage().map(|usage| usage.json());
    let machine = simulator.machine();
    let mut left = vec![format!("{:?} {:?}", machine.warnings, machine.log)];
    // Where a run fails, other PEs may have been ahead of it.
    if complete {
        let departures = machine.fabric.departures();
        left.push(format!("{} {departures}", machine.cycle));
        left.push(format!("{usage:?}"));
        let landings = machine.fabric.trace.iter().flatten();
        let mut landings: Vec<String> = landings.map(|landing| format!("{landing:?}")).collect();
        landings.sort();
        left.extend(landings);
        left.extend(machine.pes.iter().map(|pe| {
            let words = 0..pe.core.memory.len_words() as u64;
            let words: Vec<u64> = words
                .map(|at| pe.core.memory.peek(2 * at, 2).expect("inside"))
                .collect();
            format!("{words:?} {:?} {:?}", pe.core.dsrs, pe.core.active_local)
        }));
    }
    left
}

/// What comes of two launches.
fn outcome(design: &Arc<Design>, options: SimOptions) -> Vec<String> {
    let mut simulator = Simulator::new(Arc::clone(design), options).expect("it fits");
    let mut said = Vec::new();
    for _ in 0..2 {
        let launched = simulator.launch("run", &[]);
        said.push(format!(
            "{:?}",
            launched.map(|r| (r.start_cycle, r.first_completion, r.end_cycle))
        ));
    }
    said.push(format!(
        "{:?}",
        simulator.stop().map(|report| report.cycles)
    ));
    let complete = !said.iter().any(|words| words.starts_with("Err("));
    said.extend(left(&mut simulator, complete));
    said
}

fn agrees(design: &Arc<Design>, who: &str) {
    for options in ways() {
        let reference = SimOptions {
            reference: true,
            ..options.clone()
        };
        let (fast, plain) = (outcome(design, options), outcome(design, reference));
        for (fast, plain) in fast.iter().zip(&plain) {
            assert_eq!(fast, plain, "{who}");
        }
    }
}

#[test]
fn conformance_programs_come_out_as_by_the_reference() {
    let mut runs = 0;
    for program in programs() {
        for arch in program.archs() {
            let who = format!("{} ({arch:?})", name(&program));
            for clock in program.clocks(arch).expect("clocks") {
                let mut outcome = Outcome::compiled(&program, arch, clock).expect(&who);
                if outcome.design.is_none() {
                    continue;
                }
                runs += 1;
                for options in ways() {
                    let mut ended = [false, true].map(|reference| {
                        let options = SimOptions {
                            reference,
                            ..options.clone()
                        };
                        outcome.run(&program, arch, options).expect(&who);
                        let complete = outcome.failure.is_none();
                        let failure = outcome.failure.take();
                        let failure = failure.as_deref().map(without_numbers);
                        let cycles = (outcome.cycles.clone(), failure);
                        let simulator = outcome.simulator.as_mut();
                        (cycles, simulator.map(|s| left(s, complete)))
                    });
                    let plain = std::mem::take(&mut ended[1]);
                    assert_eq!(ended[0], plain, "{who} by {}", clock.name());
                }
            }
        }
    }
    println!("{runs} runs");
}

#[test]
fn random_streams_come_out_as_by_the_reference() {
    for seed in 0..count() {
        let design = flows_support::program(seed);
        let clock = Clock::ALL[seed as usize % Clock::ALL.len()];
        let design = Arc::new(Design {
            clock,
            ..(*design).clone()
        });
        agrees(&design, &format!("streams, seed {seed}, {}", clock.name()));
    }
}

#[test]
fn random_code_comes_out_as_by_the_reference() {
    for seed in 0..count() {
        let arch = BOTH[seed as usize % 2];
        let clock = Clock::ALL[seed as usize / 2 % Clock::ALL.len()];
        let design = ahead_support::program(arch, seed);
        let design = Arc::new(Design { clock, ..design });
        agrees(
            &design,
            &format!("code, seed {seed}, {arch:?}, {}", clock.name()),
        );
    }
}
