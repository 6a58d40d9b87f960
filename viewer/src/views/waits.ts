// Waits: of a run that is stuck the cycle of waits; of any other where it waited most.

import type { App } from "../app.ts";
import { h } from "../dom.ts";
import type { Loaded } from "../loaded.ts";
import { routeColor, type Theme } from "../palette.ts";
import type { Pen } from "../pen.ts";
import type { Run } from "../run.ts";
import { Doing } from "../trace.ts";
import type { Size, View } from "../view.ts";

const SHOWN = 12; // links of a cycle, and rows of a table
const ROW = 30;

interface Waiter {
  pe: number;
  input: number;
  room: number;
}

export class WaitsView implements View {
  readonly id = "waits";
  readonly label = "Waits";
  readonly timed = false;
  private places: { pe: number; x: number; y: number; width: number; height: number }[] = [];
  private waitersOf: { key: string; found: Waiter[] } | null = null;

  constructor(private readonly app: App) {}

  missing(): string {
    return this.app.program.notRun;
  }

  controls(): Node[] {
    const { program } = this.app;
    const stuck = program.run?.trace.waits.length ?? 0;
    const verdict = program.program.run?.problem;
    const text = stuck
      ? `stuck: ${stuck} wait for each other`
      : verdict
        ? "the run did not come to a good end"
        : "the run came to its end: where it waited most";
    return [h("strong", { class: stuck || verdict ? "bad" : "", "data-testid": "verdict" }, text)];
  }

  draw(pen: Pen, size: Size): void {
    const { program, theme } = this.app;
    this.places = [];
    if (!program.run) return;
    if (program.run.trace.waits.length) this.drawCycle(pen, size, program, program.run);
    else this.drawTable(pen, size, program, program.run, theme);
  }

  click(x: number, y: number): void {
    const found = this.places.find((one) => x >= one.x && x < one.x + one.width && y >= one.y && y < one.y + one.height);
    if (found) this.app.select(found.pe);
  }

  private drawCycle(pen: Pen, size: Size, program: Loaded, run: Run): void {
    const { theme } = this.app;
    const links = run.trace.waits.slice(0, SHOWN);
    const [width, height] = [Math.min(250, size.width / 3.2), 78];
    const [rx, ry] = [size.width / 2 - width / 2 - 40, size.height / 2 - height / 2 - 40];
    const flat = links.length === 2;
    const at = links.map((_, n): [number, number] => {
      const angle = (n / links.length) * Math.PI * 2 - Math.PI / 2 - (flat ? Math.PI / 2 : 0);
      return [size.width / 2 + Math.cos(angle) * rx * 0.72, size.height / 2 + Math.sin(angle) * ry * 0.82];
    });
    links.forEach((link, n) => {
      const next = (n + 1) % links.length;
      this.drawWait(pen, at[n], at[next], link.color, flat ? (n ? 46 : -46) : 0);
    });
    links.forEach((link, n) => {
      const [x, y] = [at[n][0] - width / 2, at[n][1] - height / 2];
      this.places.push({ pe: link.pe, x, y, width, height });
      const chosen = link.pe === this.app.selected;
      pen.rect(x, y, width, height, theme.raised, 10);
      pen.frame(x, y, width, height, chosen ? theme.accent : theme.line, chosen ? 2.5 : 1.2, 10);
      pen.rect(x, y + 10, 4, height - 20, routeColor(theme, link.color), 2);
      pen.text(program.pe(link.pe), x + 16, y + 18, { color: theme.text, size: 13, bold: true });
      wrapped(afterPe(link.why), Math.floor((width - 28) / 6)).slice(0, 3).forEach((line, k) =>
        pen.text(line, x + 16, y + 37 + k * 14, { color: theme.dim, size: 11 }),
      );
    });
    const more = run.trace.waits.length - links.length;
    const text = more ? `and ${more} more, back to the first` : "each waits for the next, the last for the first";
    pen.text(text, size.width / 2, size.height - 20, { color: theme.dim, size: 11.5, align: "center" });
  }

