// The canvas that the view is drawn on, and what a pointer does there.

import type { App } from "./app.ts";
import { h, replace } from "./dom.ts";
import { CanvasPen } from "./pen.ts";
import type { Size } from "./view.ts";

const CLICK = 4; // pixels that a click may move

export interface Stage {
  element: HTMLElement;
  size(): Size;
}

export function stage(app: App): Stage {
  const canvas = h("canvas", { class: "stage", tabindex: 0, "data-testid": "stage" });
  const hint = h("div", { class: "hint", hidden: true });
  const empty = h("div", { class: "empty", hidden: true });
  const element = h("div", { class: "stage-box" }, canvas, hint, empty);
  const size = () => ({ width: element.clientWidth, height: element.clientHeight });
  app.onChange(() => {
    const missing = app.view.missing();
    empty.hidden = !missing;
    empty.textContent = missing;
    canvas.setAttribute("aria-label", `${app.view.label} of ${app.program.name}`);
  });
  app.onDraw(() => drawStage(app, canvas, size()));
  new ResizeObserver(() => {
    app.view.resized?.();
    drawStage(app, canvas, size());
  }).observe(element);
  pointing(app, canvas, hint);
  return { element, size };
}

function drawStage(app: App, canvas: HTMLCanvasElement, { width, height }: Size): void {
  const ratio = window.devicePixelRatio;
  const [w, t] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== t) canvas.height = t;
  const to = canvas.getContext("2d", { alpha: false })!;
  to.setTransform(ratio, 0, 0, ratio, 0, 0);
  const pen = new CanvasPen(to);
  pen.rect(0, 0, width, height, app.theme.ground);
  if (!app.view.missing()) app.view.draw(pen, { width, height });
}

function pointing(app: App, canvas: HTMLCanvasElement, hint: HTMLElement): void {
  let held: { x: number; y: number; moved: boolean } | null = null;
  canvas.addEventListener("pointerdown", (event) => {
    held = { x: event.offsetX, y: event.offsetY, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!held) return showHint(app, hint, event);
    const [dx, dy] = [event.offsetX - held.x, event.offsetY - held.y];
    if (!held.moved && Math.hypot(dx, dy) < CLICK) return;
    hint.hidden = true;
    app.view.drag?.(dx, dy, event.offsetX, event.offsetY);
    held = { x: event.offsetX, y: event.offsetY, moved: true };
  });
  canvas.addEventListener("pointerup", (event) => {
    if (held && !held.moved) app.view.click?.(event.offsetX, event.offsetY);
    held = null;
  });
  canvas.addEventListener("pointerleave", () => (hint.hidden = true));
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      app.view.wheel?.(event.deltaY || event.deltaX, event.offsetX, event.offsetY, event.shiftKey || event.ctrlKey);
    },
    { passive: false },
  );
}

function showHint(app: App, hint: HTMLElement, event: PointerEvent): void {
  const lines = app.view.missing() ? [] : (app.view.hint?.(event.offsetX, event.offsetY) ?? []);
  hint.hidden = lines.length === 0;
  if (!lines.length) return;
  replace(hint, ...lines.map((line, n) => h("div", { class: n ? "" : "first" }, line)));
  const room = hint.parentElement!.clientWidth - hint.offsetWidth - 12;
  hint.style.left = `${Math.max(4, Math.min(event.offsetX + 14, room))}px`;
  hint.style.top = `${Math.min(event.offsetY + 16, hint.parentElement!.clientHeight - hint.offsetHeight - 8)}px`;
}
