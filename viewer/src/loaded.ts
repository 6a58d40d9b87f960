// A program of the page with everything that is derived from it.

import type { Phase, Place, Program } from "./data.ts";
import { classMap, routeStates, type RouteState } from "./grid.ts";
import { criticalPath, type Piece } from "./path.ts";
import { Run } from "./run.ts";
import type { Trace } from "./trace.ts";

export class Loaded {
  readonly states: RouteState[];
  readonly width: number;
  readonly height: number;
  run: Run | null = null;
  problem = "";
  /** Whether its trace has been looked for. */
  read = false;
  private readonly mapOf = new Map<number, Uint16Array>();
  private pathOf: Piece[] | null = null;

  constructor(
    readonly index: number,
    readonly program: Program,
    trace: { width: number; height: number } | null = null,
  ) {
    [this.width, this.height] = program.grid ?? (trace ? [trace.width, trace.height] : [1, 1]);
    this.states = routeStates(program);
  }

  withTrace(trace: Trace): Loaded {
    const found = new Loaded(this.index, this.program, trace);
    const start = this.program.run?.start_cycle ?? 0;
    const cycles = this.program.run?.cycles;
    const end = typeof cycles === "number" ? start + cycles : trace.last + 1;
    found.run = new Run(trace, start, end);
    found.read = true;
    return found;
  }

  withProblem(problem: string): Loaded {
    const found = new Loaded(this.index, this.program);
    found.problem = problem;
    found.read = true;
    return found;
  }

  get phases(): Phase[] {
    return this.program.phases ?? [];
  }

  /** Why there is no run to show; empty where there is one. */
  get notRun(): string {
    if (this.run) return "";
    const { run, note } = this.program;
    if (run && !this.problem && !this.read) return "The run is being read.";
    return this.problem || run?.problem || note || "Not run: the plan, and what is predicted.";
  }

  /** `two_phase.coll`. */
  get name(): string {
    return this.program.name.split("/").pop() ?? this.program.name;
  }

  map(phase: number): Uint16Array {
    let found = this.mapOf.get(phase);
    if (!found) {
      found = classMap(this.phases[phase], this.width, this.height);
      this.mapOf.set(phase, found);
    }
    return found;
  }

  get maps(): Uint16Array[] {
    return this.phases.map((_, n) => this.map(n));
  }

  get path(): Piece[] {
    this.pathOf ??= this.run ? criticalPath(this.run) : [];
    return this.pathOf;
  }

  place(pe: number): [number, number] {
    return [pe % this.width, Math.floor(pe / this.width)];
  }

  pe(pe: number): string {
    return `PE (${this.place(pe).join(", ")})`;
  }

  /** What the plans call a color: a name or two. */
  colorName(color: number): string {
    const names = new Set(this.colorNames(color).map((name) => name.split(".").pop()!));
    return [...names].slice(0, 2).join(", ") + (names.size > 2 ? " \u2026" : "");
  }

  /** What each collective calls a color. */
  colorNames(color: number): string[] {
    return this.program.colors?.find((one) => one.number === color)?.names ?? [];
  }

  /** A phase's name, with that of its collective where there are several. */
  phaseName(phase: Phase): string {
    const several = new Set(this.phases.map((one) => one.collective)).size > 1;
    return several ? `${phase.collective}.${phase.name}` : phase.name;
  }

  /** Colors in use, by the plan and, where there is a run, by the trace. */
  get colors(): number[] {
    const found = new Set((this.program.colors ?? []).map((one) => one.number));
    for (const color of this.run?.hopsByColor().keys() ?? []) found.add(color);
    return [...found].sort((a, b) => a - b);
  }

  /** The line of the source that a wavelet of a color at a PE is there for. */
  phaseOf(pe: number, color: number): Phase | null {
    const found = this.phases.findIndex((phase, n) => {
      const at = this.map(n)[pe];
      return at > 0 && phase.classes[at - 1].colors.some((use) => use.color === color);
    });
    return found < 0 ? null : this.phases[found];
  }
}

/** `two_phase.coll:13`. */
export function placeWords({ file, line }: Place): string {
  return `${file.split("/").pop()}:${line}`;
}
