import { expect, test } from "vitest";
import { declared, offsetOf, printed } from "../playground/messages.ts";

test("a place in a text is where its line and column say", () => {
  const text = "one\ntwo three\n\nfour";
  expect(text.slice(offsetOf(text, 2, 5), offsetOf(text, 2, 10))).toBe("three");
  expect(offsetOf(text, 1, 1)).toBe(0);
  expect(offsetOf(text, 3, 1)).toBe(14);
});

test("a place behind a line or behind the text is at its end", () => {
  expect(offsetOf("ab\ncd", 1, 9)).toBe(2);
  expect(offsetOf("ab\ncd", 9, 1)).toBe(5);
});

test("what is no JSON is a message of its last line", () => {
  const { diagnostics } = printed({ status: 70, out: "", err: "Traceback\n  File\nMemoryError: no memory\n" });
  expect(diagnostics?.map(({ message }) => message)).toEqual(["MemoryError: no memory"]);
  expect(printed({ status: 2, out: "", err: "" }).diagnostics?.[0].message).toBe("collc ended with status 2");
});

test("what is JSON is read as it is", () => {
  expect(printed({ status: 0, out: '{"programs": []}', err: "a warning" })).toEqual({ programs: [] });
});

test("parameters that a text no longer declares are left out", () => {
  const text = "target wse2\nparam P = 4\nparam  B = 2 where B < P\n";
  expect(declared(text, { P: 8, B: 1, S: 3 })).toEqual({ P: 8, B: 1 });
});
