// Routes: what every router does with every color, phase by phase, before anything is run.

import type { ColorUse, PeClass, Position, Side } from "../data.ts";
import { h } from "../dom.ts";
import { condensed, lineKeys } from "../grid.ts";
import { GridView, LABELLED } from "../gridview.ts";
import { axis, every, Layout, repetitions, type Axis } from "../layout.ts";
import type { Loaded } from "../loaded.ts";
import { classTint, routeColor } from "../palette.ts";
import type { Pen } from "../pen.ts";
import type { Size, View } from "../view.ts";

const READABLE = 13; // pixels a cell, from which on routes are drawn
const MOST_CELLS = 800; // PEs, above which the page begins with what repeats drawn once

export class RoutesView extends GridView implements View {
  readonly id = "routes";
  readonly label = "Routes";
  readonly timed = false;
  private state = 0;
  private once: boolean | null = null;
  private axesOf: { key: string; layout: Layout } | null = null;

  missing(): string {
    return this.app.program.states.length
      ? ""
      : "There is no plan in this file: it was made of a trace alone. `collc view FILE.coll` shows routes.";
  }

  get condensed(): boolean {
    const { width, height } = this.app.program;
    return this.once ?? width * height > MOST_CELLS;
  }

  /** For the keyboard and tests: another state of the routers. */
  step(by: number): void {
    this.state = Math.max(0, Math.min(this.app.program.states.length - 1, this.state + by));
    this.app.change();
  }

  controls(): Node[] {
    const states = this.app.program.states;
    this.state = Math.min(this.state, Math.max(0, states.length - 1));
    const slider = h("input", {
      type: "range",
      min: 0,
      max: states.length - 1,
      value: this.state,
      "aria-label": "phase and switch position",
      "data-testid": "state",
      oninput: (event) => {
        this.state = Number((event.target as HTMLInputElement).value);
        this.app.change();
      },
    });
    const toggle = (once: boolean, label: string) =>
      h(
        "button",
        {
          class: this.condensed === once ? "on" : "",
          "aria-pressed": String(this.condensed === once),
          onclick: () => {
            this.once = once;
            this.reset();
            this.app.change();
          },
        },
        label,
      );
    return [
      h("div", { class: "segmented", role: "group" }, toggle(true, "Classes once"), toggle(false, "Whole grid")),
      h(
        "label",
        { class: "slider" },
        h("span", { class: "dim" }, `${this.state + 1} / ${states.length}`),
        slider,
        h("strong", { "data-testid": "state-label" }, states[this.state]?.label ?? ""),
      ),
    ];
  }

  draw(pen: Pen, size: Size): void {
    this.size = size;
    const program = this.app.program;
    const layout = this.layout(program);
    this.viewport.fit(layout.width, layout.height, { ...size, top: 26, left: this.condensed && layout.y.slots.length > 1 ? 70 : 0 });
    if (this.viewport.scale < READABLE && !this.condensed) return this.drawFar(pen, program);
    this.drawCells(pen, program, layout);
    if (layout.fold) return this.drawFoldedRepeats(pen, layout);
    this.drawRepeats(pen, layout.x, true);
    this.drawRepeats(pen, layout.y, false);
  }

  hint(px: number, py: number): string[] {
    const pe = this.peAt(px, py);
    const found = pe === null ? null : this.classOf(pe);
    if (pe === null) return [];
    const name = this.app.program.pe(pe);
    return found ? [`${name}  ${found.name}`, found.about] : [`${name} takes no part`];
  }

  protected peAt(px: number, py: number): number | null {
    const { x, y, scale } = this.viewport;
    const layout = this.layout(this.app.program);
    const found = layout.find((px + x) / scale, (py + y) / scale);
    return found && layout.y.slots[found[1]].index * this.app.program.width + layout.x.slots[found[0]].index;
  }

  protected override lanes(): number[] {
    const { program } = this.app;
    const { phase } = program.states[this.state];
    const found = program.phases[phase].classes.flatMap((one) => one.colors.map((use) => use.color));
    return [...new Set(found)].sort((a, b) => a - b);
  }

  private classOf(pe: number): PeClass | null {
    const { program } = this.app;
    const { phase } = program.states[this.state];
    const at = program.map(phase)[pe];
    return at ? program.phases[phase].classes[at - 1] : null;
  }

