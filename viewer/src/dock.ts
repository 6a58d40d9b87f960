// The strip at the bottom: play, step and speed; the whole run with its load, to brush and to jump in.

import type { App } from "./app.ts";
import { h } from "./dom.ts";
import { CanvasPen } from "./pen.ts";

const SPEEDS = [2, 5, 10, 30, 60, 120, 300, 1000, 5000];
const CLICK = 4; // pixels that a click may move

export function dock(app: App): HTMLElement {
  const canvas = h("canvas", { "aria-label": "the run: click for a cycle, drag to brush", "data-testid": "brush" });
  const play = h("button", { class: "play", "aria-label": "play", "data-testid": "play", onclick: () => app.play() });
  const now = h("output", { class: "now", "data-testid": "now" });
  const speed = h(
    "select",
    {
      "aria-label": "speed",
      onchange: (event) => {
        app.speed = Number((event.target as HTMLSelectElement).value);
      },
    },
    ...SPEEDS.map((n) => h("option", { value: n, selected: n === app.speed }, `${n} cycles/s`)),
  );
  const step = (by: number, label: string, sign: string) =>
    h("button", { "aria-label": label, title: label, onclick: () => stepped(app, by) }, sign);
  const clear = h("button", { class: "clear", onclick: () => setBrush(app, null) }, "clear brush");
  const strip = h(
    "footer",
    { class: "dock" },
    h("div", { class: "transport" }, step(-1, "a cycle back", "\u2039"), play, step(1, "a cycle on", "\u203a"), speed, now, clear),
    canvas,
  );
  app.onChange(() => {
    strip.hidden = !app.program.run || !app.view.timed;
    play.textContent = app.playing ? "\u275a\u275a" : "\u25b6";
    play.setAttribute("aria-label", app.playing ? "pause" : "play");
    speed.value = String(app.speed);
    clear.style.visibility = app.brush ? "visible" : "hidden";
  });
  app.onDraw(() => {
    now.textContent = `cycle ${Math.floor(app.time)} of ${app.last_cycle}`;
    if (!strip.hidden) draw(app, canvas);
  });
  brushing(app, canvas);
  return strip;
}

export function stepped(app: App, by: number): void {
  app.playing = false;
  app.setTime(Math.floor(app.time) + by);
  app.change();
}

export function setBrush(app: App, brush: [number, number] | null): void {
  app.brush = brush;
  app.change();
}

/** Selects a faster or slower speed. */
export function faster(app: App, by: number): void {
  const n = SPEEDS.indexOf(app.speed) + by;
  app.speed = SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, n))];
  app.change();
}

let loads: { key: string; values: Float32Array } | null = null;

function draw(app: App, canvas: HTMLCanvasElement): void {
  const { run, index } = app.program;
  const { clientWidth: width, clientHeight: height } = canvas;
  if (!run || !width) return;
  const ratio = window.devicePixelRatio;
  if (canvas.width !== width * ratio) canvas.width = width * ratio;
  if (canvas.height !== height * ratio) canvas.height = height * ratio;
  const to = canvas.getContext("2d")!;
  to.setTransform(ratio, 0, 0, ratio, 0, 0);
  to.clearRect(0, 0, width, height);
  const pen = new CanvasPen(to);
  const cycles = Math.max(1, Math.ceil(((run.trace.last + 1) / width) * 3));
  if (loads?.key !== `${index} ${cycles}`) loads = { key: `${index} ${cycles}`, values: run.loadOverTime(cycles) };
  const most = loads.values.reduce((a, b) => Math.max(a, b), 1);
  const [from, until] = app.span;
  const scale = width / (run.trace.last + 1);
  loads.values.forEach((value, n) => {
    const tall = (value / most) * (height - 8);
    const at = n * cycles;
    const inside = !app.brush || (at >= from && at < until);
    pen.rect(at * scale, height - tall - 2, cycles * scale - 1, Math.max(tall, 1), inside ? app.theme.accent : app.theme.line);
  });
  if (app.brush) pen.frame(from * scale, 1, (until - from) * scale, height - 2, app.theme.accent, 1.5, 4);
  const x = app.time * scale;
  pen.line([x, 0, x, height], app.theme.text, 1.6);
}

function brushing(app: App, canvas: HTMLCanvasElement): void {
  let began: number | null = null;
  const cycle = (x: number) => {
    const box = canvas.getBoundingClientRect();
    return Math.max(0, Math.min(1, (x - box.left) / box.width)) * (app.last_cycle + 1);
  };
  canvas.addEventListener("pointerdown", (event) => {
    began = event.clientX;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (began === null || Math.abs(event.clientX - began) < CLICK) return;
    const [a, b] = [cycle(began), cycle(event.clientX)].sort((one, two) => one - two);
    setBrush(app, [Math.floor(a), Math.max(Math.floor(a) + 1, Math.ceil(b))]);
  });
  canvas.addEventListener("pointerup", (event) => {
    if (began !== null && Math.abs(event.clientX - began) < CLICK) app.setTime(cycle(event.clientX));
    began = null;
  });
}
