//! The layout half: evaluating the layout block, the builtins it consists of, and assembling the
//! design from what they declared.

use crate::compiler::{Compiler, Ev, Frame, Stage, MAX_DEPTH};
use crate::dialect::Form;
use crate::layout::task_queues;
use crate::parse::ast::{Ast, Expr, ExprId};
use crate::parse::intern::Sym;
use crate::parse::source::{normal, Provider};
use crate::state::layout::{Declared, LiteralSetup};
use crate::state::tile::{OwnColors, TileRequest};
use crate::strict::gathered;
use crate::types::kinds::{Ty, TypeKind};
use crate::types::value::{AnonymousValue, ModuleId, Value};
use crate::{err, Compilation, CompileOptions, Res};
use fabsim_program::diagnostic::Diagnostic;
use fabsim_program::program::{
    Arch, ColorSetup, Design, Export, ExportKind, RouterSetup, ScalarType, Span, Tile, TileProgram,
};
use fabsim_program::quick_hash::QuickMap;
use fabsim_program::sdk::Sdk;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// Largest fabric.
const MAX_WIDTH: i128 = 762;
const MAX_HEIGHT: i128 = 1172;

/// Configurations nested deeper are evaluated for each PE.
const LITERAL_DEPTH: u32 = 16;

/// Compiles a whole program; runs on the thread with the large stack.
pub fn compile_design(provider: Provider, path: &Path, options: CompileOptions) -> Compilation {
    let sdk = options.sdk.unwrap_or(Sdk::NEWEST);
    let mut compiler = Compiler::new(provider, options);
    let design = compiler
        .design(path)
        .map_err(|error| compiler.report(*error));
    let constructs = compiler.constructs();
    let mut messages = std::mem::take(&mut compiler.messages);
    let design = match design {
        // Nobody says what a program does that breaks a rule which is off: it is accepted.
        Err(()) if messages.errors.is_empty() && messages.accepted => Ok(compiler.nothing()),
        other => other,
    };
    let design = design.map(|mut design| {
        let others = compiler
            .options
            .off
            .iter()
            .filter_map(|rule| rule.other.as_ref());
        others.for_each(|other| (other.read)(&mut design));
        design
    });
    messages.warnings.extend(gathered(messages.doubts));
    let place = |mut list: Vec<Diagnostic>| {
        for diagnostic in &mut list {
            diagnostic.attach(|span| compiler.sources.place(span));
        }
        list
    };
    Compilation {
        design: design.map_err(|()| place(messages.errors)),
        warnings: place(messages.warnings),
        printed: place(messages.printed),
        constructs: place(constructs),
        sdk,
        since: compiler.since,
        assumed: None,
    }
}

impl Compiler {
    fn design(&mut self, path: &Path) -> Res<Design> {
        let path = normal(path);
        let start = Span::default();
        if self.wse3() {
            self.expect(Form::Wse3, start)?;
        }
        let bindings = self.root_params()?;
        let root = self.instantiate(&path, false, bindings, start)?;
        self.check_root_params(root);
        let ast = self.module(root).ast.clone();
        let [(block, span)] = ast.layouts.as_slice() else {
            return err(
                Span {
                    file: ast.file,
                    ..start
                },
                "this file needs exactly one layout block",
            );
        };
        let mut next = root.0;
        while (next as usize) < self.modules.len() {
            self.evaluate_globals(ModuleId(next));
            next += 1;
        }
        self.part(|this| {
            this.stage = Stage::Layout;
            let mut frame = Frame::new(ast.clone(), root, true);
            this.exec_block(&mut frame, block).map(drop)
        });
        self.stage = Stage::Global;
        self.refuse_if_any(*span)?;
        for module in 0..self.modules.len() {
            self.check_unused_params(ModuleId(module as u32));
        }
        let Some((width, height)) = self.layout.rectangle else {
            return err(*span, "the layout block must call @set_rectangle");
        };
        self.check_tiles(width, *span)?;
        let (fabric, offsets) = self.fabric(width, height, *span)?;
        let requests = std::mem::take(&mut self.layout.requests);
        let exports = std::mem::take(&mut self.layout.exports);
        let mut programs = Vec::with_capacity(requests.len());
        let mut own_colors = Vec::with_capacity(requests.len());
        for request in &requests {
            self.part(|this| {
                let (program, colors) = this.compile_tile(request, &exports)?;
                programs.push(Arc::new(program));
                own_colors.push(colors);
                Ok(())
            });
        }
        self.refuse_if_any(*span)?;
        let (tiles, routers) = self.assemble(&own_colors)?;
        if self.options.arch == Arch::Wse2 {
            task_queues::check(width, &tiles, &programs, &routers)?;
        }
        Ok(Design {
            arch: self.options.arch,
            clock: self.options.clock,
            constants: self.options.constants.clone(),
            older: self.has_older_forms,
            width,
            height,
            fabric,
            offsets,
            programs,
            routers,
            tiles,
            exports: exports
                .into_iter()
                .map(|declared| declared.export)
                .collect(),
            params: self
                .options
                .params
                .iter()
                .map(|(name, value)| (name.clone(), value.to_string()))
                .collect(),
            files: self.sources.names.clone(),
        })
    }

