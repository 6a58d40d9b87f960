// What a view is to the page.

import type { Pen } from "./pen.ts";

export interface Size {
  width: number;
  height: number;
}

export interface View {
  readonly id: string;
  readonly label: string;
  /** Why there is nothing to show; empty where there is. */
  missing(): string;
  /** Controls of its own, made anew whenever something changes. */
  controls(): Node[];
  draw(pen: Pen, size: Size): void;
  click?(x: number, y: number): void;
  drag?(dx: number, dy: number, x: number, y: number): void;
  wheel?(delta: number, x: number, y: number, sideways: boolean): void;
  /** A line or more on what is under the pointer. */
  hint?(x: number, y: number): string[];
  reset?(): void;
  /** The stage has another size. */
  resized?(): void;
  /** Whether it shows a moment of the run. */
  readonly timed: boolean;
}
