//! The releases of CSL: what only some of them have, and finding out which one a program is for.

use super::compiler::Compiler;
use super::intern::Sym;
use super::source::Provider;
use super::types::Ty;
use super::value::{ModuleId, Value};
use super::{layout, Compilation, CompileOptions, Res};
use fabsim_program::diagnostic::{Diagnostic, Severity};
use fabsim_program::program::Span;
use fabsim_program::sdk::Sdk;
use std::path::Path;

/// The color that programs up to SDK 1.2 give for none. [old]
const COLOR_OF_NONE: u16 = 32;

/// What later releases have no longer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// `.LAUNCH` for `<memcpy/get_params>`, and the member of `<memcpy/memcpy>`.
    LaunchColor,
    /// `@get_color` of a number that no route can have: a color that is not there.
    ColorBeyondRoutes,
    /// `@is_arch("wse1")`
    FirstArch,
    /// `<tile_config>`'s member `target`.
    TileTarget,
    /// The type of any struct.
    ComptimeStruct,
    /// `@concat_structs`
    ConcatStructs,
    /// `@load_to_dsr` of a DSD of several dimensions.
    TensorLoad,
}

/// Members that standard modules have in earlier releases only.
pub const OLDER_MEMBERS: [(&str, &str, Form); 1] = [("<tile_config>", "target", Form::TileTarget)];

/// Parameters that standard modules have in earlier releases only.
pub const OLDER_PARAMS: [(&str, &str, Form); 1] =
    [("<memcpy/get_params>", "LAUNCH", Form::LaunchColor)];

/// A form, the words for it, and the last release that has it.
struct Row {
    form: Form,
    what: &'static str,
    last: Sdk,
}

/// Read from the vendor's examples, which have the form up to that release and not in the next. [old]
/// The target in `<tile_config>` is of one program of SDK 1.0. [hpdc] What ends with 1.4 the pages of 2.10
/// have removed, and no example of that release has it. [doc, ex]
const FORMS: [Row; 7] = [
    Row {
        form: Form::ComptimeStruct,
        what: "the type comptime_struct",
        last: Sdk::V1_4,
    },
    Row {
        form: Form::ConcatStructs,
        what: "@concat_structs",
        last: Sdk::V1_4,
    },
    Row {
        form: Form::TensorLoad,
        what: "a mem4d_dsd in @load_to_dsr, not @load_to_dsr_xdsr_sr,",
        last: Sdk::V1_4,
    },
    Row {
        form: Form::TileTarget,
        what: "the member 'target' of <tile_config>",
        last: Sdk::V1_0,
    },
    Row {
        form: Form::LaunchColor,
        what: "a launch color of memcpy",
        last: Sdk::V1_0,
    },
    Row {
        form: Form::ColorBeyondRoutes,
        what: "a color beyond those that routes can have",
        last: Sdk::V1_2,
    },
    Row {
        form: Form::FirstArch,
        what: "the architecture \"wse1\"",
        last: Sdk::V1_2,
    },
];

fn row(form: Form) -> &'static Row {
    let found = FORMS.iter().find(|row| row.form == form);
    found.expect("every form has a row")
}

impl Compiler {
    /// The release the program is compiled for.
    pub fn sdk(&self) -> Sdk {
        self.options.sdk.unwrap_or(Sdk::NEWEST)
    }

    /// Whether the release has a form.
    pub fn has(&self, form: Form) -> bool {
        self.sdk() <= row(form).last
    }

    /// What memcpy gives a program for a stream that it does not use.
    pub fn unused_stream(&self) -> Value {
        match self.has(Form::ColorBeyondRoutes) {
            true => Value::Handle(COLOR_OF_NONE, Ty::COLOR),
            false => Value::Int(-1, Ty::I16),
        }
    }

    /// Refuses a member of a standard module that the release has no longer.
    pub fn require_member(&self, module: ModuleId, name: Sym, span: Span) -> Res<()> {
        let module = self.module(module);
        if !module.standard {
            return Ok(());
        }
        let older = OLDER_MEMBERS.iter().find(|(path, member, _)| {
            module.path == Path::new(path) && *self.text(name) == **member
        });
        older.map_or(Ok(()), |(_, _, form)| self.require(*form, span))
    }

    /// The last release that has a form.
    pub fn last_with(&self, form: Form) -> Sdk {
        row(form).last
    }

    /// `require` for what the simulator's own standard modules may use in any release.
    pub fn require_of_user(&self, form: Form, module: ModuleId, span: Span) -> Res<()> {
        match self.module(module).standard {
            true => Ok(()),
            false => self.require(form, span),
        }
    }

    /// Refuses a form that the release has no longer.
    pub fn require(&self, form: Form, span: Span) -> Res<()> {
        let Row { what, last, .. } = row(form);
        match self.has(form) {
            true => Ok(()),
            false => {
                let text = format!("{what} exists up to SDK {last}, not in {}", self.sdk());
                Err(Box::new(Diagnostic::new(span, text).until(*last)))
            }
        }
    }
}

/// Compiles for the release that the options say, or for the newest that accepts the program: where
/// an error is one of that release and not of earlier ones, an earlier one is tried.
pub fn compile(provider: Provider, path: &Path, mut options: CompileOptions) -> Compilation {
    let found_out = options.sdk.is_none();
    let mut sdk = options.sdk.unwrap_or(Sdk::NEWEST);
    let mut assumed = None;
    loop {
        options.sdk = Some(sdk);
        let mut compiled = layout::compile_design(provider.clone(), path, options.clone());
        compiled.assumed = assumed;
        let Err(errors) = &compiled.design else {
            return compiled;
        };
        let Some((error, earlier)) = oldest(errors, sdk).filter(|_| found_out) else {
            return with_assumption(compiled);
        };
        assumed = Some(note(error, earlier));
        sdk = earlier;
    }
}

/// Errors go with the release they are errors in.
fn with_assumption(mut compiled: Compilation) -> Compilation {
    if let (Err(errors), Some(note)) = (&mut compiled.design, &compiled.assumed) {
        errors.push(note.clone());
    }
    compiled
}

/// The error that leads furthest back before a release, and where it leads.
fn oldest(errors: &[Diagnostic], before: Sdk) -> Option<(&Diagnostic, Sdk)> {
    let of_release = errors
        .iter()
        .filter_map(|error| Some((error, error.until?)));
    of_release
        .filter(|(_, until)| *until < before)
        .min_by_key(|(_, until)| *until)
}

/// Which release is assumed, because of what.
fn note(error: &Diagnostic, sdk: Sdk) -> Diagnostic {
    Diagnostic {
        severity: Severity::Note,
        message: format!(
            "SDK {sdk} is assumed, since {} (say so with --sdk {sdk})",
            error.message
        ),
        until: None,
        ..error.clone()
    }
}
