// Motion: wavelets on their way, what every PE does meanwhile, and the load of a stretch of time.

import type { App } from "../app.ts";
import { doingKeys, h } from "../dom.ts";
import { GridView, LABELLED, LINK, rgb } from "../gridview.ts";
import { axis, every, Layout } from "../layout.ts";
import type { Loaded } from "../loaded.ts";
import { DOING_NAMES, heatColor, routeColor } from "../palette.ts";
import type { Pen } from "../pen.ts";
import { threadName, type Run } from "../run.ts";
import { Doing, RAMP } from "../trace.ts";
import type { Size, View } from "../view.ts";

const BUCKET = 64; // cycles, by which wavelets that wait are looked up
const HALF = 0.3; // of a cell, the half of what stands for its compute element
const STACK = 4; // wavelets beside each other, of those that wait
const NEAR = 9; // pixels a cell, from which on cells are drawn one by one

type Ground = "doing" | "busy" | "waits" | "links";
const GROUNDS: [Ground, string][] = [
  ["doing", "Now"],
  ["busy", "Busy"],
  ["waits", "Waiting"],
  ["links", "Links"],
];

/** Points by the paint that they are drawn with. */
class Batches {
  private readonly points = new Map<string, number[]>();

  add(paint: string, ...points: number[]): void {
    const known = this.points.get(paint);
    if (known) known.push(...points);
    else this.points.set(paint, points);
  }

  draw(each: (paint: string, points: number[]) => void): void {
    this.points.forEach((points, paint) => each(paint, points));
  }
}

export class MotionView extends GridView implements View {
  readonly id = "motion";
  readonly label = "Motion";
  readonly timed = true;
  private ground: Ground = "doing";
  private heatOf: { key: string; pes: Float32Array; links: Uint32Array; most: number; mostLink: number } | null = null;
  private layoutOf: { key: string; layout: Layout } | null = null;
  private waitingOf: { run: Run; buckets: number[][] } | null = null;

  constructor(app: App) {
    super(app);
  }

  missing(): string {
    return this.app.program.notRun;
  }

  controls(): Node[] {
    const choice = ([ground, label]: [Ground, string]) =>
      h(
        "button",
        {
          class: this.ground === ground ? "on" : "",
          "aria-pressed": String(this.ground === ground),
          "data-testid": `ground-${ground}`,
          onclick: () => {
            this.ground = ground;
            this.app.change();
          },
        },
        label,
      );
    const legend =
      this.ground === "doing"
        ? doingKeys(this.app.theme, [Doing.Code, Doing.Operation, Doing.NoInput, Doing.NoRoom, Doing.Fifo])
        : [h("span", { class: "dim" }, this.scaleText())];
    return [h("div", { class: "segmented", role: "group" }, ...GROUNDS.map(choice)), h("div", { class: "keys" }, ...legend)];
  }

  private scaleText(): string {
    const [from, to] = this.app.span;
    const run = this.app.program.run;
    if (!run) return "";
    const { most, mostLink } = this.heat(run);
    const span = `cycles ${from} to ${to - 1}`;
    return this.ground === "links" ? `${span}: at most ${mostLink} wavelets over a link` : `${span}: at most ${most} cycles of a PE`;
  }

  draw(pen: Pen, size: Size): void {
    this.size = size;
    const program = this.app.program;
    const run = program.run;
    if (!run) return;
    const layout = this.layout(program);
    this.viewport.fit(layout.width, layout.height, size);
    const near = this.viewport.scale >= NEAR;
    if (near) this.drawLinks(pen, program, run);
    this.drawElements(pen, program, run, near);
    this.drawWaiting(pen, run);
    this.drawWavelets(pen, run);
    if (this.app.selected !== null && near) this.frameSelected(pen);
  }

  protected peAt(px: number, py: number): number | null {
    const { x, y, scale } = this.viewport;
    const found = this.layout(this.app.program).find((px + x) / scale, (py + y) / scale);
    return found && found[1] * this.app.program.width + found[0];
  }

  private layout(program: Loaded): Layout {
    const { width, height } = program;
    const key = `${program.index} ${width} ${height} ${this.size.width} ${this.size.height}`;
    if (this.layoutOf?.key !== key) {
      this.layoutOf = { key, layout: new Layout(axis(every(width)), axis(every(height)), this.size) };
    }
    return this.layoutOf.layout;
  }

  /** The middle of a PE's cell on the stage; none where it is out of sight. */
  private middle(pe: number): [number, number] | null {
    const { scale, x, y } = this.viewport;
    const { width } = this.app.program;
    const [column, row] = this.layout(this.app.program).corner(pe % width, Math.floor(pe / width));
    const [left, top] = [column * scale - x, row * scale - y];
    if (left < -2 * scale || top < -2 * scale || left > this.size.width + scale || top > this.size.height + scale) return null;
    return [left + scale / 2, top + scale / 2];
  }

