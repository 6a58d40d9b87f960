// Builds the playground's page into a folder: `node playground/build.mjs FOLDER`, in viewer/.

import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const folder = resolve(process.argv[2]);

await build({
  absWorkingDir: here("."),
  entryPoints: ["main.ts", "worker.ts", "main.css"],
  bundle: true,
  minify: true,
  outdir: folder,
  format: "esm",
  target: "es2022",
  charset: "ascii",
  // it is beside the page, and finds its own files by where it is
  external: ["./pyodide/pyodide.mjs"],
  logLevel: "error",
});
// the viewer's pages are shown in a frame of this one, whose policy holds for them too
const [, hash] = /script-src '(sha256-[^']+)'/.exec(readFileSync(here("../viewer.html"), "utf8"));
writeFileSync(join(folder, "index.html"), readFileSync(here("page.html"), "utf8").replace("VIEWER", hash));
