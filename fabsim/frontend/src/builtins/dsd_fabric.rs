//! DSDs of the fabric: `@get_dsd(fabin_dsd, ...)` and `@get_dsd(fabout_dsd, ...)`.

use crate::builtins::dsd::RunTimeParts;
use crate::builtins::unnamed_queue::UNNAMED;
use crate::compiler::{Compiler, Ev, Frame};
use crate::parse::ast::{Expr, ExprId};
use crate::types::kinds::Ty;
use crate::types::literal::anonymous;
use crate::types::value::{DsdValue, Value};
use crate::{err, Res};
use fabsim_program::limits::COLORS;
use fabsim_program::program::{DsdShape, Priority, Simd, Span};

/// What the two kinds have different names for.
struct Kind {
    what: &'static str,
    queue: &'static str,
    queue_ty: Ty,
    fields: &'static [&'static str],
}

const FABIN: Kind = Kind {
    what: "a fabin_dsd",
    queue: "input_queue",
    queue_ty: Ty::INPUT_QUEUE,
    fields: &[
        "extent",
        "fabric_color",
        "input_queue",
        "control_transform",
        "simd_mode",
        "priority",
    ],
};

const FABOUT: Kind = Kind {
    what: "a fabout_dsd",
    queue: "output_queue",
    queue_ty: Ty::OUTPUT_QUEUE,
    fields: &[
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
};

/// Fields that have to be known at compile time.
const KNOWN: [&str; 3] = ["fabric_color", "input_queue", "output_queue"];

/// What no source says, and what does the same.
const RUN_TIME_COLOR: &str = "'fabric_color' is known only at run time, and what that does is not \
    documented: make a DSD for each color and choose among them, or bind the queue to the color with \
    input_queue_config or output_queue_config of <tile_config>";

/// What the fields of a fabric DSD say.
#[derive(Default)]
struct FabricFields {
    extent: Option<Ev>,
    queue: Option<u8>,
    color: Option<u8>,
    /// A color is given, also one that stands for none.
    colored: bool,
    simd: Option<Simd>,
    control: bool,
    advance_switch: bool,
    wavelet_index_offset: bool,
    control_transform: bool,
    priority: Option<Priority>,
}

impl Compiler {
    pub fn fabric_dsd(&mut self, ty: Ty, config: &Ev, span: Span) -> Res<Ev> {
        let out = ty == Ty::FABOUT;
        let kind = if out { &FABOUT } else { &FABIN };
        let mut fields = FabricFields::default();
        for (name, ev) in self.fields(config, kind.fields, kind.what, span)? {
            self.fabric_field(kind, &mut fields, &name, ev, span)?;
        }
        let queue = match fields.queue {
            Some(queue) => queue,
            // One of wse2 is bound by its color.
            None if !self.wse3() && fields.colored => UNNAMED,
            None => {
                let (what, queue) = (kind.what, kind.queue);
                return err(span, format!("{what} needs the field '.{queue}'"));
            }
        };
        let Some(extent) = fields.extent.take() else {
            return err(span, format!("{} needs the field '.extent'", kind.what));
        };
        if out && !fields.colored && !self.wse3() {
            return err(span, "a fabout_dsd of wse2 needs the field '.fabric_color'");
        }
        let mut dsd = DsdValue {
            ty,
            shape: fabric_shape(out, queue, &fields),
            base: None,
            extent: 0,
            stride: 0,
            span,
        };
        let mut run = RunTimeParts::default();
        match extent {
            Ev::Slot(slot, from) => run.extent = Some(self.convert(slot, from, Ty::U16, span)?),
            known => dsd.extent = self.known_number(&known, "extent", Ty::U16, span)? as u16,
        }
        self.with_run_time_parts(dsd, &run)
    }

    /// The configuration of such a DSD. A color or queue has to be known at compile time, so that a call which
    /// gives one is evaluated there.
    pub fn fabric_config(&mut self, f: &mut Frame, config: ExprId) -> Res<Ev> {
        let ast = f.ast.clone();
        let Expr::Struct(None, names, values) = ast.expr(config) else {
            return self.eval(f, config);
        };
        let mut evs = Vec::with_capacity(values.len());
        for (name, &value) in names.iter().zip(values) {
            let known = KNOWN.contains(&&*self.text(*name));
            evs.push(match ast.expr(value) {
                Expr::Call(..) if known => Ev::Val(self.comptime_value(f, value)?),
                _ => self.eval(f, value)?,
            });
        }
        Ok(anonymous(names, evs))
    }

    fn fabric_field(
        &mut self,
        kind: &Kind,
        fields: &mut FabricFields,
        name: &str,
        ev: Ev,
        span: Span,
    ) -> Res<()> {
        match name {
            "extent" => fields.extent = Some(ev),
            "fabric_color" => {
                fields.colored = true;
                if matches!(ev, Ev::Slot(_, Ty::COLOR)) {
                    return err(span, RUN_TIME_COLOR);
                }
                // A parameter left out, or a color of none: such a DSD may be made, but not used.
                if self.type_of_ev(&ev) != Ty::VOID {
                    let color = self.handle(&ev, Ty::COLOR, "'fabric_color'", span)?;
                    fields.color = Some(color).filter(|color| usize::from(*color) < COLORS);
                }
            }
            "control" => fields.control = self.flag(&ev, name, span)?,
            "advance_switch" => fields.advance_switch = self.flag(&ev, name, span)?,
            "wavelet_index_offset" => fields.wavelet_index_offset = self.flag(&ev, name, span)?,
            "control_transform" => fields.control_transform = self.flag(&ev, name, span)?,
            "simd_mode" => fields.simd = Some(self.simd(&ev, span)?),
            "priority" if self.wse3() => fields.priority = Some(self.priority(&ev, span)?),
            "priority" => {
                let what = kind.what;
                return err(
                    span,
                    format!(
                        "the field 'priority' of {what} is for wse3; on wse2 operations have it"
                    ),
                );
            }
            "zero" => {
                let what = kind.what;
                return err(
                    span,
                    format!("fabsim does not support the field '{name}' of {what} yet"),
                );
            }
            _ => {
                let ev = self.number_as_queue(ev, kind.queue_ty);
                let what = format!("'{}'", kind.queue);
                fields.queue = Some(self.handle(&ev, kind.queue_ty, &what, span)?);
            }
        }
        Ok(())
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
}

fn fabric_shape(out: bool, queue: u8, fields: &FabricFields) -> DsdShape {
    let simd = fields.simd.unwrap_or(Simd::One);
    match out {
        true => DsdShape::FabOut {
            queue,
            color: fields.color,
            control: fields.control,
            advance_switch: fields.advance_switch,
            wavelet_index_offset: fields.wavelet_index_offset,
            control_transform: fields.control_transform,
            simd,
            priority: fields.priority,
        },
        false => DsdShape::FabIn {
            queue,
            color: fields.color,
            control_transform: fields.control_transform,
            simd,
            priority: fields.priority,
        },
    }
}
