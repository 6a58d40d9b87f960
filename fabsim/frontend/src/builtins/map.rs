//! `@map`: one call of a function per element.

use crate::compiler::{Compiler, Ev, Frame};
use crate::parse::ast::ExprId;
use crate::types::kinds::{Ty, TypeKind};
use crate::types::value::Value;
use crate::{err, Res};
use fabsim_program::program::{Inst, MapOperation, Operand, ScalarType, Span};

impl Compiler {
    /// `@map(function, inputs..., [output])`
    pub fn map(&mut self, f: &mut Frame, args: &[ExprId], span: Span) -> Res<Ev> {
        let (callee, rest) = (args[0], &args[1..]);
        let at = f.ast.span(callee);
        let Value::Function(function) = self.value(f, callee)? else {
            return err(at, "the first argument of @map must be a function");
        };
        let ty = self.function_type(function)?;
        let TypeKind::Function { params, result } = self.types.kind(ty).clone() else {
            return err(at, "the first argument of @map must be a function");
        };
        let outputs = usize::from(result != Ty::VOID);
        if rest.len() != params.len() + outputs {
            let (wanted, found) = (params.len() + outputs, rest.len());
            return err(
                span,
                format!("this @map needs {wanted} operands after the function, found {found}"),
            );
        }
        let mut inputs = Vec::with_capacity(params.len());
        for (param, arg) in params.iter().zip(rest) {
            inputs.push(self.map_input(f, *arg, *param)?);
        }
        let output = match rest.get(params.len()) {
            Some(arg) => Some(self.map_output(f, *arg, result)?),
            None => None,
        };
        let function = self.instance(function, Vec::new(), at)?;
        let map = MapOperation {
            function,
            inputs,
            output,
        };
        self.builder(span)?.callees.push(function.0);
        self.push(Inst::Map(Box::new(map)), span)?;
        Ok(Ev::Val(Value::Void))
    }

    pub fn map_element(&mut self, ty: Ty, span: Span) -> Res<ScalarType> {
        let legal = matches!(ty, Ty::I16 | Ty::U16 | Ty::I32 | Ty::U32 | Ty::F32) || ty.is_fp16();
        match legal {
            true => self.scalar(ty, span),
            false => {
                let ty = self.show(ty);
                err(span, format!("@map cannot stream elements of type {ty}"))
            }
        }
    }

    pub fn map_input(&mut self, f: &mut Frame, e: ExprId, param: Ty) -> Res<(Operand, ScalarType)> {
        let span = f.ast.span(e);
        let ev = self.eval_as(f, e, Some(param))?;
        let ty = self.type_of_ev(&ev);
        match ty {
            Ty::FABOUT | Ty::DSR_DEST | Ty::DSR_SRC0 | Ty::FIFO => {
                let ty = self.show(ty);
                err(span, format!("@map cannot read from a value of type {ty}"))
            }
            Ty::DSR_SRC1 => match ev {
                Ev::Val(Value::Dsr(dsr)) => {
                    self.note_mapped(dsr, span)?;
                    Ok((Operand::Dsr(dsr), self.map_element(param, span)?))
                }
                _ => err(span, "this DSR is not known at compile time"),
            },
            _ if ty.is_dsd() => {
                let element = self.map_element(param, span)?;
                Ok((Operand::Dsd(self.slot_of(&ev, span)?.0), element))
            }
            _ => {
                let ev = self.coerce(ev, param, span)?;
                let scalar = self.scalar(param, span)?;
                Ok((Operand::Scalar(self.slot_of(&ev, span)?.0, scalar), scalar))
            }
        }
    }

    pub fn map_output(
        &mut self,
        f: &mut Frame,
        e: ExprId,
        result: Ty,
    ) -> Res<(Operand, ScalarType)> {
        let span = f.ast.span(e);
        let element = self.map_element(result, span)?;
        let ev = self.eval(f, e)?;
        let ty = self.type_of_ev(&ev);
        match &ev {
            Ev::Val(Value::Dsr(dsr)) => self.note_mapped(*dsr, span)?,
            Ev::Val(Value::Dsd(dsd)) => self.check_mapped_output(dsd, span)?,
            _ => {}
        }
        let operand = match (&ev, ty) {
            (Ev::Val(Value::Dsr(dsr)), Ty::DSR_DEST) => Operand::Dsr(*dsr),
            (_, Ty::MEM1D | Ty::MEM4D | Ty::FABOUT) => Operand::Dsd(self.slot_of(&ev, span)?.0),
            _ => match self.types.as_pointer(ty) {
                Some((_, true, pointee)) if pointee == result => {
                    Operand::Pointer(self.slot_of(&ev, span)?.0, element)
                }
                _ => {
                    let ty = self.show(ty);
                    return err(span, format!("@map cannot write to a value of type {ty}"));
                }
            },
        };
        Ok((operand, element))
    }
}
