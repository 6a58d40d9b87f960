//! Compiling and running one program the way the command line and the host do.

use super::program::{Message, Program};
use fabsim::csl::{compile_sources, CompileOptions, Fp16Format};
use fabsim::diagnostic::{Diagnostic, Severity};
use fabsim::host::{Area, CopyFormat, SimOptions, Simulator};
use fabsim::program::{Arch, Clock, Design};
use fabsim::sdk::Sdk;
use std::path::Path;
use std::sync::Arc;

/// More than any program of the suite needs.
const MAX_CYCLES: u64 = 200_000;

/// What came of a program.
pub struct Outcome {
    pub design: Option<Arc<Design>>,
    pub messages: Vec<Message>,
    /// `kind: text` of the run-time error.
    pub failure: Option<String>,
    /// What every launch took, by name; the last one of a name comes first.
    pub cycles: Vec<(String, u64)>,
    pub simulator: Option<Simulator>,
}

fn message(diagnostic: &Diagnostic) -> Message {
    let kind = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    Message {
        line: diagnostic.span.line,
        text: format!("{kind}: {}", diagnostic.message),
    }
}

fn options(program: &Program, arch: Arch, clock: Clock) -> Result<CompileOptions, String> {
    let mut options = CompileOptions::new(arch);
    let number = |text: &str| text.parse().map_err(|_| format!("no number: {text}"));
    if !program.has_own_layout() {
        let size = program.values("size", arch).next().unwrap_or("1 1");
        let (width, height) = size.split_once(' ').ok_or("size: WIDTH HEIGHT")?;
        options.params.push(("width".into(), number(width)?));
        options.params.push(("height".into(), number(height)?));
    }
    options.sdk = match program.values("sdk", arch).next() {
        None => Some(Sdk::NEWEST),
        Some("unsaid") => None,
        Some(name) => Some(Sdk::named(name).ok_or("sdk: 1.0, ... or unsaid")?),
    };
    if let Some(name) = program.values("fp16", arch).next() {
        options.fp16 = Fp16Format::named(name).ok_or("fp16: f16, bf16 or cb16")?;
    }
    options.clock = clock;
    options.strict = program.values("strict", arch).next().is_some();
    for param in program.values("param", arch) {
        let (name, value) = param.split_once(" = ").ok_or("param: NAME = VALUE")?;
        options.params.push((name.into(), number(value)?));
    }
    Ok(options)
}

impl Outcome {
    /// Compiles the program and runs it.
    pub fn of(program: &Program, arch: Arch, clock: Clock) -> Result<Outcome, String> {
        let mut outcome = Outcome::compiled(program, arch, clock)?;
        outcome.run(program, arch, SimOptions::default())?;
        Ok(outcome)
    }

    /// Compiles the program.
    pub fn compiled(program: &Program, arch: Arch, clock: Clock) -> Result<Outcome, String> {
        let options = options(program, arch, clock)?;
        let compilation = compile_sources(&program.sources(), Path::new("layout.csl"), &options);
        let (design, errors) = match compilation.design {
            Ok(design) => (Some(Arc::new(design)), Vec::new()),
            Err(errors) => (None, errors),
        };
        let spoken = errors.iter().chain(&compilation.warnings);
        let spoken = spoken.chain(&compilation.printed);
        let assumed = compilation.assumed.iter().filter(|_| design.is_some());
        let spoken = spoken.chain(assumed);
        let mut messages: Vec<Message> = spoken.map(message).collect();
        messages.sort();
        Ok(Outcome {
            design,
            messages,
            failure: None,
            cycles: Vec::new(),
            simulator: None,
        })
    }

    /// Runs what the header says, from the start, with these options and the header's.
    pub fn run(
        &mut self,
        program: &Program,
        arch: Arch,
        options: SimOptions,
    ) -> Result<(), String> {
        let Some(design) = &self.design else {
            return Ok(());
        };
        let options = SimOptions {
            max_cycles: MAX_CYCLES,
            lenient: program.values("lenient", arch).next().is_some(),
            ..options
        };
        self.cycles.clear();
        let mut failed = None;
        match Simulator::new(Arc::clone(design), options) {
            Err(error) => failed = Some(error),
            Ok(mut simulator) => {
                for launch in launches(program, arch) {
                    let (name, args) = launch?;
                    match simulator.launch(&name, &args) {
                        Ok(report) => self.cycles.insert(0, (name, report.cycles())),
                        Err(error) => {
                            failed = Some(error);
                            break;
                        }
                    }
                }
                if failed.is_none() {
                    failed = simulator.stop().err();
                }
                self.simulator = Some(simulator);
            }
        }
        self.failure = failed.map(|error| format!("{}: {error}", error.kind()));
        Ok(())
    }

    /// The warnings of the run.
    pub fn warnings(&self) -> Result<&[String], String> {
        let simulator = self.simulator.as_ref().ok_or("it did not run")?;
        Ok(&simulator.machine().warnings)
    }

    pub fn size(&self) -> (u16, u16) {
        let design = self.design.as_ref();
        design.map_or((0, 0), |design| (design.width, design.height))
    }

    /// The beginning of an exported array of one PE.
    pub fn read(
        &mut self,
        name: &str,
        at: (u16, u16),
        count: usize,
        is16: bool,
    ) -> Result<Vec<u32>, String> {
        let simulator = self.simulator.as_mut().ok_or("it did not run")?;
        let area = Area {
            x: at.0,
            y: at.1,
            width: 1,
            height: 1,
            per_pe: count,
        };
        let format = CopyFormat {
            is16,
            col_major: false,
        };
        let data = simulator.copy_out(name, area, format);
        data.map_err(|error| error.to_string())
    }
}

/// The launches of the header, or `run` where the program has it.
fn launches(
    program: &Program,
    arch: Arch,
) -> impl Iterator<Item = Result<(String, Vec<u32>), String>> + '_ {
    let said: Vec<&str> = program.values("launch", arch).collect();
    let said = match said.is_empty() && program.text.contains("fn run(") {
        true => vec!["run"],
        false => said,
    };
    said.into_iter().map(|line| {
        let mut words = line.split(' ');
        let name = words.next().unwrap_or_default().to_string();
        let args: Result<Vec<u32>, _> = words.map(str::parse).collect();
        args.map(|args| (name, args))
            .map_err(|_| format!("no arguments: {line}"))
    })
}
