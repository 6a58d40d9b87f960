//! Tensor accesses: `|i, j|{ n, m } -> A[...]` as base, offset, incremental strides and extents.

use crate::compiler::{Compiler, Ev, Frame};
use crate::parse::ast::{Arith, Expr, ExprId};
use crate::parse::intern::Sym;
use crate::types::kinds::Ty;
use crate::types::value::{AnonymousValue, Pointer, Value};
use crate::{err, Res};
use fabsim_program::program::Span;
use std::rc::Rc;

impl Compiler {
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
        let (pointer, array) = self.accessed_array(f, *base, span)?;
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
        self.check_bounds(array, offset, &linear, &lengths, span);
        Ok(Ev::Val(
            self.access_value(pointer, offset, &linear, &lengths),
        ))
    }

    /// The array of a tensor access, and its type. A constant pointer to an array is followed.
    fn accessed_array(&mut self, f: &mut Frame, base: ExprId, span: Span) -> Res<(Pointer, Ty)> {
        let unknown = "the array of a tensor access must be known at compile time";
        let Ev::Val(Value::Pointer(pointer)) = self.address_of(f, base, span)? else {
            return err(span, unknown);
        };
        let pointee = |this: &Self, ty: Ty| this.types.as_pointer(ty).map(|(_, _, to)| to);
        let array = pointee(self, pointer.ty).unwrap_or(Ty::VOID);
        let Some(inner) = pointee(self, array) else {
            return Ok((pointer, array));
        };
        match self.value(f, base)? {
            Value::Pointer(pointer) => Ok((pointer, inner)),
            _ => err(span, unknown),
        }
    }

    /// The struct that an access is: incremental strides, innermost first.
    fn access_value(
        &mut self,
        pointer: Pointer,
        offset: i64,
        linear: &[i64],
        lengths: &[i64],
    ) -> Value {
        // Each stride first takes back what the inner dimensions walked.
        let mut incremental = Vec::with_capacity(linear.len());
        let mut walked = 0i64;
        for (step, length) in linear.iter().zip(lengths).rev() {
            incremental.push(step.wrapping_sub(walked));
            walked = walked.wrapping_add(step.wrapping_mul(length - 1));
        }
        let int = |v: i64| Value::int(i128::from(v));
        let tuple = |list: &[i64]| Value::Tuple(Rc::new(list.iter().map(|v| int(*v)).collect()));
        let values = vec![
            Value::Pointer(pointer),
            int(offset),
            tuple(&incremental),
            tuple(lengths),
        ];
        let names = ["base_address", "offset", "stride", "extent"];
        let names = names.iter().map(|name| self.sym(name)).collect();
        Value::Anonymous(Rc::new(AnonymousValue { names, values }))
    }

    /// Warns of an access that leaves its array. (The manual has such an example, so it is no error.)
    fn check_bounds(&mut self, array: Ty, offset: i64, steps: &[i64], lengths: &[i64], span: Span) {
        let Some((dims, _)) = self.types.as_array(array) else {
            return;
        };
        if lengths.contains(&0) {
            return;
        }
        let (mut first, mut last) = (i128::from(offset), i128::from(offset));
        for (step, length) in steps.iter().zip(lengths) {
            let reach = i128::from(*step) * i128::from(length - 1);
            first += reach.min(0);
            last += reach.max(0);
        }
        let count: i128 = dims.iter().map(|dim| i128::from(*dim)).product();
        if first < 0 || last >= count {
            self.warn(span, format!("this tensor access goes over the elements {first} to {last}, but the array has {count}"));
        }
    }

    /// `e` as a constant plus a factor for each variable.
    pub fn affine(&mut self, f: &mut Frame, e: ExprId, variables: &[Sym]) -> Res<(i64, Vec<i64>)> {
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
}
