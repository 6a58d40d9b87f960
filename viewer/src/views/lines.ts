// Time lines: what was predicted and what the run took on one axis, the critical path, and what every
// PE did.

import type { App } from "../app.ts";
import { bar, TimeAxis } from "../axis.ts";
import { doingKeys, h, key } from "../dom.ts";
import type { Loaded } from "../loaded.ts";
import { DOING_NAMES } from "../palette.ts";
import type { Piece } from "../path.ts";
import type { Pen } from "../pen.ts";
import { threadName, type Run, type Stretch } from "../run.ts";
import { Doing } from "../trace.ts";
import {
  drawStretches,
  load,
  partWords,
  pathSegment,
  pieceWords,
  PREDICTED,
  predicted,
  SIMULATED,
  simulated,
} from "../tracks.ts";
import type { Size, View } from "../view.ts";

const LABELS = 132; // pixels left of the axis
const HEAD = 178; // pixels above the lanes
const ROW = 17;

/** A row of the lanes: a PE, or one thread of it. */
interface Lane {
  pe: number;
  thread: number | null;
  label: string;
}

export class LinesView implements View {
  readonly id = "lines";
  readonly label = "Time lines";
  readonly timed = true;
  private from = 0;
  private to = 0;
  private of = "";
  private scroll = 0;
  private byClass = false;
  private size: Size = { width: 1, height: 1 };

  constructor(private readonly app: App) {}

  missing(): string {
    const { run, program, problem } = this.app.program;
    return run || program.prediction ? "" : problem || "There is neither a prediction nor a run in this file.";
  }

  controls(): Node[] {
    const { theme } = this.app;
    const choice = (byClass: boolean, label: string) =>
      h(
        "button",
        {
          class: this.byClass === byClass ? "on" : "",
          "aria-pressed": String(this.byClass === byClass),
          onclick: () => {
            this.byClass = byClass;
            this.scroll = 0;
            this.app.change();
          },
        },
        label,
      );
    const kinds = [Doing.Code, Doing.Operation, Doing.NoInput, Doing.NoRoom, Doing.Fifo, Doing.Blocked];
    const grouping = this.app.program.phases.length
      ? h("div", { class: "segmented", role: "group" }, choice(false, "By PE"), choice(true, "By class"))
      : null;
    const keys = h("div", { class: "keys" }, ...doingKeys(theme, kinds), key(theme.path, "critical path"));
    return grouping ? [grouping, keys] : [keys];
  }

  private get axis(): TimeAxis {
    return new TimeAxis(LABELS, this.size.width - LABELS - 24, this.from, this.to);
  }

  private get whole(): number {
    const { run, program } = this.app.program;
    const predicted = (program.run?.start_cycle ?? 0) + (program.prediction?.cycles ?? 0);
    return Math.max(run ? run.trace.last + 1 : 0, predicted, 1) * 1.01;
  }

  draw(pen: Pen, size: Size): void {
    this.size = size;
    const { theme, program } = this.app;
    const key = `${this.app.active} ${program.run !== null}`;
    if (this.of !== key) {
      [this.of, this.from, this.to, this.scroll] = [key, 0, this.whole, 0];
    }
    const axis = this.axis;
    if (program.run) {
      axis.draw(pen, theme, 4, size.height);
      this.drawLanes(pen, program, program.run, axis);
    }
    pen.rect(0, 0, size.width, HEAD, theme.ground);
    axis.draw(pen, theme, 4, HEAD);
    this.drawHead(pen, program, axis);
    if (this.app.brush) {
      const [left, right] = this.app.brush.map((cycle) => axis.x(cycle));
      pen.faded(0.1, () => pen.rect(left, 22, right - left, size.height - 22, theme.accent));
    }
    const x = axis.x(this.app.time);
    if (program.run && x >= LABELS) pen.line([x, 20, x, size.height], theme.accent, 1.4);
  }

