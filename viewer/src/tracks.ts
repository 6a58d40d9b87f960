// Rows over the axis of cycles that the time lines and the comparison share: what was predicted, what
// the run took, its critical path, and the load of its links.

import type { Segment, TimeAxis } from "./axis.ts";
import { placeWords, type Loaded } from "./loaded.ts";
import { routeColor, type Theme } from "./palette.ts";
import type { Piece } from "./path.ts";
import type { Pen } from "./pen.ts";
import { DOINGS, type Run } from "./run.ts";
import { Doing } from "./trace.ts";

const PHASES = ["#3457d5", "#0b8f86", "#a0522d", "#8a3ffc", "#b8336a", "#4c7a1f", "#1f7a8c", "#7a5c00"];

export function phaseColor(n: number): string {
  return PHASES[n % PHASES.length];
}

/** The predicted cycles, part by part. */
export function predicted({ program }: Loaded, theme: Theme): Segment[] {
  const start = program.run?.start_cycle ?? 0;
  let at = start;
  return (program.prediction?.breakdown ?? []).map(([name, cycles], n) => {
    const from = at;
    at += cycles;
    const plain = name === "start" || name === "completion";
    const fill = plain ? theme.doing[Doing.Code] : phaseColor(n);
    return { from, to: at, fill, label: `${name} ${cycles}` };
  });
}

/** The run, phase by phase where every color belongs to one phase: from its first to its last hop. */
export function simulated(loaded: Loaded, theme: Theme): Segment[] {
  const { run } = loaded;
  if (!run) return [];
  const whole = { from: run.start, to: run.end, fill: theme.doing[Doing.Code], label: `run ${run.end - run.start}` };
  const spans = phaseSpans(loaded);
  if (!spans.length) return [whole];
  const found: Segment[] = [];
  let at = run.start;
  spans.forEach(({ name, to }, n) => {
    if (n === 0) found.push({ from: at, to: spans[0].from, fill: theme.doing[Doing.Code], label: `start ${spans[0].from - at}` });
    at = n === 0 ? spans[0].from : at;
    found.push({ from: at, to, fill: phaseColor(n + 1), label: `${name} ${to - at}` });
    at = to;
  });
  found.push({ from: at, to: run.end, fill: theme.doing[Doing.Code], label: `completion ${run.end - at}` });
  return found;
}

function phaseSpans(loaded: Loaded): { name: string; from: number; to: number }[] {
  const { run, phases } = loaded;
  const owner = new Map<number, number>();
  for (const [n, phase] of phases.entries()) {
    for (const { color } of phase.classes.flatMap((one) => one.colors)) {
      if ((owner.get(color) ?? n) !== n) return []; // shared: its hops do not say whose they are
      owner.set(color, n);
    }
  }
  const spans = phases.map(({ name }) => ({ name, from: Infinity, to: -1 }));
  const { hop } = run!.trace;
  for (let n = 0; n < hop.cycle.length; n++) {
    const span = spans[owner.get(hop.color[n]) ?? -1];
    if (!span) continue;
    span.from = Math.min(span.from, hop.cycle[n]);
    span.to = Math.max(span.to, hop.cycle[n] + 1);
  }
  const seen = spans.filter((one) => one.to >= 0).sort((a, b) => a.to - b.to);
  return seen.map((one, n) => ({ ...one, from: n ? seen[n - 1].to : one.from }));
}

/** A piece of the critical path: its color and what is written on it. */
export function pathSegment(loaded: Loaded, piece: Piece, theme: Theme): Segment {
  const { from, to, kind } = piece;
  const cycles = to - from;
  const [x, y] = loaded.place(piece.pe);
  const at = `(${x},${y})`;
  const labels = {
    start: `start-up ${cycles}`,
    code: `code ${at} ${cycles}`,
    operation: `elements ${at} ${cycles}`,
    room: `no room ${at} ${cycles}`,
    wait: `waits ${at} ${cycles}`,
    travel: `C${piece.color} \u2192 ${at} ${cycles}`,
  };
  const fills = {
    start: theme.doing[Doing.Code],
    code: theme.doing[Doing.Code],
    operation: theme.doing[Doing.Operation],
    room: theme.doing[Doing.NoRoom],
    wait: theme.doing[Doing.NoInput],
    travel: kind === "travel" ? routeColor(theme, piece.color) : "",
  };
  return { from, to, fill: fills[kind], label: labels[kind] };
}

