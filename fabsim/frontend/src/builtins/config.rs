//! The configuration of a color: routes, switches, filters, teardown.

use crate::compiler::{Compiler, Ev};
use crate::types::kinds::Ty;
use crate::types::value::Value;
use crate::{err, Res};
use fabsim_program::program::{
    ColorSetup, Directions, Filter, PopMode, Span, SpanKey, SwitchPosition,
};

/// Colors that have switches on wse3.
const WSE3_SWITCHED: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 17, 20, 21];

/// Bits of a route in the color register: outputs, and above them inputs.
const OUTPUT_BITS: u16 = 0x1f;
const ROUTE_BITS: u16 = 0x3ff;

impl Compiler {
    /// The set-up that a configuration struct describes.
    pub fn color_setup(&mut self, color: u8, config: &Value, span: Span) -> Res<ColorSetup> {
        let what = "a color configuration";
        let allowed = ["routes", "switches", "filter", "teardown"];
        let mut setup = ColorSetup {
            span: SpanKey(span),
            ..ColorSetup::default()
        };
        let mut routed = false;
        for (name, ev) in self.fields(&Ev::Val(config.clone()), &allowed, what, span)? {
            match name.as_str() {
                "routes" => {
                    routed = true;
                    self.routes(&mut setup, &ev, span)?;
                }
                "switches" => self.switches(&mut setup, color, &ev, span)?,
                "filter" => setup.filter = Some(self.filter(&ev, span)?),
                _ => setup.teardown = self.flag(&ev, "teardown", span)?,
            }
        }
        match routed {
            true => Ok(setup),
            false => err(span, "a color configuration needs the field '.routes'"),
        }
    }

    fn routes(&mut self, setup: &mut ColorSetup, ev: &Ev, span: Span) -> Res<()> {
        if let Ev::Val(Value::Int(bits, _)) = ev {
            (setup.rx, setup.tx) = self.route_bits(*bits, span)?;
            return Ok(());
        }
        let allowed = ["rx", "tx", "color_swap_x", "color_swap_y", "pop_mode"];
        for (name, ev) in self.fields(ev, &allowed, "'routes'", span)? {
            match name.as_str() {
                "rx" => setup.rx = self.directions(&ev, "rx", span)?,
                "tx" => setup.tx = self.directions(&ev, "tx", span)?,
                // Where it was before it moved to the switches.
                "pop_mode" => setup.pop_mode = self.pop_mode(&ev, span)?,
                _ if self.wse3() => return err(span, "color swap exists only on wse2"),
                "color_swap_x" => setup.color_swap_x = self.flag(&ev, &name, span)?,
                _ => setup.color_swap_y = self.flag(&ev, &name, span)?,
            }
        }
        Ok(())
    }

    /// Inputs and outputs as the machine's color register names them.
    fn route_bits(&self, bits: i128, span: Span) -> Res<(Directions, Directions)> {
        match u16::try_from(bits) {
            Ok(bits) if bits <= ROUTE_BITS => Ok((
                Directions((bits >> 5 & OUTPUT_BITS) as u8),
                Directions((bits & OUTPUT_BITS) as u8),
            )),
            _ => err(
                span,
                format!("a route given by bits has outputs in bits 0 to 4 and inputs in bits 5 to 9, found {bits:#x}"),
            ),
        }
    }

    fn directions(&mut self, ev: &Ev, what: &str, span: Span) -> Res<Directions> {
        let items: Vec<Value> = match ev {
            Ev::Val(Value::Tuple(items)) => items.to_vec(),
            Ev::Val(Value::Anonymous(fields)) if fields.names.is_empty() => Vec::new(),
            Ev::Val(Value::Array(array)) => (0..array.elements.len())
                .filter_map(|i| array.elements.get(i).cloned())
                .collect(),
            Ev::Val(one @ Value::Handle(_, Ty::DIRECTION)) => vec![one.clone()],
            _ => return err(span, format!("'{what}' must be a list of directions")),
        };
        let mut bits = 0;
        for item in items {
            let Value::Handle(direction, Ty::DIRECTION) = item else {
                return err(span, format!("'{what}' must be a list of directions"));
            };
            bits |= 1u8 << direction.min(7);
        }
        Ok(Directions(bits))
    }

    fn switches(&mut self, setup: &mut ColorSetup, color: u8, ev: &Ev, span: Span) -> Res<()> {
        let allowed = [
            "pos1",
            "pos2",
            "pos3",
            "current_switch_pos",
            "ring_mode",
            "pop_mode",
        ];
        let fields = self.fields(ev, &allowed, "'switches'", span)?;
        if !fields.is_empty() && self.wse3() && !WSE3_SWITCHED.contains(&color) {
            return err(
                span,
                format!(
                    "the color {color} has no switches on wse3 (0-9, 12, 13, 16, 17, 20, 21 have)"
                ),
            );
        }
        for (name, ev) in fields {
            match (name.as_str(), &ev) {
                ("current_switch_pos", Ev::Val(Value::Int(position @ 0..=3, _))) => {
                    setup.start_position = *position as u8;
                }
                ("current_switch_pos", _) => {
                    return err(span, "'current_switch_pos' must be between 0 and 3")
                }
                ("ring_mode", _) => setup.ring_mode = self.flag(&ev, "ring_mode", span)?,
                ("pop_mode", _) => setup.pop_mode = self.pop_mode(&ev, span)?,
                ("pos1", _) => setup.positions[0] = self.position(&ev, span)?,
                ("pos2", _) => setup.positions[1] = self.position(&ev, span)?,
                _ => setup.positions[2] = self.position(&ev, span)?,
            }
        }
        Ok(())
    }

