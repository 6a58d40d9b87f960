//! The releases of CSL: what only some of them have.

use crate::builtins::signature::Signature;
use crate::compiler::Compiler;
use crate::parse::intern::Sym;
use crate::state::rule;
use crate::types::kinds::Ty;
use crate::types::value::{ModuleId, Value};
use crate::{err, Res};
use fabsim_program::diagnostic::Diagnostic;
use fabsim_program::program::Span;
use fabsim_program::sdk::Sdk;
use std::path::Path;

/// The color that programs up to SDK 1.2 give for none. [old]
const COLOR_OF_NONE: u16 = 32;

/// What not all releases have, beyond what rows of signatures say of builtins and functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// `.LAUNCH` for `<memcpy/get_params>`, and the member of `<memcpy/memcpy>`.
    LaunchColor,
    /// A color for `@rpc`, `<debug>` without a key.
    RpcOfColor,
    DebugWithoutKey,
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
    /// The second architecture.
    Wse3,
    /// Integers of 64 bits.
    WideInteger,
    /// `inline fn`
    InlineFunction,
    /// `struct { ... }` as a type.
    StructType,
    /// An output queue of WSE-2 with a configuration, which is empty.
    OutputQueueWithoutColor,
    /// Standard modules that came later.
    Control,
    Simprint,
    DsdOps,
    QueueConfig,
}

/// Members that standard modules have in earlier releases only.
pub const OLDER_MEMBERS: [(&str, &str, Form); 1] = [("<tile_config>", "target", Form::TileTarget)];

/// Parameters that standard modules have in earlier releases only.
pub const OLDER_PARAMS: [(&str, &str, Form); 2] = [
    ("<memcpy/get_params>", "LAUNCH", Form::LaunchColor),
    ("<memcpy/memcpy>", "LAUNCH", Form::LaunchColor),
];

/// Parameters that standard modules have had no value for in earlier releases only.
pub const OPTIONAL_PARAMS: [(&str, &str, Form); 1] = [("<debug>", "key", Form::DebugWithoutKey)];

/// Standard modules that not all releases have.
const MODULES: [(&str, Form); 5] = [
    ("<control>", Form::Control),
    ("<simprint>", Form::Simprint),
    ("<dsd_ops>", Form::DsdOps),
    ("<tile_config/input_queue_config>", Form::QueueConfig),
    ("<tile_config/output_queue_config>", Form::QueueConfig),
];

/// Members of standard modules that came later, beyond what their rows say.
const LATER_MEMBERS: [(&str, &str, Form); 3] = [
    ("<tile_config>", "queue_flush", Form::QueueConfig),
    ("<tile_config>", "input_queue_config", Form::QueueConfig),
    ("<tile_config>", "output_queue_config", Form::QueueConfig),
];

/// A form, the words for it, and the first and the last release that have it.
struct Row {
    form: Form,
    what: &'static str,
    first: Sdk,
    last: Sdk,
}

const FIRST: Sdk = Sdk::ALL[0];

