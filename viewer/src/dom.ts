// Elements of the page. Text is only ever set as text, so that what a program says is never markup.

import { DOING_NAMES, type Theme } from "./palette.ts";
import type { Doing } from "./trace.ts";

type Handlers = { [K in keyof HTMLElementEventMap as `on${K}`]?: (event: HTMLElementEventMap[K]) => void };
type Attributes = Handlers & { class?: string } & Record<string, unknown>;

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string | null)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) {
      made.addEventListener(name.slice(2), value as EventListener);
    } else if (name === "style") {
      made.style.cssText = String(value);
    } else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

export function replace(parent: Element, ...children: (Node | string | null)[]): void {
  parent.replaceChildren(...children.filter((child) => child !== null));
}

/** An entry of a legend. */
export function key(paint: string, label: string): HTMLElement {
  return h("span", { class: "key" }, h("i", { style: `background:${paint}` }), label);
}

/** The legend of what compute elements do. */
export function doingKeys(theme: Theme, doings: Doing[]): HTMLElement[] {
  return doings.map((doing) => key(theme.doing[doing], DOING_NAMES[doing]));
}

/** 12 345, with thin spaces. */
export function count(value: number): string {
  return Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, "\u2009");
}

/** Saves a file of the user's. */
export function download(name: string, data: Blob): void {
  const link = h("a", { href: URL.createObjectURL(data), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