  private drawWait(pen: Pen, [x1, y1]: [number, number], [x2, y2]: [number, number], color: number, bend: number): void {
    const { theme } = this.app;
    const stroke = routeColor(theme, color);
    const points: number[] = [];
    for (let k = 0; k <= 20; k++) {
      const t = k / 20;
      const sag = Math.sin(t * Math.PI) * bend;
      points.push(x1 + (x2 - x1) * t, y1 + (y2 - y1) * t + sag);
    }
    pen.line(points, stroke, 3);
    const [mx, my] = [points[20], points[21]];
    const angle = Math.atan2(points[23] - points[19], points[22] - points[18]);
    const tip = (turn: number, size: number) => [mx + Math.cos(angle + turn) * size, my + Math.sin(angle + turn) * size];
    pen.fill([...tip(0, 16), ...tip(2.5, 12), ...tip(-2.5, 12)], stroke);
    pen.text(`color ${color}`, mx, my - 22, { color: theme.text, size: 11.5, align: "center", bold: true });
  }

  private waiters(program: Loaded, run: Run): Waiter[] {
    const [from, to] = this.app.span;
    const key = `${program.index} ${from} ${to}`;
    if (this.waitersOf?.key !== key) {
      const all = Array.from({ length: run.pes }, (_, pe) => {
        const cycles = run.cycles(pe, from, to);
        return { pe, input: cycles[Doing.NoInput], room: cycles[Doing.NoRoom] + cycles[Doing.Fifo] };
      });
      all.sort((a, b) => b.input + b.room - a.input - a.room || a.pe - b.pe);
      this.waitersOf = { key, found: all.filter((one) => one.input + one.room > 0) };
    }
    return this.waitersOf.found;
  }

  private drawTable(pen: Pen, size: Size, program: Loaded, run: Run, theme: Theme): void {
    const waiters = this.waiters(program, run).slice(0, Math.max(1, Math.floor((size.height - 90) / ROW)));
    const most = waiters.length ? waiters[0].input + waiters[0].room : 1;
    const [left, width] = [150, size.width - 270];
    const [from, to] = this.app.span;
    pen.text(`Cycles in which PEs had an operation that could not go on, cycles ${from} to ${to - 1}`, 40, 34, { color: theme.text, size: 13, bold: true });
    waiters.forEach((one, n) => {
      const top = 60 + n * ROW;
      this.places.push({ pe: one.pe, x: 0, y: top, width: size.width, height: ROW });
      if (one.pe === this.app.selected) pen.rect(24, top, size.width - 48, ROW, theme.raised, 6);
      pen.text(program.pe(one.pe), left - 14, top + ROW / 2, { color: theme.text, size: 11.5, align: "right", mono: true });
      const input = (one.input / most) * width;
      const room = (one.room / most) * width;
      pen.rect(left, top + 6, Math.max(input - 1, 0), ROW - 12, theme.doing[Doing.NoInput], 3);
      pen.rect(left + input, top + 6, room, ROW - 12, theme.doing[Doing.NoRoom], 3);
      const text = [one.input ? `${one.input} no input` : "", one.room ? `${one.room} no room` : ""].filter(Boolean).join(", ");
      const inside = input + room > width * 0.7;
      const style = { color: inside ? "#11151c" : theme.dim, size: 11, align: inside ? ("right" as const) : ("left" as const) };
      pen.text(text, left + input + room + (inside ? -8 : 8), top + ROW / 2, style);
    });
    if (!waiters.length) pen.text("Nobody waited.", 40, 70, { color: theme.dim });
  }
}

/** `PE (0, 0) waits at ...` without what the card's title says, and without folders. */
export function afterPe(why: string): string {
  return why.replace(/^PE \(\d+, \d+\) /, "").replace(/(?<=\s)[^\s<]*\/(?=[^/\s]+:\d)/, "");
}

export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [""];
  for (const word of text.split(" ")) {
    const last = lines[lines.length - 1];
    if (last && last.length + word.length + 1 > width) lines.push(word);
    else lines[lines.length - 1] = last ? `${last} ${word}` : word;
  }
  return lines;
}
