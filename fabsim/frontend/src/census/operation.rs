//! Operations, by the kinds of their operands. A register is what it is loaded with somewhere in the
//! program, so an operation is described when its tile program is complete.

use crate::compiler::Compiler;
use crate::state::census::{Construct, Load, Open, Operand, Operation, Part, Seen, TileCensus};
use crate::types::kinds::dsr_type;
use fabsim_program::program::{Dsr, DsrFile, Span};
use std::collections::BTreeSet;

impl Compiler {
    pub fn see_operation(&mut self, name: &str, open: Open, span: Span) {
        if self.is_inside(span) {
            return;
        }
        self.see_text(format!("@{name}"), span);
        let is_map = name == "map";
        let options = open.options();
        let mut operands: Vec<Operand> = Vec::new();
        for (_, seen) in &open.arguments {
            let operand = match seen {
                Some(Seen::Dsr(dsr)) => Operand::Dsr(*dsr, self.show(dsr_type(*dsr))),
                Some(Seen::Dsd(dsd)) => Operand::Dsd {
                    class: dsd.class.clone(),
                    name: dsd.name(),
                    flags: dsd.flags.clone(),
                },
                Some(Seen::Other(kind)) if kind == "struct" || kind == "function" => continue,
                Some(Seen::Other(kind)) if kind == "pointer" => Operand::Scalar("pointer"),
                _ => Operand::Scalar("scalar"),
            };
            operands.push(operand);
        }
        // Its output is the last of a @map.
        if is_map && !operands.is_empty() {
            operands.rotate_right(1);
        }
        let on = match operands.iter().any(|one| matches!(one, Operand::Dsr(..))) {
            true => "of an operation on DSRs",
            false => "of an operation on DSDs",
        };
        self.see_options(on, &open, span);
        let operation = Operation {
            is_map,
            is_async: options.iter().any(|name| name == "async"),
            operands,
        };
        if let Some(tile) = &mut self.tile {
            tile.census.operations.entry(operation).or_insert(span);
        }
    }
}

/// What the operations of a complete tile program are.
pub fn constructs(census: &TileCensus) -> Vec<(Construct, Span)> {
    let mut found = Vec::new();
    for (operation, span) in &census.operations {
        let loads = |dsr: &Dsr| -> Vec<&Load> {
            let all = census.loads.keys();
            all.filter(|load| load.dsr == *dsr).collect()
        };
        let kind = operation.kind(&loads);
        let mut texts = vec![operation.form(kind)];
        texts.extend(operation.registers(kind, &loads));
        found.extend(
            texts
                .into_iter()
                .map(|text| (vec![Part::Text(text)], *span)),
        );
        for mut construct in operation
            .operands
            .iter()
            .flat_map(|one| one.special(&loads))
        {
            construct.push(Part::Text(format!(" of {kind}")));
            found.push((construct, *span));
        }
    }
    found
}

type Loads<'a> = dyn Fn(&Dsr) -> Vec<&'a Load> + 'a;

impl Operation {
    fn kind(&self, loads: &Loads) -> &'static str {
        let by_register = |operand: &Operand| match operand {
            Operand::Dsr(dsr, _) => loads(dsr).iter().any(|load| load.has("async")),
            _ => false,
        };
        match (self.is_map, self.is_async) {
            (true, _) => "@map",
            (_, true) => "an asynchronous operation",
            _ if self.operands.iter().any(by_register) => {
                "an operation that only its register makes asynchronous"
            }
            _ => "a synchronous operation",
        }
    }

    /// The operation with the classes of all its operands; what is special about one of them is a
    /// construct of its own.
    fn form(&self, kind: &str) -> String {
        let mut form = format!("{kind}: ");
        for (at, operand) in self.operands.iter().enumerate() {
            form.push_str(["", " <- ", ", "][at.min(2)]);
            form.push_str(match operand {
                Operand::Scalar(what) => what,
                Operand::Dsd { name, .. } if name.starts_with("mem") => "memory",
                Operand::Dsd { name, .. } => name,
                Operand::Dsr(_, class) => class,
            });
        }
        form
    }

    /// What holds between its registers.
    fn registers(&self, kind: &str, loads: &Loads) -> Vec<String> {
        let dsrs = || {
            self.operands.iter().filter_map(|operand| match operand {
                Operand::Dsr(dsr, class) => Some((*dsr, class)),
                _ => None,
            })
        };
        let first = |file| dsrs().find(move |(dsr, _)| dsr.file == file);
        let mut found = Vec::new();
        if let (Some((dest, _)), Some((own, _))) = (first(DsrFile::Dest), first(DsrFile::Src0)) {
            let numbers = match dest.id == own.id {
                true => "equal numbers",
                false => "different numbers",
            };
            found.push(format!(
                "dsr_dest and dsr_src0 of {numbers} in one operation"
            ));
        }
        let Some(Operand::Dsr(target, class)) = self.operands.first() else {
            return found;
        };
        if dsrs().skip(1).any(|(dsr, _)| dsr == *target) {
            found.push(format!("one {class} as destination and source of {kind}"));
            if loads(target).iter().any(|load| load.has("save_address")) {
                found.push(format!(
                    "one {class} .save_address as destination and source of {kind}"
                ));
            }
        }
        found
    }
}

impl Operand {
    /// What the forms of operations leave out: what a DSD is beyond its class, what a register holds.
    fn special(&self, loads: &Loads) -> Vec<Construct> {
        let text = |text: String| vec![Part::Text(text)];
        match self {
            Operand::Scalar(_) => Vec::new(),
            Operand::Dsd { class, name, flags } => {
                let flags = flags.iter().map(|flag| text(format!("{name} .{flag}")));
                flags.chain(std::iter::once(class.clone())).collect()
            }
            Operand::Dsr(dsr, class) => {
                let mut found = BTreeSet::new();
                for load in loads(dsr) {
                    let held = format!("{class} of a {}", load.class);
                    found.extend(load.flags.iter().map(|flag| format!("{held} .{flag}")));
                    if load.has("save_address") {
                        found.insert(format!("{held} .save_address"));
                    }
                    found.insert(held);
                }
                found.into_iter().map(text).collect()
            }
        }
    }
}

impl Load {
    fn has(&self, option: &str) -> bool {
        self.options.iter().any(|name| name == option)
    }
}
