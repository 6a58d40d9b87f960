// The panel at the right: the program as a whole, or the PE that is selected, with its source line.

import type { App } from "./app.ts";
import type { PeClass, Phase, Place } from "./data.ts";
import { count, h, key, replace } from "./dom.ts";
import { lesson } from "./lesson.ts";
import { placeWords, type Loaded } from "./loaded.ts";
import { DOING_NAMES, routeColor } from "./palette.ts";
import { pathTerms } from "./path.ts";
import type { Doing } from "./trace.ts";

export function inspector(app: App): HTMLElement {
  const panel = h("aside", { class: "inspector", "aria-label": "details" });
  const draw = () => replace(panel, ...(app.selected === null ? overview(app) : selection(app, app.selected)));
  app.onChange(draw);
  draw();
  return panel;
}

function section(title: string, ...children: (Node | null)[]): HTMLElement {
  return h("section", {}, h("h2", {}, title), ...children);
}

function fact(name: string, value: string, id = ""): HTMLElement {
  return h("div", { class: "fact" }, h("dt", {}, name), h("dd", id ? { "data-testid": id } : {}, value));
}

function facts(...children: (HTMLElement | null)[]): HTMLElement {
  return h("dl", {}, ...children);
}

function overview(app: App): Node[] {
  const { program } = app;
  const told = app.programs[0].program.lesson;
  return [
    verdict(program),
    told ? h("section", { class: "lesson", "data-testid": "lesson" }, ...lesson(told)) : null,
    ...predictionOf(program), ...runOf(app),
    phasesOf(app),
    sourceOf(program, []),
  ].filter(
    (one): one is HTMLElement => one !== null,
  );
}

function verdict(loaded: Loaded): HTMLElement | null {
  const { run, prediction } = loaded.program;
  if (loaded.problem) return h("p", { class: "notice bad", role: "alert", "data-testid": "problem" }, loaded.problem);
  if (!run) return h("p", { class: "notice", "data-testid": "note" }, loaded.notRun);
  if (run.problem) return h("p", { class: "notice bad", role: "alert", "data-testid": "problem" }, run.problem);
  if (typeof run.cycles !== "number") {
    return loaded.run ? h("div", { class: "headline" }, figure(loaded.run.end, "cycles recorded", "cycles")) : null;
  }
  const off = prediction ? ((prediction.cycles - run.cycles) / run.cycles) * 100 : 0;
  return h(
    "div",
    { class: "headline" },
    figure(run.cycles, "cycles simulated", "cycles"),
    prediction ? figure(prediction.cycles, `predicted, ${signed(off)} %`, "predicted") : null,
  );
}

function figure(cycles: number, what: string, id: string): HTMLElement {
  return h("div", {}, h("b", { "data-testid": id }, count(cycles)), h("span", {}, what));
}

function predictionOf({ program }: Loaded): (HTMLElement | null)[] {
  const { prediction } = program;
  if (!prediction) return [];
  const gap = prediction.gap ? ` (${prediction.gap.toFixed(2)} \u00d7)` : "";
  return [
    section(
      "Prediction",
      facts(
        fact("cycles", count(prediction.cycles), "prediction-cycles"),
        prediction.bound
          ? fact(gap ? "bound" : "bound of the longest call", `${count(prediction.bound)}${gap}`, "bound")
          : null,
        ...prediction.breakdown.filter(([, cycles]) => cycles > 0).map(([name, cycles]) => fact(name, count(cycles))),
      ),
      prediction.terms.length ? termBar("by the model", prediction.terms) : null,
    ),
  ];
}

const TERM_COLORS: Record<string, string> = {
  "start-up": "#7d889b",
  code: "#7d889b",
  distance: "#0072b2",
  depth: "#56b4e9",
  bandwidth: "#009e73",
  "bandwidth and contention": "#009e73",
  contention: "#e69f00",
  waiting: "#d55e00",
};

function termBar(title: string, terms: [string, number][]): HTMLElement {
  const sum = terms.reduce((all, [, cycles]) => all + cycles, 0);
  return h(
    "div",
    { class: "terms" },
    h("h3", {}, title),
    h(
      "div",
      { class: "stack" },
      ...terms.map(([name, cycles]) =>
        h("i", { style: `width:${(cycles / sum) * 100}%;background:${TERM_COLORS[name] ?? "#888"}`, title: `${name} ${cycles}` }),
      ),
    ),
    h(
      "div",
      { class: "keys" },
      ...terms.map(([name, cycles]) =>
        key(TERM_COLORS[name] ?? "#888", `${name} ${count(cycles)}`),
      ),
    ),
  );
}

function runOf(app: App): (HTMLElement | null)[] {
  const loaded = app.program;
  const { run } = loaded;
  if (!run) return [];
  const hops = run.hopsByColor();
  const all = [...hops.values()].reduce((a, b) => a + b, 0);
  const sum = loaded.path.reduce((cycles, piece) => cycles + piece.to - piece.from, 0);
  return [
    section(
      "Run",
      facts(
        fact("hops over links", count(all), "hops"),
        fact("critical path", `${count(sum)} cycles`, "path-sum"),
      ),
      loaded.path.length ? termBar("critical path", pathTerms(loaded.path)) : null,
      h(
        "div",
        { class: "rows" },
        ...[...hops].map(([color, n]) =>
          h(
            "div",
            { class: "hops", "data-color": color, "data-hops": n },
            h("i", { style: `background:${routeColor(app.theme, color)};width:${Math.max(2, (n / Math.max(...hops.values())) * 100)}%` }),
            h("span", {}, `C${color} ${loaded.colorName(color)}`),
            h("b", {}, count(n)),
          ),
        ),
      ),
    ),
  ];
}

