//! Remembering what functions of small integers returned. A layout asks the same of many PEs: where a
//! PE stands in a column depends on one of its coordinates, and is asked for its routes and for its
//! parameters.
//!
//! A call that did nothing but return a value is remembered under the arguments it read: another call
//! with these arguments takes the same way whatever the others are. It counts as many steps and
//! levels as it took, so that the limits of evaluation are met where they would be without this.

use crate::compiler::{Compiler, Frame, Stage, Storage, MAX_DEPTH};
use crate::state::memo::{
    Known, Numbers, Recall, Results, Watch, MAX_PARAMS, MAX_READS, MAX_RESULTS,
};
use crate::types::value::{FnRef, Value};
use crate::Res;

impl Compiler {
    /// The result of an earlier call that went the same way.
    pub fn recall(&mut self, callee: &mut Frame, function: FnRef) -> Recall {
        if self.stage != Stage::Layout {
            return Recall::No;
        }
        let Some(numbers) = numbers(callee) else {
            return Recall::No;
        };
        let calls = self.memo.calls.entry(function).or_default();
        if !calls.worthwhile() {
            return Recall::No;
        }
        for (reads, results) in &calls.results {
            if let Some(known) = results.get(&only(&numbers, *reads)) {
                let steps = self.steps + known.steps;
                let depth = self.depth + known.levels;
                if steps > self.options.comptime_step_limit || depth > MAX_DEPTH {
                    return Recall::No;
                }
                self.steps = steps;
                self.memo.deepest = self.memo.deepest.max(depth);
                calls.hits += 1;
                callee.reads |= reads;
                return Recall::Found(known.value.clone());
            }
        }
        calls.misses += 1;
        Recall::Watched(Watch {
            function,
            numbers,
            effects: self.memo.effects,
            steps: self.steps,
            deepest: std::mem::replace(&mut self.memo.deepest, self.depth),
        })
    }

    /// Ends the watch over a call that returned.
    pub fn remember(&mut self, watch: Watch, callee: &Frame, result: &Res<Value>) {
        let levels = self.memo.deepest - self.depth.min(self.memo.deepest);
        self.memo.deepest = self.memo.deepest.max(watch.deepest);
        let Ok(value) = result else {
            return;
        };
        if self.memo.effects != watch.effects {
            return;
        }
        let known = Known {
            value: value.clone(),
            steps: self.steps - watch.steps,
            levels,
        };
        // Bits of other locals mean nothing here.
        let reads = callee.reads & ((1 << MAX_PARAMS) - 1);
        let calls = self.memo.calls.entry(watch.function).or_default();
        let at = calls.results.iter().position(|(other, _)| *other == reads);
        let at = match at {
            Some(at) => at,
            None if calls.results.len() == MAX_READS => return,
            None => {
                calls.results.push((reads, Results::default()));
                calls.results.len() - 1
            }
        };
        let results = &mut calls.results[at].1;
        if results.len() >= MAX_RESULTS {
            results.clear();
        }
        results.insert(only(&watch.numbers, reads), known);
    }
}

/// The arguments of a call, if all are numbers of types that its declaration states.
fn numbers(callee: &Frame) -> Option<Numbers> {
    let function = callee.function?;
    let params = &callee.ast.functions[function.0 as usize].params;
    if params.len() > MAX_PARAMS || params.iter().any(|param| param.ty.is_none()) {
        return None;
    }
    let mut numbers = Numbers::default();
    for (number, local) in numbers.iter_mut().zip(&callee.locals) {
        *number = match &local.storage {
            Storage::Known(Value::Int(value, _)) => i64::try_from(*value).ok()?,
            Storage::Known(Value::Bool(value)) => i64::from(*value),
            _ => return None,
        };
    }
    Some(numbers)
}

fn only(numbers: &Numbers, reads: u32) -> Numbers {
    let mut kept = *numbers;
    for (n, number) in kept.iter_mut().enumerate() {
        if reads >> n & 1 == 0 {
            *number = 0;
        }
    }
    kept
}
