//! Any text in place of a PE's program: the front end answers with a design or with diagnostics,
//! and a design runs until it ends, is stuck, or has had its cycles.
//!
//! The first byte chooses the architecture. What stands behind a line `//// layout` goes into the
//! layout block; the rest is the PE's file.

#![no_main]

use fabsim::csl::{compile_sources, CompileOptions};
use fabsim::host::{SimOptions, Simulator};
use fabsim::program::{Arch, Design};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const LAYOUT_MARK: &str = "\n//// layout\n";
const COMPTIME_STEPS: u64 = 200_000;
const CYCLES: u64 = 20_000;

fuzz_target!(|data: &[u8]| {
    let Some((first, text)) = data.split_first() else {
        return;
    };
    let arch = if first % 2 == 0 {
        Arch::Wse2
    } else {
        Arch::Wse3
    };
    let text = String::from_utf8_lossy(text);
    let (pe, layout) = text.split_once(LAYOUT_MARK).unwrap_or((&text, EXPORTS));
    if let Some(design) = compiled(arch, pe, layout) {
        ran(design);
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    match seed % 4 {
        0 => fuzzer_mutate(data, size, max_size),
        _ => rearranged(data, size, max_size, seed),
    }
});

const EXPORTS: &str = "@export_name(\"run\", fn()void); @export_name(\"r\", [*]i32, true);";

fn compiled(arch: Arch, pe: &str, layout: &str) -> Option<Arc<Design>> {
    let layout = format!(
        "const memcpy = @import_module(\"<memcpy/get_params>\", .{{ .width = 2, .height = 1 }});\n\
         layout {{\n@set_rectangle(2, 1);\n\
         @set_tile_code(0, 0, \"pe.csl\", .{{ .memcpy_params = memcpy.get_params(0) }});\n\
         @set_tile_code(1, 0, \"pe.csl\", .{{ .memcpy_params = memcpy.get_params(1) }});\n{layout}\n}}\n"
    );
    let pe = format!(
        "param memcpy_params;\nconst sys = @import_module(\"<memcpy/memcpy>\", memcpy_params);\n{pe}"
    );
    let sources = BTreeMap::from([
        (PathBuf::from("layout.csl"), layout),
        (PathBuf::from("pe.csl"), pe),
    ]);
    let mut options = CompileOptions::new(arch);
    options.comptime_step_limit = COMPTIME_STEPS;
    let compilation = compile_sources(&sources, Path::new("layout.csl"), &options);
    match compilation.design {
        Ok(design) => Some(Arc::new(design)),
        Err(diagnostics) => {
            for diagnostic in diagnostics {
                let text = diagnostic.render();
                assert!(!text.contains("internal error"), "{text}");
            }
            None
        }
    }
}

/// Launches every exported function; each may fail in its own way.
fn ran(design: Arc<Design>) {
    let names: Vec<String> = design.exports.iter().map(|e| e.name.clone()).collect();
    let options = SimOptions {
        max_cycles: CYCLES,
        lenient: true,
        ..SimOptions::default()
    };
    let Ok(mut simulator) = Simulator::new(design, options) else {
        return;
    };
    for name in names {
        if simulator.launch(&name, &[]).is_err() {
            break;
        }
    }
    let _ = simulator.stop();
}

/// Words and signs copied over others, left out, or doubled.
fn rearranged(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let old = data[..size].to_vec();
    let mut state = u64::from(seed) | 1;
    let mut next = |n: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % n.max(1)
    };
    let mut pieces: Vec<&[u8]> = pieces(&old);
    for _ in 0..1 + next(4) {
        if pieces.is_empty() {
            break;
        }
        let (from, to) = (next(pieces.len()), next(pieces.len()));
        match next(4) {
            0 => drop(pieces.remove(to)),
            1 => pieces.insert(to, pieces[from]),
            2 => pieces.swap(from, to),
            _ => pieces[to] = pieces[from],
        }
    }
    let new = pieces.concat();
    let length = new.len().min(max_size).min(data.len());
    data[..length].copy_from_slice(&new[..length]);
    length
}

fn pieces(text: &[u8]) -> Vec<&[u8]> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'@';
    text.chunk_by(|a, b| is_word(*a) && is_word(*b)).collect()
}
