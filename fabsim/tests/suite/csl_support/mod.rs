//! What the CSL tests share: programs of one PE, and compiling texts.
#![allow(dead_code)]

use fabsim::csl::{compile_sources, CompileOptions};
use fabsim::program::{Arch, Design};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub const BOTH: [Arch; 2] = [Arch::Wse2, Arch::Wse3];

/// Compiles the files; an error is its rendered text.
pub fn compile(files: &[(&str, &str)], options: &CompileOptions) -> Result<Design, String> {
    let sources: BTreeMap<PathBuf, String> = files
        .iter()
        .map(|(name, text)| (PathBuf::from(name), text.to_string()))
        .collect();
    compile_sources(&sources, Path::new(files[0].0), options)
        .design
        .map_err(|diagnostics| {
            let texts: Vec<String> = diagnostics.iter().map(|d| d.render()).collect();
            texts.join("\n")
        })
}

/// A one-PE program: `layout` goes into the layout block, `pe` is the PE's file.
pub fn one_pe(arch: Arch, layout: &str, pe: &str) -> Result<Design, String> {
    let layout = format!(
        "const memcpy = @import_module(\"<memcpy/get_params>\", .{{ .width = 1, .height = 1 }});\n\
         layout {{\n@set_rectangle(1, 1);\n\
         @set_tile_code(0, 0, \"pe.csl\", .{{ .memcpy_params = memcpy.get_params(0) }});\n{layout}\n}}\n"
    );
    let pe = format!("param memcpy_params;\nconst sys = @import_module(\"<memcpy/memcpy>\", memcpy_params);\n{pe}");
    compile(
        &[("layout.csl", &layout), ("pe.csl", &pe)],
        &CompileOptions::new(arch),
    )
}

/// A one-PE program whose exported function `run` has this body, behind these declarations.
pub fn run_body(arch: Arch, globals: &str, body: &str) -> Result<Design, String> {
    let pe =
        format!("{globals}\nfn run() void {{\n{body}\n}}\ncomptime {{ @export_symbol(run); }}\n");
    one_pe(arch, "@export_name(\"run\", fn()void);", &pe)
}

#[track_caller]
pub fn accepts(result: Result<Design, String>) -> Design {
    match result {
        Ok(design) => design,
        Err(text) => panic!("must compile, but:\n{text}"),
    }
}

#[track_caller]
pub fn refuses(result: Result<Design, String>, words: &str) {
    match result {
        Ok(_) => panic!("must be refused with \"{words}\""),
        Err(text) => assert!(text.contains(words), "expected \"{words}\" in:\n{text}"),
    }
}