function phasesOf({ program }: App): HTMLElement | null {
  const { phases } = program;
  if (!phases.length) return null;
  return section(
    "Phases",
    h(
      "ol",
      { class: "phases" },
      ...phases.map((phase) =>
        h("li", {}, h("b", {}, program.phaseName(phase)), ` ${phase.about}`, h("span", { class: "dim" }, `  line ${phase.at.line}`)),
      ),
    ),
  );
}

function selection(app: App, pe: number): Node[] {
  const { program } = app;
  const close = h("button", { class: "plain", "aria-label": "back to the program", onclick: () => app.select(null) }, "\u2715");
  const head = h("div", { class: "title" }, h("h1", { "data-testid": "selected" }, program.pe(pe)), close);
  const playing = program.phases.flatMap((phase, n) => {
    const at = program.map(n)[pe];
    return at ? [{ phase, one: phase.classes[at - 1] }] : [];
  });
  return [
    head,
    ...playing.map(({ phase, one }) => roleOf(app, phase, one)),
    ...(playing.length || !program.phases.length ? [] : [h("p", { class: "notice" }, "It takes no part.")]),
    ...cyclesOf(app, pe),
    ...operationsOf(program, pe),
    sourceOf(program, playing.map(({ phase }) => phase.at)),
  ].filter((one): one is HTMLElement => one !== null);
}

function roleOf(app: App, phase: Phase, one: PeClass): HTMLElement {
  return section(
    app.program.phaseName(phase),
    h("p", { class: "role" }, h("b", { "data-testid": "role" }, one.name), ` ${one.about}`),
    one.text.length ? h("pre", { "data-testid": "role-text" }, one.text.join("\n")) : null,
    h(
      "div",
      { class: "rows" },
      ...one.colors.map((use) =>
        h(
          "div",
          { class: "use" },
          h("i", { style: `background:${routeColor(app.theme, use.color)}` }),
          h("b", {}, `C${use.color}`),
          h("span", {}, `${use.name}`),
          h("code", {}, use.positions.map((at) => `${at.receive} \u2192 ${at.send.join("+")}`).join(", then ")),
        ),
      ),
    ),
    h("p", { class: "dim" }, `${phase.about}, ${placeWords(phase.at)}`),
  );
}

function cyclesOf(app: App, pe: number): HTMLElement[] {
  const { run } = app.program;
  if (!run) return [];
  const [from, to] = app.span;
  const cycles = run.cycles(pe, from, to);
  return [
    section(
      `Cycles ${from} to ${to - 1}`,
      facts(
        ...cycles.map((n, doing) => (n ? fact(DOING_NAMES[doing as Doing], count(n), `pe-${DOING_NAMES[doing as Doing].replace(" ", "-")}`) : null)),
      ),
    ),
  ];
}

/** `+8.6`, `\u22120.4`. */
function signed(part: number): string {
  return `${part < 0 ? "\u2212" : "+"}${Math.abs(part).toFixed(1)}`;
}

const MOST_OPERATIONS = 12;

/** The operations that a PE has issued, with their places in the CSL. */
function operationsOf(loaded: Loaded, pe: number): HTMLElement[] {
  const { run } = loaded;
  if (!run) return [];
  const { issue, names } = run.trace;
  const rows: HTMLElement[] = [];
  let more = 0;
  for (let n = 0; n < issue.pe.length; n++) {
    if (issue.pe[n] !== pe) continue;
    if (rows.length >= MOST_OPERATIONS) {
      more++;
      continue;
    }
    const place = names[issue.place[n]];
    const short = place.startsWith("<") ? place : (place.split("/").pop() ?? place);
    rows.push(
      h(
        "div",
        { class: "operation", title: `${names[issue.operands[n]]}\n${textAt(loaded, short)}` },
        h("span", { class: "dim" }, String(issue.cycle[n])),
        h("b", {}, names[issue.opcode[n]]),
        h("code", {}, short),
      ),
    );
  }
  if (!rows.length) return [];
  return [section("Operations", h("div", { class: "rows" }, ...rows), more ? h("p", { class: "dim" }, `and ${more} more`) : null)];
}

/** The text of `file.csl:line`. */
function textAt(loaded: Loaded, place: string): string {
  const [file, line] = place.split(":");
  return loaded.program.sources?.[file]?.split("\n")[Number(line) - 1]?.trim() ?? "";
}

/** The text of the program, with the lines of some places marked. */
function sourceOf(loaded: Loaded, places: Place[]): HTMLElement | null {
  const file = places[0]?.file ?? loaded.program.name;
  const text = loaded.program.sources?.[file];
  if (text === undefined) return null;
  const lines = text.replace(/\n$/, "").split("\n");
  const rows = lines.map((line, n) => {
    const here = places.some((at) => at.file === file && n + 1 >= at.line && n + 1 <= at.end_line);
    return h("div", { class: here ? "here" : "", "data-line": n + 1 }, h("span", { class: "n" }, String(n + 1)), line || " ");
  });
  const code = h("pre", { class: "source", "data-testid": "source" }, ...rows);
  requestAnimationFrame(() => {
    const here = code.querySelector<HTMLElement>(".here");
    if (here) code.scrollTop = here.offsetTop - code.offsetTop - 60;
  });
  return section(file.split("/").pop() ?? file, code);
}
