// What is derived from a trace: states by PE, hops by cycle, load over time and over the grid.

import { Doing, RAMP, type Trace } from "./trace.ts";

/** A stretch of time in which a compute element does one thing; `to` is exclusive. */
export interface Stretch {
  from: number;
  to: number;
  doing: Doing;
  thread: number;
  name: number;
  color: number;
}

export const DOINGS = 7;
const PASSAGES = 1000; // from PE to PE, which are enough to see the least

export class Run {
  /** States of PE p are entries `order[first[p]]` to `order[first[p + 1] - 1]` of the trace. */
  private readonly order: Uint32Array;
  private readonly first: Uint32Array;
  /** Hops of cycle c begin at `hopAt[c]`. */
  readonly hopAt: Uint32Array;
  private linkCyclesOf: number | null = null;
  private arrivalsOf: Map<number, number[]> | null = null;
  private sendCycle: Map<number, number> | null = null;

  constructor(
    readonly trace: Trace,
    /** The common start, and the completion of the last PE. */
    readonly start: number,
    readonly end: number,
  ) {
    const pes = trace.width * trace.height;
    [this.first, this.order] = grouped(trace.state.pe, pes);
    this.hopAt = starts(trace.hop.cycle, trace.last + 1);
  }

  get pes(): number {
    return this.trace.width * this.trace.height;
  }

  /** What a PE does, in order, up to the end of the trace. */
  *stretches(pe: number): Generator<Stretch> {
    const { cycle, doing, thread, name, color } = this.trace.state;
    for (let n = this.first[pe]; n < this.first[pe + 1]; n++) {
      const i = this.order[n];
      const to = n + 1 < this.first[pe + 1] ? cycle[this.order[n + 1]] : this.trace.last + 1;
      if (to > cycle[i]) {
        yield { from: cycle[i], to, doing: doing[i], thread: thread[i], name: name[i], color: color[i] };
      }
    }
  }

  /** What a PE does in a cycle; none before its first event. */
  stretchAt(pe: number, at: number): Stretch | null {
    const { cycle, doing, thread, name, color } = this.trace.state;
    let low = this.first[pe];
    let high = this.first[pe + 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (cycle[this.order[middle]] <= at) low = middle + 1;
      else high = middle;
    }
    if (low === this.first[pe]) return null;
    const i = this.order[low - 1];
    const to = low < this.first[pe + 1] ? cycle[this.order[low]] : this.trace.last + 1;
    return { from: cycle[i], to, doing: doing[i], thread: thread[i], name: name[i], color: color[i] };
  }

  /** Cycles of a PE by what it does, between two cycles (the second exclusive). */
  cycles(pe: number, from: number, to: number): number[] {
    const sums = new Array<number>(DOINGS).fill(0);
    for (const one of this.stretches(pe)) {
      const length = Math.min(one.to, to) - Math.max(one.from, from);
      if (length > 0) sums[one.doing] += length;
    }
    return sums;
  }

  /** Cycles in which each PE is busy, or, with `waiting`, waits, between two cycles. */
  heat(from: number, to: number, waiting: boolean): Float32Array {
    const found = new Float32Array(this.pes);
    for (let pe = 0; pe < this.pes; pe++) {
      for (const one of this.stretches(pe)) {
        if (one.doing === Doing.Idle || one.doing >= Doing.NoInput !== waiting) continue;
        const length = Math.min(one.to, to) - Math.max(one.from, from);
        if (length > 0) found[pe] += length;
      }
    }
    return found;
  }

  /** Wavelets over the links of each PE, `pe * 4 + side`, between two cycles, of colors that show. */
  linkLoad(from: number, to: number, shows: (color: number) => boolean): Uint32Array {
    const found = new Uint32Array(this.pes * 4);
    const { pe, side, color } = this.trace.hop;
    for (let n = this.at(from); n < this.at(to); n++) {
      if (side[n] !== RAMP && shows(color[n])) found[pe[n] * 4 + side[n]]++;
    }
    return found;
  }

  /** The index of the first hop in a cycle or later. */
  at(cycle: number): number {
    return this.hopAt[Math.max(0, Math.min(cycle, this.hopAt.length - 1))];
  }

  /** Wavelets over links between two cycles (the second exclusive), in parts of so many cycles. */
  loadOverTime(cycles: number, from = 0, to = this.trace.last + 1): Float32Array {
    const found = new Float32Array(Math.max(1, Math.ceil((to - from) / cycles)));
    const { cycle, side } = this.trace.hop;
    for (let n = this.at(from); n < cycle.length && cycle[n] < to; n++) {
      if (side[n] !== RAMP) found[Math.floor((cycle[n] - from) / cycles)]++;
    }
    return found;
  }

