import { describe, expect, test } from "vitest";
import type { Phase, Strided } from "../src/data.ts";
import { classMap, condensed, lineKeys, type Slot } from "../src/grid.ts";
import { axis, every, Layout, repetitions } from "../src/layout.ts";

/** `a b (x3)`: a slot's index, with what repeats from it on. */
const shown = (slots: Slot[]) =>
  slots.map(({ index, repeats }) => [index, ...repeats.map((one) => `${one.slots}x${one.times}`)].join(" "));

describe("what repeats", () => {
  test("is drawn once", () => {
    expect(shown(condensed([5, 1, 2, 1, 2, 1, 2, 9]))).toEqual(["0", "1 2x3", "2", "7"]);
  });

  test("in what repeats is drawn once there", () => {
    const group = [7, 1, 2, 1, 2, 1, 2, 1, 2];
    expect(shown(condensed([0, ...group, ...group, ...group, 8]))).toEqual(["0", "1 3x3", "2 2x4", "3", "28"]);
  });

  test("twice and saves no room stays as it is", () => {
    expect(shown(condensed([1, 1, 2]))).toEqual(["0", "1", "2"]);
  });

  test("leaves no cell out: slots times repetitions are all cells", () => {
    const keys = Array.from({ length: 750 }, (_, n) => (n % 54 === 0 ? 9 : n % 2));
    const count = (slots: Slot[]): number => {
      let sum = 0;
      for (let n = 0; n < slots.length; ) {
        const [first] = slots[n].repeats;
        if (!first) {
          sum += 1;
          n += 1;
          continue;
        }
        const inner = slots.slice(n, n + first.slots);
        inner[0] = { ...inner[0], repeats: inner[0].repeats.slice(1) };
        sum += count(inner) * first.times;
        n += first.slots;
      }
      return sum;
    };
    expect(count(condensed(keys))).toBe(750);
  });

  test("knows what lies in what", () => {
    const group = [7, 1, 2, 1, 2, 1, 2];
    const found = repetitions(axis(condensed([...group, ...group, ...group])));
    expect(found.map(({ times, depth }) => [times, depth])).toEqual([
      [3, 0],
      [3, 1],
    ]);
  });
});

describe("classes of PEs", () => {
  const one = (x: Strided, y: Strided, number: number) => ({ class: number, x, y });
  const phase = (...regions: ReturnType<typeof one>[]) => ({ regions, classes: [] }) as unknown as Phase;

  test("follow strides and their repetitions", () => {
    const map = classMap(phase(one([2, 6, 2, 16, 2], [0, 0, 1, 0, 1], 0)), 32, 1);
    expect([...map.keys()].filter((pe) => map[pe])).toEqual([2, 4, 6, 18, 20, 22]);
  });

  test("beyond the grid are left out", () => {
    expect([...classMap(phase(one([0, 9, 1, 0, 1], [0, 0, 1, 0, 1], 3)), 4, 1)]).toEqual([4, 4, 4, 4]);
  });

  test("make lines alike that have the same ones", () => {
    const map = Uint16Array.from([1, 2, 1, 1, 2, 3]);
    expect([...lineKeys([map], 3, 2, true)]).toEqual([0, 1, 2]);
    expect([...lineKeys([Uint16Array.from([1, 2, 1, 1, 2, 1])], 3, 2, true)]).toEqual([0, 1, 0]);
  });
});

describe("a layout", () => {
  const stage = { width: 1200, height: 800 };

  test("folds a long row, and finds every cell where it is drawn", () => {
    const layout = new Layout(axis(every(64)), axis(every(1)), stage);
    expect(layout.fold).toBeGreaterThan(4);
    for (let column = 0; column < 64; column++) {
      const [x, y] = layout.corner(column, 0);
      expect(layout.find(x + 0.5, y + 0.5)).toEqual([column, 0]);
    }
  });

  test("leaves a grid as it is", () => {
    const layout = new Layout(axis(every(32)), axis(every(24)), stage);
    expect([layout.fold, layout.corner(3, 5), layout.find(3.5, 5.5)]).toEqual([null, [3, 5], [3, 5]]);
  });

  test("has nothing beside its cells", () => {
    const layout = new Layout(axis(every(4)), axis(every(4)), stage);
    expect([layout.find(-0.1, 1), layout.find(4.1, 1), layout.find(1, 9)]).toEqual([null, null, null]);
  });
});
