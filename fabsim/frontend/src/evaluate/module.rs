//! Module instances: loading a file, binding its parameters, evaluating its globals when they are
//! first needed. Each import is a copy of its own.

use crate::builtins::signature;
use crate::compiler::{Compiler, Frame, Stage};
use crate::dialect::{Form, OLDER_PARAMS, OPTIONAL_PARAMS};
use crate::parse::ast::{Ast, GlobalDecl, GlobalKind};
use crate::parse::intern::Sym;
use crate::parse::lexer;
use crate::parse::parser;
use crate::parse::source::normal;
use crate::state::messages::silent;
use crate::state::module::{Global, GlobalState, Module};
use crate::types::kinds::Ty;
use crate::types::value::{FnRef, GlobalRef, ModuleId, Value};
use crate::{err, Res};
use fabsim_program::diagnostic::Diagnostic;
use fabsim_program::limits::COLORS;
use fabsim_program::program::Span;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// More module instances than this in one program are refused.
const MAX_MODULES: usize = 1000;

const COLOR_COUNT: i128 = COLORS as i128;

impl Compiler {
    pub fn module(&self, id: ModuleId) -> &Module {
        &self.modules[id.0 as usize]
    }

    /// The file an import names, seen from `importer`: its path and whether it is a standard module.
    /// A path is looked up from the importing file, then from the layout's, then from where the
    /// compiler runs.
    pub fn resolve(&self, name: &str, importer: &Path, span: Span) -> Res<(PathBuf, bool)> {
        if let Some(inner) = name.strip_prefix('<').and_then(|n| n.strip_suffix('>')) {
            let inner = crate::parse::library::canonical(inner);
            if crate::parse::library::source(&inner).is_some() {
                return Ok((PathBuf::from(format!("<{inner}>")), true));
            }
            let file = format!("{inner}.csl");
            let found = self
                .options
                .import_paths
                .iter()
                .map(|dir| normal(&dir.join(&file)))
                .find(|path| self.provider.exists(path));
            return match found {
                Some(path) => Ok((path, false)),
                None => err(span, format!("fabsim does not know the module {name}")),
            };
        }
        let folder = |path: &Path| path.parent().unwrap_or(Path::new("")).to_path_buf();
        let root = self.modules.first().map(|module| folder(&module.path));
        let working = std::env::current_dir().ok();
        let found = [Some(folder(importer)), root, working]
            .into_iter()
            .flatten()
            .map(|folder| normal(&folder.join(name)))
            .find(|path| self.provider.exists(path));
        match found {
            Some(path) => Ok((path, false)),
            None => err(span, format!("cannot find the file '{name}'")),
        }
    }

    /// The folders whose files are read whatever they are called.
    fn folders(&self) -> Vec<PathBuf> {
        let root = self.modules.first().map(|module| &module.path);
        let real = root.and_then(|path| path.canonicalize().ok());
        let parents = root.cloned().into_iter().chain(real);
        let parents = parents.filter_map(|path| path.parent().map(Path::to_path_buf));
        let working = std::env::current_dir().ok();
        let import = self.options.import_paths.iter().cloned();
        parents.chain(working).chain(import).collect()
    }

    fn load_file(&mut self, path: &Path, standard: bool, span: Span) -> Res<Rc<Ast>> {
        if let Some(known) = self.asts.get(path) {
            return known.clone().map_or_else(|| silent(span), Ok);
        }
        let text = match standard {
            true => {
                let name = path.to_string_lossy();
                let inner = name.trim_start_matches('<').trim_end_matches('>');
                crate::parse::library::source(inner)
                    .unwrap_or_default()
                    .to_string()
            }
            false => self
                .provider
                .read_within(path, &self.folders())
                .map_err(|why| Box::new(Diagnostic::new(span, why)))?,
        };
        let file = self.sources.add(path.display().to_string(), text);
        self.asts.insert(path.to_path_buf(), None);
        let tokens = lexer::lex(self.sources.text(file), file, &mut self.interner)?;
        let (ast, errors) = parser::parse(&tokens, file, &mut self.interner);
        if !errors.is_empty() {
            errors.into_iter().for_each(|error| self.report(error));
            return silent(span);
        }
        let inline = ast.functions.iter().find(|function| function.inline);
        if let Some(function) = inline {
            self.expect(Form::InlineFunction, function.span)?;
        }
        let ast = Rc::new(ast);
        self.index_names(&ast)?;
        self.asts.insert(path.to_path_buf(), Some(ast.clone()));
        Ok(ast)
    }

