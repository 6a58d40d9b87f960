//! The data memory of a PE program: giving addresses to globals, static locals and constants, and
//! turning initial values into words.

use crate::compiler::{Compiler, MAX_ELEMENTS};
use crate::parse::ast::GlobalDecl;
use crate::state::rule;
use crate::state::tile::TileState;
use crate::types::kinds::{round_up, Ty, TypeKind};
use crate::types::value::{Elements, GlobalRef, ModuleId, Target, Value};
use crate::{err, Res};
use fabsim_program::diagnostic::Diagnostic;
use fabsim_program::program::Span;

/// Memory of one PE.
pub const PE_MEMORY_BYTES: u32 = 48 * 1024;

/// No variable lies at address 0: it would be the only one whose elements are found without adding where it
/// begins. Operands of any alignment start here.
const FIRST_ADDRESS: u32 = 16;

impl Compiler {
    /// Bytes a value of `ty` occupies.
    pub fn size(&self, ty: Ty, span: Span) -> Res<u32> {
        match self.types.size(ty) {
            Some(size) if size <= u64::from(u32::MAX) => Ok(size as u32),
            Some(_) => err(span, "this value is larger than the memory of a PE"),
            None => {
                let ty = self.show(ty);
                err(
                    span,
                    format!("a value of type {ty} exists only at compile time"),
                )
            }
        }
    }

    pub fn element_size(&self, ty: Ty, span: Span) -> Res<u32> {
        match self.types.element_size(ty) {
            Some(size) if size <= MAX_ELEMENTS => Ok(size as u32),
            _ => self.size(ty, span),
        }
    }

    /// Fresh memory for a value of `ty`.
    pub fn static_memory(&mut self, ty: Ty, align: u64, span: Span) -> Res<u32> {
        let size = self.size(ty, span)?;
        // Arrays start at 32-bit words: the machine reads such operands at full speed.
        let natural = match self.types.as_array(ty) {
            Some(_) => 4,
            None => self.types.align(ty),
        };
        let tile = self.tile(span)?;
        let free = tile.program.memory_bytes.max(FIRST_ADDRESS);
        let start = round_up(u64::from(free), natural.max(align));
        let end = start + u64::from(size);
        if end > u64::from(PE_MEMORY_BYTES) {
            return err(
                span,
                format!("the program does not fit the memory of a PE: with this it needs {end} bytes, a PE has {PE_MEMORY_BYTES}; {FIRST_ADDRESS} of them, at address 0, hold no variable"),
            );
        }
        tile.program.memory_bytes = end as u32;
        Ok(start as u32)
    }

    /// Memory of the program that holds a constant of a function from the start.
    pub fn constant_in_memory(&mut self, value: Value, ty: Ty, span: Span) -> Res<u32> {
        let address = self.static_memory(ty, 1, span)?;
        self.tile(span)?.initial.push((address, value, ty, span));
        Ok(address)
    }

    pub fn global_address(&mut self, global: GlobalRef, span: Span) -> Res<u32> {
        let (module, index) = (global.module.0 as usize, global.index as usize);
        if let Some(address) = self.modules[module].globals[index].address {
            return Ok(address);
        }
        let (value, ty) = self.global(global, span)?;
        if self.modules[module].ast.globals[index].external {
            let definition = self.definition(global, ty)?;
            return self.global_address(definition, span);
        }
        let place = self.modules[module].ast.globals[index].span;
        let address = match self.tile(span)?.reserved.get(&global) {
            Some(address) => *address,
            None => self.global_memory(global, span)?,
        };
        self.modules[module].globals[index].address = Some(address);
        self.tile(span)?.initial.push((address, value, ty, place));
        Ok(address)
    }

    /// The variable of the program's modules that is exported under the name of an extern one.
    fn definition(&mut self, external: GlobalRef, ty: Ty) -> Res<GlobalRef> {
        let decl_ast = self.module(external.module).ast.clone();
        let decl = &decl_ast.globals[external.index as usize];
        let first = self.tile(decl.span)?.root;
        let defines = |other: &GlobalDecl| other.exported && other.name == decl.name;
        let modules = self.modules.iter().enumerate().skip(first);
        let found = modules
            .filter_map(|(n, module)| {
                let index = module.ast.globals.iter().position(defines)?;
                Some(GlobalRef {
                    module: ModuleId(n as u32),
                    index: index as u32,
                })
            })
            .next();
        let name = self.text(decl.name);
        let Some(definition) = found else {
            let message = format!("no module of this program has 'export var {name}'");
            return err(decl.span, message);
        };
        let (_, found) = self.global(definition, decl.span)?;
        if found == ty {
            return Ok(definition);
        }
        let place = self.module(definition.module).ast.globals[definition.index as usize].span;
        let (found, wanted) = (self.show(found), self.show(ty));
        let message = format!("'{name}' is declared extern with type {wanted}, and is a {found}");
        Err(Box::new(
            Diagnostic::new(decl.span, message).note(place, "exported here"),
        ))
    }