  /** Cycles from link to link, which machines differ in: the least that a wavelet takes from leaving a PE
   * to leaving the next, by the first wavelets that do. */
  get linkCycles(): number {
    this.linkCyclesOf ??= this.leastPassage();
    return this.linkCyclesOf;
  }

  private leastPassage(): number {
    const { cycle, pe, side, color, source, number } = this.trace.hop;
    const steps = [-1, 1, this.trace.width, -this.trace.width];
    const under = new Map<number, { to: number; cycle: number }>();
    let least = Infinity;
    for (let n = 0, seen = 0; n < cycle.length && seen < PASSAGES; n++) {
      const wavelet = identity(source[n], color[n], number[n]);
      const before = under.get(wavelet);
      if (before?.to === pe[n]) {
        least = Math.min(least, cycle[n] - before.cycle);
        seen++;
      }
      if (side[n] !== RAMP) under.set(wavelet, { to: pe[n] + steps[side[n]], cycle: cycle[n] });
    }
    return Number.isFinite(least) ? Math.max(1, least) : 1;
  }

  /** Wavelets over links by color. */
  hopsByColor(): Map<number, number> {
    const found = new Map<number, number>();
    const { color, side } = this.trace.hop;
    for (let n = 0; n < color.length; n++) {
      if (side[n] !== RAMP) found.set(color[n], (found.get(color[n]) ?? 0) + 1);
    }
    return new Map([...found].sort(([a], [b]) => a - b));
  }

  /** Hops down the ramp of a PE, by their indices, in order. */
  arrivals(pe: number): number[] {
    if (!this.arrivalsOf) {
      this.arrivalsOf = new Map();
      const { side, pe: at } = this.trace.hop;
      for (let n = 0; n < side.length; n++) {
        if (side[n] !== RAMP) continue;
        const list = this.arrivalsOf.get(at[n]);
        if (list) list.push(n);
        else this.arrivalsOf.set(at[n], [n]);
      }
    }
    return this.arrivalsOf.get(pe) ?? [];
  }

  /** When the wavelet of a hop went up the ramp of its source; none where the host put it in. */
  sent(hop: number): number | null {
    const { color, source, number } = this.trace.hop;
    if (!this.sendCycle) {
      this.sendCycle = new Map();
      const send = this.trace.send;
      for (let n = 0; n < send.pe.length; n++) {
        this.sendCycle.set(identity(send.pe[n], send.color[n], send.number[n]), n);
      }
    }
    const found = this.sendCycle.get(identity(source[hop], color[hop], number[hop]));
    return found === undefined ? null : this.trace.send.cycle[found];
  }

  /** Which operation of its source a hop's wavelet belongs to, counted from 1 for each color. */
  vector(hop: number): number {
    this.sent(hop);
    const { color, source, number } = this.trace.hop;
    const found = this.sendCycle?.get(identity(source[hop], color[hop], number[hop]));
    return found === undefined ? 0 : this.trace.send.vector[found];
  }
}

function identity(pe: number, color: number, number: number): number {
  return ((pe * 32 + color) % 2 ** 26) * 2 ** 26 + (number % 2 ** 26);
}

/** For each cycle where its entries begin in a sorted column, and last where the column ends. */
export function starts(cycles: Uint32Array, count: number): Uint32Array {
  const found = new Uint32Array(count + 1);
  let n = 0;
  for (let cycle = 0; cycle <= count; cycle++) {
    while (n < cycles.length && cycles[n] < cycle) n++;
    found[cycle] = n;
  }
  return found;
}

/** Entries by their keys 0 to count - 1: where each key's begin, and the entries in that order. */
export function grouped(keys: Uint32Array, count: number): [Uint32Array, Uint32Array] {
  const first = new Uint32Array(count + 1);
  for (const key of keys) first[key + 1]++;
  for (let n = 0; n < count; n++) first[n + 1] += first[n];
  const next = first.slice();
  const order = new Uint32Array(keys.length);
  keys.forEach((key, n) => (order[next[key]++] = n));
  return [first, order];
}

/** `T3` is task 3 (0 a command of the host), `UT2` microthread 2. */
export function threadName(thread: number): string {
  return thread % 2 ? `microthread ${(thread - 1) / 2}` : thread ? `task ${thread / 2}` : "main thread";
}
