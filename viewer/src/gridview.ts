// What views of the grid have in common: a viewport over cells, and which PE is where.

import type { App } from "./app.ts";
import type { Pen } from "./pen.ts";
import type { Size } from "./view.ts";
import { Viewport } from "./viewport.ts";

export const LINK = [
  [-1, 0],
  [1, 0],
  [0, 1],
  [0, -1],
]; // by side, as in a trace: west, east, south, north

export const LABELLED = 56; // pixels a cell, from which on there is room for its place

export abstract class GridView {
  protected readonly viewport = new Viewport(3, 220);
  protected size: Size = { width: 1, height: 1 };

  constructor(protected readonly app: App) {}

  drag(dx: number, dy: number): void {
    this.viewport.move(dx, dy);
    this.app.invalidate();
  }

  wheel(delta: number, x: number, y: number): void {
    this.viewport.zoom(Math.exp(-delta * 0.0015), x, y);
    this.app.invalidate();
  }

  reset(): void {
    this.viewport.unfit();
    this.app.invalidate();
  }

  resized(): void {
    this.viewport.unfit();
  }

  click(x: number, y: number): void {
    const pe = this.peAt(x, y);
    this.app.select(pe === this.app.selected ? null : pe);
  }

  protected abstract peAt(x: number, y: number): number | null;

  /** Draws one pixel a PE, stretched over the grid; `paint` gives red, green, blue. */
  protected picture(
    pen: Pen,
    columns: number,
    rows: number,
    paint: (column: number, row: number) => [number, number, number],
  ): void {
    const image = document.createElement("canvas");
    image.width = columns;
    image.height = rows;
    const to = image.getContext("2d")!;
    const data = to.createImageData(columns, rows);
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        const [red, green, blue] = paint(column, row);
        const at = (row * columns + column) * 4;
        data.data[at] = red;
        data.data[at + 1] = green;
        data.data[at + 2] = blue;
        data.data[at + 3] = 255;
      }
    }
    to.putImageData(data, 0, 0);
    const { scale, x, y } = this.viewport;
    pen.image(image, -x, -y, columns * scale, rows * scale);
  }

  /** The colors that lie beside each other. */
  protected lanes(): number[] {
    return this.app.program.colors;
  }

  /** The lane of a color beside the middle of a link, as part of a cell. */
  protected lane(color: number): number {
    const colors = this.lanes();
    return (colors.indexOf(color) - (colors.length - 1) / 2) * this.spacing;
  }

  /** Between lanes, as part of a cell. */
  protected get spacing(): number {
    return Math.min(0.15, 0.5 / Math.max(1, this.lanes().length));
  }
}

const parsed = new Map<string, [number, number, number]>();

/** `#rrggbb` as numbers. */
export function rgb(color: string): [number, number, number] {
  let found = parsed.get(color);
  if (!found) {
    const value = parseInt(color.slice(1), 16);
    found = [(value >> 16) & 255, (value >> 8) & 255, value & 255];
    parsed.set(color, found);
  }
  return found;
}
