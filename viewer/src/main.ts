// The page: reads its data, shows the plan at once and the run when it is read.

import { App } from "./app.ts";
import { loadPrograms } from "./data.ts";
import { dock, faster, setBrush, stepped } from "./dock.ts";
import { count, download, h, replace } from "./dom.ts";
import { perfettoTrace } from "./export/perfetto.ts";
import { gif, png, svg } from "./export/pictures.ts";
import { inspector } from "./inspector.ts";
import { Loaded } from "./loaded.ts";
import { routeColor } from "./palette.ts";
import { stage, type Stage } from "./stage.ts";
import { CompareView } from "./views/compare.ts";
import { LinesView } from "./views/lines.ts";
import { MotionView } from "./views/motion.ts";
import { RoutesView } from "./views/routes.ts";
import { WaitsView } from "./views/waits.ts";

const KEYS: [string, string][] = [
  ["1 \u2026 5", "views"],
  ["space", "play and pause"],
  ["\u2190 \u2192", "a cycle, or a state of the routers; with shift ten"],
  ["[ ]", "slower, faster"],
  ["+ \u2212 0", "zoom, and all of it"],
  ["d", "dark and light"],
  ["b", "clear the brush"],
  ["esc", "back to the program"],
  ["?", "this list"],
];

interface Wanted {
  view: string;
  dark: boolean;
  time: number | "peak" | null;
  pe: [number, number] | null;
  bare: boolean;
}

/** `#view=motion&t=120&theme=dark&pe=3,0`, or `t=peak` for the busiest cycle; `bare` leaves out everything but the view. */
function wanted(): Wanted {
  const said = new URLSearchParams(location.hash.slice(1));
  const time = said.get("t") === "peak" ? "peak" : Number(said.get("t") ?? NaN);
  const pe = said.get("pe")?.split(",").map(Number);
  const system = window.matchMedia("(prefers-color-scheme: dark)").matches;
  return {
    view: said.get("view") ?? "",
    dark: said.has("theme") ? said.get("theme") === "dark" : system,
    time: time === "peak" || Number.isFinite(time) ? time : null,
    pe: pe?.length === 2 ? [pe[0], pe[1]] : null,
    bare: said.has("bare"),
  };
}

async function begin(): Promise<void> {
  // the body is made anew, and the traces are read after that
  document.head.append(...document.querySelectorAll('script[type="text/plain"]'));
  const programs = loadPrograms().map((program, n) => new Loaded(n, program));
  const said = wanted();
  const app = new App(programs, [], said.dark);
  const routes = new RoutesView(app);
  app.views.push(routes, new MotionView(app), new LinesView(app), new WaitsView(app), new CompareView(app));
  const first = programs.length === 2 ? "compare" : programs[0].phases.length ? "routes" : "motion";
  app.view = app.views.find(({ id }) => id === (said.view || first)) ?? routes;
  const drawing = stage(app);
  const body = h("div", { class: "body" }, h("main", {}, controls(app), drawing.element, dock(app)), inspector(app));
  document.documentElement.dataset.theme = said.dark ? "dark" : "light";
  document.body.classList.toggle("bare", said.bare);
  document.body.replaceChildren(header(app, drawing), body, help());
  keyboard(app, routes);
  app.change();
  // for tests and for pictures without a window
  Object.assign(window, { viewer: app });
  // the plan is painted before the run is read, which takes longer
  await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)));
  app.loadRuns();
  if (said.time !== null) app.setTime(said.time === "peak" ? app.busiest + 0.35 : said.time);
  if (said.pe) app.select(said.pe[1] * app.program.width + said.pe[0]);
  const stuck = app.program.run?.trace.waits.length;
  if (stuck && !said.view) app.show(app.views.find(({ id }) => id === "waits")!);
  document.body.dataset.ready = "true";
}

