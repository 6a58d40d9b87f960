//! Finding rows by name.

use crate::builtins::signature::parse::{self, Section};
use crate::builtins::signature::{Member, Module, Signature};
use fabsim_program::quick_hash::QuickMap;
use std::sync::OnceLock;

/// All rows, read once.
pub struct Table {
    pub sections: &'static [Section],
    pub modules: Vec<Module>,
    /// The forms of every builtin.
    builtins: QuickMap<&'static str, Vec<&'static Signature>>,
}

pub fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let sections = parse::builtins(include_str!("../../../signatures/builtins.txt"));
        let sections: &'static [Section] = Box::leak(sections.into_boxed_slice());
        let modules = parse::modules(include_str!("../../../signatures/modules.txt"));
        let mut builtins: QuickMap<&'static str, Vec<&'static Signature>> = QuickMap::default();
        for row in sections.iter().flat_map(|section| &section.rows) {
            builtins.entry(row.name).or_default().push(row);
        }
        Table {
            sections,
            modules,
            builtins,
        }
    })
}

impl Table {
    /// The forms of a builtin; empty for a name that is none.
    pub fn forms(&self, name: &str) -> &[&'static Signature] {
        self.builtins.get(name).map_or(&[], Vec::as_slice)
    }

    pub fn module(&'static self, name: &str) -> Option<&'static Module> {
        self.modules.iter().find(|module| module.name == name)
    }
}

impl Module {
    pub fn member(&self, name: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.name() == name)
    }

    pub fn function(&self, name: &str) -> Option<&Signature> {
        self.members.iter().find_map(|member| match member {
            Member::Function(signature) if signature.name == name => Some(signature),
            _ => None,
        })
    }
}
