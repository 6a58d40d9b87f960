//! The syntax tree of one file. Nodes live in arenas and refer to each other by index: a deeply
//! nested program needs no deep recursion to be dropped, and a node is cheap to pass around.

use crate::parse::intern::Sym;
use crate::types::kinds::Ty;
use fabsim_program::program::Span;
use std::rc::Rc;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ExprId(pub u32);
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StmtId(pub u32);
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FnId(pub u32);

/// A parsed file.
#[derive(Debug, Default)]
pub struct Ast {
    pub file: u32,
    pub exprs: Vec<(Expr, Span)>,
    pub stmts: Vec<(Stmt, Span)>,
    pub functions: Vec<FnDecl>,
    pub globals: Vec<GlobalDecl>,
    pub comptime_blocks: Vec<(Block, Span)>,
    pub layouts: Vec<(Block, Span)>,
}

pub type Block = Rc<[StmtId]>;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arith {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unary {
    Negate,
    BitNot,
    Not,
}

#[derive(Debug)]
pub enum Expr {
    Int(i128),
    Float(f64),
    Str(Rc<[u8]>),
    Bool(bool),
    /// `{}`
    Void,
    Name(Sym),
    TypeName(Ty),
    Direction(u8),
    Builtin(Sym, Vec<ExprId>),
    Call(ExprId, Vec<ExprId>),
    Field(ExprId, Sym),
    Index(ExprId, Vec<ExprId>),
    Deref(ExprId),
    AddressOf(ExprId),
    Unary(Unary, ExprId),
    Arith(Arith, ExprId, ExprId),
    Compare(fabsim_program::program::CompareOp, ExprId, ExprId),
    And(ExprId, ExprId),
    Or(ExprId, ExprId),
    /// `T{ .f = e }`, or `.{ .f = e }` without a type.
    Struct(Option<ExprId>, Rc<[Sym]>, Vec<ExprId>),
    Tuple(Vec<ExprId>),
    /// `[n]T{ a, b }`; the type is the first.
    Array(ExprId, Vec<ExprId>),
    ArrayType(Vec<ExprId>, ExprId),
    PointerType {
        many: bool,
        mutable: bool,
        pointee: ExprId,
    },
    FnType(Vec<ExprId>, ExprId),
    StructType(Vec<(Sym, ExprId)>),
    EnumType(Option<ExprId>, Vec<(Sym, Option<ExprId>)>),
    Comptime(ExprId),
    If(ExprId, ExprId, Option<ExprId>),
    Switch(ExprId, Vec<Prong>),
    Block(Option<Sym>, Block),
    Tensor {
        variables: Vec<Sym>,
        extents: Vec<ExprId>,
        base: ExprId,
        indices: Vec<ExprId>,
    },
}

/// One arm of a switch; no values is `else`.
#[derive(Debug)]
pub struct Prong {
    pub values: Vec<ExprId>,
    pub body: StmtId,
    pub span: Span,
}

#[derive(Debug)]
pub enum Stmt {
    Declare(Declare),
    Assign(Option<Arith>, ExprId, ExprId),
    Expr(ExprId),
    Block(Option<Sym>, Block),
    If(ExprId, StmtId, Option<StmtId>),
    For(For),
    While(While),
    Return(Option<ExprId>),
    Break(Option<Sym>, Option<ExprId>),
    Continue(Option<Sym>),
    Comptime(StmtId),
}

#[derive(Debug)]
pub struct Declare {
    pub comptime: bool,
    pub mutable: bool,
    pub name: Sym,
    pub ty: Option<ExprId>,
    pub value: Option<ExprId>,
}

#[derive(Debug)]
pub struct For {
    pub label: Option<Sym>,
    pub inline: bool,
    pub over: ExprId,
    pub item: Sym,
    pub index: Option<Sym>,
    pub body: StmtId,
}

#[derive(Debug)]
pub struct While {
    pub label: Option<Sym>,
    pub inline: bool,
    pub condition: ExprId,
    pub step: Option<StmtId>,
    pub body: StmtId,
}

#[derive(Debug)]
pub struct FnDecl {
    pub name: Sym,
    pub span: Span,
    pub task: bool,
    pub inline: bool,
    pub params: Vec<Param>,
    pub result: ExprId,
    pub body: Option<Block>,
    /// Names whose address is taken somewhere in the body: such locals live in memory.
    pub addressed: Vec<Sym>,
}

#[derive(Debug)]
pub struct Param {
    pub name: Sym,
    pub span: Span,
    pub comptime: bool,
    /// `None` is `anytype`.
    pub ty: Option<ExprId>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GlobalKind {
    Const,
    Var,
    Param,
    Function(FnId),
}

#[derive(Debug)]
pub struct GlobalDecl {
    pub name: Sym,
    pub span: Span,
    pub kind: GlobalKind,
    pub ty: Option<ExprId>,
    pub value: Option<ExprId>,
    pub align: Option<ExprId>,
    pub external: bool,
    pub exported: bool,
}

impl Ast {
    pub fn expr(&self, id: ExprId) -> &Expr {
        &self.exprs[id.0 as usize].0
    }

    pub fn span(&self, id: ExprId) -> Span {
        self.exprs[id.0 as usize].1
    }

    pub fn stmt(&self, id: StmtId) -> (&Stmt, Span) {
        let (stmt, span) = &self.stmts[id.0 as usize];
        (stmt, *span)
    }
}
