//! Making DSDs and DSRs: `@get_dsd`, tensor accesses, derived DSDs, `@get_dsr`, `@load_to_dsr`.

use super::access::Addr;
use super::ast::{Arith, Expr, ExprId};
use super::compiler::{Compiler, Ev, Frame};
use super::intern::Sym;
use super::types::Ty;
use super::value::{AnonymousValue, DsdValue, Value};
use super::{err, Res};
use crate::diagnostic::Diagnostic;
use crate::program::{Dsd, DsdShape, Dsr, DsrFile, Inst, Simd, Slot, Span};
use std::rc::Rc;

pub fn dsr_type(dsr: Dsr) -> Ty {
    match dsr.file {
        DsrFile::Dest => Ty::DSR_DEST,
        DsrFile::Src0 => Ty::DSR_SRC0,
        DsrFile::Src1 => Ty::DSR_SRC1,
    }
}

/// What the fields of a memory DSD say.
#[derive(Default)]
struct MemoryFields {
    base: Option<Ev>,
    offset: i64,
    extent: Option<Ev>,
    stride: Option<Ev>,
    wavelet_index_offset: bool,
}

impl Compiler {
    pub fn dsd_builtin(
        &mut self,
        f: &mut Frame,
        name: &str,
        args: &[ExprId],
        span: Span,
    ) -> Res<Option<Ev>> {
        Ok(Some(match name {
            "get_dsd" => self.get_dsd(f, args, span)?,
            "get_dsr" => self.get_dsr(f, args, span)?,
            "load_to_dsr" => self.load_to_dsr(f, args, span)?,
            "set_dsd_base_addr" => self.set_base(f, args, span)?,
            "set_dsd_length" | "set_dsd_stride" => self.set_number(f, name, args, span)?,
            "increment_dsd_offset" => self.increment_offset(f, args, span)?,
            _ => return Ok(None),
        }))
    }

    /// The packed form of a known DSD in the tile program being compiled.
    pub fn pack(&mut self, dsd: &DsdValue, span: Span) -> Res<u64> {
        let base = match dsd.base {
            Some((target, offset)) => self.address(target, offset, dsd.span)?,
            None => 0,
        };
        let shape = self.tile(span)?.shape(&dsd.shape, dsd.span)?;
        Ok(Dsd {
            shape,
            base,
            extent: dsd.extent,
            stride: dsd.stride,
        }
        .pack())
    }

