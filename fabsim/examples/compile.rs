//! Compiles a layout file and says what came out:
//! `cargo run --example compile -- layout.csl wse2 width:4,height:1`

use fabsim::csl::{compile_verbose, CompileOptions};
use fabsim::program::Arch;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    let (Some(path), Some(arch)) = (args.get(1), args.get(2)) else {
        eprintln!("usage: compile FILE wse2|wse3 [name:value,...] [--code]");
        return ExitCode::FAILURE;
    };
    let arch = if arch == "wse3" {
        Arch::Wse3
    } else {
        Arch::Wse2
    };
    let mut options = CompileOptions::new(arch);
    for pair in args.get(3).map_or("", String::as_str).split(',') {
        if let Some((name, value)) = pair.split_once(':') {
            options
                .params
                .push((name.into(), value.parse().unwrap_or(0)));
        }
    }
    let start = std::time::Instant::now();
    let compilation = compile_verbose(Path::new(path), &options);
    for remark in compilation.printed.iter().chain(&compilation.warnings) {
        eprintln!("{remark}");
    }
    match compilation.design {
        Ok(design) => {
            println!(
                "{} x {}: {} programs, {} routers, {} exports, {:.2} s",
                design.width,
                design.height,
                design.programs.len(),
                design.routers.len(),
                design.exports.len(),
                start.elapsed().as_secs_f64()
            );
            if args.iter().any(|arg| arg == "--code") {
                println!("{:#?}\n{:#?}", design.programs, design.routers);
            }
            ExitCode::SUCCESS
        }
        Err(diagnostics) => {
            for diagnostic in diagnostics {
                eprintln!("{diagnostic}");
            }
            ExitCode::FAILURE
        }
    }
}
