//! Tokens to a syntax tree: the frame of the parser and the top level of a file. Expressions are in
//! `parse_expr`, statements in `parse_stmt`. Nesting is bounded, since the text is untrusted.

use crate::parse::ast::*;
use crate::parse::intern::{Interner, Sym};
use crate::parse::lexer::{Tok, Token};
use crate::types::kinds::{primitive, Ty};
use crate::Res;
use fabsim_program::diagnostic::Diagnostic;
use fabsim_program::program::Span;

/// Deeper nesting than this is refused.
const MAX_NESTING: u32 = 200;

/// Words that cannot be names.
const KEYWORDS: [&str; 40] = [
    "align",
    "and",
    "anytype",
    "asm",
    "bool",
    "break",
    "comptime",
    "comptime_float",
    "comptime_int",
    "comptime_string",
    "comptime_struct",
    "const",
    "continue",
    "else",
    "enum",
    "export",
    "extern",
    "false",
    "fn",
    "for",
    "if",
    "imported_module",
    "inline",
    "layout",
    "linkname",
    "linksection",
    "or",
    "param",
    "return",
    "struct",
    "switch",
    "task",
    "true",
    "type",
    "var",
    "void",
    "volatile",
    "while",
    "union",
    "packed",
];

/// Words with which a declaration starts.
const DECLARATIONS: [&str; 10] = [
    "comptime", "const", "export", "extern", "fn", "inline", "layout", "param", "task", "var",
];

pub struct Parser<'a> {
    pub(crate) tokens: &'a [Token],
    pub(crate) at: usize,
    pub(crate) interner: &'a mut Interner,
    pub(crate) ast: Ast,
    pub(crate) nesting: u32,
    /// Names whose address was taken in the function being parsed.
    pub(crate) addressed: Vec<Sym>,
    /// Where words stand that name types, and those of them that the file declares itself.
    pub(crate) type_words: Vec<(ExprId, Sym)>,
    own_types: Vec<Sym>,
}

/// The syntax tree of one file, and what is wrong with it: one error for each declaration.
pub fn parse(tokens: &[Token], file: u32, interner: &mut Interner) -> (Ast, Vec<Diagnostic>) {
    let mut parser = Parser {
        tokens,
        at: 0,
        interner,
        ast: Ast {
            file,
            ..Ast::default()
        },
        nesting: 0,
        addressed: Vec::new(),
        type_words: Vec::new(),
        own_types: Vec::new(),
    };
    let mut errors = Vec::new();
    while *parser.peek() != Tok::End {
        if let Err(error) = parser.top_level() {
            errors.push(*error);
            parser.skip_declaration();
        }
    }
    parser.leave_names_to_the_file();
    (parser.ast, errors)
}

