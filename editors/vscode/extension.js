// Runs `collc lsp` and lets VS Code ask it; highlighting is the grammar's alone.
"use strict";

const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function activate() {
  const command = workspace.getConfiguration("collc").get("command");
  const server = { command, args: ["lsp"] };
  client = new LanguageClient("collc", "collc", server, {
    documentSelector: [{ language: "coll" }],
  });
  return client.start();
}

function deactivate() {
  return client ? client.stop() : undefined;
}

module.exports = { activate, deactivate };
