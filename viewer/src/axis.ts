// The axis of cycles, and bars upon it; used wherever time runs to the right.

import type { Theme } from "./palette.ts";
import type { Pen } from "./pen.ts";

export class TimeAxis {
  constructor(
    readonly left: number,
    readonly width: number,
    readonly from: number,
    readonly to: number,
  ) {}

  x(cycle: number): number {
    return this.left + ((cycle - this.from) / (this.to - this.from)) * this.width;
  }

  cycle(x: number): number {
    return this.from + ((x - this.left) / this.width) * (this.to - this.from);
  }

  /** Cycles a pixel. */
  get step(): number {
    return (this.to - this.from) / this.width;
  }

  /** Round cycles, about so many pixels apart. */
  ticks(apart = 90): number[] {
    const least = this.step * apart;
    const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
    const step = [1, 2, 5, 10].map((k) => k * power).find((k) => k >= least) ?? power * 10;
    const found: number[] = [];
    for (let at = Math.ceil(this.from / step) * step; at <= this.to; at += step) found.push(at);
    return found;
  }

  draw(pen: Pen, theme: Theme, top: number, bottom: number): void {
    for (const tick of this.ticks()) {
      const x = this.x(tick);
      pen.line([x, top + 16, x, bottom], theme.faint, 1);
      pen.text(String(tick), x, top + 7, { color: theme.dim, size: 10.5, align: "center", mono: true });
    }
  }
}

export interface Segment {
  from: number;
  to: number;
  fill: string;
  label: string;
  /** The color of its label. */
  ink?: string;
}

/** A bar of segments; labels where there is room. */
export function bar(pen: Pen, axis: TimeAxis, top: number, height: number, segments: Segment[]): void {
  const end = axis.left + axis.width;
  for (const one of segments) {
    const left = Math.max(axis.x(one.from), axis.left);
    const right = Math.min(axis.x(one.to), end);
    if (right <= left) continue;
    pen.rect(left, top, Math.max(right - left - (right - left > 4 ? 1 : 0), 0.6), height, one.fill, right - left > 8 ? 3 : 0);
    const room = (right - left - 10) / 5.9;
    const fitting = [one.label, one.label.split(" ")[0]].find((text) => text.length <= room);
    if (fitting) pen.text(fitting, left + 6, top + height / 2 + 0.5, { color: one.ink ?? "#ffffff", size: 10.5 });
  }
}
