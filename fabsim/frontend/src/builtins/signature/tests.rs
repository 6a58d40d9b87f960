//! The table against the standard modules' text, and against the page made of it.

use crate::builtins::signature::table::table;
use crate::builtins::signature::{Knowledge, Member, Module};
use crate::parse::ast::{Ast, Expr, GlobalKind};
use crate::parse::intern::Interner;
use crate::parse::lexer;
use crate::parse::library;
use crate::parse::parser;
use crate::state::rule;
use std::path::Path;

fn parsed(module: &Module, interner: &mut Interner) -> Ast {
    let text = library::source(module.name).unwrap_or_default();
    let tokens = lexer::lex(text, 0, interner).expect("standard modules are CSL");
    let (ast, errors) = parser::parse(&tokens, 0, interner);
    assert!(errors.is_empty(), "<{}>: {errors:?}", module.name);
    ast
}

/// What a member of a module's row and its declaration disagree about.
fn disagreement(member: &Member, ast: &Ast, interner: &mut Interner) -> Option<String> {
    let name = interner.intern(member.name());
    let declared = ast.globals.iter().find(|global| global.name == name);
    let Some(declared) = declared else {
        return Some("it is not declared".into());
    };
    match (member, declared.kind) {
        (Member::Function(row), GlobalKind::Function(function)) => {
            let params = &ast.functions[function.0 as usize].params;
            if params.len() != row.arguments.len() {
                return Some(format!("it takes {} arguments", params.len()));
            }
            let differs =
                |(param, argument): (
                    &crate::parse::ast::Param,
                    &crate::builtins::signature::Argument,
                )| { param.comptime != (argument.knowledge != Knowledge::Any) };
            let mut pairs = params.iter().zip(&row.arguments);
            pairs
                .any(differs)
                .then(|| "an argument is comptime in one and not in the other".into())
        }
        (Member::Function(_), _) => Some("it is no function".into()),
        (Member::Enum(_, _, wanted), _) => {
            let Some(Expr::EnumType(_, members)) = declared.value.map(|e| ast.expr(e)) else {
                return Some("it is no enum".into());
            };
            let found: Vec<String> = members
                .iter()
                .map(|(name, _)| interner.text(*name).to_string())
                .collect();
            (found != *wanted).then(|| format!("its members are {found:?}"))
        }
        (Member::Other(..), _) => None,
    }
}

fn is_there(member: &Member) -> bool {
    match member {
        Member::Function(row) => !row.unsupported,
        Member::Other(_, what) => !what.ends_with("not supported"),
        Member::Enum(..) => true,
    }
}

#[test]
fn the_rows_of_a_module_are_what_it_declares() {
    let mut interner = Interner::default();
    let mut wrong = Vec::new();
    for module in &table().modules {
        if library::source(module.name).is_none() {
            assert!(!module.members.iter().any(|m| matches!(m, Member::Enum(..))));
            assert!(module.members.iter().all(|member| !is_there(member)));
            continue;
        }
        let ast = parsed(module, &mut interner);
        for member in module.members.iter().filter(|member| is_there(member)) {
            if let Some(why) = disagreement(member, &ast, &mut interner) {
                wrong.push(format!("<{}> {}: {why}", module.name, member.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_standard_module_has_rows() {
    for (name, _) in library::MODULES {
        assert!(table().module(name).is_some(), "<{name}> has no rows");
    }
}

#[test]
fn the_page_is_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/csl-signatures.md");
    let page = crate::builtins::signature::page();
    if std::env::var_os("REFRESH").is_some() {
        std::fs::write(&path, &page).expect("docs/ can be written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == page,
        "docs/csl-signatures.md is not the table: run 'make signatures'"
    );
}

#[test]
fn every_rule_in_doubt_has_its_own_code_and_statement() {
    let page = include_str!("../../../../../docs/machine.md");
    for (n, rule) in rule::ALL.iter().enumerate() {
        let stated = format!("**{}**", rule.stated);
        assert!(page.contains(&stated), "machine.md lacks {}", rule.stated);
        assert!(rule::ALL[..n].iter().all(|other| other.code != rule.code));
    }
}