  private drawHead(pen: Pen, program: Loaded, axis: TimeAxis): void {
    const { theme } = this.app;
    const label = (text: string, top: number, bold = false) =>
      pen.text(text, LABELS - 12, top, { color: bold ? theme.text : theme.dim, size: 11, align: "right", bold });
    const { run } = program;
    const { prediction } = program.program;
    if (prediction) label(`predicted ${prediction.cycles}`, 38, true);
    bar(pen, axis, 28, 20, predicted(program, theme));
    if (run) label(`simulated ${run.end - run.start}`, 62, true);
    bar(pen, axis, 52, 20, simulated(program, theme));
    if (run) label("critical path", 92, true);
    bar(pen, axis, 80, 24, program.path.map((piece) => pathSegment(program, piece, theme)));
    if (program.path.length) pen.line([axis.x(program.path[0].from), 107, axis.x(run!.end), 107], theme.path, 2);
    if (run) label("link load", 136);
    load(pen, axis, program, 116, 40, theme);
    pen.line([0, HEAD - 8, this.size.width, HEAD - 8], theme.line, 1);
  }

  private lanes(program: Loaded): Lane[] {
    const run = program.run!;
    const pes = this.byClass ? this.representatives(program, run) : Array.from({ length: run.pes }, (_, pe) => ({ pe, label: "" }));
    return pes.flatMap(({ pe, label }) => {
      const own: Lane[] = [{ pe, thread: null, label: label || `PE ${program.place(pe).join(",")}` }];
      if (pe !== this.app.selected) return own;
      const threads = new Set<number>();
      for (const one of run.stretches(pe)) if (one.thread !== 0xffffffff) threads.add(one.thread);
      const sorted = [...threads].sort((a, b) => (a % 2) - (b % 2) || a - b);
      return [...own, ...sorted.map((thread) => ({ pe, thread, label: threadName(thread) }))];
    });
  }

  /** Of each class of the first phase the PE that is busy last. */
  private representatives(program: Loaded, run: Run): { pe: number; label: string }[] {
    const map = program.map(0);
    const found = new Map<number, { pe: number; count: number; last: number }>();
    for (let pe = 0; pe < run.pes; pe++) {
      if (!map[pe]) continue;
      let last = 0;
      for (const one of run.stretches(pe)) if (one.doing !== Doing.Idle) last = one.to;
      const known = found.get(map[pe]);
      const better = !known || last > known.last;
      found.set(map[pe], { pe: better ? pe : known.pe, last: better ? last : known.last, count: (known?.count ?? 0) + 1 });
    }
    return [...found].sort(([a], [b]) => a - b).map(([at, { pe, count }]) => ({
      pe,
      label: `${program.phases[0].classes[at - 1].name} \u00d7${count}`,
    }));
  }

  private drawLanes(pen: Pen, program: Loaded, run: Run, axis: TimeAxis): void {
    const { theme } = this.app;
    const lanes = this.lanes(program);
    const room = this.size.height - HEAD;
    this.scroll = Math.max(0, Math.min(this.scroll, lanes.length * ROW - room + 24));
    const first = Math.floor(this.scroll / ROW);
    const rows = new Map<number, number>();
    for (let n = first; n < lanes.length && (n - first) * ROW < room + ROW; n++) {
      const lane = lanes[n];
      const top = HEAD + n * ROW - this.scroll;
      const selected = lane.pe === this.app.selected;
      if (selected) pen.rect(0, top, this.size.width, ROW, theme.raised);
      if (lane.thread === null) rows.set(lane.pe, top);
      const style = { color: selected ? theme.accent : theme.dim, size: 10.5, align: "right" as const, mono: true, bold: selected && lane.thread === null };
      pen.text(lane.label, LABELS - 12, top + ROW / 2, style);
      drawStretches(pen, axis, run, lane, { top: top + 2, height: ROW - 4 }, theme);
    }
    this.drawPath(pen, program.path, axis, rows);
  }

