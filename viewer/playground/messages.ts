// What the page and its worker tell each other, and what commands of collc print.

/** What the worker is asked for: the viewer's page of a program. */
export interface Wanted {
  name: string;
  text: string;
  parameters: Record<string, number>;
}

/** What a command of collc left behind. */
export interface Ran {
  status: number;
  out: string;
  err: string;
}

export type Said =
  | { kind: "loading"; what: string }
  | { kind: "ready"; version: string }
  | { kind: "failed"; why: string }
  | { kind: "answer"; ran: Ran; page: Uint8Array | null };

export interface Diagnostic {
  code: string;
  severity: string;
  message: string;
  at: { file: string; line: number; column: number; end_line: number; end_column: number } | null;
  help: string;
}

/** What `collc view --json` prints: a program that was compiled, or what is wrong with it. */
export interface Printed {
  programs?: {
    params: Record<string, number>;
    predicted_cycles: number;
    cycles: number | null;
    problem: string;
    note: string;
  }[];
  diagnostics?: Diagnostic[];
}

/** A fault of the compiler itself has no JSON; its last line says what it was. */
export function printed({ out, err, status }: Ran): Printed {
  try {
    return JSON.parse(out) as Printed;
  } catch {
    const last = err.trim().split("\n").pop() || `collc ended with status ${status}`;
    return { diagnostics: [{ code: "", severity: "error", message: last, at: null, help: "" }] };
  }
}

/** Where a line and a column, both from 1, are in a text. */
export function offsetOf(text: string, line: number, column: number): number {
  const lines = text.split("\n");
  const before = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  return Math.min(before + Math.min(column - 1, lines[line - 1]?.length ?? 0), text.length);
}

/** The parameters that a text still declares; an edit may have taken one away. */
export function declared(text: string, parameters: Record<string, number>): Record<string, number> {
  const names = new Set([...text.matchAll(/\bparam\s+(\w+)/g)].map(([, name]) => name));
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => names.has(name)));
}