    fn get_dsd(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<Ev> {
        self.arity("get_dsd", args, 2, 2, span)?;
        let ty = self.type_value(f, args[0])?;
        let config = self.eval(f, args[1])?;
        match ty {
            Ty::MEM1D | Ty::MEM4D => self.memory_dsd(ty, &config, span),
            Ty::FABIN | Ty::FABOUT => self.fabric_dsd(ty, &config, span),
            _ => {
                let ty = self.show(ty);
                err(span, format!("@get_dsd needs a DSD type, found {ty}"))
            }
        }
    }

    fn memory_fields(&mut self, config: &Ev, span: Span) -> Res<MemoryFields> {
        let allowed = [
            "base_address",
            "extent",
            "stride",
            "offset",
            "tensor_access",
            "wavelet_index_offset",
        ];
        let mut out = MemoryFields::default();
        let mut access = None;
        let mut plain = false;
        for (name, ev) in self.fields(config, &allowed, "a memory DSD", span)? {
            plain |= matches!(
                name.as_str(),
                "base_address" | "extent" | "stride" | "offset"
            );
            match name.as_str() {
                "base_address" => out.base = Some(ev),
                "extent" => out.extent = Some(ev),
                "stride" => out.stride = Some(ev),
                "tensor_access" => access = Some(ev),
                "wavelet_index_offset" => out.wavelet_index_offset = self.flag(&ev, &name, span)?,
                _ => out.offset = self.known_number(&ev, "offset", Ty::I16, span)?,
            }
        }
        if let Some(access) = access {
            let allowed = ["base_address", "extent", "stride", "offset"];
            for (name, ev) in self.fields(&access, &allowed, "a tensor access", span)? {
                match name.as_str() {
                    "base_address" if out.base.is_none() => out.base = Some(ev),
                    "extent" if out.extent.is_none() => out.extent = Some(ev),
                    "stride" if out.stride.is_none() => out.stride = Some(ev),
                    "offset" if !plain => {
                        out.offset = self.known_number(&ev, "offset", Ty::I16, span)?
                    }
                    _ => {
                        return err(
                            span,
                            format!("the field '{name}' is given by the tensor access too"),
                        )
                    }
                }
            }
        }
        Ok(out)
    }

    fn known_number(&mut self, ev: &Ev, what: &str, ty: Ty, span: Span) -> Res<i64> {
        match ev {
            Ev::Val(value @ Value::Int(..)) => match self.bind_value(value.clone(), ty, span) {
                Ok(value) => Ok(value.as_int().unwrap_or(0) as i64),
                Err(error) => err(span, format!("'{what}': {}", error.message)),
            },
            _ => err(
                span,
                format!("'{what}' must be an integer known at compile time"),
            ),
        }
    }

    /// The numbers of a tuple, or of a single number.
    fn numbers(&mut self, ev: &Ev, what: &str, ty: Ty, span: Span) -> Res<Vec<i64>> {
        match ev {
            Ev::Val(Value::Tuple(items)) => items
                .iter()
                .map(|item| self.known_number(&Ev::Val(item.clone()), what, ty, span))
                .collect(),
            Ev::Val(Value::Array(array)) => (0..array.elements.len())
                .filter_map(|i| array.elements.get(i).cloned())
                .map(|item| self.known_number(&Ev::Val(item), what, ty, span))
                .collect(),
            other => Ok(vec![self.known_number(other, what, ty, span)?]),
        }
    }

    fn memory_dsd(&mut self, ty: Ty, config: &Ev, span: Span) -> Res<Ev> {
        let fields = self.memory_fields(config, span)?;
        let Some(base) = &fields.base else {
            return err(
                span,
                "a memory DSD needs '.base_address' or '.tensor_access'",
            );
        };
        let Some(extent) = &fields.extent else {
            return err(span, "a memory DSD needs '.extent'");
        };
        let base_ty = self.type_of_ev(base);
        let element = self.pointed_element(base_ty, span)?;
        let element_bytes = self.dsd_element_bytes(element, span)?;
        let mut dsd = DsdValue {
            ty,
            shape: DsdShape::Mem1d {
                element_bytes,
                wavelet_index_offset: fields.wavelet_index_offset,
            },
            base: None,
            extent: 0,
            stride: 1,
            span,
        };
        let (mut run_extent, mut run_stride) = (None, None);
        if ty == Ty::MEM1D {
            match extent {
                Ev::Slot(slot, from) if from.is_int() => {
                    run_extent = Some(self.convert(*slot, *from, Ty::U16, span)?)
                }
                other => dsd.extent = self.single(other, "extent", Ty::U16, span)? as u16,
            }
            match &fields.stride {
                Some(Ev::Slot(slot, from)) if from.is_int() => {
                    run_stride = Some(self.convert(*slot, *from, Ty::I16, span)?)
                }
                Some(other) => dsd.stride = self.single(other, "stride", Ty::I8, span)? as i16,
                None => {}
            }
        } else {
            self.four_dimensions(
                &mut dsd,
                extent,
                fields.stride.as_ref(),
                element_bytes,
                fields.wavelet_index_offset,
            )?;
        }
        let offset = fields.offset * i64::from(element_bytes);
        let mut run_base = None;
        match base {
            Ev::Val(Value::Pointer(pointer)) => {
                dsd.base = Some((pointer.target, pointer.offset + offset))
            }
            Ev::Slot(slot, _) => run_base = Some(self.offset_slot(*slot, offset, span)?),
            _ => return err(span, "'base_address' must be a pointer"),
        }
        let value = Ev::Val(Value::Dsd(Rc::new(dsd)));
        if run_base.is_none() && run_extent.is_none() && run_stride.is_none() {
            return Ok(value);
        }
        let (mut slot, _) = self.slot_of(&value, span)?;
        if let Some(address) = run_base {
            slot = self.derived(
                |dst| Inst::DsdSetBase {
                    dst,
                    dsd: slot,
                    address,
                },
                span,
            )?;
        }
        if let Some(length) = run_extent {
            slot = self.derived(
                |dst| Inst::DsdSetLength {
                    dst,
                    dsd: slot,
                    length,
                },
                span,
            )?;
        }
        if let Some(stride) = run_stride {
            slot = self.derived(
                |dst| Inst::DsdSetStride {
                    dst,
                    dsd: slot,
                    stride,
                },
                span,
            )?;
        }
        Ok(Ev::Slot(slot, ty))
    }

    fn derived(&mut self, make: impl FnOnce(Slot) -> Inst, span: Span) -> Res<Slot> {
        let dst = self.new_slot(span)?;
        self.push(make(dst), span)?;
        Ok(dst)
    }

    fn offset_slot(&mut self, slot: Slot, offset: i64, span: Span) -> Res<Slot> {
        if offset == 0 {
            return Ok(slot);
        }
        let b = Ev::Val(Value::Int(i128::from(offset as u16), Ty::U16));
        match self.arith(Arith::Add, Ev::Slot(slot, Ty::U16), b, span)? {
            Ev::Slot(slot, _) => Ok(slot),
            _ => err(span, "this address is not known"),
        }
    }

    fn single(&mut self, ev: &Ev, what: &str, ty: Ty, span: Span) -> Res<i64> {
        match self.numbers(ev, what, ty, span)?.as_slice() {
            [one] => Ok(*one),
            _ => err(
                span,
                format!("the '{what}' of a mem1d_dsd is one number: use mem4d_dsd"),
            ),
        }
    }

    fn four_dimensions(
        &mut self,
        dsd: &mut DsdValue,
        extent: &Ev,
        stride: Option<&Ev>,
        element_bytes: u8,
        wavelet_index_offset: bool,
    ) -> Res<()> {
        let span = dsd.span;
        let extents = self.numbers(extent, "extent", Ty::U16, span)?;
        if extents.is_empty() || extents.len() > 4 {
            return err(span, "a mem4d_dsd has 1 to 4 dimensions");
        }
        // Without strides the elements lie one after the other.
        let mut strides = match stride {
            Some(stride) => self.numbers(stride, "stride", Ty::I16, span)?,
            None => vec![1; extents.len()],
        };
        if strides.len() != extents.len() {
            let (n, m) = (extents.len(), strides.len());
            return err(span, format!("the DSD has {n} extents but {m} strides"));
        }
        // CSL lists strides innermost first, the program outermost first.
        strides.reverse();
        let count = extents
            .iter()
            .fold(1u64, |n, e| n.saturating_mul(*e as u64));
        dsd.extent = count.min(65535) as u16;
        dsd.stride = 0;
        dsd.shape = DsdShape::Mem4d {
            element_bytes,
            extents: extents.iter().map(|e| *e as u16).collect(),
            strides: strides.iter().map(|s| *s as i16).collect(),
            wavelet_index_offset,
        };
        Ok(())
    }

    /// The element type behind a pointer to an array, to a scalar, or to many.
    fn pointed_element(&mut self, ty: Ty, span: Span) -> Res<Ty> {
        let Some((_, _, pointee)) = self.types.as_pointer(ty) else {
            let ty = self.show(ty);
            return err(
                span,
                format!("'base_address' must be a pointer, found {ty}"),
            );
        };
        Ok(self
            .types
            .as_array(pointee)
            .map_or(pointee, |(_, element)| element))
    }

    fn dsd_element_bytes(&mut self, element: Ty, span: Span) -> Res<u8> {
        match element {
            ty if ty.is_fp16() => Ok(2),
            Ty::I16 | Ty::U16 => Ok(2),
            Ty::I32 | Ty::U32 | Ty::F32 => Ok(4),
            _ => {
                let element = self.show(element);
                err(
                    span,
                    format!("a DSD cannot describe elements of type {element}"),
                )
            }
        }
    }

    fn fabric_dsd(&mut self, ty: Ty, config: &Ev, span: Span) -> Res<Ev> {
        let out = ty == Ty::FABOUT;
        let (what, queue_name, queue_ty) = match out {
            true => ("a fabout_dsd", "output_queue", Ty::OUTPUT_QUEUE),
            false => ("a fabin_dsd", "input_queue", Ty::INPUT_QUEUE),
        };
        let allowed: &[&str] = match out {
            true => &[
                "extent",
                "fabric_color",
                "output_queue",
                "control",
                "advance_switch",
                "wavelet_index_offset",
                "simd_mode",
                "control_transform",
                "zero",
                "priority",
            ],
            false => &[
                "extent",
                "fabric_color",
                "input_queue",
                "control_transform",
                "simd_mode",
                "priority",
            ],
        };
        let (mut extent, mut queue, mut color, mut simd) = (None, None, None, Simd::One);
        let (mut control, mut advance, mut index, mut transform) = (false, false, false, false);
        for (name, ev) in self.fields(config, allowed, what, span)? {
            match name.as_str() {
                "extent" => extent = Some(ev),
                "fabric_color" => {
                    color = Some(self.handle(&ev, Ty::COLOR, "'fabric_color'", span)?)
                }
                "control" => control = self.flag(&ev, &name, span)?,
                "advance_switch" => advance = self.flag(&ev, &name, span)?,
                "wavelet_index_offset" => index = self.flag(&ev, &name, span)?,
                "control_transform" => transform = self.flag(&ev, &name, span)?,
                "simd_mode" => simd = self.simd(&ev, span)?,
                "zero" | "priority" => {
                    return err(
                        span,
                        format!("fabsim does not support the field '{name}' of {what} yet"),
                    )
                }
                _ => queue = Some(self.handle(&ev, queue_ty, &format!("'{queue_name}'"), span)?),
            }
        }
        let Some(queue) = queue else {
            return err(span, format!("{what} needs the field '.{queue_name}'"));
        };
        let Some(extent) = extent else {
            return err(span, format!("{what} needs the field '.extent'"));
        };
        if out && self.wse3() && color.is_some() {
            return err(span, "a fabout_dsd of wse3 takes its color from the output queue: leave out '.fabric_color'");
        }
        if out && !self.wse3() && color.is_none() {
            return err(span, "a fabout_dsd of wse2 needs the field '.fabric_color'");
        }
        let shape = match out {
            true => DsdShape::FabOut {
                queue,
                color,
                control,
                advance_switch: advance,
                wavelet_index_offset: index,
                control_transform: transform,
                simd,
            },
            false => DsdShape::FabIn {
                queue,
                color,
                control_transform: transform,
                simd,
            },
        };
        let mut dsd = DsdValue {
            ty,
            shape,
            base: None,
            extent: 0,
            stride: 0,
            span,
        };
        if let Ev::Slot(length, from) = extent {
            let length = self.convert(length, from, Ty::U16, span)?;
            let (slot, _) = self.slot_of(&Ev::Val(Value::Dsd(Rc::new(dsd))), span)?;
            let slot = self.derived(
                |dst| Inst::DsdSetLength {
                    dst,
                    dsd: slot,
                    length,
                },
                span,
            )?;
            return Ok(Ev::Slot(slot, ty));
        }
        dsd.extent = self.known_number(&extent, "extent", Ty::U16, span)? as u16;
        Ok(Ev::Val(Value::Dsd(Rc::new(dsd))))
    }

    fn simd(&mut self, ev: &Ev, span: Span) -> Res<Simd> {
        let fields = self.fields(
            ev,
            &["simd_32", "simd_64", "simd_32_or_64"],
            "'simd_mode'",
            span,
        )?;
        match fields.as_slice() {
            [(name, Ev::Val(Value::Bool(true)))] => Ok(match name.as_str() {
                "simd_32" => Simd::Simd32,
                "simd_64" => Simd::Simd64,
                _ => Simd::Simd32Or64,
            }),
            _ => err(
                span,
                "'simd_mode' names one mode, such as .{ .simd_64 = true }",
            ),
        }
    }

    /// `|i, j|{n, m} -> A[...]` as a struct of base, offset, incremental strides and extents.
    pub fn tensor_access(&mut self, f: &mut Frame, e: ExprId, span: Span) -> Res<Ev> {
        let ast = f.ast.clone();
        let Expr::Tensor {
            variables,
            extents,
            base,
            indices,
        } = ast.expr(e)
        else {
            return err(span, "expected a tensor access");
        };
        if variables.is_empty() || variables.len() > 4 || variables.len() != extents.len() {
            return err(
                span,
                "a tensor access has 1 to 4 variables and as many extents",
            );
        }
        let mut lengths = Vec::with_capacity(extents.len());
        for extent in extents {
            let at = ast.span(*extent);
            let length = self.value(f, *extent)?;
            lengths.push(self.known_number(&Ev::Val(length), "extent", Ty::U16, at)?);
        }
        let pointer = match self.address_of(f, *base, span)? {
            Ev::Val(Value::Pointer(pointer)) => pointer,
            _ => {
                return err(
                    span,
                    "the array of a tensor access must be known at compile time",
                )
            }
        };
        let mut array = self
            .types
            .as_pointer(pointer.ty)
            .map_or(Ty::VOID, |(_, _, pointee)| pointee);
        let mut pointer = pointer;
        if let Some((_, _, pointee)) = self.types.as_pointer(array) {
            // A constant pointer to an array is followed.
            match self.value(f, *base)? {
                Value::Pointer(inner) => pointer = inner,
                _ => {
                    return err(
                        span,
                        "the array of a tensor access must be known at compile time",
                    )
                }
            }
            array = pointee;
        }
        let (_, strides, _) = self.array_parts(array, indices.len(), span)?;
        let mut offset = 0i64;
        let mut linear = vec![0i64; variables.len()];
        for (index, stride) in indices.iter().zip(&strides) {
            let (constant, factors) = self.affine(f, *index, variables)?;
            offset = offset.wrapping_add(constant.wrapping_mul(*stride));
            for (total, factor) in linear.iter_mut().zip(&factors) {
                *total = total.wrapping_add(factor.wrapping_mul(*stride));
            }
        }
        // Innermost first; each stride first takes back what the inner dimensions walked.
        let mut incremental = Vec::with_capacity(linear.len());
        let mut walked = 0i64;
        for (step, length) in linear.iter().zip(&lengths).rev() {
            incremental.push(step.wrapping_sub(walked));
            walked = walked.wrapping_add(step.wrapping_mul(length - 1));
        }
        let int = |v: i64| Value::int(i128::from(v));
        let tuple = |list: &[i64]| Value::Tuple(Rc::new(list.iter().map(|v| int(*v)).collect()));
        let names: Vec<Sym> = ["base_address", "offset", "stride", "extent"]
            .iter()
            .map(|n| self.sym(n))
            .collect();
        let values = vec![
            Value::Pointer(pointer),
            int(offset),
            tuple(&incremental),
            tuple(&lengths),
        ];
        let names = names.into();
        Ok(Ev::Val(Value::Anonymous(Rc::new(AnonymousValue {
            names,
            values,
        }))))
    }

    /// `e` as a constant plus a factor for each variable.
    fn affine(&mut self, f: &mut Frame, e: ExprId, variables: &[Sym]) -> Res<(i64, Vec<i64>)> {
        let ast = f.ast.clone();
        let span = ast.span(e);
        let zero = || vec![0i64; variables.len()];
        match ast.expr(e) {
            Expr::Name(name) => {
                if let Some(at) = variables.iter().position(|variable| variable == name) {
                    let mut factors = zero();
                    factors[at] = 1;
                    return Ok((0, factors));
                }
            }
            Expr::Arith(op @ (Arith::Add | Arith::Sub | Arith::Mul), a, b) => {
                self.enter(span)?;
                let (left, right) = (
                    self.affine(f, *a, variables)?,
                    self.affine(f, *b, variables)?,
                );
                self.leave();
                let combine = |sign: i64| {
                    let factors = left
                        .1
                        .iter()
                        .zip(&right.1)
                        .map(|(l, r)| l.wrapping_add(sign.wrapping_mul(*r)))
                        .collect();
                    (left.0.wrapping_add(sign.wrapping_mul(right.0)), factors)
                };
                let scale = |by: i64, of: &(i64, Vec<i64>)| {
                    (
                        of.0.wrapping_mul(by),
                        of.1.iter().map(|x| x.wrapping_mul(by)).collect(),
                    )
                };
                let constant = |side: &(i64, Vec<i64>)| side.1.iter().all(|x| *x == 0);
                return match op {
                    Arith::Add => Ok(combine(1)),
                    Arith::Sub => Ok(combine(-1)),
                    _ if constant(&left) => Ok(scale(left.0, &right)),
                    _ if constant(&right) => Ok(scale(right.0, &left)),
                    _ => err(span, "a tensor access must be affine in its variables"),
                };
            }
            _ => {}
        }
        let value = self.value(f, e)?;
        let number = self.known_number(&Ev::Val(value), "index", Ty::I32, span)?;
        Ok((number, zero()))
    }

    fn dsd_argument(&mut self, f: &mut Frame, e: ExprId, kinds: &[Ty], name: &str) -> Res<Ev> {
        let span = f.ast.span(e);
        let ev = self.eval(f, e)?;
        let ty = self.type_of_ev(&ev);
        if !kinds.contains(&ty) {
            let ty = self.show(ty);
            return err(span, format!("@{name} cannot take a value of type {ty}"));
        }
        Ok(ev)
    }

    fn set_base(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<Ev> {
        let name = "set_dsd_base_addr";
        self.arity(name, args, 2, 2, span)?;
        let dsd = self.dsd_argument(f, args[0], &[Ty::MEM1D, Ty::MEM4D], name)?;
        let at = f.ast.span(args[1]);
        // Either a pointer or, without '&', an array.
        let ty = match f.ast.expr(args[1]) {
            Expr::Name(_) | Expr::Field(..) => {
                let access = self.access(f, args[1])?;
                match &access {
                    super::access::Access::Memory(_, ty, _)
                        if self.types.as_array(*ty).is_some() =>
                    {
                        None
                    }
                    super::access::Access::Constant(..) => None,
                    _ => Some(self.read(f, access, at)?),
                }
            }
            _ => Some(self.eval(f, args[1])?),
        };
        let pointer = match ty {
            Some(pointer) => pointer,
            None => self.address_of(f, args[1], at)?,
        };
        let pointer_ty = self.type_of_ev(&pointer);
        let element = self.pointed_element(pointer_ty, at)?;
        self.dsd_element_bytes(element, at)?;
        if let (Ev::Val(Value::Dsd(dsd)), Ev::Val(Value::Pointer(pointer))) = (&dsd, &pointer) {
            let mut dsd = (**dsd).clone();
            dsd.base = Some((pointer.target, pointer.offset));
            return Ok(Ev::Val(Value::Dsd(Rc::new(dsd))));
        }
        let (slot, ty) = self.slot_of(&dsd, span)?;
        let address = match pointer {
            Ev::Val(Value::Pointer(pointer)) => {
                self.address_slot(Addr::Known(pointer.target, pointer.offset), at)?
            }
            other => self.slot_of(&other, at)?.0,
        };
        let slot = self.derived(
            |dst| Inst::DsdSetBase {
                dst,
                dsd: slot,
                address,
            },
            span,
        )?;
        Ok(Ev::Slot(slot, ty))
    }

    fn set_number(&mut self, f: &mut Frame, name: &str, args: &[ExprId], span: Span) -> Res<Ev> {
        self.arity(name, args, 2, 2, span)?;
        let length = name == "set_dsd_length";
        let kinds: &[Ty] = match length {
            true => &[Ty::MEM1D, Ty::FABIN, Ty::FABOUT],
            false => &[Ty::MEM1D],
        };
        let dsd = self.dsd_argument(f, args[0], kinds, name)?;
        let at = f.ast.span(args[1]);
        let ty = if length { Ty::U16 } else { Ty::I8 };
        let number = self.eval_as(f, args[1], Some(ty))?;
        let number = match number {
            Ev::Val(value) => Ev::Val(self.bind_value(value, ty, at)?),
            Ev::Slot(slot, from) if from.is_int() => {
                let to = if length { Ty::U16 } else { Ty::I16 };
                Ev::Slot(self.convert(slot, from, to, at)?, to)
            }
            other => self.coerce(other, ty, at)?,
        };
        if let (Ev::Val(Value::Dsd(dsd)), Ev::Val(Value::Int(number, _))) = (&dsd, &number) {
            let mut dsd = (**dsd).clone();
            match length {
                true => dsd.extent = *number as u16,
                false => dsd.stride = *number as i16,
            }
            return Ok(Ev::Val(Value::Dsd(Rc::new(dsd))));
        }
        let number = match number {
            Ev::Val(Value::Int(number, _)) => Ev::Val(Value::Int(number & 0xffff, Ty::U16)),
            other => other,
        };
        let (slot, ty) = self.slot_of(&dsd, span)?;
        let (number, _) = self.slot_of(&number, at)?;
        let make = |dst| match length {
            true => Inst::DsdSetLength {
                dst,
                dsd: slot,
                length: number,
            },
            false => Inst::DsdSetStride {
                dst,
                dsd: slot,
                stride: number,
            },
        };
        Ok(Ev::Slot(self.derived(make, span)?, ty))
    }

    fn increment_offset(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<Ev> {
        let name = "increment_dsd_offset";
        self.arity(name, args, 3, 3, span)?;
        let dsd = self.dsd_argument(f, args[0], &[Ty::MEM1D, Ty::MEM4D], name)?;
        let at = f.ast.span(args[1]);
        let by = self.eval_as(f, args[1], Some(Ty::I16))?;
        let by = match by {
            Ev::Val(value) => Ev::Val(self.bind_value(value, Ty::I16, at)?),
            Ev::Slot(slot, from) if from.is_int() => {
                Ev::Slot(self.convert(slot, from, Ty::I16, at)?, Ty::I16)
            }
            other => self.coerce(other, Ty::I16, at)?,
        };
        let element = self.type_value(f, args[2])?;
        let element_bytes = self.dsd_element_bytes(element, f.ast.span(args[2]))?;
        if let (Ev::Val(Value::Dsd(dsd)), Ev::Val(Value::Int(by, _))) = (&dsd, &by) {
            let mut dsd = (**dsd).clone();
            dsd.base = dsd
                .base
                .map(|(target, at)| (target, at + *by as i64 * i64::from(element_bytes)));
            return Ok(Ev::Val(Value::Dsd(Rc::new(dsd))));
        }
        let (slot, ty) = self.slot_of(&dsd, span)?;
        let (by, _) = self.slot_of(&by, at)?;
        let make = |dst| Inst::DsdAdvance {
            dst,
            dsd: slot,
            by,
            element_bytes,
        };
        Ok(Ev::Slot(self.derived(make, span)?, ty))
    }

    fn get_dsr(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<Ev> {
        self.arity("get_dsr", args, 2, 2, span)?;
        let ty = self.type_value(f, args[0])?;
        let file = match ty {
            Ty::DSR_DEST => DsrFile::Dest,
            Ty::DSR_SRC0 => DsrFile::Src0,
            Ty::DSR_SRC1 => DsrFile::Src1,
            _ => {
                let ty = self.show(ty);
                return err(span, format!("@get_dsr needs a DSR type, found {ty}"));
            }
        };
        let id = self.int_argument(f, args[1], 0, 15, "the number of a DSR")? as u8;
        if self.options.memcpy && id == 0 && file != DsrFile::Src0 {
            let ty = self.show(ty);
            return err(span, format!("{ty} 0 is reserved for memcpy"));
        }
        let dsr = Dsr { file, id };
        let tile = self.tile(span)?;
        if let Some((_, first)) = tile.dsrs.iter().find(|(other, _)| *other == dsr) {
            let (first, ty) = (*first, self.show(ty));
            let message = format!("{ty} {id} is taken twice");
            return Err(Box::new(
                Diagnostic::new(span, message).note(first, "first taken here"),
            ));
        }
        tile.dsrs.push((dsr, span));
        Ok(Ev::Val(Value::Dsr(dsr)))
    }
}