    /// A fresh instance of the module in `path` with its parameters bound.
    pub fn instantiate(
        &mut self,
        path: &Path,
        standard: bool,
        bindings: Vec<(Sym, Value)>,
        span: Span,
    ) -> Res<ModuleId> {
        if self.modules.len() >= MAX_MODULES {
            return err(
                span,
                "too many imported modules (do modules import each other?)",
            );
        }
        if standard {
            self.expect_module(path, span)?;
        }
        let ast = self.load_file(path, standard, span)?;
        let names = self.index_names(&ast)?;
        let caller = self.user_place(span).filter(|_| standard);
        let name = path.to_str().unwrap_or_default();
        let name = name.trim_start_matches('<').trim_end_matches('>');
        let rows = signature::table().module(name).filter(|_| standard);
        let unknown = Global {
            state: GlobalState::Unknown,
            address: None,
        };
        self.modules.push(Module {
            globals: vec![unknown; ast.globals.len()],
            ast,
            path: path.to_path_buf(),
            standard,
            rows,
            names,
            bindings,
            imported: span,
            caller,
        });
        let module = ModuleId(self.modules.len() as u32 - 1);
        if module != ModuleId(0) {
            // The root's parameters are checked against the command line.
            self.check_bindings(module, span);
        }
        Ok(module)
    }

    fn index_names(&self, ast: &Ast) -> Res<Vec<u32>> {
        let mut names: Vec<u32> = Vec::new();
        for (index, global) in ast.globals.iter().enumerate() {
            let at = global.name.0 as usize;
            if names.len() <= at {
                names.resize(at + 1, u32::MAX);
            }
            if names[at] != u32::MAX {
                let first = ast.globals[names[at] as usize].span;
                let name = self.text(global.name);
                let message = format!("'{name}' is declared twice");
                return Err(Box::new(
                    Diagnostic::new(global.span, message).note(first, "first declared here"),
                ));
            }
            names[at] = index as u32;
        }
        Ok(names)
    }

    /// Value (for variables: initial value) and type of a global.
    pub fn global(&mut self, global: GlobalRef, span: Span) -> Res<(Value, Ty)> {
        let (module, index) = (global.module.0 as usize, global.index as usize);
        match &self.modules[module].globals[index].state {
            GlobalState::Known(value, ty) => return Ok((value.clone(), *ty)),
            GlobalState::InProgress => {
                let name = self.text(self.modules[module].ast.globals[index].name);
                return err(span, format!("the value of '{name}' depends on itself"));
            }
            GlobalState::Failed => return silent(span),
            GlobalState::Unknown => {}
        }
        self.memo.effects += 1;
        self.modules[module].globals[index].state = GlobalState::InProgress;
        // Code that is being lowered must not receive what an initialiser does.
        let (stage, builder) = (self.stage, self.builder.take());
        self.stage = Stage::Global;
        let caller = self.modules[module].caller;
        let result = self.on_behalf(caller, |this| this.evaluate_global(global));
        self.stage = stage;
        self.builder = builder;
        let (value, ty) = match result {
            Ok(known) => known,
            Err(error) => {
                self.modules[module].globals[index].state = GlobalState::Failed;
                return Err(error);
            }
        };
        self.modules[module].globals[index].state = GlobalState::Known(value.clone(), ty);
        Ok((value, ty))
    }

    fn evaluate_global(&mut self, global: GlobalRef) -> Res<(Value, Ty)> {
        let ast = self.module(global.module).ast.clone();
        let decl = &ast.globals[global.index as usize];
        if let GlobalKind::Function(function) = decl.kind {
            let function = FnRef {
                module: global.module,
                function,
            };
            return Ok((Value::Function(function), Ty::VOID));
        }
        if decl.external && decl.kind != GlobalKind::Var {
            return err(decl.span, "fabsim does not support extern constants yet");
        }
        let mut frame = Frame::new(ast.clone(), global.module, true);
        let declared = match decl.ty {
            Some(ty) => Some(self.type_value(&mut frame, ty)?),
            None => None,
        };
        if let Some(align) = decl.align {
            self.comptime_int(&mut frame, align)?;
        }
        if decl.kind == GlobalKind::Param {
            return self.param_value(global.module, decl, declared, &mut frame);
        }
        let Some(expr) = decl.value else {
            return self.uninitialised(decl, declared);
        };
        let value = self.value_as(&mut frame, expr, declared)?;
        let value = match declared {
            Some(ty) => self.coerce_value(value, ty, ast.span(expr))?,
            None => value,
        };
        let ty = match declared {
            Some(ty) if ty != Ty::COMPTIME_STRUCT => ty,
            _ => self.type_of(&value),
        };
        self.check_variable(decl, ty)?;
        Ok((value, ty))
    }

    fn uninitialised(&mut self, decl: &GlobalDecl, declared: Option<Ty>) -> Res<(Value, Ty)> {
        let name = self.text(decl.name);
        match declared {
            Some(ty) if decl.kind == GlobalKind::Var => {
                self.check_variable(decl, ty)?;
                Ok((Value::Undefined(ty), ty))
            }
            Some(_) => err(decl.span, format!("the constant '{name}' needs a value")),
            None => err(decl.span, format!("'{name}' needs a type or a value")),
        }
    }

