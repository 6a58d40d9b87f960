//! The statements of the parser.

use crate::parse::ast::*;
use crate::parse::intern::Sym;
use crate::parse::lexer::Tok;
use crate::parse::parser::{is_keyword, Parser};
use crate::Res;

const ASSIGNMENTS: [(&str, Option<Arith>); 11] = [
    ("=", None),
    ("+=", Some(Arith::Add)),
    ("-=", Some(Arith::Sub)),
    ("*=", Some(Arith::Mul)),
    ("/=", Some(Arith::Div)),
    ("%=", Some(Arith::Rem)),
    ("<<=", Some(Arith::Shl)),
    (">>=", Some(Arith::Shr)),
    ("&=", Some(Arith::And)),
    ("|=", Some(Arith::Or)),
    ("^=", Some(Arith::Xor)),
];

impl Parser<'_> {
    /// One statement with its semicolon.
    pub(crate) fn statement(&mut self) -> Res<StmtId> {
        let span = self.span();
        let label = self.label();
        if self.is_op("{") && !(self.is_op_at(1, "}") && self.is_op_at(2, ";")) {
            let block = self.block()?;
            return Ok(self.add_stmt(Stmt::Block(label, block), span));
        }
        let inline =
            (self.is_word_at(1, "for") || self.is_word_at(1, "while")) && self.eat_word("inline");
        if self.is_word("for") {
            return self.for_statement(label, inline);
        }
        if self.is_word("while") {
            return self.while_statement(label, inline);
        }
        if let Some(label) = label {
            let label = self.interner.text(label);
            return self.error(format!(
                "the label '{label}' must stand before a block or a loop"
            ));
        }
        if self.is_word("if") {
            return self.if_statement();
        }
        if self.is_word("switch") {
            let expr = self.expr()?;
            self.eat_op(";");
            return Ok(self.add_stmt(Stmt::Expr(expr), span));
        }
        if self.is_word("comptime") && self.is_op_at(1, "{") {
            self.advance();
            let block = self.block()?;
            let inner = self.add_stmt(Stmt::Block(None, block), span);
            return Ok(self.add_stmt(Stmt::Comptime(inner), span));
        }
        let stmt = self.simple_statement()?;
        self.expect_op(";")?;
        Ok(stmt)
    }

    /// `name:` before a block or a loop.
    pub(crate) fn label(&mut self) -> Option<Sym> {
        let Tok::Word(sym) = *self.peek() else {
            return None;
        };
        let labelled = self.is_op_at(1, ":")
            && (self.is_op_at(2, "{")
                || ["for", "while", "inline"]
                    .iter()
                    .any(|word| self.is_word_at(2, word)));
        if !labelled || is_keyword(self.interner.str(sym)) {
            return None;
        }
        self.advance();
        self.advance();
        Some(sym)
    }

    /// A statement that ends with a semicolon, without it.
    pub(crate) fn simple_statement(&mut self) -> Res<StmtId> {
        let span = self.span();
        if self.eat_word("return") {
            let value = match self.is_op(";") || self.is_word("else") {
                true => None,
                false => Some(self.expr()?),
            };
            return Ok(self.add_stmt(Stmt::Return(value), span));
        }
        if self.eat_word("break") {
            let label = self.jump_label()?;
            let value = match self.is_op(";") || self.is_op(",") || self.is_op("}") {
                true => None,
                false => Some(self.expr()?),
            };
            return Ok(self.add_stmt(Stmt::Break(label, value), span));
        }
        if self.eat_word("continue") {
            let label = self.jump_label()?;
            return Ok(self.add_stmt(Stmt::Continue(label), span));
        }
        let declares = |p: &Self, at| p.is_word_at(at, "var") || p.is_word_at(at, "const");
        if declares(self, 0) || (self.is_word("comptime") && declares(self, 1)) {
            return self.declaration();
        }
        self.assignment()
    }

    fn jump_label(&mut self) -> Res<Option<Sym>> {
        match self.eat_op(":") {
            true => Ok(Some(self.name()?)),
            false => Ok(None),
        }
    }

    fn declaration(&mut self) -> Res<StmtId> {
        let comptime = self.eat_word("comptime");
        let mutable = self.eat_word("var");
        if !mutable {
            self.expect_word("const")?;
        }
        let span = self.span();
        let name = self.name()?;
        let ty = match self.eat_op(":") {
            true => Some(self.type_expr()?),
            false => None,
        };
        if self.is_word("align") || self.is_word("linksection") || self.is_word("linkname") {
            return self.error(format!(
                "fabsim does not support {} here yet",
                self.describe()
            ));
        }
        let value = match self.eat_op("=") {
            true => Some(self.expr()?),
            false => None,
        };
        let declare = Declare {
            comptime,
            mutable,
            name,
            ty,
            value,
        };
        Ok(self.add_stmt(Stmt::Declare(declare), span))
    }

    fn assignment(&mut self) -> Res<StmtId> {
        let span = self.span();
        let left = self.expr()?;
        for (op, arith) in ASSIGNMENTS {
            if self.is_op(op) {
                let span = self.span();
                self.advance();
                let right = self.expr()?;
                return Ok(self.add_stmt(Stmt::Assign(arith, left, right), span));
            }
        }
        Ok(self.add_stmt(Stmt::Expr(left), span))
    }

    fn if_statement(&mut self) -> Res<StmtId> {
        let span = self.span();
        self.expect_word("if")?;
        self.expect_op("(")?;
        let condition = self.expr()?;
        self.expect_op(")")?;
        let then = self.nested(|p| p.branch())?;
        let otherwise = match self.eat_word("else") {
            true => Some(self.nested(|p| p.branch())?),
            false => None,
        };
        Ok(self.add_stmt(Stmt::If(condition, then, otherwise), span))
    }

    /// A branch: a block, or one statement whose semicolon may be missing before `else`.
    fn branch(&mut self) -> Res<StmtId> {
        let compound = ["if", "for", "while", "switch", "inline"]
            .iter()
            .any(|word| self.is_word(word));
        if self.is_op("{") || compound {
            return self.statement();
        }
        let stmt = self.simple_statement()?;
        if !self.is_word("else") {
            self.expect_op(";")?;
        }
        Ok(stmt)
    }

    fn for_statement(&mut self, label: Option<Sym>, inline: bool) -> Res<StmtId> {
        let span = self.span();
        self.expect_word("for")?;
        self.expect_op("(")?;
        let over = self.expr()?;
        self.expect_op(")")?;
        self.expect_op("|")?;
        let item = self.name()?;
        let index = match self.eat_op(",") {
            true => Some(self.name()?),
            false => None,
        };
        self.expect_op("|")?;
        let body = self.nested(|p| p.statement())?;
        let stmt = For {
            label,
            inline,
            over,
            item,
            index,
            body,
        };
        Ok(self.add_stmt(Stmt::For(stmt), span))
    }

    fn while_statement(&mut self, label: Option<Sym>, inline: bool) -> Res<StmtId> {
        let span = self.span();
        self.expect_word("while")?;
        self.expect_op("(")?;
        let condition = self.expr()?;
        self.expect_op(")")?;
        let step = match self.eat_op(":") {
            true => {
                self.expect_op("(")?;
                let step = self.assignment()?;
                self.expect_op(")")?;
                Some(step)
            }
            false => None,
        };
        let body = self.nested(|p| p.statement())?;
        let stmt = While {
            label,
            inline,
            condition,
            step,
            body,
        };
        Ok(self.add_stmt(Stmt::While(stmt), span))
    }
}