  private layout(program: Loaded): Layout {
    const key = `${program.index} ${this.condensed} ${this.size.width} ${this.size.height}`;
    if (this.axesOf?.key !== key) {
      const { width, height } = program;
      const line = (columns: boolean) =>
        this.condensed ? condensed(lineKeys(program.maps, width, height, columns)) : every(columns ? width : height);
      this.axesOf = { key, layout: new Layout(axis(line(true)), axis(line(false)), this.size) };
    }
    return this.axesOf.layout;
  }

  private drawFar(pen: Pen, program: Loaded): void {
    const map = program.map(program.states[this.state].phase);
    const shades = new Map<number, [number, number, number]>();
    this.picture(pen, program.width, program.height, (column, row) => {
      const at = map[row * program.width + column];
      let shade = shades.get(at);
      if (!shade) {
        shade = at ? vivid(at - 1) : this.app.theme.dark ? [22, 26, 34] : [233, 236, 241];
        shades.set(at, shade);
      }
      return shade;
    });
  }

  private drawCells(pen: Pen, program: Loaded, layout: Layout): void {
    const { scale } = this.viewport;
    const { phase, position } = program.states[this.state];
    const map = program.map(phase);
    for (let row = 0; row < layout.y.slots.length; row++) {
      for (let column = 0; column < layout.x.slots.length; column++) {
        const [x, y] = layout.corner(column, row);
        const [left, top] = [x * scale - this.viewport.x, y * scale - this.viewport.y];
        if (left > this.size.width || left + scale < 0 || top > this.size.height || top + scale < 0) continue;
        const pe = layout.y.slots[row].index * program.width + layout.x.slots[column].index;
        this.drawCell(pen, program, pe, map[pe], { left, top, phase, position });
      }
    }
  }

  private drawCell(
    pen: Pen,
    program: Loaded,
    pe: number,
    at: number,
    where: { left: number; top: number; phase: number; position: number },
  ): void {
    const { scale } = this.viewport;
    const { left, top } = where;
    const { theme } = this.app;
    const pad = Math.min(3, scale * 0.05);
    const box = scale - 2 * pad;
    const fill = at ? classTint(at - 1, theme.dark) : theme.faint;
    pen.rect(left + pad, top + pad, box, box, fill, Math.min(7, scale * 0.12));
    const one = at ? program.phases[where.phase].classes[at - 1] : null;
    for (const use of one?.colors ?? []) {
      if (this.app.shows(use.color)) this.drawUse(pen, use, where);
    }
    if (scale >= LABELLED) {
      const place = program.place(pe).join(",");
      pen.text(place, left + pad + 5, top + pad + 7, { color: theme.dim, size: 9.5, mono: true });
    }
    if (scale >= 84 && one) {
      const style = { color: theme.text, size: 10.5, align: "center" as const, bold: true };
      const wide = Math.min(one.name.length * 7 + 6, box);
      pen.rect(left + (scale - wide) / 2, top + scale - pad - 16, wide, 14, fill); // over a route
      pen.text(one.name, left + scale / 2, top + scale - pad - 9, style);
    }
    if (pe === this.app.selected) {
      pen.frame(left + pad, top + pad, box, box, theme.accent, 2.5, Math.min(7, scale * 0.12));
    }
  }

  private drawUse(pen: Pen, use: ColorUse, where: { left: number; top: number; position: number }): void {
    const now = Math.min(where.position, use.positions.length - 1);
    const others = use.positions.filter((_, n) => n !== now);
    if (others.length) {
      pen.faded(0.22, () => others.forEach((one) => this.drawRoute(pen, use.color, one, where, true)));
    }
    this.drawRoute(pen, use.color, use.positions[now], where, false);
  }

  private drawRoute(
    pen: Pen,
    color: number,
    route: Position,
    { left, top }: { left: number; top: number },
    dashed: boolean,
  ): void {
    const { scale } = this.viewport;
    const offset = this.lane(color) * scale;
    const [cx, cy] = [left + scale / 2 + offset, top + scale / 2 + offset];
    const stroke = routeColor(this.app.theme, color);
    const width = Math.max(1, Math.min(5, scale * Math.min(0.055, this.spacing * 0.26)));
    const end = (side: Side): [number, number] => edge(side, left, top, scale, offset) ?? [cx, cy];
    for (const side of route.send) {
      pen.line([...end(route.receive), cx, cy, ...end(side)], stroke, width, dashed ? [width, width * 2] : []);
    }
    if (dashed) return;
    if (route.receive === "RAMP") pen.circle(cx, cy, width * 1.5, stroke);
    for (const side of route.send) {
      if (side === "RAMP") {
        pen.circle(cx, cy, width * 2, this.app.theme.panel);
        pen.ring(cx, cy, width * 2, stroke, width * 0.9);
      } else pen.fill(arrow(side, end(side), width * 2.1), stroke);
    }
  }

