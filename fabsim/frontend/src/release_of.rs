//! Finding out which release of CSL a program is for.

use crate::layout::block as layout;
use crate::parse::source::Provider;
use crate::{Compilation, CompileOptions};
use fabsim_program::diagnostic::{Diagnostic, Severity};
use fabsim_program::sdk::Sdk;
use std::path::Path;

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
