//! A usage report as JSON, for programs.

use super::usage::{HighWater, Usage, DOWN, KINDS, UP};
use crate::fabric::grid::{PeIndex, LINKS};
use std::fmt::Write;

impl Usage {
    /// One JSON object; arrays over PEs are row by row.
    pub fn json(&self) -> String {
        let mut out = format!(
            "{{\"cycles\": {}, \"width\": {}, \"height\": {}",
            self.cycles, self.grid.width, self.grid.height
        );
        let totals = KINDS.iter().zip(self.totals());
        let totals: Vec<String> = totals.map(|(kind, n)| format!("\"{kind}\": {n}")).collect();
        let _ = write!(out, ", \"totals\": {{{}}}", totals.join(", "));
        let _ = write!(
            out,
            ", \"hottest_color\": {}",
            or_null(self.hottest_color())
        );
        let _ = write!(out, ", \"hottest_link\": {}", self.hottest_link_json());
        let _ = write!(out, ", \"colors\": [{}]", self.colors_json());
        let _ = write!(
            out,
            ", \"input_queues\": [{}], \"output_queues\": [{}]",
            self.queues_json(&self.input_queues),
            self.queues_json(&self.output_queues)
        );
        let pes = KINDS.iter().enumerate().map(|(n, kind)| {
            let cycles = self.elements.iter().map(|element| element.by_kind[n]);
            format!("\"{kind}\": [{}]", list(cycles))
        });
        let pes: Vec<String> = pes.collect();
        let _ = write!(out, ", \"pes\": {{{}}}", pes.join(", "));
        let _ = write!(out, ", \"links\": {{{}}}}}", self.links_json());
        out
    }

    fn place_json(&self, pe: u32) -> String {
        let (x, y) = self.grid.place(PeIndex(pe));
        format!("[{x}, {y}]")
    }

    fn hottest_link_json(&self) -> String {
        let Some((pe, side, wavelets)) = self.hottest_link() else {
            return "null".to_string();
        };
        let place = self.place_json(pe.0);
        format!("{{\"pe\": {place}, \"side\": \"{side}\", \"wavelets\": {wavelets}}}")
    }

    fn colors_json(&self) -> String {
        let colors = self.hops.iter().zip(&self.router_queues).enumerate();
        let used = colors.filter(|(_, (_, queue))| queue.level > 0);
        let all = used.map(|(color, (hops, queue))| {
            let at = self.place_json(queue.pe);
            let level = queue.level;
            format!(
                "{{\"color\": {color}, \"hops\": {hops}, \"high_water\": {level}, \"at\": {at}}}"
            )
        });
        all.collect::<Vec<_>>().join(", ")
    }

    fn queues_json(&self, queues: &[HighWater]) -> String {
        let used = queues
            .iter()
            .enumerate()
            .filter(|(_, queue)| queue.level > 0);
        let all = used.map(|(id, queue)| {
            let at = self.place_json(queue.pe);
            format!(
                "{{\"queue\": {id}, \"high_water\": {}, \"at\": {at}}}",
                queue.level
            )
        });
        all.collect::<Vec<_>>().join(", ")
    }

    fn links_json(&self) -> String {
        let sides = LINKS.iter().map(|side| side.to_string().to_lowercase());
        let names = sides.chain(["up".to_string(), "down".to_string()]);
        let places = (0..LINKS.len()).chain([UP, DOWN]);
        let all = names.zip(places).map(|(name, n)| {
            let counts = self.links.iter().map(|counts| u64::from(counts[n]));
            format!("\"{name}\": [{}]", list(counts))
        });
        all.collect::<Vec<_>>().join(", ")
    }
}

fn or_null(value: Option<usize>) -> String {
    value.map_or("null".to_string(), |value| value.to_string())
}

fn list(values: impl Iterator<Item = u64>) -> String {
    values
        .map(|value| value.to_string())
        .collect::<Vec<_>>()
        .join(",")
}