  /** Of a folded line: a bar over each slot of what repeats, and how often behind the last. */
  private drawFoldedRepeats(pen: Pen, layout: Layout): void {
    const { scale, x, y } = this.viewport;
    const { theme } = this.app;
    const all = repetitions(layout.long);
    const deepest = Math.max(0, ...all.map((one) => one.depth));
    for (const { first, last, times, depth } of all) {
      const up = 6 + (deepest - depth) * 13;
      for (let n = first; n <= last; n++) {
        const [left, top] = layout.corner(n, 0);
        pen.rect(left * scale - x + 2, top * scale - y - up, scale - 4, 2.5, theme.dim, 1);
      }
      const [left, top] = layout.corner(last, 0);
      const style = { color: theme.text, size: 11, bold: true };
      pen.text(`\u00d7 ${times}`, (left + 1) * scale - x + 4, top * scale - y - up + 1, style);
    }
  }

  private drawRepeats(pen: Pen, line: Axis, columns: boolean): void {
    const { scale, x, y } = this.viewport;
    const { theme } = this.app;
    const all = repetitions(line);
    const deepest = Math.max(0, ...all.map((one) => one.depth));
    for (const { first, last, times, depth } of all) {
      const [from, to] = [line.at[first] * scale, (line.at[last] + 1) * scale];
      const style = { color: theme.text, size: 11, bold: true };
      const text = `\u00d7 ${times}`;
      const inset = 2;
      if (columns) {
        const top = Math.max(14 + depth * 22, -y - 12 - (deepest - depth) * 22);
        const [left, right] = [from - x + inset, to - x - inset];
        pen.line([left, top + 7, left, top + 3, right, top + 3, right, top + 7], theme.dim, 1);
        pen.text(text, (left + right) / 2, top - 5, { ...style, align: "center" });
        continue;
      }
      const left = Math.max(38 + depth * 44, -x - 10 - (deepest - depth) * 44);
      const [top, bottom] = [from - y + inset, to - y - inset];
      pen.line([left + 7, top, left + 3, top, left + 3, bottom, left + 7, bottom], theme.dim, 1);
      pen.text(text, left - 2, (top + bottom) / 2, { ...style, align: "right" });
    }
  }
}

function edge(side: Side, left: number, top: number, scale: number, offset: number): [number, number] | null {
  const middle = scale / 2 + offset;
  switch (side) {
    case "WEST":
      return [left, top + middle];
    case "EAST":
      return [left + scale, top + middle];
    case "NORTH":
      return [left + middle, top];
    case "SOUTH":
      return [left + middle, top + scale];
    case "RAMP":
      return null;
  }
}

function arrow(side: Side, [x, y]: [number, number], size: number): number[] {
  const [dx, dy] = { WEST: [-1, 0], EAST: [1, 0], NORTH: [0, -1], SOUTH: [0, 1], RAMP: [0, 0] }[side];
  const [bx, by] = [x - dx * size * 1.5, y - dy * size * 1.5];
  return [x, y, bx - dy * size, by - dx * size, bx + dy * size, by + dx * size];
}

/** Far away classes are told apart by stronger colors. */
function vivid(n: number): [number, number, number] {
  const hue = ((n * 137.508 + 215) % 360) / 60;
  const [light, chroma] = [0.52 + (n % 3) * 0.08, 0.34];
  const x = chroma * (1 - Math.abs((hue % 2) - 1));
  const parts = [
    [chroma, x, 0],
    [x, chroma, 0],
    [0, chroma, x],
    [0, x, chroma],
    [x, 0, chroma],
    [chroma, 0, x],
  ][Math.floor(hue) % 6];
  return parts.map((part) => Math.round((part + light - chroma / 2) * 255)) as [number, number, number];
}
