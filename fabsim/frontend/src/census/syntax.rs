//! What needs no evaluation: statements, operators, types and declarations of users' files.

use crate::compiler::Compiler;
use crate::parse::ast::{Ast, Expr, ExprId, GlobalKind, Stmt, Unary};
use fabsim_program::program::Span;
use std::rc::Rc;

impl Compiler {
    /// Takes down the syntax of every file but those of the standard modules.
    pub fn census_syntax(&mut self) {
        if self.census.is_none() {
            return;
        }
        let asts: Vec<Rc<Ast>> = self.asts.values().flatten().cloned().collect();
        for ast in asts {
            let found = expressions(&ast)
                .chain(statements(&ast))
                .chain(declarations(&ast));
            let types = self.parameter_types(&ast);
            for (text, span) in found.chain(types) {
                self.see_syntax(text, span);
            }
        }
    }

    /// The types that parameters of modules and functions are declared with.
    fn parameter_types(&self, ast: &Ast) -> Vec<(String, Span)> {
        let modules = ast.globals.iter().filter_map(|one| match one.kind {
            GlobalKind::Param => one.ty.map(|ty| ("param", ty, one.span)),
            _ => None,
        });
        let functions = ast.functions.iter().flat_map(|one| {
            let typed = one
                .params
                .iter()
                .filter_map(|of| of.ty.map(|ty| (ty, of.span)));
            typed.map(|(ty, span)| ("parameter of a function", ty, span))
        });
        modules
            .chain(functions)
            .map(|(what, ty, span)| (format!("{what} of type {}", self.type_text(ast, ty)), span))
            .collect()
    }

    /// A type as a declaration names it: numbers are alike, as are types that users declare.
    fn type_text(&self, ast: &Ast, e: ExprId) -> String {
        match ast.expr(e) {
            Expr::TypeName(ty) if ty.is_any_int() => "int".into(),
            Expr::TypeName(ty) if ty.is_any_float() => "float".into(),
            Expr::TypeName(ty) => self.show(*ty),
            Expr::ArrayType(_, of) => format!("array of {}", self.type_text(ast, *of)),
            Expr::PointerType {
                many: true,
                pointee,
                ..
            } => {
                format!("[*]{}", self.type_text(ast, *pointee))
            }
            Expr::PointerType { pointee, .. } => format!("*{}", self.type_text(ast, *pointee)),
            Expr::FnType(..) => "fn".into(),
            Expr::Field(..) => "a module's type".into(),
            Expr::Name(_) => "a declared type".into(),
            _ => "a computed type".into(),
        }
    }

    fn see_syntax(&mut self, text: String, span: Span) {
        if self.is_inside(span) {
            return;
        }
        if let Some(census) = &mut self.census {
            census.add(text, span);
        }
    }
}

fn expressions(ast: &Ast) -> impl Iterator<Item = (String, Span)> + '_ {
    ast.exprs.iter().filter_map(|(expr, span)| {
        let what = match expr {
            Expr::Arith(op, ..) => format!("operator {op:?}"),
            Expr::Unary(Unary::Negate, _) => "operator -x".into(),
            Expr::Unary(Unary::BitNot, _) => "operator ~x".into(),
            Expr::Unary(Unary::Not, _) => "operator !x".into(),
            Expr::Compare(op, ..) => format!("operator {op:?}"),
            Expr::And(..) => "operator and".into(),
            Expr::Or(..) => "operator or".into(),
            Expr::Deref(_) => "operator .*".into(),
            Expr::AddressOf(_) => "operator &x".into(),
            Expr::Struct(Some(_), ..) => "struct literal with a type".into(),
            Expr::Struct(None, ..) => "struct literal".into(),
            Expr::Tuple(_) => "tuple".into(),
            Expr::Array(..) => "array literal".into(),
            Expr::PointerType { many: true, .. } => "type [*]T".into(),
            Expr::PointerType { many: false, .. } => "type *T".into(),
            Expr::FnType(..) => "type fn".into(),
            Expr::StructType(_) => "type struct".into(),
            Expr::EnumType(..) => "type enum".into(),
            Expr::Comptime(_) => "comptime expression".into(),
            Expr::If(..) => "if as a value".into(),
            Expr::Switch(..) => "switch".into(),
            Expr::Block(..) => "block as a value".into(),
            Expr::Tensor { .. } => "tensor access".into(),
            _ => return None,
        };
        Some((what, *span))
    })
}

fn statements(ast: &Ast) -> impl Iterator<Item = (String, Span)> + '_ {
    ast.stmts.iter().filter_map(|(stmt, span)| {
        let what = match stmt {
            Stmt::Declare(declare) if declare.comptime => "comptime variable".into(),
            Stmt::Declare(declare) if declare.mutable => "local var".into(),
            Stmt::Declare(_) => "local const".into(),
            Stmt::Assign(None, ..) => "operator =".into(),
            Stmt::Assign(Some(op), ..) => format!("operator {op:?}="),
            Stmt::If(..) => "if".into(),
            Stmt::For(one) if one.inline => "inline for".into(),
            Stmt::For(_) => "for".into(),
            Stmt::While(one) if one.inline => "inline while".into(),
            Stmt::While(_) => "while".into(),
            Stmt::Return(_) => "return".into(),
            Stmt::Break(..) => "break".into(),
            Stmt::Continue(_) => "continue".into(),
            Stmt::Comptime(_) => "comptime statement".into(),
            Stmt::Expr(_) | Stmt::Block(..) => return None,
        };
        Some((what, *span))
    })
}

fn declarations(ast: &Ast) -> impl Iterator<Item = (String, Span)> + '_ {
    let functions = ast.functions.iter().flat_map(|one| {
        let kind = match (one.task, one.inline) {
            (true, _) => "task",
            (_, true) => "inline fn",
            _ => "fn",
        };
        let params = one.params.iter().filter_map(|param| {
            let what = match (param.comptime, param.ty) {
                (true, _) => "comptime parameter of a function",
                (_, None) => "anytype parameter of a function",
                _ => return None,
            };
            Some((what.to_string(), param.span))
        });
        std::iter::once((kind.to_string(), one.span)).chain(params)
    });
    let globals = ast.globals.iter().filter_map(|one| {
        let kind = match (one.kind, one.ty, one.value) {
            (GlobalKind::Param, None, None) => "param",
            (GlobalKind::Param, None, Some(_)) => "param with a default",
            (GlobalKind::Param, Some(_), None) => "param with a type",
            (GlobalKind::Param, Some(_), Some(_)) => "param with a type and a default",
            (GlobalKind::Const, ..) => "global const",
            (GlobalKind::Var, ..) => "global var",
            (GlobalKind::Function(_), ..) => return None,
        };
        let extra = match (one.external, one.exported, one.align) {
            (true, ..) => "extern ",
            (_, true, _) => "export ",
            (_, _, Some(_)) => "aligned ",
            _ => "",
        };
        Some((format!("{extra}{kind}"), one.span))
    });
    functions.chain(globals)
}
