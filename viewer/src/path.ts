// The critical path of a run, backwards from its end: what each PE did, and before that the wavelet
// that it had waited for, back to the PE that sent it.

import { Doing } from "./trace.ts";
import type { Run, Stretch } from "./run.ts";

/** One piece of the path. Pieces follow each other without a gap from the start to the end. */
export interface Piece {
  from: number;
  to: number;
  kind: "start" | "code" | "operation" | "room" | "wait" | "travel";
  /** Where it is; of a wavelet under way, where it arrives. */
  pe: number;
  /** Of a wavelet under way: where it comes from, its color, and the cycles that links take of it. */
  source: number;
  color: number;
  distance: number;
  /** Of what a compute element does: thread and name, as in the trace. */
  thread: number;
  name: number;
}

const KINDS: Partial<Record<Doing, Piece["kind"]>> = {
  [Doing.Code]: "code",
  [Doing.Operation]: "operation",
  [Doing.NoRoom]: "room",
  [Doing.Fifo]: "room",
  [Doing.Blocked]: "room",
};

const MOST_PIECES = 200_000;

/** The pieces, first first. Empty where nothing was recorded. */
export function criticalPath(run: Run): Piece[] {
  let pe = lastBusy(run);
  let at = run.end;
  const found: Piece[] = [];
  if (pe === null) return found;
  while (at > run.start && found.length < MOST_PIECES) {
    const began = busySince(run, pe, at, found);
    if (began <= run.start) break;
    const arrival = lastArrival(run, pe, began);
    const sent = arrival === null ? null : run.sent(arrival);
    if (arrival === null || sent === null || sent >= began || sent < run.start) {
      found.push(piece("start", pe, run.start, began));
      break;
    }
    const source: number = run.trace.hop.source[arrival];
    found.push({
      ...piece("travel", pe, sent, began),
      source,
      color: run.trace.hop.color[arrival],
      distance: Math.min(links(run, source, pe) * run.linkCycles, began - sent),
    });
    pe = source;
    at = sent;
  }
  return merged(found.reverse());
}

/** Pieces of one kind at one PE as one, which is named by the longest. */
function merged(pieces: Piece[]): Piece[] {
  const found: Piece[] = [];
  let longest = 0;
  for (const one of pieces) {
    const last = found[found.length - 1];
    const cycles = one.to - one.from;
    if (!last || last.kind !== one.kind || last.pe !== one.pe || one.kind === "travel") {
      found.push({ ...one });
      longest = cycles;
      continue;
    }
    last.to = one.to;
    if (cycles > longest) {
      [last.name, last.thread, longest] = [one.name, one.thread, cycles];
    }
  }
  return found;
}

function piece(kind: Piece["kind"], pe: number, from: number, to: number): Piece {
  return { kind, pe, from, to, source: pe, color: 255, distance: 0, thread: 0xffffffff, name: 0xffffffff };
}

/** The PE that is busy last before the end. */
function lastBusy(run: Run): number | null {
  let best: number | null = null;
  let latest = -1;
  for (let pe = 0; pe < run.pes; pe++) {
    for (const one of run.stretches(pe)) {
      const until = Math.min(one.to, run.end);
      if (one.from < run.end && isBusy(one) && until > latest) {
        latest = until;
        best = pe;
      }
    }
  }
  return best;
}

function isBusy(one: Stretch): boolean {
  return one.doing === Doing.Code || one.doing === Doing.Operation;
}

/** Adds what a PE did without waiting for input up to a cycle, the last first; since when. */
function busySince(run: Run, pe: number, until: number, found: Piece[]): number {
  let at = until;
  while (at > run.start) {
    const one = run.stretchAt(pe, at - 1);
    const kind = one ? KINDS[one.doing] : undefined;
    if (!one || !kind) {
      // what ends the run may be a cycle after the last instruction
      if (at === run.end && one && run.end - one.from <= 2 && one.from > run.start) {
        found.push(piece("wait", pe, one.from, at));
        at = one.from;
        continue;
      }
      return at;
    }
    const from = Math.max(one.from, run.start);
    found.push({ ...piece(kind, pe, from, at), thread: one.thread, name: one.name });
    at = from;
  }
  return at;
}

/** The last hop down the ramp of a PE in time for a cycle. */
function lastArrival(run: Run, pe: number, cycle: number): number | null {
  const all = run.arrivals(pe);
  let low = 0;
  let high = all.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (run.trace.hop.cycle[all[middle]] < cycle) low = middle + 1;
    else high = middle;
  }
  return low ? all[low - 1] : null;
}

/** Links between two PEs. */
function links(run: Run, a: number, b: number): number {
  const width = run.trace.width;
  const columns = Math.abs((a % width) - (b % width));
  return columns + Math.abs(Math.floor(a / width) - Math.floor(b / width));
}

/** Cycles of a path by what the model calls them. */
export function pathTerms(path: Piece[]): [string, number][] {
  const sums = new Map<string, number>();
  const add = (name: string, cycles: number) => {
    if (cycles > 0) sums.set(name, (sums.get(name) ?? 0) + cycles);
  };
  for (const one of path) {
    const cycles = one.to - one.from;
    if (one.kind === "travel") {
      add("distance", one.distance);
      add("depth", cycles - one.distance);
    } else if (one.kind === "operation") add("bandwidth and contention", cycles);
    else if (one.kind === "code") add("code", cycles);
    else if (one.kind === "start") add("start-up", cycles);
    else add("waiting", cycles);
  }
  return [...sums];
}

