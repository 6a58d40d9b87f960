//! A usage report as a table, for readers.

use super::usage::{Cycles, HighWater, Usage, DOWN, KINDS, UP};
use crate::fabric::grid::{PeIndex, LINKS};

/// Rectangles of more PEs are summed up; one row a PE would not be read.
const ROWS: usize = 64;

const TITLES: [&str; 7] = [
    "idle",
    "code",
    "operation",
    "no input",
    "no room",
    "fifo",
    "blocked",
];

impl Usage {
    /// Several lines of text.
    pub fn table(&self) -> String {
        let mut lines = vec![format!(
            "{} cycles on {} x {} PEs",
            self.cycles, self.grid.width, self.grid.height
        )];
        lines.push(String::new());
        lines.extend(self.elements_table());
        lines.push(String::new());
        lines.extend(self.fabric_table());
        lines.extend(self.queue_lines("input queue", &self.input_queues));
        lines.extend(self.queue_lines("output queue", &self.output_queues));
        lines.join("\n")
    }

    fn elements_table(&self) -> Vec<String> {
        let head = |first: &str| row(first, TITLES.iter().map(|title| title.to_string()));
        if self.elements.len() <= ROWS {
            let mut lines = vec![head("cycles of PE")];
            let all = self.elements.iter().enumerate();
            lines.extend(all.map(|(n, element)| self.element_row("", n, element)));
            return lines;
        }
        let mut lines = vec![head("cycles, all PEs")];
        let totals = self.totals();
        let mean = |n: u64| format!("{:.1}", n as f64 / self.elements.len() as f64);
        lines.push(row("mean", totals.iter().map(|&n| mean(n))));
        for (n, kind) in TITLES.iter().enumerate().skip(1) {
            let all = self.elements.iter().enumerate();
            // The first of the largest.
            let most = all.max_by_key(|(at, e)| (e.by_kind[n], usize::MAX - at));
            if let Some((at, element)) = most.filter(|(_, e)| e.by_kind[n] > 0) {
                lines.push(self.element_row(&format!("most {kind}: "), at, element));
            }
        }
        lines
    }

    fn element_row(&self, why: &str, n: usize, element: &Cycles) -> String {
        let (x, y) = self.grid.place(PeIndex(n as u32));
        let cycles = element.by_kind.iter().map(u64::to_string);
        row(&format!("{why}({x}, {y})"), cycles)
    }

    fn fabric_table(&self) -> Vec<String> {
        let mut lines = vec![row(
            "color",
            ["hops", "most in a router", "at PE"]
                .map(String::from)
                .into_iter(),
        )];
        for (color, queue) in self.router_queues.iter().enumerate() {
            if queue.level == 0 {
                continue;
            }
            let (x, y) = self.grid.place(PeIndex(queue.pe));
            let hottest = self.hottest_color() == Some(color);
            let name = format!("{color}{}", if hottest { " (hottest)" } else { "" });
            let cells = [
                self.hops[color].to_string(),
                queue.level.to_string(),
                format!("({x}, {y})"),
            ];
            lines.push(row(&name, cells.into_iter()));
        }
        let sum = |n: usize| self.links.iter().map(|counts| u64::from(counts[n])).sum();
        let links: u64 = (0..LINKS.len()).map(|n| -> u64 { sum(n) }).sum();
        let (up, down): (u64, u64) = (sum(UP), sum(DOWN));
        lines.push(format!(
            "{links} wavelets over links, {up} up the ramps, {down} down"
        ));
        if let Some((pe, side, count)) = self.hottest_link() {
            let (x, y) = self.grid.place(pe);
            let share = 100.0 * f64::from(count) / self.cycles.max(1) as f64;
            lines.push(format!(
                "hottest link: {side} of PE ({x}, {y}), {count} wavelets, used in {share:.0} % of the cycles"
            ));
        }
        lines
    }

    fn queue_lines(&self, name: &str, queues: &[HighWater]) -> Vec<String> {
        let used = queues
            .iter()
            .enumerate()
            .filter(|(_, queue)| queue.level > 0);
        let all = used.map(|(id, queue)| {
            let (x, y) = self.grid.place(PeIndex(queue.pe));
            format!(
                "{name} {id}: at most {} wavelets, at PE ({x}, {y})",
                queue.level
            )
        });
        all.collect()
    }
}

fn row(first: &str, cells: impl Iterator<Item = String>) -> String {
    let cells: Vec<String> = cells.map(|cell| format!("{cell:>11}")).collect();
    format!("{first:<24}{}", cells.concat())
}

const _: () = assert!(TITLES.len() == KINDS.len());