/// Ends: read from the vendor's examples, which have the form up to that release and not in the next. [old]
/// The target in `<tile_config>` is of one program of SDK 1.0. [hpdc] What ends with 1.4 the pages of 2.10
/// have removed, and no example of that release has it. [doc, ex] What ends with 0.9 is of a published
/// program that says so.
///
/// Beginnings: of integers of 64 bits, modules and `inline fn` the release notes say so [doc]; the vendor's
/// examples have no file for WSE-3 before 1.1, no struct type and no empty configuration of an output queue
/// before 2.10, and eight files with such types since. [ex, old]
const FORMS: [Row; 18] = [
    Row {
        form: Form::Wse3,
        what: "the architecture wse3",
        first: Sdk::V1_1,
        last: Sdk::NEWEST,
    },
    Row {
        form: Form::WideInteger,
        what: "an integer type of 64 bits",
        first: Sdk::V1_1,
        last: Sdk::NEWEST,
    },
    Row {
        form: Form::InlineFunction,
        what: "an inline fn",
        first: Sdk::V1_3,
        last: Sdk::NEWEST,
    },
    Row {
        form: Form::StructType,
        what: "a struct type",
        first: Sdk::V2_10,
        last: Sdk::NEWEST,
    },
    Row {
        form: Form::OutputQueueWithoutColor,
        what: "@initialize_queue of an output queue with an empty configuration",
        first: Sdk::V2_10,
        last: Sdk::NEWEST,
    },
    Row {
        form: Form::Control,
        what: "the module <control>",
        first: Sdk::V1_2,
        last: Sdk::NEWEST,
    },
    Row {
        form: Form::Simprint,
        what: "the module <simprint>",
        first: Sdk::V1_2,
        last: Sdk::NEWEST,
    },
    Row {
        form: Form::DsdOps,
        what: "the module <dsd_ops>",
        first: Sdk::V1_3,
        last: Sdk::NEWEST,
    },
    Row {
        form: Form::QueueConfig,
        what: "the configuration of queues by <tile_config>",
        first: Sdk::V2_10,
        last: Sdk::NEWEST,
    },
    Row {
        form: Form::ComptimeStruct,
        what: "the type comptime_struct",
        first: FIRST,
        last: Sdk::V1_4,
    },
    Row {
        form: Form::ConcatStructs,
        what: "@concat_structs",
        first: FIRST,
        last: Sdk::V1_4,
    },
    Row {
        form: Form::TensorLoad,
        what: "a mem4d_dsd in @load_to_dsr, not @load_to_dsr_xdsr_sr,",
        first: FIRST,
        last: Sdk::V1_4,
    },
    Row {
        form: Form::TileTarget,
        what: "the member 'target' of <tile_config>",
        first: FIRST,
        last: Sdk::V1_0,
    },
    Row {
        form: Form::LaunchColor,
        what: "a launch color of memcpy",
        first: FIRST,
        last: Sdk::V1_0,
    },
    Row {
        form: Form::RpcOfColor,
        what: "@rpc of a color",
        first: FIRST,
        last: Sdk::V0_9,
    },
    Row {
        form: Form::DebugWithoutKey,
        what: "the module <debug> without a key",
        first: FIRST,
        last: Sdk::V0_9,
    },
    Row {
        form: Form::ColorBeyondRoutes,
        what: "a color beyond those that routes can have",
        first: FIRST,
        last: Sdk::V1_2,
    },
    Row {
        form: Form::FirstArch,
        what: "the architecture \"wse1\"",
        first: FIRST,
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

    /// Whether the release has a form still.
    pub fn has(&self, form: Form) -> bool {
        self.sdk() <= row(form).last
    }

    /// Doubts a form that the release does not have yet.
    pub fn expect(&mut self, form: Form, span: Span) -> Res<()> {
        let Row { what, first, .. } = row(form);
        self.expect_since(*first, what, span)
    }

    /// Takes down what came with a release, and doubts it if that of the program is an earlier one. The simulator's
    /// own standard modules may use it in any release.
    fn expect_since(&mut self, first: Sdk, what: &str, span: Span) -> Res<()> {
        let is_known = first <= self.since && first <= self.sdk();
        if is_known || self.is_inside(span) {
            return Ok(());
        }
        self.since = self.since.max(first);
        match self.sdk() < first {
            true => {
                let text = format!(
                    "{what} came with SDK {first}, {} does not have it",
                    self.sdk()
                );
                self.doubt(rule::RELEASE, span, text)
            }
            false => Ok(()),
        }
    }

    /// The same of a builtin or a function by its row, which `--strict` also keeps to the last release that has it.
    pub fn expect_row(
        &mut self,
        row: &Signature,
        what: impl Fn() -> String,
        span: Span,
    ) -> Res<()> {
        // What the first pages have may be older.
        let dated = Sdk::named(row.since).filter(|sdk| *sdk > Sdk::FIRST_DATED);
        let first = dated.unwrap_or(FIRST);
        if first > self.since || first > self.sdk() {
            return self.expect_since(first, &what(), span);
        }
        match row.until.filter(|_| self.options.strict) {
            Some(last) if !Sdk::named(last).is_some_and(|last| self.sdk() <= last) => err(
                span,
                format!("{} exists up to SDK {last}, not in {}", what(), self.sdk()),
            ),
            _ => Ok(()),
        }
    }

    /// Doubts a standard module that the release does not have yet.
    pub fn expect_module(&mut self, path: &Path, span: Span) -> Res<()> {
        match MODULES.iter().find(|(known, _)| path == Path::new(known)) {
            Some((_, form)) => self.expect(*form, span),
            None => Ok(()),
        }
    }

    /// What memcpy gives a program for a stream that it does not use.
    pub fn unused_stream(&self) -> Value {
        match self.has(Form::ColorBeyondRoutes) {
            true => Value::Handle(COLOR_OF_NONE, Ty::COLOR),
            false => Value::Int(-1, Ty::I16),
        }
    }

    /// Refuses a member of a standard module that the release has no longer, and doubts one that it does not have
    /// yet.
    pub fn require_member(&mut self, module: ModuleId, name: Sym, span: Span) -> Res<()> {
        let module = self.module(module);
        if !module.standard {
            return Ok(());
        }
        let text = self.text(name);
        let is_it = |(path, member, _): &&(&str, &str, Form)| {
            module.path == Path::new(path) && *text == **member
        };
        if let Some((_, _, form)) = OLDER_MEMBERS.iter().find(is_it) {
            return self.require(*form, span);
        }
        match LATER_MEMBERS.iter().find(is_it) {
            Some((_, _, form)) => self.expect(*form, span),
            None => Ok(()),
        }
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