    /// A program of a PE without code, in place of one that is accepted and cannot be made.
    fn nothing(&self) -> Design {
        Design {
            arch: self.options.arch,
            clock: self.options.clock,
            constants: self.options.constants.clone(),
            older: false,
            width: 1,
            height: 1,
            fabric: self.options.fabric_dims.unwrap_or((8, 3)),
            offsets: self.options.fabric_offsets.unwrap_or((4, 1)),
            programs: vec![Arc::new(TileProgram::default())],
            routers: vec![Arc::new(RouterSetup::default())],
            tiles: vec![Tile {
                program: 0,
                router: 0,
            }],
            exports: Vec::new(),
            params: Vec::new(),
            files: Vec::new(),
        }
    }

    fn check_tiles(&self, width: u16, span: Span) -> Res<()> {
        match self.layout.tiles.iter().position(Option::is_none) {
            Some(at) => {
                let (x, y) = (at % usize::from(width), at / usize::from(width));
                err(
                    span,
                    format!("the PE ({x}, {y}) has no code: call @set_tile_code for it"),
                )
            }
            None => Ok(()),
        }
    }

    /// Fabric size and offsets, given or the smallest legal ones.
    fn fabric(&self, width: u16, height: u16, span: Span) -> Res<((u16, u16), (u16, u16))> {
        let margin = if self.options.memcpy {
            (4, 1, 3, 1)
        } else {
            (0, 0, 0, 0)
        };
        let offsets = self.options.fabric_offsets.unwrap_or((margin.0, margin.1));
        let needed = (
            u32::from(offsets.0) + u32::from(width) + margin.2,
            u32::from(offsets.1) + u32::from(height) + margin.3,
        );
        let smallest = (needed.0.min(65535) as u16, needed.1.min(65535) as u16);
        let fabric = self.options.fabric_dims.unwrap_or(smallest);
        if offsets.0 < margin.0 || offsets.1 < margin.1 {
            return err(
                span,
                format!(
                    "the fabric offsets must be at least {},{} with memcpy",
                    margin.0, margin.1
                ),
            );
        }
        if u32::from(fabric.0) < needed.0 || u32::from(fabric.1) < needed.1 {
            let (w, h) = needed;
            return err(
                span,
                format!("the rectangle does not fit: the fabric must be at least {w},{h}"),
            );
        }
        Ok((fabric, offsets))
    }

    /// The tiles with their routers; PEs with equal routes share one.
    fn assemble(&mut self, own_colors: &[OwnColors]) -> Res<(Vec<Tile>, Vec<Arc<RouterSetup>>)> {
        let mut index: QuickMap<Vec<(u8, u32)>, u32> = QuickMap::default();
        let mut routers = Vec::new();
        let layout = &mut self.layout;
        let mut tiles = Vec::with_capacity(layout.tiles.len());
        for (pe, tile) in layout.tiles.iter().enumerate() {
            let program = tile.map_or(0, |(program, _)| program);
            let mut colors: Vec<(u8, u32)> = layout.colors[pe]
                .iter()
                .map(|(color, setup, _)| (*color, *setup))
                .collect();
            let own = &own_colors[program as usize];
            for (color, setup) in &own.configured {
                if let Some((_, _, first)) =
                    layout.colors[pe].iter().find(|(other, ..)| other == color)
                {
                    let message = format!("the color {color} is configured twice on one PE");
                    return Err(Box::new(
                        Diagnostic::new(setup.span.0, message)
                            .note(*first, "first configured here"),
                    ));
                }
                colors.push((
                    *color,
                    intern_setup(&mut layout.setups, &mut layout.setup_index, setup),
                ));
            }
            for color in &own.unrouted {
                if !colors.iter().any(|(other, _)| other == color) {
                    let setup = ColorSetup::default();
                    let setup = intern_setup(&mut layout.setups, &mut layout.setup_index, &setup);
                    colors.push((*color, setup));
                }
            }
            colors.sort_unstable();
            let router = *index.entry(colors).or_insert_with_key(|colors| {
                let setups = &layout.setups;
                let colors = colors
                    .iter()
                    .map(|(color, at)| (*color, setups[*at as usize].clone()))
                    .collect();
                routers.push(Arc::new(RouterSetup { colors }));
                routers.len() as u32 - 1
            });
            tiles.push(Tile { program, router });
        }
        Ok((tiles, routers))
    }

