// A text field with the numbers of its lines beside it.

import { h, replace } from "../src/dom.ts";

export interface Editor {
  element: HTMLElement;
  get(): string;
  set(text: string): void;
  /** Mark lines, by number from 1, until the text is changed. */
  mark(lines: number[]): void;
  select(from: number, to: number): void;
}

export function editor(): Editor {
  const numbers = h("div", { class: "numbers", "aria-hidden": "true" });
  const area = h("textarea", {
    spellcheck: "false",
    autocapitalize: "off",
    autocomplete: "off",
    wrap: "off",
    "aria-label": "program",
    "data-testid": "program",
  });
  let marked = new Set<number>();
  const number = () => {
    const lines = area.value.split("\n").length;
    replace(numbers, ...Array.from({ length: lines }, (_, n) => h("span", { class: marked.has(n + 1) ? "marked" : "" }, String(n + 1))));
    numbers.scrollTop = area.scrollTop;
  };
  area.addEventListener("scroll", () => (numbers.scrollTop = area.scrollTop));
  area.addEventListener("input", () => {
    marked = new Set();
    number();
  });
  return {
    element: h("div", { class: "editor" }, numbers, area),
    get: () => area.value,
    set: (text) => {
      area.value = text;
      marked = new Set();
      number();
    },
    mark: (lines) => {
      marked = new Set(lines);
      number();
    },
    select: (from, to) => {
      area.focus();
      area.setSelectionRange(from, to);
    },
  };
}
