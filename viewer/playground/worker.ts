// Python with collc and fabsim in it: runs `collc view` on what it is sent.

import type { Ran, Said, Wanted } from "./messages.ts";

interface Python {
  version: string;
  FS: { mkdirTree(path: string): void; writeFile(path: string, text: string): void; readFile(path: string): Uint8Array; analyzePath(path: string): { exists: boolean }; unlink(path: string): void };
  unpackArchive(data: ArrayBuffer, format: string, options: { extractDir: string }): void;
  runPython(text: string): string;
  pyimport(name: string): { ran(words: unknown): string };
  toPy(value: unknown): unknown;
}

const PLACE = "/home/pyodide";
const PAGE = `${PLACE}/page.html`;

const say = (said: Said, moved: Transferable[] = []) => (postMessage as (said: Said, moved: Transferable[]) => void)(said, moved);

async function begun(): Promise<Python> {
  say({ kind: "loading", what: "Python" });
  const packages = fetch(new URL("packages.zip", self.location.href));
  const { loadPyodide } = (await import("./pyodide/pyodide.mjs" as string)) as { loadPyodide(): Promise<Python> };
  const python = await loadPyodide();
  say({ kind: "loading", what: "the compiler and the simulator" });
  const answer = await packages;
  if (!answer.ok) throw new Error(`packages.zip: ${answer.status} ${answer.statusText}`);
  const site = python.runPython("import site; site.getsitepackages()[0]");
  python.unpackArchive(await answer.arrayBuffer(), "zip", { extractDir: site });
  python.runPython(`import os; os.chdir("${PLACE}"); import playground, collc.commands.view, fabsim`);
  return python;
}

/** `collc view` of a text; the page, where there is one. */
function viewed(python: Python, { name, text, parameters }: Wanted): void {
  const file = `${name}.coll`;
  python.FS.writeFile(`${PLACE}/${file}`, text);
  if (python.FS.analyzePath(PAGE).exists) python.FS.unlink(PAGE);
  const defined = Object.entries(parameters).flatMap(([key, value]) => ["-D", `${key}=${value}`]);
  const words = ["view", file, "--json", "-o", PAGE, ...defined];
  const ran = JSON.parse(python.pyimport("playground").ran(python.toPy(words))) as Ran;
  const page = python.FS.analyzePath(PAGE).exists ? python.FS.readFile(PAGE) : null;
  say({ kind: "answer", ran, page }, page ? [page.buffer] : []);
}

const python = begun();
python.then(
  (found) => say({ kind: "ready", version: found.version }),
  (error) => say({ kind: "failed", why: String(error) }),
);
self.onmessage = async ({ data }: MessageEvent<Wanted>) => {
  try {
    viewed(await python, data);
  } catch (error) {
    // a trap in WebAssembly: this Python cannot go on
    say({ kind: "failed", why: String(error) });
  }
};
