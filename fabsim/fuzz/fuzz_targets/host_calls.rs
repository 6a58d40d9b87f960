//! Any sequence of host calls on a working program: each is carried out or refused in words.

#![no_main]

use fabsim::csl::{compile_sources, CompileOptions};
use fabsim::host::{Area, CopyFormat, SimOptions, Simulator};
use fabsim::program::{Arch, Design};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

const LAYOUT: &str = include_str!("host_calls_layout.csl");
const PE: &str = include_str!("host_calls_pe.csl");
const CYCLES: u64 = 20_000;
const MOST_CALLS: usize = 40;
const MOST_WORDS: usize = 4096;

#[derive(Arbitrary, Debug)]
struct Run {
    wse3: bool,
    lenient: bool,
    calls: Vec<Call>,
}

#[derive(Arbitrary, Debug)]
enum Call {
    CopyIn(Name, Place, Vec<u32>, Form),
    CopyInWhole(Name, Place, u32, Form),
    CopyOut(Name, Place, Form),
    StreamIn(u8, Place, Vec<u32>, bool),
    StreamInWhole(u8, Place, u32, bool),
    StreamOut(u8, Place, bool),
    Launch(Name, Vec<u32>),
    Stop,
}

#[derive(Arbitrary, Debug)]
enum Name {
    Buffer,
    Small,
    Sum,
    Add,
    Forward,
    Never,
    Other(String),
}

#[derive(Arbitrary, Debug)]
struct Place {
    x: u16,
    y: u16,
    width: u16,
    height: u16,
    per_pe: u16,
    /// Most areas have to lie inside for anything to happen.
    inside: bool,
}

#[derive(Arbitrary, Debug)]
struct Form {
    is16: bool,
    col_major: bool,
}

fuzz_target!(|run: Run| {
    let options = SimOptions {
        max_cycles: CYCLES,
        lenient: run.lenient,
        ..SimOptions::default()
    };
    let Ok(mut simulator) = Simulator::new(design(run.wse3), options) else {
        return;
    };
    for call in run.calls.iter().take(MOST_CALLS) {
        carry_out(&mut simulator, call);
    }
    let _ = simulator.stop();
});

fn design(wse3: bool) -> Arc<Design> {
    static DESIGNS: OnceLock<[Arc<Design>; 2]> = OnceLock::new();
    let designs = DESIGNS.get_or_init(|| [Arch::Wse2, Arch::Wse3].map(compiled));
    Arc::clone(&designs[usize::from(wse3)])
}

fn compiled(arch: Arch) -> Arc<Design> {
    let sources = BTreeMap::from([
        (PathBuf::from("layout.csl"), LAYOUT.to_string()),
        (PathBuf::from("pe.csl"), PE.to_string()),
    ]);
    let options = CompileOptions::new(arch);
    let compilation = compile_sources(&sources, Path::new("layout.csl"), &options);
    match compilation.design {
        Ok(design) => Arc::new(design),
        Err(found) => panic!("{}", found[0].render()),
    }
}

fn carry_out(simulator: &mut Simulator, call: &Call) {
    let mut patient = |_| true;
    match call {
        Call::CopyIn(name, place, data, form) => {
            let _ = simulator.copy_in(&name.text(), place.area(), data, form.format());
        }
        Call::CopyInWhole(name, place, word, form) => {
            let data = place.filled(*word);
            let _ = simulator.copy_in(&name.text(), place.area(), &data, form.format());
        }
        Call::CopyOut(name, place, form) => {
            let _ = simulator.copy_out(&name.text(), place.area(), form.format());
        }
        Call::StreamIn(color, place, data, by_column) => {
            let _ = simulator.stream_in(*color, place.area(), data, *by_column, &mut patient);
        }
        Call::StreamInWhole(color, place, word, by_column) => {
            let data = place.filled(*word);
            let _ = simulator.stream_in(color % 32, place.area(), &data, *by_column, &mut patient);
        }
        Call::StreamOut(color, place, by_column) => {
            let _ = simulator.stream_out(color % 32, place.area(), *by_column, &mut patient);
        }
        Call::Launch(name, args) => {
            let _ = simulator.launch(&name.text(), args);
        }
        Call::Stop => {
            let _ = simulator.stop();
        }
    }
}

impl Name {
    fn text(&self) -> String {
        match self {
            Name::Buffer => "buffer".into(),
            Name::Small => "small".into(),
            Name::Sum => "sum".into(),
            Name::Add => "add".into(),
            Name::Forward => "forward".into(),
            Name::Never => "never".into(),
            Name::Other(text) => text.clone(),
        }
    }
}

impl Place {
    fn area(&self) -> Area {
        if !self.inside {
            return Area {
                x: self.x,
                y: self.y,
                width: self.width,
                height: self.height,
                per_pe: usize::from(self.per_pe),
            };
        }
        let (x, y) = (self.x % 3, self.y % 2);
        Area {
            x,
            y,
            width: 1 + self.width % (3 - x),
            height: 1 + self.height % (2 - y),
            per_pe: usize::from(self.per_pe % 24),
        }
    }

    fn filled(&self, word: u32) -> Vec<u32> {
        let area = self.area();
        let words = usize::from(area.width) * usize::from(area.height) * area.per_pe;
        vec![word; words.min(MOST_WORDS)]
    }
}

impl Form {
    fn format(&self) -> CopyFormat {
        CopyFormat {
            is16: self.is16,
            col_major: self.col_major,
        }
    }
}
