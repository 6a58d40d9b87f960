// What all views share: programs, selection, time, theme; and when to draw.

import { loadTrace } from "./data.ts";
import { Loaded } from "./loaded.ts";
import { theme, type Theme } from "./palette.ts";
import { TraceError } from "./trace.ts";
import type { View } from "./view.ts";

export type Listener = () => void;

export class App {
  active = 0;
  selected: number | null = null;
  /** The cycle that is shown; between whole ones something moves. */
  time = 0;
  brush: [number, number] | null = null;
  playing = false;
  /** Cycles a second. */
  speed = 30;
  theme: Theme;
  readonly hidden = new Set<number>();
  view!: View;
  /** Frames drawn so far, for whoever measures. */
  frames = 0;
  private readonly drawn: Listener[] = [];
  private readonly changed: Listener[] = [];
  private due = false;
  private last = 0;

  constructor(
    readonly programs: Loaded[],
    readonly views: View[],
    dark: boolean,
  ) {
    this.theme = theme(dark);
  }

  get program(): Loaded {
    return this.programs[this.active];
  }

  /** What tells a program from the others: its name, with the parameters in which those of that name
   * differ; of traces of one name, the path. */
  label({ name, program }: Loaded): string {
    const alike = this.programs.filter((one) => one.name === name);
    if (alike.length === 1) return name;
    if (!program.parameters) return program.name;
    const differ = Object.entries(program.parameters).filter(([key, value]) =>
      alike.some((one) => one.program.parameters?.[key] !== value),
    );
    return [name, ...differ.map(([key, value]) => `${key}\u2009=\u2009${value}`)].join("  ");
  }

  /** The last cycle of the active run. */
  get last_cycle(): number {
    return this.program.run?.trace.last ?? 0;
  }

  /** The brushed cycles, or all; the second exclusive. */
  get span(): [number, number] {
    return this.brush ?? [0, this.last_cycle + 1];
  }

  shows(color: number): boolean {
    return !this.hidden.has(color);
  }

  /** Reads the traces, one after the other; the page is there before. */
  loadRuns(): void {
    for (const [n, program] of this.programs.entries()) {
      try {
        const trace = loadTrace(n);
        if (trace) this.programs[n] = program.withTrace(trace);
        else program.read = true;
      } catch (error) {
        const why = error instanceof TraceError ? error.message : String(error);
        this.programs[n] = program.withProblem(`the trace cannot be read: ${why}`);
      }
    }
    this.time = this.firstHop;
    this.change();
  }

  /** The first cycle in which something is on a link. */
  get firstHop(): number {
    return this.program.run?.trace.hop.cycle[0] ?? 0;
  }

  /** The cycle in which most is on the links. */
  get busiest(): number {
    const { run } = this.program;
    if (!run) return 0;
    const sums = run.loadOverTime(1);
    return sums.indexOf(sums.reduce((a, b) => Math.max(a, b), 0));
  }

  onDraw(listener: Listener): void {
    this.drawn.push(listener);
  }

  /** Told when more than the time has changed. */
  onChange(listener: Listener): void {
    this.changed.push(listener);
  }

  change(): void {
    this.changed.forEach((listener) => listener());
    this.invalidate();
  }

  select(pe: number | null): void {
    this.selected = pe;
    this.change();
  }

  setTime(time: number): void {
    this.time = Math.max(0, Math.min(time, this.last_cycle + 1));
    this.invalidate();
  }

  show(view: View): void {
    this.view = view;
    this.change();
  }

  setDark(dark: boolean): void {
    this.theme = theme(dark);
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    this.change();
  }

  play(on = !this.playing): void {
    const [first, end] = this.span;
    if (on && (this.time >= end - 0.5 || this.time < first)) this.time = first;
    this.playing = on && this.program.run !== null;
    this.last = 0;
    this.change();
  }

  invalidate(): void {
    if (this.due) return;
    this.due = true;
    requestAnimationFrame((now) => this.frame(now));
  }

  private frame(now: number): void {
    this.due = false;
    if (this.playing) {
      const elapsed = this.last ? Math.min(now - this.last, 100) : 0;
      this.last = now;
      const [, end] = this.span;
      this.time = Math.min(this.time + (elapsed * this.speed) / 1000, end);
      if (this.time >= end) {
        this.playing = false;
        this.changed.forEach((listener) => listener());
      }
    }
    this.drawn.forEach((listener) => listener());
    this.frames++;
    if (this.playing) this.invalidate();
  }
}
