//! The expressions of the parser. From tight to loose: postfix, unary, `* / %`, `+ -`, `<< >>`,
//! `& ^ |`, comparisons, `and`, `or`.

use crate::parse::ast::*;
use crate::parse::lexer::Tok;
use crate::parse::parser::{is_keyword, Parser};
use crate::types::kinds::primitive;
use crate::Res;
use fabsim_program::program::CompareOp;

const COMPARISONS: [(&str, CompareOp); 6] = [
    ("==", CompareOp::Eq),
    ("!=", CompareOp::Ne),
    ("<=", CompareOp::Le),
    (">=", CompareOp::Ge),
    ("<", CompareOp::Lt),
    (">", CompareOp::Gt),
];

/// Binary operators by level, loose to tight.
const LEVELS: [&[(&str, Arith)]; 4] = [
    &[("&", Arith::And), ("^", Arith::Xor), ("|", Arith::Or)],
    &[("<<", Arith::Shl), (">>", Arith::Shr)],
    &[("+", Arith::Add), ("-", Arith::Sub)],
    &[("*", Arith::Mul), ("/", Arith::Div), ("%", Arith::Rem)],
];

impl Parser<'_> {
    pub(crate) fn expr(&mut self) -> Res<ExprId> {
        self.nested(|p| p.or_expr())
    }

    /// A type: like an expression, but a `{` after it belongs to what follows.
    pub(crate) fn type_expr(&mut self) -> Res<ExprId> {
        self.nested(|p| p.postfix(false))
    }

    fn or_expr(&mut self) -> Res<ExprId> {
        let mut left = self.and_expr()?;
        while self.is_word("or") {
            let span = self.span();
            self.advance();
            let right = self.and_expr()?;
            left = self.add_expr(Expr::Or(left, right), span);
        }
        Ok(left)
    }

    fn and_expr(&mut self) -> Res<ExprId> {
        let mut left = self.comparison()?;
        while self.is_word("and") {
            let span = self.span();
            self.advance();
            let right = self.comparison()?;
            left = self.add_expr(Expr::And(left, right), span);
        }
        Ok(left)
    }

    fn comparison(&mut self) -> Res<ExprId> {
        let mut left = self.binary(0)?;
        'next: loop {
            for (op, compare) in COMPARISONS {
                if self.is_op(op) {
                    let span = self.span();
                    self.advance();
                    let right = self.binary(0)?;
                    left = self.add_expr(Expr::Compare(compare, left, right), span);
                    continue 'next;
                }
            }
            return Ok(left);
        }
    }

    fn binary(&mut self, level: usize) -> Res<ExprId> {
        let Some(operators) = LEVELS.get(level) else {
            return self.unary();
        };
        let mut left = self.binary(level + 1)?;
        'next: loop {
            for (op, arith) in operators.iter() {
                if self.is_op(op) {
                    let span = self.span();
                    self.advance();
                    let right = self.binary(level + 1)?;
                    left = self.add_expr(Expr::Arith(*arith, left, right), span);
                    continue 'next;
                }
            }
            return Ok(left);
        }
    }

    fn unary(&mut self) -> Res<ExprId> {
        let span = self.span();
        let op = match self.peek() {
            Tok::Op("-") => Unary::Negate,
            Tok::Op("~") => Unary::BitNot,
            Tok::Op("!") => Unary::Not,
            Tok::Op("&") => return self.address_of(),
            Tok::Word(_) if self.is_word("comptime") => {
                self.advance();
                let inner = self.nested(|p| p.unary())?;
                return Ok(self.add_expr(Expr::Comptime(inner), span));
            }
            _ => return self.postfix(true),
        };
        self.advance();
        let inner = self.nested(|p| p.unary())?;
        Ok(self.add_expr(Expr::Unary(op, inner), span))
    }

    fn address_of(&mut self) -> Res<ExprId> {
        let span = self.span();
        self.expect_op("&")?;
        let inner = self.nested(|p| p.unary())?;
        let mut root = inner;
        while let Expr::Field(next, _) | Expr::Index(next, _) = self.ast.expr(root) {
            root = *next;
        }
        if let Expr::Name(name) = self.ast.expr(root) {
            self.addressed.push(*name);
        }
        Ok(self.add_expr(Expr::AddressOf(inner), span))
    }

    /// A primary expression with its calls, fields and indices; `braces` allows `T{ ... }`.
    fn postfix(&mut self, braces: bool) -> Res<ExprId> {
        let mut expr = self.primary(braces)?;
        loop {
            let span = self.span();
            let next = match self.peek() {
                Tok::Op("(") => {
                    self.advance();
                    let args = self.list(")")?;
                    Expr::Call(expr, args)
                }
                Tok::Op("[") => {
                    self.advance();
                    let indices = self.list("]")?;
                    Expr::Index(expr, indices)
                }
                Tok::Op(".*") => {
                    self.advance();
                    Expr::Deref(expr)
                }
                Tok::Op(".") => {
                    self.advance();
                    let name = self.field_name()?;
                    Expr::Field(expr, name)
                }
                Tok::Op("{") if braces && self.may_be_struct(expr) => {
                    self.advance();
                    let (names, values) = self.struct_fields()?;
                    Expr::Struct(Some(expr), names, values)
                }
                _ => return Ok(expr),
            };
            expr = self.add_expr(next, span);
        }
    }

    /// Field names may be words that are keywords elsewhere.
    fn field_name(&mut self) -> Res<crate::parse::intern::Sym> {
        match self.peek() {
            Tok::Word(sym) => {
                let sym = *sym;
                self.advance();
                Ok(sym)
            }
            _ => self.error(format!("expected a field name, found {}", self.describe())),
        }
    }

    /// Whether `expr {` starts a struct literal: it does when a field or nothing follows.
    fn may_be_struct(&self, expr: ExprId) -> bool {
        let names_a_type = matches!(
            self.ast.expr(expr),
            Expr::Name(_) | Expr::Field(..) | Expr::Call(..) | Expr::StructType(_)
        );
        names_a_type && ((self.is_op_at(1, ".") && self.is_op_at(3, "=")) || self.is_op_at(1, "}"))
    }

    /// Expressions up to `close`, which is eaten.
    fn list(&mut self, close: &str) -> Res<Vec<ExprId>> {
        let mut items = Vec::new();
        while !self.is_op(close) {
            items.push(self.expr()?);
            if !self.eat_op(",") {
                break;
            }
        }
        self.expect_op(close)?;
        Ok(items)
    }

    fn struct_fields(&mut self) -> Res<(std::rc::Rc<[crate::parse::intern::Sym]>, Vec<ExprId>)> {
        let mut names = Vec::new();
        let mut values = Vec::new();
        while !self.is_op("}") {
            self.expect_op(".")?;
            let name = self.field_name()?;
            if names.contains(&name) {
                let name = self.interner.text(name);
                return self.error(format!("the field '{name}' is given twice"));
            }
            names.push(name);
            self.expect_op("=")?;
            values.push(self.expr()?);
            if !self.eat_op(",") {
                break;
            }
        }
        self.expect_op("}")?;
        Ok((names.into(), values))
    }

    fn primary(&mut self, braces: bool) -> Res<ExprId> {
        let span = self.span();
        let expr = match self.peek().clone() {
            Tok::Int(value) => {
                self.advance();
                Expr::Int(value)
            }
            Tok::Float(value) => {
                self.advance();
                Expr::Float(value)
            }
            Tok::Str(bytes) => {
                self.advance();
                Expr::Str(bytes)
            }
            Tok::Builtin(name) => {
                self.advance();
                self.expect_op("(")?;
                let args = self.list(")")?;
                Expr::Builtin(name, args)
            }
            Tok::Op("(") => {
                self.advance();
                let inner = self.expr()?;
                self.expect_op(")")?;
                return Ok(inner);
            }
            Tok::Op(".{") => {
                self.advance();
                self.anonymous()?
            }
            Tok::Op("{") if self.is_op_at(1, "}") => {
                self.advance();
                self.advance();
                Expr::Void
            }
            Tok::Op("{") if braces => Expr::Block(None, self.block()?),
            Tok::Op("[") => return self.bracket_type(braces),
            Tok::Op("*") => {
                self.advance();
                return self.pointer(false, span);
            }
            Tok::Op("|") => self.tensor()?,
            Tok::Word(_) => return self.word_expr(),
            _ => return self.error(format!("expected an expression, found {}", self.describe())),
        };
        Ok(self.add_expr(expr, span))
    }

    /// After `.{`: a struct, a tuple, or the empty one.
    fn anonymous(&mut self) -> Res<Expr> {
        if self.is_op("}") || (self.is_op(".") && self.is_op_at(2, "=")) {
            let (names, values) = self.struct_fields()?;
            return Ok(Expr::Struct(None, names, values));
        }
        Ok(Expr::Tuple(self.list("}")?))
    }

    fn pointer(&mut self, many: bool, span: fabsim_program::program::Span) -> Res<ExprId> {
        let mutable = !self.eat_word("const");
        let pointee = self.type_expr()?;
        let expr = Expr::PointerType {
            many,
            mutable,
            pointee,
        };
        Ok(self.add_expr(expr, span))
    }

    /// `[*]T`, `[dims]T` or `[dims]T{ values }`.
    fn bracket_type(&mut self, braces: bool) -> Res<ExprId> {
        let span = self.span();
        self.expect_op("[")?;
        if self.is_op("*") && self.is_op_at(1, "]") {
            self.advance();
            self.advance();
            return self.pointer(true, span);
        }
        let dims = self.list("]")?;
        if dims.is_empty() {
            return self.error("an array type needs its dimensions");
        }
        let element = self.type_expr()?;
        let ty = self.add_expr(Expr::ArrayType(dims, element), span);
        if !braces || !self.is_op("{") {
            return Ok(ty);
        }
        self.advance();
        let values = self.list("}")?;
        Ok(self.add_expr(Expr::Array(ty, values), span))
    }

    /// `|i, j|{ n, m } -> A[...]`
    fn tensor(&mut self) -> Res<Expr> {
        self.expect_op("|")?;
        let mut variables = Vec::new();
        while !self.is_op("|") {
            variables.push(self.name()?);
            if !self.eat_op(",") {
                break;
            }
        }
        self.expect_op("|")?;
        self.expect_op("{")?;
        let extents = self.list("}")?;
        self.expect_op("->")?;
        let access = self.nested(|p| p.postfix(false))?;
        match self.ast.expr(access) {
            Expr::Index(base, indices) => Ok(Expr::Tensor {
                variables,
                extents,
                base: *base,
                indices: indices.clone(),
            }),
            _ => self.error("a tensor access must end with an indexed array"),
        }
    }

    fn word_expr(&mut self) -> Res<ExprId> {
        let span = self.span();
        if let Some(label) = self.label() {
            if self.is_op("{") {
                let block = self.block()?;
                return Ok(self.add_expr(Expr::Block(Some(label), block), span));
            }
            return self.error("fabsim does not support loops as values");
        }
        let Tok::Word(sym) = *self.peek() else {
            return self.error("expected a name");
        };
        let word = self.interner.text(sym);
        let simple = match &*word {
            "true" => Some(Expr::Bool(true)),
            "false" => Some(Expr::Bool(false)),
            "NORTH" | "EAST" | "SOUTH" | "WEST" | "RAMP" => Some(Expr::Direction(direction(&word))),
            _ => primitive(&word).map(Expr::TypeName),
        };
        if let Some(expr) = simple {
            self.advance();
            let is_type = matches!(expr, Expr::TypeName(_));
            let expr = self.add_expr(expr, span);
            if is_type {
                self.type_words.push((expr, sym));
            }
            return Ok(expr);
        }
        match &*word {
            "if" => self.if_expr(),
            "switch" => self.switch_expr(),
            "struct" => self.struct_type(),
            "enum" => self.enum_type(),
            "fn" | "task" => self.fn_type(),
            "asm" | "union" | "packed" => {
                self.error(format!("fabsim does not support '{word}' yet"))
            }
            word if is_keyword(word) => {
                self.error(format!("expected an expression, found '{word}'"))
            }
            _ => {
                self.advance();
                Ok(self.add_expr(Expr::Name(sym), span))
            }
        }
    }

    fn if_expr(&mut self) -> Res<ExprId> {
        let span = self.span();
        self.expect_word("if")?;
        self.expect_op("(")?;
        let condition = self.expr()?;
        self.expect_op(")")?;
        let then = self.expr()?;
        let otherwise = match self.eat_word("else") {
            true => Some(self.expr()?),
            false => None,
        };
        Ok(self.add_expr(Expr::If(condition, then, otherwise), span))
    }

    fn switch_expr(&mut self) -> Res<ExprId> {
        let span = self.span();
        self.expect_word("switch")?;
        self.expect_op("(")?;
        let subject = self.expr()?;
        self.expect_op(")")?;
        self.expect_op("{")?;
        let mut prongs = Vec::new();
        while !self.is_op("}") {
            let span = self.span();
            let mut values = Vec::new();
            if !self.eat_word("else") {
                loop {
                    values.push(self.expr()?);
                    if !self.eat_op(",") || self.is_op("=>") {
                        break;
                    }
                }
            }
            self.expect_op("=>")?;
            let body = self.nested(|p| p.prong_body())?;
            prongs.push(Prong { values, body, span });
            if !self.eat_op(",") {
                break;
            }
        }
        self.expect_op("}")?;
        Ok(self.add_expr(Expr::Switch(subject, prongs), span))
    }

    /// A block, or a statement without its semicolon; an expression is the value of the arm.
    fn prong_body(&mut self) -> Res<StmtId> {
        let span = self.span();
        if self.is_op("{") && !self.is_op_at(1, "}") {
            let block = self.block()?;
            return Ok(self.add_stmt(Stmt::Block(None, block), span));
        }
        self.simple_statement()
    }

    fn struct_type(&mut self) -> Res<ExprId> {
        let span = self.span();
        self.expect_word("struct")?;
        self.expect_op("{")?;
        let mut fields = Vec::new();
        while !self.is_op("}") {
            let name = self.name()?;
            if fields.iter().any(|(other, _)| *other == name) {
                let name = self.interner.text(name);
                return self.error(format!("the field '{name}' is declared twice"));
            }
            self.expect_op(":")?;
            fields.push((name, self.type_expr()?));
            if !self.eat_op(",") {
                break;
            }
        }
        self.expect_op("}")?;
        Ok(self.add_expr(Expr::StructType(fields), span))
    }

    fn enum_type(&mut self) -> Res<ExprId> {
        let span = self.span();
        self.expect_word("enum")?;
        let base = match self.eat_op("(") {
            true => {
                let base = self.type_expr()?;
                self.expect_op(")")?;
                Some(base)
            }
            false => None,
        };
        self.expect_op("{")?;
        let mut members = Vec::new();
        while !self.is_op("}") {
            let name = self.name()?;
            let value = match self.eat_op("=") {
                true => Some(self.expr()?),
                false => None,
            };
            members.push((name, value));
            if !self.eat_op(",") {
                break;
            }
        }
        self.expect_op("}")?;
        Ok(self.add_expr(Expr::EnumType(base, members), span))
    }

    fn fn_type(&mut self) -> Res<ExprId> {
        let span = self.span();
        self.advance();
        self.expect_op("(")?;
        let mut params = Vec::new();
        while !self.is_op(")") {
            if matches!(self.peek(), Tok::Word(_)) && self.is_op_at(1, ":") {
                self.advance();
                self.advance();
            }
            params.push(self.type_expr()?);
            if !self.eat_op(",") {
                break;
            }
        }
        self.expect_op(")")?;
        let result = self.type_expr()?;
        Ok(self.add_expr(Expr::FnType(params, result), span))
    }
}

/// The number `program::Direction` gives a direction constant.
fn direction(word: &str) -> u8 {
    match word {
        "WEST" => 0,
        "EAST" => 1,
        "SOUTH" => 2,
        "NORTH" => 3,
        _ => 4,
    }
}