function header(app: App, drawing: Stage): HTMLElement {
  const tabs = h("nav", { role: "tablist" });
  const names = h("div", { class: "names" });
  app.onChange(() => {
    replace(
      tabs,
      ...app.views.map((view) =>
        h(
          "button",
          {
            role: "tab",
            class: view === app.view ? "on" : "",
            "aria-selected": String(view === app.view),
            "data-testid": `tab-${view.id}`,
            onclick: () => app.show(view),
          },
          view.label,
        ),
      ),
    );
    replace(names, ...titles(app));
  });
  const dark = h("button", { class: "icon", "aria-label": "dark or light", title: "dark or light (d)", onclick: () => app.setDark(!app.theme.dark) }, "\u25d0");
  const asked = h("button", { class: "icon", "aria-label": "keys", title: "keys (?)", onclick: () => toggleHelp() }, "?");
  return h("header", {}, names, tabs, h("div", { class: "tools" }, exports(app, drawing), dark, asked));
}

function titles(app: App): Node[] {
  if (app.programs.length === 1) return [h("strong", {}, app.program.name), about(app.program)];
  if (app.programs.every((one) => one.program.name === app.program.program.name) && app.programs.length > 2) {
    return [h("strong", {}, app.program.name), ...parameterChoices(app), about(app.program)];
  }
  const choose = h(
    "select",
    {
      "aria-label": "program",
      onchange: (event) => {
        activate(app, Number((event.target as HTMLSelectElement).value));
      },
    },
    ...app.programs.map((program, n) => h("option", { value: n, selected: n === app.active }, app.label(program))),
  );
  return [choose, about(app.program)];
}

function activate(app: App, n: number): void {
  app.active = n;
  app.selected = app.brush = null;
  app.playing = false;
  app.view.reset?.();
  app.setTime(app.firstHop);
  app.change();
}

/** A choice for each parameter in which the programs differ. */
function parameterChoices(app: App): Node[] {
  const of = (n: number) => app.programs[n].program.parameters ?? {};
  const names = Object.keys(of(0)).filter((name) => new Set(app.programs.map((_, n) => of(n)[name])).size > 1);
  const chosen = of(app.active);
  return names.map((name) => {
    const values = [...new Set(app.programs.map((_, n) => of(n)[name]))].sort((a, b) => a - b);
    // the program with this value that is otherwise most like the one that is shown
    const nearest = (value: number) =>
      app.programs
        .map((_, n) => ({ n, alike: of(n)[name] === value ? names.filter((one) => of(n)[one] === chosen[one]).length : -1 }))
        .reduce((best, one) => (one.alike > best.alike ? one : best)).n;
    const choose = h(
      "select",
      {
        "aria-label": name,
        "data-testid": `parameter-${name}`,
        onchange: (event) => activate(app, nearest(Number((event.target as HTMLSelectElement).value))),
      },
      ...values.map((value) => h("option", { value, selected: value === chosen[name] }, String(value))),
    );
    return h("label", { class: "parameter" }, `${name} `, choose);
  });
}

function about({ program, width, height }: Loaded): HTMLElement {
  const said = Object.entries(program.parameters ?? {}).map(([name, value]) => `${name}\u2009=\u2009${value}`);
  const text = [program.target, `${count(width)} \u00d7 ${count(height)} PEs`, ...said].filter(Boolean).join(" \u00b7 ");
  return h("span", { class: "dim", title: text }, text);
}