    fn check_variable(&mut self, decl: &GlobalDecl, ty: Ty) -> Res<()> {
        if decl.kind == GlobalKind::Var && !self.types.is_runtime(ty) {
            let (name, ty) = (self.text(decl.name), self.show(ty));
            return err(
                decl.span,
                format!("the variable '{name}' cannot have the comptime-only type {ty}"),
            );
        }
        Ok(())
    }

    fn param_value(
        &mut self,
        module: ModuleId,
        decl: &GlobalDecl,
        declared: Option<Ty>,
        frame: &mut Frame,
    ) -> Res<(Value, Ty)> {
        let bound = self
            .module(module)
            .bindings
            .iter()
            .find(|(name, _)| *name == decl.name)
            .map(|(_, value)| value.clone());
        let value = match (bound, decl.value) {
            (Some(value), _) => value,
            (None, Some(expr)) => self.value_as(frame, expr, declared)?,
            (None, None) => {
                let name = self.text(decl.name);
                let message = format!("the parameter '{name}' has no value");
                let error = Diagnostic::new(decl.span, message);
                let imported = self.module(module).imported;
                return Err(Box::new(match imported.line {
                    0 => error,
                    _ => error.note(imported, "the module is used here, without a value for it"),
                }));
            }
        };
        let Some(ty) = declared else {
            let ty = self.type_of(&value);
            return Ok((value, ty));
        };
        let name = self.text(decl.name);
        let value = match value {
            Value::Int(id @ 0..COLOR_COUNT, _)
                if ty == Ty::COLOR && self.options.colors_by_number =>
            {
                Value::Handle(id as u16, Ty::COLOR)
            }
            value => value,
        };
        let value = self
            .coerce_value(value, ty, decl.span)
            .map_err(|mut error| {
                error.message = format!("the parameter '{name}': {}", error.message);
                error
            })?;
        let ty = match ty {
            Ty::COMPTIME_STRUCT => self.type_of(&value),
            ty => ty,
        };
        Ok((value, ty))
    }

    /// Evaluates every global of a module, so that errors in unused ones are found too. A parameter
    /// that has no value is an error where it is used; where nothing uses it a warning, since the
    /// vendor's own examples have such.
    pub fn evaluate_globals(&mut self, module: ModuleId) {
        let ast = self.module(module).ast.clone();
        for (index, decl) in ast.globals.iter().enumerate() {
            let index = index as u32;
            if decl.kind == GlobalKind::Param && decl.value.is_none() {
                let bindings = &self.module(module).bindings;
                if !bindings.iter().any(|(name, _)| *name == decl.name) {
                    continue;
                }
            }
            self.part(|this| {
                this.global(GlobalRef { module, index }, decl.span)
                    .map(drop)
            });
        }
    }

    /// Warns of parameters that have no value and that nothing used.
    pub fn check_unused_params(&mut self, module: ModuleId) {
        let ast = self.module(module).ast.clone();
        for (index, decl) in ast.globals.iter().enumerate() {
            let state = &self.module(module).globals[index].state;
            if decl.kind == GlobalKind::Param && matches!(state, GlobalState::Unknown) {
                let name = self.text(decl.name);
                let message = format!("the parameter '{name}' has no value, and nothing uses it");
                self.warn(decl.span, message);
            }
        }
    }

    /// Refuses values for parameters that a standard module had in earlier releases, and what it could do without.
    fn check_older_bindings(&mut self, module: ModuleId, span: Span) {
        let standard = self.module(module).standard;
        for (path, param, form) in OPTIONAL_PARAMS.iter().filter(|_| standard) {
            let param = self.sym(param);
            let module = self.module(module);
            let bound = module.bindings.iter().any(|(name, _)| *name == param);
            if !bound && module.path == Path::new(path) {
                self.part(|this| this.require(*form, span));
            }
        }
        for (path, param, form) in OLDER_PARAMS.iter().filter(|_| standard) {
            let param = self.sym(param);
            let module = self.module(module);
            let bound = module.bindings.iter().any(|(name, _)| *name == param);
            if bound && module.path == Path::new(path) {
                self.part(|this| this.require(*form, span));
            }
        }
    }

    /// Warns of values given to parameters that the module does not have.
    fn check_bindings(&mut self, module: ModuleId, span: Span) {
        let ast = self.module(module).ast.clone();
        let is_param = |name: Sym| {
            let mut params = ast
                .globals
                .iter()
                .filter(|global| global.kind == GlobalKind::Param);
            params.any(|global| global.name == name)
        };
        self.check_older_bindings(module, span);
        let names: Vec<Sym> = self
            .module(module)
            .bindings
            .iter()
            .map(|(name, _)| *name)
            .collect();
        for name in names.into_iter().filter(|name| !is_param(*name)) {
            let (name, path) = (
                self.text(name),
                self.module(module).path.display().to_string(),
            );
            self.warn(span, format!("the module '{path}' has no parameter '{name}': the value given to it is not used"));
        }
    }
}
