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

/** One column or row as it is drawn: where it is on the grid, and how often what begins with it is
 * repeated; the cells between `index` and the next one's are those repetitions. */
export interface Slot {
  index: number;
  /** On the first slot of what repeats: how many slots that are, and how often. */
  repeats: { slots: number; times: number } | null;
}

const LONGEST_PERIOD = 32;

/** A line of keys with what repeats written once: `a b a b a b c` becomes `a b (3 times) c`. */
export function condensed(keys: ArrayLike<number>): Slot[] {
  const found: Slot[] = [];
  for (let at = 0; at < keys.length; ) {
    const [period, times] = repetition(keys, at);
    for (let n = 0; n < period; n++) {
      found.push({
        index: at + n,
        repeats: n === 0 && times > 1 ? { slots: period, times } : null,
      });
    }
    at += period * times;
  }
  return found;
}

/** What saves most from a place on: a period, and how often it comes; once where none pays. */
function repetition(keys: ArrayLike<number>, at: number): [number, number] {
  let best: [number, number] = [1, 1];
  let saved = 1; // a mark of repetition takes room as well
  for (let period = 1; period <= LONGEST_PERIOD && at + 2 * period <= keys.length; period++) {
    let end = at + period;
    while (end < keys.length && keys[end] === keys[end - period]) end++;
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