    pub fn layout_builtin(
        &mut self,
        f: &mut Frame,
        name: &str,
        args: &[ExprId],
        span: Span,
    ) -> Res<Option<Ev>> {
        match name {
            "set_rectangle" => self.set_rectangle(f, args, span)?,
            "set_tile_code" => self.set_tile_code(f, args, span)?,
            "set_color_config" => self.set_color_config(f, args, span)?,
            "export_name" => self.export_name(f, args, span)?,
            "get_rectangle" => return self.get_rectangle(span).map(|value| Some(Ev::Val(value))),
            _ => return Ok(None),
        }
        Ok(Some(Ev::Val(Value::Void)))
    }

    fn set_rectangle(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<()> {
        if self.layout.rectangle.is_some() {
            return err(span, "@set_rectangle is called twice");
        }
        let width = self.int_argument(f, args[0], 1, MAX_WIDTH, "the width of the rectangle")?;
        let height = self.int_argument(f, args[1], 1, MAX_HEIGHT, "the height of the rectangle")?;
        self.layout.rectangle = Some((width as u16, height as u16));
        let count = (width * height) as usize;
        self.layout.tiles = vec![None; count];
        self.layout.colors = vec![Vec::new(); count];
        Ok(())
    }

    fn get_rectangle(&mut self, span: Span) -> Res<Value> {
        let Some((width, height)) = self.layout.rectangle else {
            return err(span, "@get_rectangle is only possible after @set_rectangle");
        };
        let (fabric, offsets) = self.fabric(width, height, span)?;
        let pair = |this: &mut Self, (w, h): (u16, u16)| {
            let names = [this.sym("width"), this.sym("height")];
            let values = [w, h]
                .iter()
                .map(|v| Value::Int(i128::from(*v), Ty::U16))
                .collect();
            Value::Anonymous(Rc::new(AnonymousValue {
                names: names.into(),
                values,
            }))
        };
        let (fabric, offsets) = (pair(self, fabric), pair(self, offsets));
        let names: Vec<Sym> = ["width", "height", "fabric", "offsets"]
            .iter()
            .map(|n| self.sym(n))
            .collect();
        let int = |v: u16| Value::Int(i128::from(v), Ty::U16);
        let values = vec![int(width), int(height), fabric, offsets];
        Ok(Value::Anonymous(Rc::new(AnonymousValue {
            names: names.into(),
            values,
        })))
    }

    /// The index of a PE in the rectangle.
    fn pe(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<usize> {
        let Some((width, height)) = self.layout.rectangle else {
            return err(span, "call @set_rectangle first");
        };
        let x = self.comptime_int(f, args[0])?;
        let y = self.comptime_int(f, args[1])?;
        if x < 0 || y < 0 || x >= i128::from(width) || y >= i128::from(height) {
            return err(
                span,
                format!("the PE ({x}, {y}) lies outside the {width} x {height} rectangle"),
            );
        }
        Ok(y as usize * usize::from(width) + x as usize)
    }

    fn set_tile_code(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<()> {
        let pe = self.pe(f, args, span)?;
        if let Some((_, first)) = self.layout.tiles[pe] {
            let width = self
                .layout
                .rectangle
                .map_or(1, |(width, _)| usize::from(width));
            let message = format!(
                "the code of the PE ({}, {}) is set twice",
                pe % width,
                pe / width
            );
            return Err(Box::new(
                Diagnostic::new(span, message).note(first, "first set here"),
            ));
        }
        let path = match args.get(2) {
            Some(arg) => {
                let at = f.ast.span(*arg);
                let name = self.string_argument(f, *arg)?;
                let importer = self.module(f.module).path.clone();
                Some(self.tile_path(&name, &importer, at)?)
            }
            None => None,
        };
        let params = match args.get(3) {
            Some(arg) => Some(self.value(f, *arg)?),
            None => None,
        };
        let key = (path, params);
        if let Some(index) = self.layout.request_index.get(&key) {
            self.layout.tiles[pe] = Some((*index, span));
            return Ok(());
        }
        let params = match &key.1 {
            Some(value) => self.bindings(value, span)?,
            None => Vec::new(),
        };
        let index = self.layout.requests.len() as u32;
        let path = key.0.clone();
        self.layout
            .requests
            .push(TileRequest { path, params, span });
        self.layout.request_index.insert(key, index);
        self.layout.tiles[pe] = Some((index, span));
        Ok(())
    }

    fn tile_path(&mut self, name: &str, importer: &Path, span: Span) -> Res<(PathBuf, bool)> {
        // The layout calls this once per PE: the file system is asked once per name.
        if let Some(found) = self.layout.resolved.get(name) {
            return Ok(found.clone());
        }
        let found = self.resolve(name, importer, span)?;
        self.layout.resolved.insert(name.to_string(), found.clone());
        Ok(found)
    }

    fn set_color_config(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<()> {
        let pe = self.pe(f, args, span)?;
        let at = f.ast.span(args[2]);
        let color = self.value(f, args[2])?;
        let color = self.handle(&Ev::Val(color), Ty::COLOR, "the color", at)?;
        self.check_color(color, at)?;
        if let Some((_, _, first)) = self.layout.colors[pe]
            .iter()
            .find(|(other, ..)| *other == color)
        {
            let width = self
                .layout
                .rectangle
                .map_or(1, |(width, _)| usize::from(width));
            let message = format!(
                "the color {color} is configured twice on the PE ({}, {})",
                pe % width,
                pe / width
            );
            return Err(Box::new(
                Diagnostic::new(span, message).note(*first, "first configured here"),
            ));
        }
        let index = self.setup_index(f, args[3], color)?;
        self.layout.colors[pe].push((color, index, span));
        Ok(())
    }

    /// The number of the set-up that `config` describes; a literal is evaluated once for all PEs.
    fn setup_index(&mut self, f: &mut Frame, config: ExprId, color: u8) -> Res<u32> {
        let key = (f.ast.span(config), color);
        if let Some(known) = self.layout.literal_setups.get(&key) {
            let steps = self.steps + known.steps;
            let shallow = self.depth + LITERAL_DEPTH <= MAX_DEPTH;
            if shallow && steps <= self.options.comptime_step_limit {
                self.steps = steps;
                return Ok(known.index);
            }
        }
        let before = self.steps;
        let value = self.value(f, config)?;
        let setup = self.color_setup(color, &value, key.0)?;
        let layout = &mut self.layout;
        let index = intern_setup(&mut layout.setups, &mut layout.setup_index, &setup);
        if is_literal(&f.ast, config, LITERAL_DEPTH) {
            let steps = self.steps - before;
            layout
                .literal_setups
                .insert(key, LiteralSetup { index, steps });
        }
        Ok(index)
    }

    fn export_name(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<()> {
        let name = self.string_argument(f, args[0])?;
        let ty = self.type_value(f, args[1])?;
        let kind = if let TypeKind::Function { params, .. } = self.types.kind(ty).clone() {
            if args.len() == 3 {
                return err(span, "@export_name of a function takes no mutability");
            }
            if params.len() > 15 {
                return err(span, "an exported function takes at most 15 parameters");
            }
            let mut scalars = Vec::with_capacity(params.len());
            for param in params.iter() {
                scalars.push(self.scalar(*param, span)?);
            }
            ExportKind::Function { params: scalars }
        } else {
            let Some(element) = self.exported_element(ty) else {
                let ty = self.show(ty);
                return err(
                    span,
                    format!(
                        "@export_name takes a pointer to scalars or a function type, found {ty}"
                    ),
                );
            };
            let Some(mutable) = args.get(2) else {
                return err(
                    span,
                    "@export_name of a pointer needs a third argument: whether the host may write",
                );
            };
            let mutable = self.bool_argument(f, *mutable)?;
            if self.exports_structs(ty) {
                let bits = if element == ScalarType::U32 { 32 } else { 16 };
                self.warn(
                    span,
                    format!("the host copies structs as words of {bits} bits: exporting a pointer to them is not documented"),
                );
            }
            ExportKind::Tensor { element, mutable }
        };
        if let Some(first) = self
            .layout
            .exports
            .iter()
            .find(|declared| declared.export.name == name)
        {
            let message = format!("the name '{name}' is exported twice");
            return Err(Box::new(
                Diagnostic::new(span, message).note(first.span, "first exported here"),
            ));
        }
        let export = Export { name, kind };
        self.layout.exports.push(Declared { export, ty, span });
        Ok(())
    }
}

/// Whether an expression nested at most `depth` deep has the same value wherever it is evaluated.
fn is_literal(ast: &Ast, e: ExprId, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else {
        return false;
    };
    match ast.expr(e) {
        Expr::Int(_) | Expr::Bool(_) | Expr::Direction(_) => true,
        Expr::Struct(None, _, items) | Expr::Tuple(items) => {
            items.iter().all(|item| is_literal(ast, *item, depth))
        }
        _ => false,
    }
}

fn intern_setup(
    setups: &mut Vec<ColorSetup>,
    index: &mut QuickMap<ColorSetup, u32>,
    setup: &ColorSetup,
) -> u32 {
    if let Some(at) = index.get(setup) {
        return *at;
    }
    setups.push(setup.clone());
    let at = setups.len() as u32 - 1;
    index.insert(setup.clone(), at);
    at
}
