// Where cells are drawn: a grid as it is, or, of a single row or column, folded into lines like text.

import type { Slot } from "./grid.ts";

export const GAP = 0.55; // of a cell, behind what repeats
const BETWEEN = 0.6; // of a cell, between the lines of what is folded
const FOLDED = 20; // cells of a row from which on it may be folded

export interface Axis {
  slots: Slot[];
  /** Where each slot begins, in cells, and last where all end. */
  at: number[];
}

export function axis(slots: Slot[]): Axis {
  const at: number[] = [];
  let next = 0;
  let open: number[] = [];
  for (const slot of slots) {
    at.push(next);
    next += 1;
    open = [...open, ...slot.repeats.map((one) => one.slots)].map((left) => left - 1);
    if (open.includes(0)) next += GAP;
    open = open.filter((left) => left > 0);
  }
  return { slots, at: [...at, next] };
}

/** The repetitions of a line: their first and last slots, how often, and how deep they lie in others. */
export function repetitions({ slots }: Axis): { first: number; last: number; times: number; depth: number }[] {
  const found: { first: number; last: number; times: number; depth: number }[] = [];
  slots.forEach((slot, first) => {
    for (const { slots: count, times } of slot.repeats) {
      const depth = found.filter((outer) => outer.first <= first && outer.last >= first + count - 1).length;
      found.push({ first, last: first + count - 1, times, depth });
    }
  });
  return found;
}

/** Slots without any repetition. */
export function every(count: number): Slot[] {
  return Array.from({ length: count }, (_, index) => ({ index, repeats: [] }));
}

export class Layout {
  /** Slots of a line, where a row or a column is folded. */
  readonly fold: number | null;
  readonly width: number;
  readonly height: number;

  constructor(
    readonly x: Axis,
    readonly y: Axis,
    stage: { width: number; height: number },
  ) {
    const [across, down] = [x.at[x.at.length - 1], y.at[y.at.length - 1]];
    const folds = (y.slots.length === 1 && x.slots.length > FOLDED) || (x.slots.length === 1 && y.slots.length > FOLDED);
    this.fold = folds ? bestFold(Math.max(x.slots.length, y.slots.length), stage) : null;
    const lines = this.fold ? Math.ceil(this.long.slots.length / this.fold) : 0;
    this.width = this.fold ? this.widest(this.fold, lines) : across;
    this.height = this.fold ? lines + (lines - 1) * BETWEEN : down;
  }

  /** The width of the widest of so many lines. */
  private widest(fold: number, lines: number): number {
    const { at, slots } = this.long;
    const ends = Array.from({ length: lines }, (_, line) => Math.min((line + 1) * fold, slots.length) - 1);
    return Math.max(...ends.map((last, line) => at[last] + 1 - at[line * fold]));
  }

  /** The axis that is folded, if one is. */
  get long(): Axis {
    return this.y.slots.length === 1 ? this.x : this.y;
  }

  /** The top left corner of the cell of two slots. */
  corner(column: number, row: number): [number, number] {
    if (!this.fold) return [this.x.at[column], this.y.at[row]];
    const n = Math.max(column, row);
    const line = Math.floor(n / this.fold);
    const begins = this.long.at[line * this.fold];
    return [this.long.at[n] - begins, line * (1 + BETWEEN)];
  }

  /** The slots at a point, none beside the cells. */
  find(x: number, y: number): [number, number] | null {
    if (!this.fold) {
      const [column, row] = [slotAt(this.x, x), slotAt(this.y, y)];
      return column === null || row === null ? null : [column, row];
    }
    const line = Math.floor(y / (1 + BETWEEN));
    if (line < 0 || x < 0 || y - line * (1 + BETWEEN) >= 1) return null;
    const begins = this.long.at[line * this.fold];
    const n = begins === undefined ? null : slotAt(this.long, x + begins);
    if (n === null || Math.floor(n / this.fold) !== line) return null;
    return this.y.slots.length === 1 ? [n, 0] : [0, n];
  }
}

function slotAt({ at }: Axis, place: number): number | null {
  let low = 0;
  let high = at.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at[middle] <= place) low = middle + 1;
    else high = middle;
  }
  const n = low - 1;
  return n >= 0 && n < at.length - 1 && place < at[n] + 1 ? n : null;
}

/** How many cells a line has so that they are drawn largest; round numbers, so that places can be counted. */
function bestFold(count: number, { width, height }: { width: number; height: number }): number {
  let best = { per: count, scale: 0 };
  for (const per of [count, 8, 10, 16, 20, 25, 32, 40, 50, 64, 80, 100, 128]) {
    if (per > count) continue;
    const lines = Math.ceil(count / per);
    const scale = Math.min(width / per, height / (lines * (1 + BETWEEN)), 90);
    if (scale > best.scale * 1.05) best = { per, scale };
  }
  return best.per;
}
