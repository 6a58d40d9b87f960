//! From slot code to code that is run: a control-flow graph, passes over it, and the cycles that each
//! instruction takes.
//!
//! The front end writes slot code as a simple compiler would; the vendor's compiler optimises. What it
//! was seen to do is done here, pass by pass, so that cycles can be counted on the result. In the form
//! with slots (`cfg`): `inline`, `unroll`, `rotate`. In single assignment form (`graph`): `fold`,
//! `common` (with `alias`), `hoist`, `predicate`, `dead`. Then `slots` and `emit` make `code` of it, with
//! `cost`. `order` has orders, dominators and loops; `operands` what instructions read and write;
//! `scalar` the arithmetic.
//!
//! Two things a compiler might do are left out, as published code shows them not done: pointers
//! that walk through arrays in place of indexes (a loop over one array has 8 instructions), and
//! reordering for the pipeline.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

pub mod alias;
pub mod cfg;
pub mod code;
pub mod common;
pub mod cost;
pub mod dead;
pub mod emit;
pub mod fold;
pub mod graph;
pub mod hoist;
pub mod inline;
pub mod operands;
pub mod order;
pub mod predicate;
pub mod rotate;
pub mod scalar;
pub mod slots;
pub mod unroll;

use crate::alias::Variables;
use crate::cfg::Cfg;
use crate::code::Code;
use crate::cost::ScalarTiming;
use crate::graph::Graph;
use crate::inline::Callees;
use fabsim_program::program::{Function, FunctionId, Inst, SymbolKind, TileProgram};
use fabsim_program::quick_hash::QuickMap;
use std::sync::Arc;

/// Functions of more instructions are run as they were written: a compiler's patience.
const MOST: usize = 30_000;
/// Loops unrolled in a function at most.
const UNROLLINGS: usize = 64;

/// Lowers programs; those that share functions share their code.
#[derive(Debug)]
pub struct Lowering {
    table: ScalarTiming,
    known: QuickMap<Key, Arc<Code>>,
}

/// What a function's code depends on: itself and all it calls, by identity, and where variables are.
type Key = (Vec<usize>, u64);

impl Lowering {
    /// Lowers by this table of costs.
    pub fn new(table: ScalarTiming) -> Lowering {
        Lowering {
            table,
            known: QuickMap::default(),
        }
    }

    /// What it lowers by.
    pub fn table(&self) -> &ScalarTiming {
        &self.table
    }

    /// The code of the functions of a program; that of one that nothing can call any more, since its
    /// calls are all inlined, is empty.
    pub fn lower(&mut self, program: &TileProgram) -> Vec<Arc<Code>> {
        if self.table.optimized == 0 {
            let functions = program.functions.iter();
            return functions.map(|function| self.plain(function)).collect();
        }
        let callees = Callees::new(&program.functions);
        let variables = Variables::new(&program.variables);
        let mut codes = vec![None; program.functions.len()];
        let mut wanted = entries(program);
        while let Some(id) = wanted.pop() {
            if let Some(code @ None) = codes.get_mut(id.0 as usize) {
                let found = self.optimized(&callees, &variables, id);
                wanted.extend(called(&found.insts));
                *code = Some(found);
            }
        }
        codes.into_iter().map(Option::unwrap_or_default).collect()
    }

    fn plain(&mut self, function: &Arc<Function>) -> Arc<Code> {
        let key = (vec![Arc::as_ptr(function) as usize], 0);
        let table = &self.table;
        let known = self.known.entry(key);
        Arc::clone(known.or_insert_with(|| Arc::new(Code::plain(function, table))))
    }

    fn optimized(&mut self, callees: &Callees, variables: &Variables, id: FunctionId) -> Arc<Code> {
        let key = (callees.identity(id), variables.identity());
        if let Some(known) = self.known.get(&key) {
            return Arc::clone(known);
        }
        let passed = optimize(inline::expand(callees, id), variables, &self.table);
        let code = match passed {
            Some(mut code) => {
                let own = code.origins.iter_mut().filter(|o| o.function == id.0);
                own.for_each(|origin| origin.function = code::OWN);
                code
            }
            None => Code::plain(callees.function(id), &self.table),
        };
        let code = Arc::new(code);
        self.known.insert(key, Arc::clone(&code));
        code
    }
}

/// The functions that something else than a call by name begins: tasks, handlers, the host; all, where
/// there are calls through pointers.
fn entries(program: &TileProgram) -> Vec<FunctionId> {
    let mut insts = program.functions.iter().flat_map(|f| &f.code);
    if insts.any(|inst| matches!(inst, Inst::CallPointer { .. })) {
        return (0..program.functions.len() as u32)
            .map(FunctionId)
            .collect();
    }
    let tasks = program.tasks.iter().map(|task| task.function);
    let torn_down = program.teardown_handlers.iter().map(|&(_, id)| id);
    let emptied = program.empty_queue_handlers.iter().map(|&(_, _, id)| id);
    let launched = program
        .symbols
        .iter()
        .filter_map(|symbol| match symbol.kind {
            SymbolKind::Function(id) => Some(id),
            SymbolKind::Pointer { .. } => None,
        });
    tasks
        .chain(torn_down)
        .chain(emptied)
        .chain(launched)
        .collect()
}

/// The functions that code calls by name, or for each element of a `@map`.
fn called(insts: &[Inst]) -> impl Iterator<Item = FunctionId> + '_ {
    insts.iter().filter_map(|inst| match inst {
        Inst::Call { function, .. } => Some(*function),
        Inst::Map(map) => Some(map.function),
        _ => None,
    })
}

/// The code of a function after all passes; none if it is too large.
fn optimize(mut cfg: Cfg, variables: &Variables, table: &ScalarTiming) -> Option<Code> {
    cfg.tidy();
    for _ in 0..UNROLLINGS {
        if cfg.size() > MOST {
            return None;
        }
        let mut graph = Graph::new(&cfg);
        clean(&mut graph, variables);
        if !unroll::one(&mut cfg, &graph) {
            break;
        }
        cfg.tidy();
    }
    rotate::run(&mut cfg);
    cfg.tidy();
    let mut graph = Graph::new(&cfg);
    clean(&mut graph, variables);
    hoist::run(&mut graph, variables);
    predicate::run(&mut graph);
    clean(&mut graph, variables);
    emit::run(&graph, table)
}

fn clean(graph: &mut Graph, variables: &Variables) {
    fold::run(graph);
    common::run(graph, variables);
    fold::run(graph);
    dead::run(graph);
}
