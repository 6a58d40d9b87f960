//! The state of one compilation, and the frame of a function that is being evaluated or lowered.

use crate::builtins::signature::Wanted;
use crate::parse::ast::{Ast, ExprId, FnId};
use crate::parse::intern::{Interner, Sym};
use crate::parse::source::{Provider, SourceMap};
use crate::pulse;
use crate::state::builder::Builder;
use crate::state::census::Census;
use crate::state::layout::LayoutState;
use crate::state::memo::Memo;
use crate::state::messages::{silent, Messages};
use crate::state::module::Module;
use crate::state::tile::TileState;
use crate::types::kinds::{Ty, Types};
use crate::types::value::{ModuleId, Value};
use crate::{err, CompileOptions, Res};
use fabsim_program::program::{Arch, Function, Slot, Span};
use fabsim_program::quick_hash::{QuickMap, QuickSet};
use fabsim_program::sdk::Sdk;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

/// Depth of evaluation (nested expressions, statements and calls) that is refused.
pub const MAX_DEPTH: u32 = 3000;

/// Largest number of elements of a comptime array: more than any PE memory holds.
pub const MAX_ELEMENTS: u64 = 1 << 20;

pub struct Compiler {
    pub options: CompileOptions,
    pub provider: Provider,
    pub sources: SourceMap,
    pub interner: Interner,
    pub types: Types,
    /// Files by path; `None` is one with reported errors.
    pub asts: QuickMap<PathBuf, Option<Rc<Ast>>>,
    pub modules: Vec<Module>,
    pub layout: LayoutState,
    /// The tile program being compiled.
    pub tile: Option<TileState>,
    /// The function being lowered.
    pub builder: Option<Builder>,
    pub stage: Stage,
    pub steps: u64,
    /// Whoever waits is looked at from this step on.
    pub next_look: u64,
    pub depth: u32,
    /// Nested calls at compile time.
    pub calls: u32,
    pub messages: Messages,
    pub memo: Memo,
    /// Forms of before 1.0 were used.
    pub has_older_forms: bool,
    /// The first release that has everything that was used.
    pub since: Sdk,
    /// Where users' text led into the standard module that is being compiled.
    pub caller: Option<Span>,
    /// The functions of all tile programs, each once.
    pub functions: QuickSet<Arc<Function>>,
    /// The constructs the program uses, if they are asked for.
    pub census: Option<Box<Census>>,
}

/// What part of a program is being evaluated: it decides which builtins are allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Global initialisers.
    Global,
    Layout,
    /// A top-level `comptime` block.
    Comptime,
    /// The body of a function.
    Run,
}

/// The result of evaluating an expression.
#[derive(Clone, Debug)]
pub enum Ev {
    /// Known at compile time.
    Val(Value),
    /// A run-time value in a slot.
    Slot(Slot, Ty),
    /// A run-time array or struct at the address in the slot.
    Memory(Slot, Ty),
    /// An anonymous struct some of whose fields are known only at run time.
    Parts(Rc<[Sym]>, Rc<Vec<Ev>>),
    TupleParts(Rc<Vec<Ev>>),
}

#[derive(Clone, Debug)]
pub struct Local {
    pub name: Sym,
    pub ty: Ty,
    pub mutable: bool,
    /// Run-time conditions around the declaration: under further ones a comptime variable is fixed.
    pub guarded: u32,
    pub storage: Storage,
}

#[derive(Clone, Debug)]
pub enum Storage {
    Known(Value),
    Slot(Slot),
    /// Static memory at this address.
    Memory(u32),
    Parts(Ev),
}

/// A block or loop that can be left.
#[derive(Clone, Debug, Default)]
pub struct Target {
    pub label: Option<Sym>,
    pub is_loop: bool,
    /// Evaluated at compile time: leaving it emits no code.
    pub known: bool,
    pub breaks: Vec<usize>,
    pub continues: Vec<usize>,
    pub result: Option<Slot>,
    pub result_ty: Option<Ty>,
    pub expect: Option<Ty>,
    pub value: Option<Value>,
    pub values: u32,
}

/// Where the returns of a function go that is being lowered into its caller.
#[derive(Clone, Debug)]
pub struct InlineReturn {
    pub slot: Slot,
    pub jumps: Vec<usize>,
    pub value: Option<Value>,
    pub returns: u32,
}

pub struct Frame {
    pub ast: Rc<Ast>,
    pub module: ModuleId,
    pub function: Option<FnId>,
    pub locals: Vec<Local>,
    pub targets: Vec<Target>,
    /// Everything must be known; nothing is emitted.
    pub comptime: bool,
    pub result: Option<Ty>,
    pub inline: Option<InlineReturn>,
    /// Number of run-time conditions around the code being lowered: comptime variables made outside
    /// them must not change inside.
    pub guarded: u32,
    /// Where the locals of the innermost block start.
    pub scope: usize,
    /// Bit per parameter that has been read.
    pub reads: u32,
    /// Arguments of builtins whose values are checked when they are there.
    pub wanted: Vec<Wanted>,
}

