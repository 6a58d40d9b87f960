// Colors of the page: told apart also with color blindness, and on light and dark ground.

import { Doing } from "./trace.ts";

/** The colors of Okabe and Ito, without black and with some of Tol's "muted" behind them. */
const ON_LIGHT = [
  "#0072b2",
  "#e69f00",
  "#009e73",
  "#d55e00",
  "#cc79a7",
  "#56b4e9",
  "#b8a800",
  "#882255",
  "#44aa99",
  "#999933",
  "#aa4499",
  "#6699cc",
];

/** Instead of those that would be lost on dark ground. */
const LIFTED: Record<string, string> = {
  "#0072b2": "#3b8fd9",
  "#56b4e9": "#7cc8f5",
  "#882255": "#c0567f",
  "#aa4499": "#c86bb8",
};
const ON_DARK = ON_LIGHT.map((paint) => LIFTED[paint] ?? paint);

/** The paint of a color of the fabric. */
export function routeColor({ dark }: Theme, color: number): string {
  const paints = dark ? ON_DARK : ON_LIGHT;
  return paints[color % paints.length];
}

export interface Theme {
  dark: boolean;
  ground: string;
  panel: string;
  raised: string;
  line: string;
  faint: string;
  text: string;
  dim: string;
  accent: string;
  path: string;
  doing: Record<Doing, string>;
}

const LIGHT: Theme = {
  dark: false,
  ground: "#f6f7f9",
  panel: "#ffffff",
  raised: "#ffffff",
  line: "#d9dde4",
  faint: "#e9ecf1",
  text: "#161a22",
  dim: "#5d6675",
  accent: "#3457d5",
  path: "#c2185b",
  doing: {
    [Doing.Idle]: "#eceff3",
    [Doing.Code]: "#7d889b",
    [Doing.Operation]: "#0b8f86",
    [Doing.NoInput]: "#f0c36a",
    [Doing.NoRoom]: "#d9622b",
    [Doing.Fifo]: "#a877c9",
    [Doing.Blocked]: "#4a3f6b",
  },
};

const DARK: Theme = {
  dark: true,
  ground: "#0f1218",
  panel: "#161a22",
  raised: "#1d222c",
  line: "#2c333f",
  faint: "#212732",
  text: "#e8ebf1",
  dim: "#97a1b2",
  accent: "#8aa4ff",
  path: "#ff6d9d",
  doing: {
    [Doing.Idle]: "#1b202a",
    [Doing.Code]: "#7f8a9e",
    [Doing.Operation]: "#1fb5a8",
    [Doing.NoInput]: "#b98a2f",
    [Doing.NoRoom]: "#e8703a",
    [Doing.Fifo]: "#b58ad6",
    [Doing.Blocked]: "#8f83b8",
  },
};

export function theme(dark: boolean): Theme {
  return dark ? DARK : LIGHT;
}

export const DOING_NAMES: Record<Doing, string> = {
  [Doing.Idle]: "idle",
  [Doing.Code]: "code",
  [Doing.Operation]: "operation",
  [Doing.NoInput]: "no input",
  [Doing.NoRoom]: "no room",
  [Doing.Fifo]: "fifo",
  [Doing.Blocked]: "blocked",
};

/** A tint for class n, quiet enough to draw routes over. */
export function classTint(n: number, dark: boolean): string {
  const hue = (n * 137.508 + 215) % 360;
  return dark ? `hsl(${hue} 26% ${20 + (n % 3) * 4}%)` : `hsl(${hue} 52% ${93 - (n % 3) * 3}%)`;
}

/** A color of the scale from nothing to most, as [red, green, blue]. */
export function heatColor(part: number, dark: boolean): [number, number, number] {
  const stops: [number, number, number][] = dark
    ? [[27, 32, 42], [38, 70, 110], [20, 140, 140], [150, 190, 70], [253, 231, 90]]
    : [[236, 239, 243], [170, 205, 225], [70, 150, 180], [40, 90, 150], [50, 20, 90]];
  const at = Math.max(0, Math.min(1, part)) * (stops.length - 1);
  const low = Math.min(Math.floor(at), stops.length - 2);
  const mix = (n: number) => Math.round(stops[low][n] + (stops[low + 1][n] - stops[low][n]) * (at - low));
  return [mix(0), mix(1), mix(2)];
}