function exports(app: App, drawing: Stage): HTMLElement {
  const name = () => `${app.program.name.replace(/\.\w+$/, "")}-${app.view.id}`;
  const said = h("summary", { "data-testid": "export" }, "Export");
  const menu = h("details", { class: "menu" }, said);
  const entry = (label: string, id: string, act: () => Promise<void> | void) =>
    h(
      "button",
      {
        "data-testid": `export-${id}`,
        onclick: async () => {
          try {
            await act();
          } catch (error) {
            said.title = String(error);
          }
          said.textContent = "Export";
          menu.open = false;
        },
      },
      label,
    );
  menu.append(
    h(
      "div",
      { class: "entries" },
      entry("PNG of this view", "png", async () => download(`${name()}.png`, await png(app, drawing.size()))),
      entry("SVG of this view", "svg", () => download(`${name()}.svg`, svg(app, drawing.size()))),
      entry("GIF of the brushed cycles", "gif", async () => {
        const told = (part: number) => (said.textContent = `GIF ${Math.round(part * 100)} %`);
        download(`${name()}.gif`, await gif(app, drawing.size(), told));
      }),
      entry("Perfetto trace of the run", "perfetto", () => {
        const data = perfettoTrace(app.program) as Uint8Array<ArrayBuffer>;
        download(`${app.program.name.replace(/\.\w+$/, "")}.pftrace`, new Blob([data]));
      }),
    ),
  );
  return menu;
}

/** The line above the stage: colors to show and hide, and what the view has of its own. */
function controls(app: App): HTMLElement {
  const line = h("div", { class: "controls" });
  app.onChange(() => {
    const focused = document.activeElement?.getAttribute("data-testid");
    const grid = app.view.id === "routes" || app.view.id === "motion";
    replace(line, ...app.view.controls(), grid ? h("div", { class: "colors" }, ...app.program.colors.map((color) => chip(app, color))) : null);
    // a slider that is being dragged is made anew with the rest
    if (focused) line.querySelector<HTMLElement>(`[data-testid="${CSS.escape(focused)}"]`)?.focus();
  });
  return line;
}

function chip(app: App, color: number): HTMLElement {
  const name = app.program.colorName(color);
  return h(
    "button",
    {
      class: app.shows(color) ? "chip" : "chip off",
      "aria-pressed": String(app.shows(color)),
      title: ["show or hide", ...app.program.colorNames(color)].join("\n"),
      onclick: () => {
        if (!app.hidden.delete(color)) app.hidden.add(color);
        app.change();
      },
    },
    h("i", { style: `background:${routeColor(app.theme, color)}` }),
    `${color}`,
    name ? h("span", { class: "dim" }, name) : null,
  );
}

function help(): HTMLElement {
  const rows = KEYS.map(([key, what]) => h("div", { class: "fact" }, h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)));
  return h("dialog", { id: "help" }, h("h2", {}, "Keys"), h("dl", {}, ...rows));
}

function toggleHelp(): void {
  const dialog = document.getElementById("help") as HTMLDialogElement;
  if (dialog.open) dialog.close();
  else dialog.showModal();
}

function keyboard(app: App, routes: RoutesView): void {
  const zoom = (delta: number) => app.view.wheel?.(delta, window.innerWidth / 3, window.innerHeight / 2, true);
  const along = (by: number) => (app.view === routes ? routes.step(Math.sign(by)) : stepped(app, by));
  const acts: Record<string, (event: KeyboardEvent) => void> = {
    " ": () => app.play(),
    ArrowLeft: (event) => along(event.shiftKey ? -10 : -1),
    ArrowRight: (event) => along(event.shiftKey ? 10 : 1),
    "[": () => faster(app, -1),
    "]": () => faster(app, 1),
    "+": () => zoom(-200),
    "=": () => zoom(-200),
    "-": () => zoom(200),
    "0": () => app.view.reset?.(),
    d: () => app.setDark(!app.theme.dark),
    b: () => setBrush(app, null),
    Escape: () => app.select(null),
    "?": () => toggleHelp(),
  };
  window.addEventListener("keydown", (event) => {
    const at = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || at.matches("input, select, textarea, summary")) return;
    if (event.key === " " && at.matches("button")) return;
    const view = app.views[Number(event.key) - 1];
    if (event.key >= "1" && view) app.show(view);
    else if (acts[event.key]) acts[event.key](event);
    else return;
    event.preventDefault();
  });
}

begin().catch((error: unknown) => {
  const why = error instanceof Error ? error.message : String(error);
  document.body.replaceChildren(h("p", { class: "notice bad fatal", role: "alert", "data-testid": "problem" }, why));
  document.body.dataset.ready = "true";
});
