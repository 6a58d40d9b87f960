// The playground: a text, what collc says of it, and the viewer's page of it.

import { count, h, replace } from "../src/dom.ts";
import { editor } from "./editor.ts";
import { declared, offsetOf, printed, type Diagnostic, type Printed, type Said, type Wanted } from "./messages.ts";

/** The viewer in the frame, as its pages offer it. */
interface Framed {
  viewer?: { view: { id: string }; theme: { dark: boolean } };
}

type Texts = Record<string, string>;

class Playground {
  private worker!: Worker;
  private started = 0;
  private ready = false;
  private waiting: Wanted | null = null;
  private parameters: Record<string, number> = {};
  private name = "";
  private shown = "";
  readonly text = editor();
  readonly frame = h("iframe", { title: "the viewer", class: "viewer", src: "start.html" });
  readonly choice: HTMLSelectElement;
  readonly run = h("button", { class: "run", "data-testid": "run", title: "Ctrl+Enter", onclick: () => this.ask() }, "Run");
  readonly stop = h("button", { "data-testid": "stop", hidden: true, onclick: () => this.restart() }, "Stop");
  readonly status = h("span", { class: "status", role: "status", "data-testid": "status" });
  readonly fields = h("div", { class: "fields" });
  readonly findings = h("div", { class: "findings", role: "log", "data-testid": "findings" });

  constructor(readonly texts: Texts) {
    const names = Object.keys(texts);
    this.choice = h(
      "select",
      { "aria-label": "example", "data-testid": "example", onchange: () => this.take(this.choice.value) },
      ...names.map((name) => h("option", { value: name }, name)),
    );
    const asked = new URLSearchParams(location.hash.slice(1)).get("example") ?? "";
    this.frame.addEventListener("load", () => (this.frame.dataset.loaded = "true"));
    this.begin();
    this.take(names.includes(asked) ? asked : names[0]);
  }

  /** Another example, with its own parameters. */
  take(name: string): void {
    this.name = this.choice.value = name;
    this.parameters = {};
    this.text.set(this.texts[name]);
    replace(this.fields);
    replace(this.findings);
    this.ask();
  }

  /** Compile and run the text as it is, now or when Python is there. */
  ask(): void {
    const text = this.text.get();
    this.parameters = declared(text, this.parameters);
    this.waiting = { name: this.name, text, parameters: this.parameters };
    if (this.ready && !this.run.hidden) this.send();
  }

  private send(): void {
    this.started = performance.now();
    this.worker.postMessage(this.waiting);
    this.waiting = null;
    this.busy(true, "compiling and simulating\u2026");
  }

  private begin(): void {
    this.ready = false;
    document.body.dataset.busy = "true";
    this.worker = new Worker("worker.js", { type: "module" });
    this.worker.onmessage = ({ data }: MessageEvent<Said>) => this.told(data);
    this.worker.onerror = ({ message }) => this.told({ kind: "failed", why: message });
  }

  /** End what runs, which only ending its worker does, and begin anew. */
  private restart(): void {
    this.worker.terminate();
    this.busy(false, "stopped");
    this.begin();
  }

  private busy(busy: boolean, status: string): void {
    this.run.hidden = busy;
    this.stop.hidden = !busy;
    this.status.textContent = status;
    document.body.dataset.busy = String(busy);
  }

  private told(said: Said): void {
    if (said.kind === "loading") this.status.textContent = `loading ${said.what}\u2026`;
    if (said.kind === "ready") {
      this.ready = true;
      this.busy(false, "ready");
      if (this.waiting) this.send();
    }
    if (said.kind === "failed") {
      this.list([{ code: "", severity: "error", message: said.why, at: null, help: "" }]);
      if (this.ready) this.restart();
      else this.busy(false, "cannot be loaded");
    }
    if (said.kind === "answer") {
      const seconds = ((performance.now() - this.started) / 1000).toFixed(1);
      this.busy(false, `${seconds} s`);
      this.show(printed(said.ran), said.page);
      if (this.waiting) this.send();
    }
  }

  private show({ programs, diagnostics }: Printed, page: Uint8Array | null): void {
    this.list(diagnostics ?? []);
    const [program] = programs ?? [];
    if (!program || !page) return;
    this.summary(program);
    this.ask_for(program.params);
    const now = (this.frame.contentWindow as unknown as Framed | null)?.viewer;
    const kept = now && this.shown && !program.problem ? `view=${now.view.id}&` : "";
    const theme = now ? `theme=${now.theme.dark ? "dark" : "light"}` : "";
    if (this.shown) URL.revokeObjectURL(this.shown);
    this.shown = URL.createObjectURL(new Blob([page as Uint8Array<ArrayBuffer>], { type: "text/html" }));
    delete this.frame.dataset.loaded;
    this.frame.src = `${this.shown}#${kept}${theme}`;
  }

  private summary({ predicted_cycles, cycles, problem, note }: NonNullable<Printed["programs"]>[0]): void {
    const figure = (label: string, id: string, value: number | null) =>
      h("span", { class: "figure" }, `${label} `, h("b", { "data-testid": id }, value === null ? "\u2013" : count(value)));
    const said = problem || note;
    replace(
      this.findings,
      h("p", { class: "figures" }, figure("predicted", "predicted", predicted_cycles), figure("simulated", "simulated", cycles), " cycles"),
      ...(said ? [h("p", { class: problem ? "bad" : "dim" }, said)] : []),
    );
  }

  /** A field for each parameter; a change of one runs the program again. */
  private ask_for(parameters: Record<string, number>): void {
    const fields = Object.entries(parameters).map(([name, value]) => {
      const field = h("input", { type: "number", value, "data-testid": `parameter-${name}`, "aria-label": name });
      field.addEventListener("change", () => {
        if (!Number.isInteger(field.valueAsNumber)) return;
        this.parameters = { ...this.parameters, [name]: field.valueAsNumber };
        this.ask();
      });
      return h("label", {}, `${name} `, field);
    });
    replace(this.fields, ...fields);
  }

  private list(diagnostics: Diagnostic[]): void {
    this.text.mark(diagnostics.flatMap(({ at }) => (at ? [at.line] : [])));
    replace(this.findings, ...diagnostics.map((one) => this.finding(one)));
  }

  private finding({ code, severity, message, at, help }: Diagnostic): HTMLElement {
    const place = at ? `${at.line}:${at.column} ` : "";
    const go = () => {
      if (!at) return;
      const text = this.text.get();
      this.text.select(offsetOf(text, at.line, at.column), offsetOf(text, at.end_line, at.end_column));
    };
    return h(
      "button",
      { class: `finding ${severity}`, onclick: go },
      h("code", {}, `${place}${code}`),
      ` ${message}`,
      ...(help ? [h("span", { class: "dim" }, `help: ${help}`)] : []),
    );
  }
}

async function begin(): Promise<void> {
  const texts = (await (await fetch("examples.json")).json()) as Texts;
  const it = new Playground(texts);
  const title = h("strong", {}, "collc playground");
  const bar = h("header", {}, title, it.choice, it.run, it.stop, it.status);
  const left = h("section", { class: "left" }, it.text.element, it.fields, it.findings);
  document.body.append(bar, h("div", { class: "both" }, left, it.frame));
  window.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    it.ask();
  });
}

void begin();
