//! Making DSDs and DSRs: `@get_dsd`, tensor accesses, derived DSDs, `@get_dsr`, `@load_to_dsr`.

use crate::compiler::{Compiler, Ev, Frame};
use crate::parse::ast::{Arith, ExprId};
use crate::types::kinds::Ty;
use crate::types::value::{DsdValue, Value};
use crate::{err, Res};
use fabsim_program::program::{Dsd, DsdShape, Inst, Slot, Span};
use std::rc::Rc;

/// What the fields of a memory DSD say.
#[derive(Default)]
struct MemoryFields {
    base: Option<Ev>,
    offset: i64,
    extent: Option<Ev>,
    stride: Option<Ev>,
    wavelet_index_offset: bool,
}

/// Slots with what is known of a DSD only at run time.
#[derive(Default)]
pub struct RunTimeParts {
    base: Option<Slot>,
    pub extent: Option<Slot>,
    stride: Option<Slot>,
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
            "get_xdsr" => self.get_extension(f, args, Ty::XDSR)?,
            "get_sr" => self.get_extension(f, args, Ty::SR)?,
            "load_to_dsr" => self.load_to_dsr(f, args, span)?,
            "load_to_dsr_xdsr_sr" => self.load_with_strides(f, args, span)?,
            "set_dsr_base_addr" | "set_dsr_length" => self.set_dsr(f, name, args, span)?,
            "set_dsd_base_addr" => self.set_base(f, args, span)?,
            "set_dsd_length" | "set_dsd_stride" => self.set_number(f, name, args, span)?,
            "allocate_fifo" => self.allocate_fifo(f, args, span)?,
            "set_fifo_read_length" | "set_fifo_write_length" => {
                self.set_fifo_length(f, name, args, span)?
            }
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
        let tile = self.tile(span)?;
        if let DsdShape::Fifo { fifo } = dsd.shape {
            tile.program.fifos[usize::from(fifo)].buffer = u32::from(base);
        }
        let shape = tile.shape(&dsd.shape, dsd.span)?;
        Ok(Dsd {
            shape,
            base,
            extent: dsd.extent,
            stride: dsd.stride,
        }
        .pack())
    }

    fn get_dsd(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<Ev> {
        let ty = self.type_value(f, args[0])?;
        let config = match ty {
            Ty::FABIN | Ty::FABOUT => self.fabric_config(f, args[1])?,
            _ => self.eval(f, args[1])?,
        };
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

    pub fn known_number(&mut self, ev: &Ev, what: &str, ty: Ty, span: Span) -> Res<i64> {
        match ev {
            Ev::Val(value @ Value::Int(..)) => match self.coerce_value(value.clone(), ty, span) {
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
        let mut run = RunTimeParts::default();
        if ty == Ty::MEM1D {
            self.one_dimension(&mut dsd, extent, fields.stride.as_ref(), &mut run)?;
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
        match base {
            Ev::Val(Value::Pointer(pointer)) => {
                dsd.base = Some((pointer.target, pointer.offset + offset))
            }
            Ev::Slot(slot, _) => run.base = Some(self.offset_slot(*slot, offset, span)?),
            _ => return err(span, "'base_address' must be a pointer"),
        }
        self.with_run_time_parts(dsd, &run)
    }

    /// Extent and stride of a mem1d_dsd; what is known only at run time goes into `run`.
    fn one_dimension(
        &mut self,
        dsd: &mut DsdValue,
        extent: &Ev,
        stride: Option<&Ev>,
        run: &mut RunTimeParts,
    ) -> Res<()> {
        let span = dsd.span;
        match extent {
            Ev::Slot(slot, from) if from.is_int() => {
                run.extent = Some(self.convert(*slot, *from, Ty::U16, span)?)
            }
            other => dsd.extent = self.single(other, "extent", Ty::U16, span)? as u16,
        }
        match stride {
            Some(Ev::Slot(slot, from)) if from.is_int() => {
                run.stride = Some(self.convert(*slot, *from, Ty::I16, span)?)
            }
            Some(other) => dsd.stride = self.single(other, "stride", Ty::I8, span)? as i16,
            None => {}
        }
        Ok(())
    }

    /// The DSD, with code that fills in what is known only at run time.
    pub fn with_run_time_parts(&mut self, dsd: DsdValue, run: &RunTimeParts) -> Res<Ev> {
        let (ty, span) = (dsd.ty, dsd.span);
        let value = Ev::Val(Value::Dsd(Rc::new(dsd)));
        if (run.base, run.extent, run.stride) == (None, None, None) {
            return Ok(value);
        }
        let (mut dsd, _) = self.slot_of(&value, span)?;
        if let Some(address) = run.base {
            dsd = self.derived(|dst| Inst::DsdSetBase { dst, dsd, address }, span)?;
        }
        if let Some(length) = run.extent {
            dsd = self.derived(|dst| Inst::DsdSetLength { dst, dsd, length }, span)?;
        }
        if let Some(stride) = run.stride {
            dsd = self.derived(|dst| Inst::DsdSetStride { dst, dsd, stride }, span)?;
        }
        Ok(Ev::Slot(dsd, ty))
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
    pub fn pointed_element(&mut self, ty: Ty, span: Span) -> Res<Ty> {
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

    pub fn dsd_element_bytes(&mut self, element: Ty, span: Span) -> Res<u8> {
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
}
