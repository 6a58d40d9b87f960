//! CSL text in, `program::Design` out.
//!
//! In reading order: `parse` turns text into trees; `types` are what programs compute with at compile time;
//! `compiler` holds the state of a compilation, whose parts are in `state` and know nothing of each other's work;
//! `evaluate` walks the trees, computing what is known and emitting code for what is not; `builtins` are the
//! builtins (`dialect` what the releases since 1.0 differ in, and `release_of` finds the program's), of which `census`
//! keeps a list; `layout` drives the two halves of a program; `messages` and `strict` (what is in doubt) are what
//! is said on the way, and `pulse` is for whoever waits for the end.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod builtins;
mod census;
mod compiler;
mod dialect;
mod evaluate;
mod layout;
mod messages;
mod parse;
mod pulse;
mod release_of;
mod state;
mod strict;
mod types;

use fabsim_program::diagnostic::Diagnostic;
use fabsim_program::program::{Arch, Clock, Design, ScalarType, Span};
use fabsim_program::sdk::Sdk;
use fabsim_program::switch::Switch;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use builtins::signature::page as signatures_page;
pub use pulse::Pulse;
pub use state::messages::told_once;

type Res<T> = Result<T, Box<Diagnostic>>;

/// An error at a place.
fn err<T>(span: Span, message: impl Into<String>) -> Res<T> {
    Err(Box::new(Diagnostic::new(span, message)))
}

/// What a float of 16 bits is in the whole program: vector operations know one format.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fp16Format {
    #[default]
    /// IEEE 754.
    F16,
    /// The upper half of an f32.
    Bf16,
    /// Six bits of exponent, nine of fraction.
    Cb16,
}

impl Fp16Format {
    /// The format of a name on the command line.
    pub fn named(name: &str) -> Option<Fp16Format> {
        match name {
            "f16" => Some(Fp16Format::F16),
            "bf16" => Some(Fp16Format::Bf16),
            "cb16" => Some(Fp16Format::Cb16),
            _ => None,
        }
    }

    fn ty(self) -> types::kinds::Ty {
        match self {
            Fp16Format::F16 => types::kinds::Ty::F16,
            Fp16Format::Bf16 => types::kinds::Ty::BF16,
            Fp16Format::Cb16 => types::kinds::Ty::CB16,
        }
    }

    fn scalar(self) -> ScalarType {
        match self {
            Fp16Format::F16 => ScalarType::F16,
            Fp16Format::Bf16 => ScalarType::Bf16,
            Fp16Format::Cb16 => ScalarType::Cb16,
        }
    }
}

/// Steps of compile-time evaluation that a program may take where nothing else is said.
pub const COMPTIME_STEPS: u64 = 4_000_000_000;

/// What `cslc` takes on its command line.
#[derive(Clone, Debug)]
pub struct CompileOptions {
    /// The target.
    pub arch: Arch,
    /// The release the program is written for; `None`: the newest that accepts it.
    pub sdk: Option<Sdk>,
    /// Whose cycles the program will count.
    pub clock: Clock,
    /// Numbers other than those of the clock, by name.
    pub constants: Vec<(String, u64)>,
    /// Rules of docs/machine.md that do not hold: another machine, for tests of what looks for such.
    pub off: Vec<&'static Switch>,
    /// `None`: the smallest legal ones.
    pub fabric_dims: Option<(u16, u16)>,
    /// Where the program's north-west PE is in the fabric.
    pub fabric_offsets: Option<(u16, u16)>,
    /// Values of the root file's parameters.
    pub params: Vec<(String, i64)>,
    /// Colors of the root file, by name: parameters of type `color`, and `color` declarations.
    pub colors: Vec<(String, i64)>,
    /// A number given to a parameter of type `color` of a PE's code is the color of that number.
    pub colors_by_number: bool,
    /// How deep calls at compile time may be nested, if that is limited.
    pub comptime_func_depth_limit: Option<u32>,
    /// Where `<name>` modules are looked for that are not part of the standard library.
    pub import_paths: Vec<PathBuf>,
    /// The most iterations of an `inline for`.
    pub max_inlined_iterations: u32,
    /// Steps of compile-time evaluation before the program is refused.
    pub comptime_step_limit: u64,
    /// Whether memcpy is beside the program.
    pub memcpy: bool,
    /// Channels between host and fabric.
    pub channels: u32,
    /// The float format of 16 bits.
    pub fp16: Fp16Format,
    /// Rules that the sources leave in doubt are errors, not warnings.
    pub strict: bool,
    /// The constructs of the program are kept, `Compilation::constructs`.
    pub constructs: bool,
    /// Whoever looks how far it is and may stop it.
    pub pulse: Option<Arc<Pulse>>,
}

