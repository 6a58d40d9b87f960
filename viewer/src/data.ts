// The data of a page: programs as docs/viewer.md describes them, and their traces.

import { gunzipSync } from "fflate";
import { readTrace, type Trace } from "./trace.ts";

export interface Place {
  file: string;
  line: number;
  end_line: number;
}

export type Side = "NORTH" | "EAST" | "SOUTH" | "WEST" | "RAMP";

export interface Position {
  receive: Side;
  send: Side[];
}

export interface ColorUse {
  color: number;
  name: string;
  positions: Position[];
}

export interface PeClass {
  name: string;
  about: string;
  text: string[];
  colors: ColorUse[];
}

/** first, last, step, period, repeats: the coordinates first, first + step, ..., last, and that
 * `repeats` times at a distance of `period`. */
export type Strided = [number, number, number, number, number];

export interface Phase {
  name: string;
  collective: string;
  about: string;
  at: Place;
  classes: PeClass[];
  regions: { class: number; x: Strided; y: Strided }[];
}

export interface Prediction {
  cycles: number;
  bound: number;
  /** How many times the bound; null where the bound is not of the whole. */
  gap: number | null;
  breakdown: [string, number][];
  terms: [string, number][];
  path: { phase: string; at: Place; waits: { rank: number; what: string; text: string }[] }[];
}

export interface RunData {
  cycles?: number | null;
  start_cycle?: number;
  verified?: boolean;
  problem?: string;
}

/** What a page is told of a program; of one known by its trace only it is the name. */
export interface Program {
  version: number;
  generator?: string;
  name: string;
  target?: string;
  parameters?: Record<string, number>;
  grid?: [number, number];
  sources?: Record<string, string>;
  phases?: Phase[];
  calls?: number[];
  colors?: { number: number; names: string[] }[];
  memory_bytes?: number;
  prediction?: Prediction;
  run?: RunData | null;
  /** Why there is no run, if there is something to say. */
  note?: string;
  /** Of the first program: what is told beside all of them, in Markdown. */
  lesson?: string;
}

export const VERSION = 1;

/** Members of a strided run. */
export function* members([first, last, step, period, repeats]: Strided): Generator<number> {
  for (let turn = 0; turn < repeats; turn++) {
    for (let at = first; at <= last; at += step) yield at + turn * period;
  }
}

/** Base64 of gzip, as `page.py` writes it. */
function unpacked(text: string): Uint8Array {
  const raw = atob(text.trim());
  const packed = new Uint8Array(raw.length);
  for (let n = 0; n < raw.length; n++) packed[n] = raw.charCodeAt(n);
  return gunzipSync(packed);
}

function block(name: string): string | null {
  return document.getElementById(name)?.textContent ?? null;
}

/** The programs of this page. Raises an Error where there are none, or of another version. */
export function loadPrograms(): Program[] {
  const text = block("data-programs");
  if (text === null) throw new Error("this page has no data; `collc view FILE` makes one that has");
  const programs = JSON.parse(new TextDecoder().decode(unpacked(text))) as Program[];
  const other = programs.find((program) => program.version !== VERSION);
  if (other) throw new Error(`data of version ${other.version}; this page shows version ${VERSION}`);
  return programs;
}

/** The trace of program n; null where it has none. */
export function loadTrace(n: number): Trace | null {
  const text = block(`data-trace-${n}`);
  return text === null ? null : readTrace(unpacked(text));
}
