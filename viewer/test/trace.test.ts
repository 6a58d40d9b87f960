import { describe, expect, test } from "vitest";
import { Doing, RAMP, readTrace, TraceError, WEST } from "../src/trace.ts";
import { Run } from "../src/run.ts";
import { criticalPath, pathTerms } from "../src/path.ts";
import { Bytes } from "./bytes.ts";

/** Two PEs: (1, 0) sends two wavelets of color 3 west in one operation, (0, 0) receives them. */
function twoPes(): Bytes {
  const t = new Bytes().head(2, 1).names("MOV32", "Dest:C3,OUT_Q[2]  Src0:addr32(0000)", "pe.csl:7", "FADDS", "LDDDS");
  t.record(9, 0).record(10, 0, 0, 3, 2, 0, 1, 1); // PE 0 has no input
  t.record(8, 1, 40, 2, 4); // code of task 1
  t.time(5).record(7, 1, 41, 2, 0, 1, 2).record(8, 1, 41, 2, 0).record(3, 1, 2, 3);
  t.time(1).record(3, 1, 2, 3).send(1, 2, 3, 0);
  t.time(1).router(1, 3, 2, 4, 1 << WEST, 0, 1).record(9, 1).send(1, 2, 3, 1);
  t.time(1).router(0, 3, 2, 1, 1 << RAMP, 0, 1).router(1, 3, 2, 4, 1 << WEST, 1, 1);
  t.time(1).router(0, 3, 2, 1, 0, 1, 1); // lands, and waits
  t.time(1).record(8, 0, 50, 3, 3);
  t.time(2).router(0, 3, 0, 0, 1 << RAMP, 1, 1);
  t.time(2).record(9, 0);
  return t;
}

describe("a trace", () => {
  test("has a hop for each link that a wavelet leaves by, and for the ramp", () => {
    const { hop } = readTrace(twoPes().done());
    expect([...hop.side]).toEqual([WEST, RAMP, WEST, RAMP]);
    expect([...hop.pe]).toEqual([1, 0, 1, 0]);
    expect([...hop.number]).toEqual([0, 0, 1, 1]);
    expect([...hop.source]).toEqual([1, 1, 1, 1]);
  });

  test("says how long a wavelet waits in a router, and nothing of one that does not", () => {
    const { queued } = readTrace(twoPes().done());
    expect([[...queued.from], [...queued.to], [...queued.pe]]).toEqual([[9], [12], [0]]);
  });

  test("numbers the vectors of a color by the operations that send it", () => {
    const { send } = readTrace(twoPes().done());
    expect([...send.vector]).toEqual([1, 1]);
    const run = new Run(readTrace(twoPes().done()), 0, 14);
    expect(run.vector(0)).toBe(1);
  });

  test("tells an operation from code of the same name", () => {
    const run = new Run(readTrace(twoPes().done()), 0, 14);
    expect([...run.stretches(1)].map(({ doing }) => doing)).toEqual([Doing.Code, Doing.Operation, Doing.Idle]);
  });

  test("counts a PE that waits for input as waiting, not as idle", () => {
    const run = new Run(readTrace(twoPes().done()), 0, 14);
    expect(run.cycles(0, 0, 10)).toEqual([0, 0, 0, 10, 0, 0, 0]);
  });

  test("that a stuck run has left names who waits for whom", () => {
    const names = new Bytes().head(2, 1).names("PE (0, 0) waits", "PE (1, 0) waits");
    const { waits } = readTrace(names.record(12, 0, 0, 4, 1).record(12, 1, 1, 3, 0).done());
    expect(waits).toEqual([
      { pe: 0, on: 1, color: 4, why: "PE (0, 0) waits" },
      { pe: 1, on: 0, color: 3, why: "PE (1, 0) waits" },
    ]);
  });
});

describe("a damaged trace", () => {
  const refused = (data: Uint8Array) => {
    try {
      readTrace(data);
      return "";
    } catch (error) {
      if (error instanceof TraceError) return error.message;
      throw error;
    }
  };

  test("is refused with what is wrong", () => {
    expect(refused(new TextEncoder().encode("NOTATRACE"))).toMatch("no binary trace");
    expect(refused(new Bytes().magic(9).done())).toMatch("version 9");
    expect(refused(new Bytes().head(0, 4).done())).toMatch("impossible rectangle");
    expect(refused(new Bytes().head(2, 1).record(9, 7).done())).toMatch("PE 7");
    expect(refused(new Bytes().head(2, 1).record(8, 0, 1, 2, 5).done())).toMatch("name 5");
    expect(refused(new Bytes().head(2, 1).record(77, 0).done())).toMatch("tag 77");
  });

  test("is an error or another trace wherever it is cut or changed", () => {
    const whole = twoPes().done();
    for (let at = 0; at < whole.length; at++) {
      refused(whole.slice(0, at));
      for (const value of [0, 255]) refused(Uint8Array.from(whole, (byte, n) => (n === at ? value : byte)));
    }
    expect(refused(whole)).toBe("");
    expect(refused(whole.slice(0, 30))).not.toBe("");
  });
});

describe("the critical path", () => {
  const run = new Run(readTrace(twoPes().done()), 0, 14);
  const path = criticalPath(run);

  test("has no gap from the start to the end", () => {
    expect(path[0].from).toBe(0);
    expect(path[path.length - 1].to).toBe(14);
    path.slice(1).forEach((piece, n) => expect(piece.from).toBe(path[n].to));
  });

  test("goes back over the wavelet that was waited for to the PE that sent it", () => {
    const travel = path.find(({ kind }) => kind === "travel");
    expect(travel).toMatchObject({ source: 1, pe: 0, color: 3, distance: 1, from: 6, to: 10 });
    expect(path[0]).toMatchObject({ kind: "code", pe: 1 });
  });

  test("counts for a link the cycles that a wavelet takes at least, of what it was under way", () => {
    const slow = new Bytes().head(3, 1).names("MOV32", "Dest:C3,OUT_Q[2]  Src0:addr32(0000)", "pe.csl:7", "FADDS");
    slow.record(10, 0, 0, 3, 2, 0, 2, 2).record(8, 2, 41, 2, 0);
    slow.time(1).send(2, 2, 3, 0).time(1).router(2, 3, 2, 4, 1 << WEST, 0, 2).record(9, 2);
    slow.time(2).router(1, 3, 2, 1, 1 << WEST, 0, 2).time(2).router(0, 3, 2, 1, 1 << RAMP, 0, 2);
    const machine = new Run(readTrace(slow.time(1).record(8, 0, 50, 2, 3).time(3).record(9, 0).done()), 0, 9);
    expect(machine.linkCycles).toBe(2);
    const travel = criticalPath(machine).find(({ kind }) => kind === "travel");
    expect(travel).toMatchObject({ source: 2, pe: 0, distance: 4, from: 1, to: 7 });
    expect(run.linkCycles).toBe(1);
  });

  test("gives every cycle one term", () => {
    expect(pathTerms(path).reduce((sum, [, cycles]) => sum + cycles, 0)).toBe(14);
  });
});