    /// Fresh memory for a global.
    pub fn global_memory(&mut self, global: GlobalRef, span: Span) -> Res<u32> {
        let (_, ty) = self.global(global, span)?;
        let ast = self.module(global.module).ast.clone();
        let decl = &ast.globals[global.index as usize];
        let Some(expr) = decl.align else {
            return self.static_memory(ty, 1, decl.span);
        };
        let mut frame = crate::compiler::Frame::new(ast.clone(), global.module, true);
        let align = self.comptime_int(&mut frame, expr)?;
        if !(1..=4096).contains(&align) || align & (align - 1) != 0 {
            return err(
                ast.span(expr),
                "an alignment must be a power of two up to 4096",
            );
        }
        self.static_memory(ty, align as u64, decl.span)
    }

    /// The byte address of a place; for a function what a function pointer to it holds.
    pub fn address(&mut self, target: Target, offset: i64, span: Span) -> Res<u16> {
        let base = match target {
            Target::Global(global) => i64::from(self.global_address(global, span)?),
            Target::Address(address) => i64::from(address),
            Target::Function(function) => {
                let instance = self.instance(function, Vec::new(), span)?;
                return Ok((instance.0 + 1) as u16);
            }
        };
        match u16::try_from(base + offset) {
            Ok(address) => Ok(address),
            Err(_) => err(span, "this address lies outside the memory of a PE"),
        }
    }

    /// Memory that holds a constant; equal constants share it.
    pub fn constant_data(&mut self, value: &Value, ty: Ty, span: Span) -> Res<u32> {
        if let Some(address) = self.tile(span)?.constants.get(value) {
            return Ok(*address);
        }
        let address = self.static_memory(ty, 1, span)?;
        let tile = self.tile(span)?;
        tile.constants.insert(value.clone(), address);
        tile.initial.push((address, value.clone(), ty, span));
        Ok(address)
    }

    /// Writes out the initial values, until none refers to memory that is still without one.
    pub fn write_initial_memory(&mut self, span: Span) -> Res<()> {
        let mut done = 0;
        while done < self.tile(span)?.initial.len() {
            let (address, value, ty, at) = self.tile(span)?.initial[done].clone();
            done += 1;
            if matches!(value, Value::Undefined(_)) {
                continue;
            }
            let mut bytes = vec![0u8; self.size(ty, at)? as usize];
            self.serialise(&value, ty, &mut bytes, at)?;
            let words = bytes
                .chunks(2)
                .map(|pair| u16::from(pair[0]) | u16::from(*pair.get(1).unwrap_or(&0)) << 8)
                .collect();
            self.tile(span)?.program.memory.push((address, words));
        }
        self.tile(span)?.program.memory.sort();
        Ok(())
    }

    fn serialise(&mut self, value: &Value, ty: Ty, bytes: &mut [u8], span: Span) -> Res<()> {
        match value {
            Value::Array(array) => {
                let Some((_, element)) = self.types.as_array(ty) else {
                    return err(span, "internal error: an array without an array type");
                };
                let size = self.element_size(element, span)? as usize;
                if size == 0 {
                    return Ok(());
                }
                let chunks = bytes.chunks_mut(size).take(array.elements.len());
                if let Elements::Same(value, _) = &array.elements {
                    let mut one = vec![0u8; size];
                    self.serialise(value, element, &mut one, span)?;
                    chunks.for_each(|chunk| chunk.copy_from_slice(&one));
                    return Ok(());
                }
                for (index, chunk) in chunks.enumerate() {
                    if let Some(value) = array.elements.get(index) {
                        self.serialise(value, element, chunk, span)?;
                    }
                }
                Ok(())
            }
            Value::Struct(fields) => {
                let TypeKind::Struct { fields: types, .. } = self.types.kind(ty).clone() else {
                    return err(span, "internal error: a struct without a struct type");
                };
                for ((name, _), value) in types.iter().zip(&fields.values) {
                    let Some((offset, field)) = self.types.field(ty, *name) else {
                        return err(
                            span,
                            "a struct with comptime-only fields has no place in memory",
                        );
                    };
                    self.serialise(value, field, &mut bytes[offset as usize..], span)?;
                }
                Ok(())
            }
            scalar => {
                let bits = self.bits(scalar, span)?;
                let size = bytes.len().min(self.element_size(ty, span)? as usize);
                bytes[..size].copy_from_slice(&bits.to_le_bytes()[..size]);
                Ok(())
            }
        }
    }
}

/// What the smallest program with memcpy takes of a PE's memory, its code and stack included, as the
/// vendor's linker reports it.
const MEMCPY_BYTES: u32 = 4_176;

impl Compiler {
    /// Data leaves room for the code and the stack that a program with memcpy has at least.
    pub fn check_memory_left(&mut self, tile: &TileState) -> Res<()> {
        let limit = PE_MEMORY_BYTES - MEMCPY_BYTES;
        // What lies before the first variable is memcpy's.
        let taken = tile.program.memory_bytes.saturating_sub(FIRST_ADDRESS);
        let last = limit + FIRST_ADDRESS;
        let below = tile.initial.iter().filter(|(at, ..)| *at <= last);
        let Some((.., across)) = below.max_by_key(|(at, ..)| *at) else {
            return Ok(());
        };
        if !self.uses_memcpy() || taken <= limit {
            return Ok(());
        }
        self.doubt(
            rule::MEMORY,
            *across,
            format!("with this the data of the program go over the {limit} bytes that memcpy's code and stack leave of {PE_MEMORY_BYTES}: {taken} in all, without the program's own code"),
        )
    }
}