  /** The critical path over the lanes: under what a PE did, and from lane to lane. */
  private drawPath(pen: Pen, path: Piece[], axis: TimeAxis, rows: Map<number, number>): void {
    const { theme } = this.app;
    for (const piece of path) {
      const [left, right] = [axis.x(piece.from), axis.x(piece.to)];
      if (right < LABELS || left > axis.left + axis.width) continue;
      const top = rows.get(piece.pe);
      if (piece.kind !== "travel") {
        if (top !== undefined) pen.rect(Math.max(left, LABELS), top + ROW - 3, Math.max(right - Math.max(left, LABELS), 1), 2.5, theme.path);
        continue;
      }
      const source = rows.get(piece.source);
      if (top !== undefined && source !== undefined && left >= LABELS) {
        pen.line([left, source + ROW - 2, right, top + ROW - 2], theme.path, 1.5);
      }
    }
  }

  click(x: number, y: number): void {
    const { program } = this.app;
    if (y < HEAD || !program.run) {
      if (x > LABELS) this.app.setTime(Math.max(0, Math.round(this.axis.cycle(x))));
      return;
    }
    const lane = this.lanes(program)[Math.floor((y - HEAD + this.scroll) / ROW)];
    if (x > LABELS) this.app.setTime(this.axis.cycle(x));
    if (lane) this.app.select(lane.pe === this.app.selected && x < LABELS ? null : lane.pe);
  }

  drag(dx: number, dy: number): void {
    const shift = -dx * this.axis.step;
    const width = this.to - this.from;
    this.from = Math.max(0, Math.min(this.from + shift, this.whole - width));
    this.to = this.from + width;
    this.scroll -= dy;
    this.app.invalidate();
  }

  wheel(delta: number, x: number, y: number, sideways: boolean): void {
    if (y > HEAD && !sideways && x < LABELS) this.scroll += delta;
    else {
      const at = this.axis.cycle(Math.max(x, LABELS));
      const factor = Math.exp(delta * 0.0015);
      const width = Math.max(12, Math.min(this.whole, (this.to - this.from) * factor));
      const part = (at - this.from) / (this.to - this.from);
      this.from = Math.max(0, Math.min(at - part * width, this.whole - width));
      this.to = this.from + width;
    }
    this.app.invalidate();
  }

  reset(): void {
    this.of = "";
    this.app.invalidate();
  }

  hint(x: number, y: number): string[] {
    const { program, theme } = this.app;
    if (x < LABELS) return [];
    const cycle = Math.floor(this.axis.cycle(x));
    if (y > 78 && y < 110) {
      const piece = program.path.find((one) => one.from <= cycle && cycle < one.to);
      return piece ? pieceWords(program, piece) : [];
    }
    if (y >= 28 && y < 48) return partWords(predicted(program, theme), cycle, PREDICTED);
    if (y >= 52 && y < 72) return partWords(simulated(program, theme), cycle, SIMULATED);
    if (y < HEAD) return [`cycle ${cycle}`];
    if (!program.run) return [];
    const lane = this.lanes(program)[Math.floor((y - HEAD + this.scroll) / ROW)];
    const one = lane ? program.run.stretchAt(lane.pe, cycle) : null;
    if (!one) return [`cycle ${cycle}`];
    return [`${program.pe(lane.pe)}, cycle ${cycle}`, stretchWords(program.run, one)];
  }
}

function stretchWords(run: Run, one: Stretch): string {
  const name = one.name === 0xffffffff ? "" : run.trace.names[one.name];
  const thread = one.thread === 0xffffffff ? "" : threadName(one.thread);
  const color = one.color === 255 ? "" : `of color ${one.color}`;
  const words = [DOING_NAMES[one.doing], color, name, thread].filter(Boolean).join(" ");
  return `${words}: cycles ${one.from} to ${one.to - 1}`;
}
