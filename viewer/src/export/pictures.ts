// The view on the stage as a file: PNG, SVG, or a GIF of the motion.

import { GIFEncoder, applyPalette, quantize } from "gifenc";
import type { App } from "../app.ts";
import { CanvasPen, SvgPen } from "../pen.ts";
import type { Size } from "../view.ts";

const FRAMES = 120;
const MOST_OF_A_CYCLE = 3; // frames
const GIF_WIDTH = 900;
const DELAY = 60; // milliseconds a frame

export function drawn(app: App, size: Size, scale: number): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(size.width * scale);
  canvas.height = Math.round(size.height * scale);
  const to = canvas.getContext("2d")!;
  to.scale(scale, scale);
  const pen = new CanvasPen(to);
  pen.rect(0, 0, size.width, size.height, app.theme.ground);
  app.view.draw(pen, size);
  return canvas;
}

export function png(app: App, size: Size): Promise<Blob> {
  return new Promise((done, failed) =>
    drawn(app, size, 2).toBlob((blob) => (blob ? done(blob) : failed(new Error("no picture"))), "image/png"),
  );
}

export function svg(app: App, size: Size): Blob {
  const pen = new SvgPen();
  pen.rect(0, 0, size.width, size.height, app.theme.ground);
  app.view.draw(pen, size);
  return new Blob([pen.file(size.width, size.height)], { type: "image/svg+xml" });
}

/** The brushed cycles, or all of them, as a GIF; the page stays as it is. */
export async function gif(app: App, size: Size, told: (part: number) => void): Promise<Blob> {
  const [from, to] = app.span;
  const before = app.time;
  const scale = Math.min(1, GIF_WIDTH / size.width);
  const each = Math.max(1, Math.min(MOST_OF_A_CYCLE, Math.floor(FRAMES / (to - from))));
  const frames = Math.min(FRAMES, (to - from) * each);
  const encoder = GIFEncoder();
  for (let n = 0; n < frames; n++) {
    app.time = from + ((n + 0.5) / frames) * (to - from);
    const canvas = drawn(app, size, scale);
    const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
    const palette = quantize(data, 128);
    encoder.writeFrame(applyPalette(data, palette), canvas.width, canvas.height, { palette, delay: DELAY });
    told((n + 1) / frames);
    await new Promise((next) => setTimeout(next));
  }
  encoder.finish();
  app.setTime(before);
  return new Blob([encoder.bytes() as Uint8Array<ArrayBuffer>], { type: "image/gif" });
}
