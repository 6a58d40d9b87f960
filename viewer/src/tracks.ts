// Rows over the axis of cycles that the time lines and the comparison share: what was predicted, what
// the run took, its critical path, and the load of its links.

import { bar, type Segment, type TimeAxis } from "./axis.ts";
import type { Loaded } from "./loaded.ts";
import { routeColor, type Theme } from "./palette.ts";
import { distance, type Piece } from "./path.ts";
import type { Pen } from "./pen.ts";
import { Doing, RAMP } from "./trace.ts";

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
    travel: kind === "travel" ? routeColor(piece.color) : "",
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
      const hops = distance(run, piece.source, piece.pe);
      const phase = loaded.phaseOf(piece.source, piece.color);
      const line = phase ? `${phase.at.file}:${phase.at.line}  ${phase.about}` : "";
      const what = `a wavelet of color ${piece.color} from ${loaded.pe(piece.source)} to ${here}: ${cycles}`;
      return [what, `model: distance ${hops}, depth ${piece.to - piece.from - hops}`, line].filter(Boolean);
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
  // whole cycles a part, so that parts are alike
  const cycles = Math.max(1, Math.ceil(((axis.to - axis.from) / axis.width) * 4));
  const parts = Math.max(2, Math.round((axis.to - axis.from) / cycles));
  const sums = new Float32Array(parts);
  const { cycle, side } = run.trace.hop;
  const scale = parts / (axis.to - axis.from);
  for (let n = run.at(Math.floor(axis.from)); n < cycle.length && cycle[n] < axis.to; n++) {
    if (side[n] !== RAMP) sums[Math.min(parts - 1, Math.floor((cycle[n] - axis.from) * scale))]++;
  }
  const most = sums.reduce((a, b) => Math.max(a, b), 1);
  const points: number[] = [axis.left, top + height];
  sums.forEach((sum, n) => points.push(axis.left + ((n + 0.5) / parts) * axis.width, top + height - (sum / most) * height));
  points.push(axis.left + axis.width, top + height);
  pen.faded(0.28, () => pen.fill(points, theme.accent));
  pen.line(points.slice(2, -2), theme.accent, 1.2);
}

export { bar };
