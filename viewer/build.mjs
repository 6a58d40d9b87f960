// Builds viewer.html: the page with its script and style, one file that needs nothing else.
// `node build.mjs FILE` writes to FILE, else to viewer.html here.

import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

const { outputFiles } = await build({
  absWorkingDir: here("."),
  entryPoints: ["src/main.ts", "src/style.css"],
  bundle: true,
  minify: true,
  write: false,
  outdir: "out",
  format: "iife",
  target: "es2022",
  charset: "ascii",
  legalComments: "none",
});
const output = (kind) => outputFiles.find(({ path }) => path.endsWith(kind)).text.trim();
const licence = (name, file) => `${name}\n${readFileSync(here(`node_modules/${name}/${file}`), "utf8").trim()}`;
const licences = [licence("gifenc", "LICENSE.md"), licence("fflate", "LICENSE")].join("\n\n");
const script = `/* With\n${licences} */\n${output(".js")}`;
if (script.includes("</script") || output(".css").includes("</style")) throw new Error("a tag in the text");
const page = readFileSync(here("src/page.html"), "utf8")
  .replace("/* style */", () => output(".css"))
  // only this script runs, whatever else should come to be in the page
  .replace("SCRIPT", () => createHash("sha256").update(script).digest("base64"))
  .replace("/* script */", () => script);
writeFileSync(process.argv[2] ?? here("viewer.html"), page);