  hint(px: number, py: number): string[] {
    const { program } = this.app;
    const { run } = program;
    const pe = this.peAt(px, py);
    if (pe === null || !run) return [];
    const one = run.stretchAt(pe, Math.floor(this.app.time));
    const doing = one ? DOING_NAMES[one.doing] : "nothing yet";
    const what = one && one.name !== 0xffffffff ? `${run.trace.names[one.name]}` : "";
    const who = one && one.thread !== 0xffffffff ? threadName(one.thread) : "";
    const color = one && one.color !== 255 ? `color ${one.color}` : "";
    const lines = [`${program.pe(pe)}  ${[doing, color, what, who].filter(Boolean).join(" \u00b7 ")}`];
    return [...lines, ...this.passing(run, pe)];
  }

  /** The wavelets that leave a PE now: which vector of whom. */
  private passing(run: Run, pe: number): string[] {
    const { hop } = run.trace;
    const cycle = Math.floor(this.app.time);
    const found: string[] = [];
    for (let n = run.at(cycle); n < run.at(cycle + 1) && found.length < 4; n++) {
      if (hop.pe[n] !== pe) continue;
      const vector = run.vector(n) ? `, vector ${run.vector(n)}` : "";
      const to = ["west", "east", "south", "north", "down the ramp"][hop.side[n]];
      found.push(`color ${hop.color[n]} ${to}: wavelet ${hop.number[n]} of ${this.app.program.pe(hop.source[n])}${vector}`);
    }
    return found;
  }

  private heat(run: Run): NonNullable<MotionView["heatOf"]> {
    const [from, to] = this.app.span;
    const key = `${this.app.active} ${from} ${to} ${this.ground} ${[...this.app.hidden].join()}`;
    if (this.heatOf?.key !== key) {
      const pes = run.heat(from, to, this.ground === "waits");
      const links = run.linkLoad(from, to, (color) => this.app.shows(color));
      const largest = (values: ArrayLike<number>) => Array.prototype.reduce.call(values, (a, b) => Math.max(a as number, b as number), 0) as number;
      this.heatOf = { key, pes, links, most: largest(pes), mostLink: largest(links) };
    }
    return this.heatOf;
  }

  private shade(run: Run, pe: number): string {
    const { theme, time } = this.app;
    if (this.ground === "doing") {
      const one = run.stretchAt(pe, Math.floor(time));
      return theme.doing[one ? one.doing : Doing.Idle];
    }
    const { pes, most } = this.heat(run);
    const part = this.ground === "links" || !most ? 0 : pes[pe] / most;
    const [red, green, blue] = heatColor(part, theme.dark);
    return `rgb(${red},${green},${blue})`;
  }

  private drawElements(pen: Pen, program: Loaded, run: Run, near: boolean): void {
    const { scale } = this.viewport;
    if (!near && !this.layout(program).fold) {
      const shades = (column: number, row: number): [number, number, number] => {
        const shade = this.shade(run, row * program.width + column);
        if (shade.startsWith("#")) return rgb(shade);
        return shade.slice(4, -1).split(",").map(Number) as [number, number, number];
      };
      return this.picture(pen, program.width, program.height, shades);
    }
    const box = scale * 2 * HALF;
    const boxes = new Batches();
    for (let pe = 0; pe < run.pes; pe++) {
      const middle = this.middle(pe);
      if (!middle) continue;
      boxes.add(this.shade(run, pe), ...middle);
      if (scale >= LABELLED) {
        const style = { color: this.app.theme.dim, size: 10, align: "center" as const, mono: true };
        const place = program.place(pe).join(",");
        const [wide, at] = [place.length * 6 + 4, middle[1] - scale * HALF - 8];
        pen.rect(middle[0] - wide / 2, at - 6, wide, 12, this.app.theme.ground); // over a link
        pen.text(place, middle[0], at, style);
      }
    }
    boxes.draw((shade, points) => pen.squares(points, box, shade, Math.min(6, box * 0.18)));
  }

  private drawLinks(pen: Pen, program: Loaded, run: Run): void {
    const { scale } = this.viewport;
    const { links, mostLink } = this.heat(run);
    const plain = this.ground !== "links";
    const lines = new Batches();
    for (let pe = 0; pe < program.width * program.height; pe++) {
      const middle = this.middle(pe);
      if (!middle) continue;
      for (let side = 0; side < 4; side++) {
        const load = links[pe * 4 + side];
        if (!load) continue;
        const [dx, dy] = LINK[side];
        // the two directions of a link lie beside each other
        const apart = plain ? 0 : scale * 0.06;
        const [x, y] = [middle[0] + dy * apart, middle[1] + dx * apart];
        const [red, green, blue] = heatColor(load / mostLink, this.app.theme.dark);
        const stroke = plain ? this.app.theme.line : `rgb(${red},${green},${blue})`;
        lines.add(stroke, x, y, x + dx * scale, y + dy * scale);
      }
    }
    const width = plain ? Math.max(1, scale * 0.05) : Math.max(1.5, scale * 0.1);
    lines.draw((stroke, points) => pen.segments(points, stroke, width));
  }

