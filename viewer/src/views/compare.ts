// Comparison: programs one above the other on one axis of cycles.

import type { App } from "../app.ts";
import { bar, TimeAxis } from "../axis.ts";
import { count, doingKeys, h } from "../dom.ts";
import type { Loaded } from "../loaded.ts";
import type { Pen } from "../pen.ts";
import type { Run } from "../run.ts";
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
import { Doing } from "../trace.ts";
import type { Size, View } from "../view.ts";

const LABELS = 150;
const FULL = 304;
const SHORT = 84; // of many: what was predicted and what the run took
const MANY = 4;
const PES = 80; // pixels that all PEs take

export class CompareView implements View {
  readonly id = "compare";
  readonly label = "Compare";
  readonly timed = false;
  private size: Size = { width: 1, height: 1 };
  private scroll = 0;

  constructor(private readonly app: App) {}

  missing(): string {
    return this.app.programs.length > 1
      ? ""
      : "There is one program in this file. `collc view A.coll B.coll -o out.html` compares two.";
  }

  controls(): Node[] {
    if (this.missing() || this.each === SHORT) return [];
    const kinds = [Doing.Code, Doing.Operation, Doing.NoInput, Doing.NoRoom, Doing.Fifo, Doing.Blocked];
    return [h("div", { class: "keys" }, ...doingKeys(this.app.theme, kinds))];
  }

  private get each(): number {
    return this.app.programs.length >= MANY ? SHORT : FULL;
  }

  wheel(delta: number): void {
    this.scroll += delta;
    this.app.invalidate();
  }

  drag(_: number, dy: number): void {
    this.wheel(-dy);
  }

  private get axis(): TimeAxis {
    const ends = this.app.programs.map(({ run, program }) => Math.max(run?.end ?? 0, program.prediction?.cycles ?? 0));
    return new TimeAxis(LABELS, this.size.width - LABELS - 40, 0, Math.max(...ends, 1) * 1.02);
  }

  draw(pen: Pen, size: Size): void {
    this.size = size;
    const { axis } = this;
    const { theme, programs } = this.app;
    const { each } = this;
    this.scroll = Math.max(0, Math.min(this.scroll, 60 + programs.length * each - size.height));
    const bottom = Math.min(size.height, 40 + programs.length * each);
    axis.draw(pen, theme, 10, bottom);
    programs.forEach((program, n) => this.drawProgram(pen, program, axis, 40 + n * each - this.scroll));
    if (!this.scroll) return;
    pen.rect(0, 0, size.width, 28, theme.ground);
    axis.draw(pen, theme, 10, 28);
  }

  private drawProgram(pen: Pen, program: Loaded, axis: TimeAxis, top: number): void {
    const { theme } = this.app;
    const { run } = program;
    const { prediction, parameters, target } = program.program;
    const label = (text: string, at: number) => pen.text(text, LABELS - 12, top + at, { color: theme.dim, size: 11, align: "right" });
    const said = Object.entries(parameters ?? {}).map(([name, value]) => `${name} = ${value}`);
    const name = parameters ? program.name : this.app.label(program);
    pen.text(name, 24, top + 12, { color: theme.text, size: 14, bold: true });
    pen.text([target, ...said].filter(Boolean).join("   "), 24 + name.length * 8.6 + 16, top + 12, { color: theme.dim, size: 11.5 });
    const done = this.app.programs.filter((one) => one.run && !one.program.run?.problem);
    const best = Math.min(...done.map(({ run }) => run!.end - run!.start));
    const cycles = run ? run.end - run.start : null;
    if (cycles !== null && done.includes(program)) {
      const more = cycles > best ? `  +${(((cycles - best) / best) * 100).toFixed(1)} %` : this.app.programs.length > 1 ? "  fastest" : "";
      pen.text(`${count(cycles)} cycles${more}`, axis.left + axis.width, top + 12, { color: cycles > best ? theme.dim : theme.accent, size: 12.5, align: "right", bold: true });
    }
    if (prediction) label(`predicted ${prediction.cycles}`, 42);
    bar(pen, axis, top + 32, 20, predicted(program, theme));
    if (run) label(`simulated ${cycles}`, 66);
    bar(pen, axis, top + 56, 20, simulated(program, theme));
    if (this.each === SHORT) return;
    label("critical path", 92);
    bar(pen, axis, top + 82, 20, program.path.map((piece) => pathSegment(program, piece, theme)));
    label("link load", 138);
    load(pen, axis, program, top + 112, 56, theme);
    if (run) this.drawPes(pen, program, run, axis, top + 182);
    pen.line([24, top + FULL - 22, this.size.width - 24, top + FULL - 22], theme.faint, 1);
  }

  /** PEs from the first at the top to the last, as many as there are pixels. */
  private drawPes(pen: Pen, program: Loaded, run: Run, axis: TimeAxis, top: number): void {
    const { theme } = this.app;
    const rows = Math.min(run.pes, PES);
    const height = Math.floor(PES / rows);
    for (let row = 0; row < rows; row++) {
      const pe = Math.floor((row * run.pes) / rows);
      drawStretches(pen, axis, run, { pe, thread: null }, { top: top + row * height, height }, theme);
    }
    const label = (pe: number, at: number) =>
      pen.text(program.pe(pe), LABELS - 12, at, { color: theme.dim, size: 11, align: "right" });
    label(0, top + 8);
    if (rows * height > 24) label(run.pes - 1, top + rows * height - 8);
  }

  hint(x: number, y: number): string[] {
    const { each } = this;
    const n = Math.floor((y - 40 + this.scroll) / each);
    const program = this.app.programs[n];
    if (!program || x < LABELS) return [];
    const cycle = Math.floor(this.axis.cycle(x));
    const at = y - 40 + this.scroll - n * each;
    const piece = each === FULL && at > 80 && at < 104 ? program.path.find((one) => one.from <= cycle && cycle < one.to) : undefined;
    const { theme } = this.app;
    if (piece) return pieceWords(program, piece);
    if (at >= 32 && at < 52) return partWords(predicted(program, theme), cycle, PREDICTED);
    if (at >= 56 && at < 76) return partWords(simulated(program, theme), cycle, SIMULATED);
    return [`cycle ${cycle}`];
  }
}