    fn position(&mut self, ev: &Ev, span: Span) -> Res<Option<SwitchPosition>> {
        let mut position = SwitchPosition::default();
        let mut invalid = false;
        if let Ev::Val(Value::Int(bits, _)) = ev {
            let (rx, tx) = self.route_bits(*bits, span)?;
            position.rx = (rx.0 != 0).then_some(rx);
            position.tx = (tx.0 != 0).then_some(tx);
            return match *bits {
                0 => Ok(None),
                _ => self.check_position(position, span).map(Some),
            };
        }
        for (name, ev) in self.fields(ev, &["rx", "tx", "invalid"], "a switch position", span)? {
            match name.as_str() {
                "rx" => position.rx = Some(self.directions(&ev, "rx", span)?),
                "tx" => position.tx = Some(self.directions(&ev, "tx", span)?),
                _ => invalid = self.flag(&ev, "invalid", span)?,
            }
        }
        if invalid {
            return Ok(None);
        }
        self.check_position(position, span).map(Some)
    }

    fn check_position(&self, position: SwitchPosition, span: Span) -> Res<SwitchPosition> {
        if position.rx.is_some() && position.tx.is_some() && !self.wse3() {
            return err(
                span,
                "on wse2 cannot have both an input and an output in the same switch position",
            );
        }
        if position.rx.is_some_and(|rx| rx.0.count_ones() != 1) {
            return err(span, "the 'rx' of a switch position is one direction");
        }
        if position == SwitchPosition::default() {
            return err(
                span,
                "a switch position needs 'rx', 'tx' or 'invalid = true'",
            );
        }
        Ok(position)
    }

    fn pop_mode(&mut self, ev: &Ev, span: Span) -> Res<PopMode> {
        let names = [
            "no_pop",
            "always_pop",
            "pop_on_advance",
            "pop_on_advance_nop",
        ];
        let fields = self.fields(ev, &names, "'pop_mode'", span)?;
        match fields.as_slice() {
            [(name, Ev::Val(Value::Bool(true)))] => Ok(match name.as_str() {
                "no_pop" => PopMode::NoPop,
                "always_pop" => PopMode::AlwaysPop,
                "pop_on_advance" => PopMode::PopOnAdvance,
                _ => PopMode::PopOnAdvanceNop,
            }),
            _ => err(
                span,
                "'pop_mode' names one mode, such as .{ .always_pop = true }",
            ),
        }
    }

    fn filter(&mut self, ev: &Ev, span: Span) -> Res<Filter> {
        let allowed = [
            "kind",
            "count_data",
            "count_control",
            "filter_control",
            "init_counter",
            "limit1",
            "limit2",
            "max_counter",
            "max_idx",
            "min_idx",
            // Undocumented: it changes nothing that can be seen.
            "fast_mode",
        ];
        let fields = self.fields(ev, &allowed, "'filter'", span)?;
        let find = |wanted: &str| {
            fields
                .iter()
                .find(|(name, _)| name == wanted)
                .map(|(_, ev)| ev.clone())
        };
        let mut kind = String::new();
        if let Some(ev) = find("kind") {
            let kinds = ["counter", "sparse_counter", "range"];
            for (name, ev) in self.fields(&ev, &kinds, "the 'kind' of a filter", span)? {
                if self.flag(&ev, &name, span)? {
                    kind = name;
                }
            }
        }
        let flag = |this: &mut Self, name: &str| match find(name) {
            Some(ev) => this.flag(&ev, name, span),
            None => Ok(false),
        };
        let number = |name: &str| match find(name) {
            Some(Ev::Val(Value::Int(value, _))) => match u32::try_from(value) {
                Ok(value) => Ok(Some(value)),
                Err(_) => err(span, format!("'{name}' is out of range: {value}")),
            },
            Some(_) => err(span, format!("'{name}' must be a known integer")),
            None => Ok(None),
        };
        let needed = |name: &str| match number(name)? {
            Some(value) => Ok(value),
            None => err(span, format!("this filter needs the field '{name}'")),
        };
        let index = |name: &str| match u16::try_from(needed(name)?) {
            Ok(value) => Ok(value),
            Err(_) => err(span, format!("'{name}' does not fit u16")),
        };
        Ok(match kind.as_str() {
            "counter" => Filter::Counter {
                count_data: flag(self, "count_data")?,
                count_control: flag(self, "count_control")?,
                filter_control: flag(self, "filter_control")?,
                initial: number("init_counter")?.unwrap_or(0),
                limit: number("limit1")?.unwrap_or(0),
                max: number("max_counter")?.unwrap_or(0),
            },
            "sparse_counter" => Filter::SparseCounter {
                count_data: flag(self, "count_data")?,
                count_control: flag(self, "count_control")?,
                initial: number("init_counter")?.unwrap_or(0),
                limit1: number("limit1")?,
                limit2: number("limit2")?,
                max: number("max_counter")?.unwrap_or(0),
            },
            "range" => Filter::Range {
                min: index("min_idx")?,
                max: index("max_idx")?,
            },
            _ => {
                return err(
                    span,
                    "a filter needs a 'kind': counter, sparse_counter or range",
                )
            }
        })
    }
}
