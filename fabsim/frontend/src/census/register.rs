//! Registers: asking for them and loading them.

use crate::compiler::{Compiler, Ev, Frame};
use crate::state::census::{Construct, Load, Open, Part, Seen, SeenDsd};
use crate::types::kinds::dsr_type;
use crate::types::value::Value;
use fabsim_program::program::Span;

impl Compiler {
    /// `@get_dsr` has given `result`.
    pub fn see_register(&mut self, f: &Frame, result: &Ev, span: Span) {
        let Ev::Val(Value::Dsr(dsr)) = result else {
            return;
        };
        let (dsr, class) = (*dsr, self.show(dsr_type(*dsr)));
        self.see_text(format!("@get_dsr({class})"), span);
        if dsr.id == 0 {
            self.see_text("@get_dsr of number 0".into(), span);
        }
        let Some(tile) = &mut self.tile else {
            return;
        };
        let here = (span, f.module);
        if *tile.census.taken.entry(dsr).or_insert(here) != here {
            self.see_text("@get_dsr of one register at several places".into(), span);
        }
    }

    /// A load, with its options: these decide together how the register behaves.
    pub fn see_load(&mut self, open: &Open, span: Span) {
        let seen = open.arguments.iter().map(|(_, seen)| seen.clone());
        let seen: Vec<_> = seen.take(2).collect();
        let [Some(Seen::Dsr(dsr)), Some(Seen::Dsd(dsd))] = seen.as_slice() else {
            return;
        };
        let options = open.options();
        let class = self.show(dsr_type(*dsr));
        let given: String = options.iter().map(|name| format!(", .{name}")).collect();
        let role = self.role();
        let mut construct = vec![Part::Text(format!("@load_to_dsr({class}, "))];
        construct.extend(dsd.class.clone());
        construct.push(Part::Text(format!("{given}){role}")));
        self.see(construct, span);
        for flag in &dsd.flags {
            self.see_text(
                format!("@load_to_dsr({class}, {} .{flag}){role}", dsd.name()),
                span,
            );
        }
        self.see_options("of @load_to_dsr", open, span);
        let load = Load {
            dsr: *dsr,
            class: dsd.name(),
            flags: dsd.flags.clone(),
            options,
        };
        if let Some(tile) = &mut self.tile {
            tile.census.loads.entry(load).or_insert(span);
        }
    }

    /// Every option by itself, with the kind of its value.
    pub fn see_options(&mut self, whose: &str, open: &Open, span: Span) {
        for (what, name, kind) in open.set_fields() {
            self.see_text(format!("{what} {whose} .{name} = {kind}"), span);
        }
    }
}

impl Open {
    /// The options that are set, by name.
    pub fn options(&self) -> Vec<String> {
        let set = self.set_fields().filter(|(what, ..)| *what == "option");
        let mut names: Vec<String> = set.map(|(_, name, _)| name.clone()).collect();
        names.sort();
        names
    }
}

impl SeenDsd {
    /// The class alone.
    pub fn name(&self) -> String {
        let first: &Construct = &self.class;
        match first.first() {
            Some(Part::Text(text)) => text.split(' ').next().unwrap_or(text).to_string(),
            _ => String::new(),
        }
    }
}