impl Frame {
    pub fn new(ast: Rc<Ast>, module: ModuleId, comptime: bool) -> Frame {
        Frame {
            ast,
            module,
            function: None,
            locals: Vec::new(),
            targets: Vec::new(),
            comptime,
            result: None,
            inline: None,
            guarded: 0,
            scope: 0,
            reads: 0,
            wanted: Vec::new(),
        }
    }

    pub fn local(&self, name: Sym) -> Option<usize> {
        self.locals.iter().rposition(|local| local.name == name)
    }

    /// Takes down that a local has been read.
    #[inline]
    pub fn mark_read(&mut self, local: usize) {
        self.reads |= 1u32.checked_shl(local as u32).unwrap_or(0);
    }

    /// What the value of `e` has to be checked against, once.
    #[inline]
    pub fn take_wanted(&mut self, e: ExprId) -> Option<Wanted> {
        if self.wanted.is_empty() {
            return None;
        }
        let at = self.wanted.iter().rposition(|wanted| wanted.expr == e)?;
        Some(self.wanted.swap_remove(at))
    }

    pub fn known(&mut self, name: Sym, ty: Ty, value: Value) {
        self.locals.push(Local {
            name,
            ty,
            mutable: false,
            guarded: self.guarded,
            storage: Storage::Known(value),
        });
    }
}

impl Compiler {
    pub fn new(provider: Provider, options: CompileOptions) -> Compiler {
        let census = options.constructs.then(Box::default);
        let has_pulse = options.pulse.is_some();
        Compiler {
            census,
            options,
            provider,
            sources: SourceMap::default(),
            interner: Interner::default(),
            types: Types::default(),
            asts: QuickMap::default(),
            modules: Vec::new(),
            layout: LayoutState::default(),
            tile: None,
            builder: None,
            stage: Stage::Global,
            steps: 0,
            next_look: if has_pulse { 0 } else { u64::MAX },
            depth: 0,
            calls: 0,
            messages: Messages::default(),
            memo: Memo::default(),
            has_older_forms: false,
            since: Sdk::FIRST_DATED,
            caller: None,
            functions: QuickSet::default(),
        }
    }

    pub fn wse3(&self) -> bool {
        self.options.arch == Arch::Wse3
    }

    pub fn arch_name(&self) -> &'static str {
        match self.options.arch {
            Arch::Wse2 => "wse2",
            Arch::Wse3 => "wse3",
        }
    }

    /// Counts one step of evaluation and one level of depth; `leave` undoes the level.
    pub fn enter(&mut self, span: Span) -> Res<()> {
        self.steps += 1;
        self.depth += 1;
        self.memo.deepest = self.memo.deepest.max(self.depth);
        if self.steps > self.options.comptime_step_limit {
            if std::mem::replace(&mut self.messages.stopped, true) {
                return silent(span);
            }
            let limit = self.options.comptime_step_limit;
            return err(
                span,
                format!(
                    "compile-time evaluation takes too many steps, more than {limit}; \
                     --max-comptime-steps raises the limit"
                ),
            );
        }
        if self.steps >= self.next_look {
            self.look(span)?;
        }
        if self.depth > MAX_DEPTH {
            return err(span, "compile-time evaluation recurses too deeply");
        }
        Ok(())
    }

    /// Says how far it is, and ends if whoever waits wants that.
    #[cold]
    fn look(&mut self, span: Span) -> Res<()> {
        let pulse = self.options.pulse.as_ref();
        let Some(why) = pulse.and_then(|pulse| pulse.beat(self.steps)) else {
            self.next_look = self.steps + pulse::STEPS;
            return Ok(());
        };
        match std::mem::replace(&mut self.messages.stopped, true) {
            true => silent(span),
            false => err(span, why),
        }
    }

    pub fn leave(&mut self) {
        self.depth -= 1;
    }

    pub fn text(&self, sym: Sym) -> Rc<str> {
        self.interner.text(sym)
    }

    pub fn show(&self, ty: Ty) -> String {
        self.types.show(ty, &self.interner)
    }

    pub fn sym(&mut self, text: &str) -> Sym {
        self.interner.intern(text)
    }

    /// The tile program being compiled; builtins that need one are errors in the layout.
    pub fn tile(&mut self, span: Span) -> Res<&mut TileState> {
        match self.tile.as_mut() {
            Some(tile) => Ok(tile),
            None => err(
                span,
                "this is only possible in the code of a PE, not in the layout",
            ),
        }
    }

    pub fn builder(&mut self, span: Span) -> Res<&mut Builder> {
        match self.builder.as_mut() {
            Some(builder) => Ok(builder),
            None => err(span, "this value is not known at compile time"),
        }
    }
}
