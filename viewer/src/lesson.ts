// A lesson beside the program: a little of Markdown as elements, headings, paragraphs, lists, code.

import { h } from "./dom.ts";

export function lesson(text: string): HTMLElement[] {
  const found: HTMLElement[] = [];
  const blocks = text.replace(/\r/g, "").split(/\n{2,}/);
  for (const block of blocks.map((one) => one.trim()).filter(Boolean)) found.push(blockOf(block));
  return found;
}

function blockOf(block: string): HTMLElement {
  const fence = /^```\w*\n([\s\S]*?)\n?```$/.exec(block);
  if (fence) return h("pre", {}, fence[1]);
  const heading = /^(#{1,3}) (.*)$/.exec(block);
  if (heading) return h(heading[1].length === 1 ? "h1" : "h3", {}, ...inline(heading[2]));
  const lines = block.split("\n");
  if (lines.every((line) => /^(- |  )/.test(line))) {
    const items = block.split(/^- /m).slice(1);
    return h("ul", {}, ...items.map((item) => h("li", {}, ...inline(item.trim().replace(/\s+/g, " ")))));
  }
  return h("p", {}, ...inline(lines.join(" ")));
}

/** `code` and **bold**; of a [link](address) the text, since addresses lead out of the page. */
export function inline(text: string): (Node | string)[] {
  return text
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .split(/(`[^`]+`|\*\*[^*]+\*\*)/)
    .filter(Boolean)
    .map((part) => {
      if (part.startsWith("`")) return h("code", {}, part.slice(1, -1));
      if (part.startsWith("**")) return h("b", {}, part.slice(2, -2));
      return part;
    });
}
