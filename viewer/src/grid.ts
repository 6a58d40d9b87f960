// Which class every PE is of, and the grid with what repeats drawn once.

import { members, type ColorUse, type PeClass, type Phase, type Program } from "./data.ts";

/** Phase by phase the class of each PE, counted from 1; 0 takes no part. */
export function classMap(phase: Phase, width: number, height: number): Uint16Array {
  const found = new Uint16Array(width * height);
  for (const region of phase.regions) {
    const columns = [...members(region.x)].filter((x) => x >= 0 && x < width);
    for (const y of members(region.y)) {
      if (y < 0 || y >= height) continue;
      for (const x of columns) found[y * width + x] = region.class + 1;
    }
  }
  return found;
}

/** One state of the grid's routers: a phase, and how far its switches have moved. */
export interface RouteState {
  phase: number;
  position: number;
  label: string;
}

/** Every state under the slider: the calls in order, each with its switch positions. */
export function routeStates(program: Program): RouteState[] {
  const phases = program.phases ?? [];
  const calls = program.calls ?? [];
  return calls.flatMap((phase) => {
    const { classes, name, collective } = phases[phase];
    const most = Math.max(1, ...classes.flatMap((one) => one.colors.map((use) => use.positions.length)));
    const whose = new Set(phases.map((one) => one.collective)).size > 1 ? `${collective}.${name}` : name;
    return Array.from({ length: most }, (_, position) => ({
      phase,
      position,
      label: most > 1 ? `${whose}, switch position ${position}` : whose,
    }));
  });
}

/** So many slots are drawn once, and come so many times. */
export interface Repeat {
  slots: number;
  times: number;
}

/** One column or row as it is drawn: where it is on the grid, and the repetitions that begin with it,
 * the outer one first. */
export interface Slot {
  index: number;
  repeats: Repeat[];
}

const LONGEST_PERIOD = 256;

/** A line of keys with what repeats written once: `a b b b c a b b b c` becomes `a b (3 times) c`, and
 * that twice. */
export function condensed(keys: ArrayLike<number>, from = 0, to = keys.length): Slot[] {
  const found: Slot[] = [];
  for (let at = from; at < to; ) {
    const [period, times] = repetition(keys, at, to);
    if (times === 1) found.push({ index: at, repeats: [] });
    else {
      const once = period === 1 ? [{ index: at, repeats: [] }] : condensed(keys, at, at + period);
      const [first, ...rest] = once;
      found.push({ ...first, repeats: [{ slots: once.length, times }, ...first.repeats] }, ...rest);
    }
    at += period * times;
  }
  return found;
}

/** What saves most from a place on: a period, and how often it comes; once where none pays. */
function repetition(keys: ArrayLike<number>, at: number, to: number): [number, number] {
  let best: [number, number] = [1, 1];
  let saved = 1; // a mark of repetition takes room as well
  for (let period = 1; period <= LONGEST_PERIOD && at + 2 * period <= to; period++) {
    let end = at + period;
    while (end < to && keys[end] === keys[end - period]) end++;
    const times = Math.floor((end - at) / period);
    if (times > 1 && (times - 1) * period > saved) {
      saved = (times - 1) * period;
      best = [period, times];
    }
  }
  return best;
}

/** Columns (or rows) that are alike in all phases have one number. */
export function lineKeys(maps: Uint16Array[], width: number, height: number, columns: boolean): Uint32Array {
  const known = new Map<string, number>();
  const count = columns ? width : height;
  const along = columns ? height : width;
  const found = new Uint32Array(count);
  for (let n = 0; n < count; n++) {
    const parts: string[] = [];
    for (const map of maps) {
      // runs of one class, as lines of a large grid are few of them
      let last = -1;
      for (let k = 0; k < along; k++) {
        const value = columns ? map[k * width + n] : map[n * width + k];
        if (value !== last) parts.push(`${k}:${value}`);
        last = value;
      }
      parts.push("|");
    }
    const key = parts.join(",");
    const number = known.get(key) ?? known.size;
    known.set(key, number);
    found[n] = number;
  }
  return found;
}

/** The class of a PE in a phase, if it takes part. */
export function classAt(phase: Phase, map: Uint16Array, pe: number): PeClass | null {
  return map[pe] ? phase.classes[map[pe] - 1] : null;
}

/** Phases in which a PE's routers have a color, with the use of it. */
export function usesOf(program: Program, maps: Uint16Array[], pe: number, color: number): [Phase, ColorUse][] {
  return (program.phases ?? []).flatMap((phase, n) => {
    const use = classAt(phase, maps[n], pe)?.colors.find((one) => one.color === color);
    return use ? [[phase, use] as [Phase, ColorUse]] : [];
  });
}