  private drawWavelets(pen: Pen, run: Run): void {
    const { scale } = this.viewport;
    const { hop, width, last } = run.trace;
    const cycle = Math.floor(this.app.time);
    // at rest they are under way, where they are not on top of what receives them
    const part = this.app.time === cycle ? 0.35 : this.app.time - cycle;
    const radius = Math.max(1.3, scale * Math.min(0.11, this.spacing * 0.85));
    const lanes = new Map<number, number>();
    const { fold } = this.layout(this.app.program);
    const moving = new Batches();
    const landing = new Batches();
    const controls: number[] = [];
    if (cycle > last) return;
    for (let n = run.at(cycle); n < run.at(cycle + 1); n++) {
      const color = hop.color[n];
      if (!this.app.shows(color)) continue;
      let lane = lanes.get(color);
      if (lane === undefined) lanes.set(color, (lane = this.lane(color) * scale));
      const down = hop.side[n] === RAMP;
      const [dx, dy] = down ? [0, 0] : LINK[hop.side[n]];
      // half way it is the next PE's; that matters where a line is folded
      const over = fold !== null && part >= 0.5 && !down;
      const middle = this.middle(over ? hop.pe[n] + dx + dy * width : hop.pe[n]);
      if (!middle) continue;
      const gone = over ? part - 1 : part;
      const x = middle[0] + dx * gone * scale + (dy ? lane : 0);
      const y = middle[1] + dy * gone * scale + (dy ? 0 : lane);
      (down ? landing : moving).add(routeColor(this.app.theme, color), x, y);
      if (hop.control[n]) controls.push(x, y);
    }
    const halo = this.app.theme.panel;
    if (scale > 40) {
      moving.draw((_, points) => pen.dots(points, radius + 1.2, halo));
      landing.draw((_, points) => pen.dots(points, radius * (1.5 - part) + 1.2, halo));
    }
    moving.draw((color, points) => pen.dots(points, radius, color));
    landing.draw((color, points) => pen.dots(points, radius * (1.5 - part), color));
    for (let n = 0; n < controls.length; n += 2) pen.ring(controls[n], controls[n + 1], radius + 2, this.app.theme.text, 1.5);
  }

  /** Wavelets that wait in routers: a stack of squares at the cell's corner, a color each. */
  private drawWaiting(pen: Pen, run: Run): void {
    const { scale } = this.viewport;
    const { queued } = run.trace;
    const cycle = Math.floor(this.app.time);
    // two rows of them, and the place of the PE below
    const room = this.app.program.height > 1 && scale >= LABELLED ? (scale * (1 - 2 * HALF) - 16) / 2 : scale;
    const side = Math.max(1.5, Math.min(scale * 0.13, room));
    const stacked = new Map<number, number>();
    const squares = new Batches();
    for (const n of this.waitingAt(run, cycle)) {
      const [pe, color] = [queued.pe[n], queued.color[n]];
      if (queued.from[n] > cycle || queued.to[n] <= cycle || !this.app.shows(color)) continue;
      const before = stacked.get(pe) ?? 0;
      stacked.set(pe, before + 1);
      const middle = before < 2 * STACK ? this.middle(pe) : null;
      if (!middle) continue;
      const x = middle[0] - scale * HALF + (before % STACK) * (side + 1) + side / 2;
      const y = middle[1] + scale * HALF + 3 + Math.floor(before / STACK) * (side + 1) + side / 2;
      squares.add(routeColor(this.app.theme, color), x, y);
    }
    squares.draw((color, points) => pen.squares(points, side, color, side * 0.25));
  }

  private waitingAt(run: Run, cycle: number): number[] {
    if (this.waitingOf?.run !== run) {
      const { queued, last } = run.trace;
      const buckets: number[][] = Array.from({ length: Math.floor(last / BUCKET) + 1 }, () => []);
      for (let n = 0; n < queued.from.length; n++) {
        const end = Math.min(Math.floor((queued.to[n] - 1) / BUCKET), buckets.length - 1);
        for (let k = Math.floor(queued.from[n] / BUCKET); k <= end; k++) buckets[k].push(n);
      }
      this.waitingOf = { run, buckets };
    }
    return this.waitingOf.buckets[Math.floor(cycle / BUCKET)] ?? [];
  }

  private frameSelected(pen: Pen): void {
    const middle = this.middle(this.app.selected!);
    const box = this.viewport.scale * 2 * HALF + 3;
    if (middle) pen.frame(middle[0] - box / 2, middle[1] - box / 2, box, box, this.app.theme.accent, 2.5, 6);
  }
}