impl Parser<'_> {
    pub(crate) fn peek(&self) -> &Tok {
        self.peek_at(0)
    }

    pub(crate) fn peek_at(&self, ahead: usize) -> &Tok {
        // The last token is `End`; looking past it sees it again.
        let index = (self.at + ahead).min(self.tokens.len() - 1);
        &self.tokens[index].tok
    }

    pub(crate) fn span(&self) -> Span {
        self.tokens[self.at.min(self.tokens.len() - 1)].span
    }

    pub(crate) fn advance(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    pub(crate) fn error<T>(&self, message: impl Into<String>) -> Res<T> {
        Err(Box::new(Diagnostic::new(self.span(), message)))
    }

    pub(crate) fn is_op(&self, op: &str) -> bool {
        matches!(self.peek(), Tok::Op(found) if *found == op)
    }

    pub(crate) fn is_op_at(&self, ahead: usize, op: &str) -> bool {
        matches!(self.peek_at(ahead), Tok::Op(found) if *found == op)
    }

    pub(crate) fn is_word(&self, word: &str) -> bool {
        self.is_word_at(0, word)
    }

    pub(crate) fn is_word_at(&self, ahead: usize, word: &str) -> bool {
        matches!(self.peek_at(ahead), Tok::Word(sym) if self.interner.str(*sym) == word)
    }

    pub(crate) fn eat_op(&mut self, op: &str) -> bool {
        let found = self.is_op(op);
        if found {
            self.advance();
        }
        found
    }

    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    pub(crate) fn expect_op(&mut self, op: &str) -> Res<()> {
        if self.eat_op(op) {
            return Ok(());
        }
        self.error(format!("expected '{op}', found {}", self.describe()))
    }

    pub(crate) fn expect_word(&mut self, word: &str) -> Res<()> {
        if self.eat_word(word) {
            return Ok(());
        }
        self.error(format!("expected '{word}', found {}", self.describe()))
    }

    pub(crate) fn describe(&self) -> String {
        match self.peek() {
            Tok::Word(sym) => format!("'{}'", self.interner.str(*sym)),
            Tok::Builtin(sym) => format!("'@{}'", self.interner.str(*sym)),
            Tok::Int(value) => format!("'{value}'"),
            Tok::Float(value) => format!("'{value}'"),
            Tok::Str(_) => "a string".into(),
            Tok::Op(op) => format!("'{op}'"),
            Tok::End => "the end of the file".into(),
        }
    }

    /// A name that is not a keyword.
    pub(crate) fn name(&mut self) -> Res<Sym> {
        match self.peek() {
            Tok::Word(sym) if !is_keyword(self.interner.str(*sym)) => {
                let sym = *sym;
                self.advance();
                if primitive(self.interner.str(sym)).is_some() {
                    self.own_types.push(sym);
                }
                Ok(sym)
            }
            _ => self.error(format!("expected a name, found {}", self.describe())),
        }
    }

    /// A word that names a type is a name like others where the file gives it another meaning.
    fn leave_names_to_the_file(&mut self) {
        let own = &self.own_types;
        for &(expr, word) in self
            .type_words
            .iter()
            .filter(|(_, word)| own.contains(word))
        {
            self.ast.exprs[expr.0 as usize].0 = Expr::Name(word);
        }
    }

    /// Runs `inner` one nesting level deeper.
    pub(crate) fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Res<T>) -> Res<T> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return self.error("this program is nested too deeply");
        }
        let result = inner(self);
        self.nesting -= 1;
        result
    }

    pub(crate) fn add_expr(&mut self, expr: Expr, span: Span) -> ExprId {
        self.ast.exprs.push((expr, span));
        ExprId(self.ast.exprs.len() as u32 - 1)
    }

    pub(crate) fn add_stmt(&mut self, stmt: Stmt, span: Span) -> StmtId {
        self.ast.stmts.push((stmt, span));
        StmtId(self.ast.stmts.len() as u32 - 1)
    }

    /// Goes to where the next declaration seems to start: a word that starts one, in the first column.
    fn skip_declaration(&mut self) {
        self.nesting = 0;
        loop {
            self.advance();
            let starts = DECLARATIONS.iter().any(|word| self.is_word(word));
            if *self.peek() == Tok::End || (starts && self.span().column == 1) {
                return;
            }
        }
    }

    fn top_level(&mut self) -> Res<()> {
        let span = self.span();
        if self.is_word("comptime") && self.is_op_at(1, "{") {
            self.advance();
            let block = self.block()?;
            self.ast.comptime_blocks.push((block, span));
            return Ok(());
        }
        if self.is_word("layout") && self.is_op_at(1, "{") {
            self.advance();
            let block = self.block()?;
            self.ast.layouts.push((block, span));
            return Ok(());
        }
        if self.eat_word("param") {
            return self.global(GlobalKind::Param, (false, false));
        }
        if self.is_word("color") && matches!(self.peek_at(1), Tok::Word(_)) {
            return self.colors();
        }
        let exported = self.eat_word("export");
        let external = !exported && self.eat_word("extern");
        if self.eat_word("var") {
            return self.global(GlobalKind::Var, (external, exported));
        }
        if self.eat_word("const") {
            return self.global(GlobalKind::Const, (external, exported));
        }
        self.function(external)
    }

    fn global(&mut self, kind: GlobalKind, (external, exported): (bool, bool)) -> Res<()> {
        let span = self.span();
        let name = self.name()?;
        let ty = match self.eat_op(":") {
            true => Some(self.type_expr()?),
            false => None,
        };
        let mut align = None;
        loop {
            if self.eat_word("align") {
                self.expect_op("(")?;
                align = Some(self.expr()?);
                self.expect_op(")")?;
            } else if !self.link_attribute()? {
                break;
            }
        }
        let value = match self.eat_op("=") {
            true => Some(self.expr()?),
            false => None,
        };
        self.expect_op(";")?;
        self.ast.globals.push(GlobalDecl {
            name,
            span,
            kind,
            ty,
            value,
            align,
            external,
            exported,
        });
        Ok(())
    }

    /// `linkname(e)` and `linksection(e)` name things in binaries, which fabsim does not make.
    fn link_attribute(&mut self) -> Res<bool> {
        if !self.is_word("linksection") && !self.is_word("linkname") {
            return Ok(false);
        }
        self.advance();
        self.expect_op("(")?;
        self.expr()?;
        self.expect_op(")")?;
        Ok(true)
    }

    /// `color a, b;`, the way in which CSL before 1.0 declares colors that the command line numbers.
    fn colors(&mut self) -> Res<()> {
        self.advance();
        loop {
            let span = self.span();
            let name = self.name()?;
            let ty = Some(self.add_expr(Expr::TypeName(Ty::COLOR), span));
            self.ast.globals.push(GlobalDecl {
                name,
                span,
                kind: GlobalKind::Param,
                ty,
                value: None,
                align: None,
                external: false,
                exported: false,
            });
            if !self.eat_op(",") {
                return self.expect_op(";");
            }
        }
    }

    fn function(&mut self, external: bool) -> Res<()> {
        let inline = self.eat_word("inline");
        let task = !inline && self.eat_word("task");
        if !task && !self.eat_word("fn") {
            return self.error(format!(
                "expected a declaration at the top level of a file, found {}",
                self.describe()
            ));
        }
        let span = self.span();
        let name = self.name()?;
        let params = self.params()?;
        self.link_attribute()?;
        let result = self.type_expr()?;
        self.link_attribute()?;
        self.addressed.clear();
        let body = match external && self.eat_op(";") {
            true => None,
            false => Some(self.block()?),
        };
        let decl = FnDecl {
            name,
            span,
            task,
            inline,
            params,
            result,
            body,
            addressed: std::mem::take(&mut self.addressed),
        };
        self.ast.functions.push(decl);
        let id = FnId(self.ast.functions.len() as u32 - 1);
        self.ast.globals.push(GlobalDecl {
            name,
            span,
            kind: GlobalKind::Function(id),
            ty: None,
            value: None,
            align: None,
            external,
            exported: false,
        });
        Ok(())
    }

    fn params(&mut self) -> Res<Vec<Param>> {
        self.expect_op("(")?;
        let mut params = Vec::new();
        while !self.is_op(")") {
            let comptime = self.eat_word("comptime");
            let span = self.span();
            let name = self.name()?;
            if params.iter().any(|param: &Param| param.name == name) {
                let name = self.interner.text(name);
                return self.error(format!("the parameter '{name}' is declared twice"));
            }
            self.expect_op(":")?;
            let ty = match self.eat_word("anytype") {
                true => None,
                false => Some(self.type_expr()?),
            };
            params.push(Param {
                name,
                span,
                comptime,
                ty,
            });
            if !self.eat_op(",") {
                break;
            }
        }
        self.expect_op(")")?;
        Ok(params)
    }

    /// `{ statements }`
    pub(crate) fn block(&mut self) -> Res<Block> {
        self.expect_op("{")?;
        let mut stmts = Vec::new();
        while !self.is_op("}") {
            if *self.peek() == Tok::End {
                return self.error("expected '}', found the end of the file");
            }
            if self.eat_op(";") {
                continue;
            }
            let stmt = self.nested(|p| p.statement())?;
            stmts.push(stmt);
        }
        self.advance();
        Ok(stmts.into())
    }
}

pub(crate) fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}