/** What a piece is in words, with the term of the model that it belongs to. */
export function pieceWords(loaded: Loaded, piece: Piece): string[] {
  const cycles = `${piece.to - piece.from} cycles, ${piece.from} to ${piece.to - 1}`;
  const run = loaded.run!;
  const name = piece.name === 0xffffffff ? "" : ` (${run.trace.names[piece.name]})`;
  const here = loaded.pe(piece.pe);
  switch (piece.kind) {
    case "travel": {
      const phase = loaded.phaseOf(piece.source, piece.color);
      const line = phase ? `${placeWords(phase.at)}  ${phase.about}` : "";
      const what = `a wavelet of color ${piece.color} from ${loaded.pe(piece.source)} to ${here}: ${cycles}`;
      return [what, `model: distance ${piece.distance}, depth ${piece.to - piece.from - piece.distance}`, line].filter(Boolean);
    }
    case "operation":
      return [`elements of an operation${name} at ${here}: ${cycles}`, "model: bandwidth and contention"];
    case "code":
      return [`code at ${here}${name}: ${cycles}`, "model: start-up"];
    case "start":
      return [`before the first wavelet, at ${here}: ${cycles}`, "model: start-up"];
    default:
      return [`${here} waits: ${cycles}`, "model: waiting"];
  }
}

/** Wavelets over links, as an area over the axis; the most of a part. */
export function load(pen: Pen, axis: TimeAxis, loaded: Loaded, top: number, height: number, theme: Theme): void {
  const { run } = loaded;
  if (!run) return;
  // whole cycles a part, so that parts are alike; none that is cut off by the end of the run
  const cycles = Math.max(1, Math.ceil(axis.step * 4));
  const from = Math.max(0, Math.floor(axis.from));
  const to = Math.min(Math.ceil(axis.to), run.trace.last + 1);
  const whole = from + Math.max(1, Math.floor((to - from) / cycles)) * cycles;
  const sums = run.loadOverTime(cycles, from, whole);
  const most = sums.reduce((a, b) => Math.max(a, b), 1);
  const x = (cycle: number) => Math.max(axis.left, Math.min(axis.x(cycle), axis.left + axis.width));
  const points: number[] = [x(from), top + height];
  sums.forEach((sum, n) => points.push(x(from + (n + 0.5) * cycles), top + height - (sum / most) * height));
  points.push(x(to), top + height);
  pen.faded(0.28, () => pen.fill(points, theme.accent));
  pen.line(points.slice(2, -2), theme.accent, 1.2);
}

export const PREDICTED = "predicted by the model, part by part";
export const SIMULATED = "simulated: a phase ends with its last wavelet over a link";

/** What a bar says of a cycle. */
export function partWords(segments: Segment[], cycle: number, what: string): string[] {
  const part = segments.find((one) => one.from <= cycle && cycle < one.to);
  return part ? [`${part.label} cycles, ${part.from} to ${part.to - 1}`, what] : [`cycle ${cycle}`];
}

/** What a PE, or one thread of it, did, as rectangles: of what is shorter than a pixel the most frequent. */
export function drawStretches(
  pen: Pen,
  axis: TimeAxis,
  run: Run,
  { pe, thread }: { pe: number; thread: number | null },
  { top, height }: { top: number; height: number },
  theme: Theme,
): void {
  const pixels = Math.max(1, Math.ceil(axis.width));
  const sums = new Float32Array(pixels * DOINGS);
  for (const one of run.stretches(pe)) {
    if (one.to <= axis.from) continue;
    if (one.from >= axis.to) break;
    if (thread !== null && one.thread !== thread) continue;
    const left = Math.max(0, axis.x(one.from) - axis.left);
    const right = Math.min(pixels, axis.x(one.to) - axis.left);
    for (let pixel = Math.floor(left); pixel < right; pixel++) {
      sums[pixel * DOINGS + one.doing] += Math.min(right, pixel + 1) - Math.max(left, pixel);
    }
  }
  let began = 0;
  let last = -1;
  for (let pixel = 0; pixel <= pixels; pixel++) {
    const doing = pixel < pixels ? dominant(sums, pixel * DOINGS) : -1;
    if (doing === last) continue;
    if (last >= 0 && last !== Doing.Idle) pen.rect(axis.left + began, top, pixel - began, height, theme.doing[last as Doing]);
    [began, last] = [pixel, doing];
  }
}

function dominant(sums: Float32Array, at: number): number {
  let best = -1;
  for (let n = 0; n < DOINGS; n++) {
    if (sums[at + n] > 0.02 && (best < 0 || sums[at + n] > sums[at + best])) best = n;
  }
  return best;
}