impl CompileOptions {
    /// The defaults for a target.
    pub fn new(arch: Arch) -> CompileOptions {
        CompileOptions {
            arch,
            sdk: None,
            clock: Clock::default(),
            constants: Vec::new(),
            off: Vec::new(),
            fabric_dims: None,
            fabric_offsets: None,
            params: Vec::new(),
            colors: Vec::new(),
            colors_by_number: false,
            comptime_func_depth_limit: None,
            import_paths: Vec::new(),
            max_inlined_iterations: 50,
            comptime_step_limit: COMPTIME_STEPS,
            memcpy: true,
            channels: 1,
            fp16: Fp16Format::F16,
            strict: false,
            constructs: false,
            pulse: None,
        }
    }
}

/// Everything a compilation has to say.
#[derive(Debug)]
pub struct Compilation {
    /// What was compiled, or every problem found.
    pub design: Result<Design, Vec<Diagnostic>>,
    /// What is in doubt, but compiles.
    pub warnings: Vec<Diagnostic>,
    /// The lines of `@comptime_print`, with the places that print them.
    pub printed: Vec<Diagnostic>,
    /// What the program uses of the language, each construct with its first place, if that was asked
    /// for.
    pub constructs: Vec<Diagnostic>,
    /// The release it was compiled for.
    pub sdk: Sdk,
    /// The first release that has everything it uses, as far as is known.
    pub since: Sdk,
    /// Which release was assumed, and why, where none was said and it is not the newest.
    pub assumed: Option<Diagnostic>,
}

/// Compiles the program whose layout is in the file `path`.
pub fn compile(path: &Path, options: &CompileOptions) -> Result<Design, Vec<Diagnostic>> {
    compile_verbose(path, options).design
}

/// Like `compile`, with warnings and printed lines.
pub fn compile_verbose(path: &Path, options: &CompileOptions) -> Compilation {
    run(parse::source::Provider::Disk, path, options)
}

/// Like `compile_verbose`, with all files given as text; `path` is the key of the layout file.
pub fn compile_sources(
    sources: &BTreeMap<PathBuf, String>,
    path: &Path,
    options: &CompileOptions,
) -> Compilation {
    run(
        parse::source::Provider::Memory(sources.clone()),
        path,
        options,
    )
}

/// Stack of the compiler's thread. Evaluation recurses; its depth is bounded by
/// `compiler::MAX_DEPTH`, and this is what that depth needs, with room to spare in debug builds.
const STACK_BYTES: usize = 512 << 20;

fn run(provider: parse::source::Provider, path: &Path, options: &CompileOptions) -> Compilation {
    let (path, options) = (path.to_path_buf(), options.clone());
    let failed = |text: &str| Compilation {
        design: Err(vec![Diagnostic::new(Span::default(), text)]),
        warnings: Vec::new(),
        printed: Vec::new(),
        constructs: Vec::new(),
        sdk: Sdk::NEWEST,
        since: Sdk::NEWEST,
        assumed: None,
    };
    // WebAssembly has no threads; there the stack is what the browser gives.
    if cfg!(target_family = "wasm") {
        return release_of::compile(provider, &path, options);
    }
    let thread = std::thread::Builder::new()
        .name("csl".into())
        .stack_size(STACK_BYTES)
        .spawn(move || release_of::compile(provider, &path, options))
        .map(|thread| thread.join());
    match thread {
        Ok(Ok(compilation)) => compilation,
        Ok(Err(_)) => failed("internal error: the compiler panicked"),
        Err(_) => failed("cannot start the compiler: no memory for its stack"),
    }
}
