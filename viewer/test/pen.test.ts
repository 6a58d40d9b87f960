import { expect, test } from "vitest";
import { TimeAxis } from "../src/axis.ts";
import { Message } from "../src/export/perfetto.ts";
import { SvgPen } from "../src/pen.ts";
import { afterPe, wrapped } from "../src/views/waits.ts";

test("text in an SVG file is never markup", () => {
  const pen = new SvgPen();
  pen.text('<script>alert("x")</script>&', 1, 2, { color: "#000" });
  const file = pen.file(10, 10);
  expect(file).not.toContain("<script");
  expect(file).toContain("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&amp;");
});

test("ticks are round, and about as far apart as asked for", () => {
  expect(new TimeAxis(0, 1000, 0, 722).ticks(100)).toEqual([0, 100, 200, 300, 400, 500, 600, 700]);
  expect(new TimeAxis(0, 1000, 13, 25).ticks(90)[0]).toBe(14);
});

test("protocol buffers have their lengths before them, and large numbers whole", () => {
  const inner = new Message().varint(1, 300).text(2, "ab");
  expect([...new Message().message(3, inner).done()]).toEqual([26, 7, 8, 172, 2, 18, 2, 97, 98]);
  expect([...new Message().varint(1, 2 ** 40).done()]).toEqual([8, 128, 128, 128, 128, 128, 32]);
  expect([...new Message().fixed64(47, 2 ** 32 + 5).done()]).toEqual([249, 2, 5, 0, 0, 0, 1, 0, 0, 0]);
});

test("text is broken between words only", () => {
  expect(wrapped("one two three", 8)).toEqual(["one two", "three"]);
  expect(wrapped("unbreakable", 4)).toEqual(["unbreakable"]);
});

test("a wait is told without its PE and without folders", () => {
  expect(afterPe("PE (0, 0) waits at /home/x/pe.csl:12 for color 4")).toBe("waits at pe.csl:12 for color 4");
  expect(afterPe("PE (1, 0) waits at <a/pe>:3 for color 4")).toBe("waits at <a/pe>:3 for color 4");
});
