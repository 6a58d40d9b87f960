// Reads the binary trace of fabsim, version 2; its records are described in docs/fabsim.md.
//
// A record becomes an entry in the columns of its kind. What is derived from them is in run.ts.

import { Column } from "./column.ts";

export const WEST = 0;
export const EAST = 1;
export const SOUTH = 2;
export const NORTH = 3;
export const RAMP = 4;

/** What a compute element does. The order is that of the report, `idle` first. */
export enum Doing {
  Idle,
  Code,
  Operation,
  NoInput,
  NoRoom,
  Fifo,
  Blocked,
}

export class TraceError extends Error {}

/** Entry i of every column is about one event; cycles never go back. */
export interface Trace {
  width: number;
  height: number;
  names: string[];
  /** The last cycle of any record. */
  last: number;
  /** A wavelet leaves a router over a link or, with side RAMP, to its compute element. */
  hop: {
    cycle: Uint32Array;
    pe: Uint32Array;
    side: Uint8Array;
    color: Uint8Array;
    control: Uint8Array;
    source: Uint32Array;
    number: Uint32Array;
  };
  /** A wavelet that cannot leave the router in the cycle in which it lands: until when it waits. */
  queued: { from: Uint32Array; to: Uint32Array; pe: Uint32Array; color: Uint8Array };
  /** A wavelet goes up the ramp; `vector` counts the operations that send on the color there. */
  send: {
    cycle: Uint32Array;
    pe: Uint32Array;
    color: Uint8Array;
    queue: Uint8Array;
    number: Uint32Array;
    vector: Uint32Array;
  };
  /** What a compute element does from a cycle on: a `Doing`; thread, name and place as numbers. */
  state: {
    cycle: Uint32Array;
    pe: Uint32Array;
    doing: Uint8Array;
    thread: Uint32Array;
    name: Uint32Array;
    color: Uint8Array;
  };
  /** An operation is issued. */
  issue: {
    cycle: Uint32Array;
    pe: Uint32Array;
    thread: Uint32Array;
    opcode: Uint32Array;
    operands: Uint32Array;
    place: Uint32Array;
  };
  /** Of a run that is stuck: the links of a cycle of waits. */
  waits: { pe: number; on: number; color: number; why: string }[];
}

const MAGIC = "FABTRACE";
const VERSION = 2;
const MOST_NAMES = 1 << 20;
const LONGEST_NAME = 1 << 12;
const WIDEST = 1 << 14;

/** Reads bytes, and says where they end too early. */
class Bytes {
  at = 0;
  private readonly view: DataView;

  constructor(private readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get over(): boolean {
    return this.at >= this.bytes.length;
  }

  byte(): number {
    if (this.over) throw new TraceError("the trace ends in the middle of a record");
    return this.bytes[this.at++];
  }

  number(): number {
    let value = 0;
    for (let scale = 1; scale < 2 ** 53; scale *= 128) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    throw new TraceError("a number without end");
  }

  word(): number {
    if (this.at + 4 > this.bytes.length) {
      throw new TraceError("the trace ends in the middle of a record");
    }
    const value = this.view.getUint32(this.at, true);
    this.at += 4;
    return value;
  }

  text(length: number): string {
    if (this.at + length > this.bytes.length) {
      throw new TraceError("the trace ends in the middle of a record");
    }
    const part = this.bytes.subarray(this.at, this.at + length);
    this.at += length;
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(part);
    } catch {
      throw new TraceError("a name that is no text");
    }
  }
}

class Columns {
  constructor(private readonly columns: Record<string, Column<Uint8Array> | Column<Uint32Array>>) {}

  push(...values: number[]): void {
    let n = 0;
    for (const column of Object.values(this.columns)) column.push(values[n++]);
  }

  // The keys are those of the constructor's argument.
  done(): any {
    const all = Object.entries(this.columns).map(([name, column]) => [name, column.done()]);
    return Object.fromEntries(all);
  }
}

const words = Column.words;
const bytes = Column.bytes;

class Reader {
  private readonly input: Bytes;
  private readonly names: string[] = [];
  private readonly hop = new Columns({
    cycle: words(),
    pe: words(),
    side: bytes(),
    color: bytes(),
    control: bytes(),
    source: words(),
    number: words(),
  });
  private readonly queued = new Columns({ from: words(), to: words(), pe: words(), color: bytes() });
  private readonly send = new Columns({
    cycle: words(),
    pe: words(),
    color: bytes(),
    queue: bytes(),
    number: words(),
    vector: words(),
  });
  private readonly state = new Columns({
    cycle: words(),
    pe: words(),
    doing: bytes(),
    thread: words(),
    name: words(),
    color: bytes(),
  });
  private readonly issue = new Columns({
    cycle: words(),
    pe: words(),
    thread: words(),
    opcode: words(),
    operands: words(),
    place: words(),
  });
  private readonly waits: Trace["waits"] = [];
  private readonly landed = new Map<number, number[]>();
  private readonly operations = new Map<number, string>();
  private readonly vectors = new Map<number, number>();
  private readonly written = new Map<number, number[]>();
  private width = 0;
  private height = 0;
  private now = 0;
  private idle = { pe: -1, cycle: -1, given: false };

  constructor(data: Uint8Array) {
    this.input = new Bytes(data);
  }

  read(): Trace {
    this.head();
    while (!this.input.over) this.record(this.input.byte());
    this.endIdle();
    for (const [key, cycles] of this.landed) {
      for (const from of cycles) this.queued.push(from, this.now + 1, Math.floor(key / 32), key % 32);
    }
    return {
      width: this.width,
      height: this.height,
      names: this.names,
      last: this.now,
      hop: this.hop.done(),
      queued: this.queued.done(),
      send: this.send.done(),
      state: this.state.done(),
      issue: this.issue.done(),
      waits: this.waits,
    };
  }

  private head(): void {
    if (this.input.text(8) !== MAGIC) throw new TraceError("this is no binary trace of fabsim");
    const version = this.input.byte();
    if (version !== VERSION) {
      throw new TraceError(`a trace of version ${version}; this viewer reads version ${VERSION}`);
    }
    this.width = this.input.number();
    this.height = this.input.number();
    if (!this.width || !this.height || Math.max(this.width, this.height) > WIDEST) {
      throw new TraceError("a trace of an impossible rectangle");
    }
  }

  private record(tag: number): void {
    if (tag === 0) {
      this.now += this.input.number();
      if (this.now >= 2 ** 32) throw new TraceError("a time that cannot be shown");
      return;
    }
    if (tag === 1) return this.name();
    const pe = this.pe();
    if (this.idle.pe >= 0 && (pe !== this.idle.pe || tag < 10 || tag > 11)) this.endIdle();
    switch (tag) {
      case 2:
        return this.router(pe);
      case 3:
        return this.write(pe);
      case 4:
        return this.went(pe);
      case 5:
      case 6: // back-pressure shows as `NoRoom`
        this.input.number();
        this.input.number();
        return;
      case 7:
        return this.issued(pe);
      case 8:
        return this.executed(pe);
      case 9:
        this.idle = { pe, cycle: this.now, given: false };
        return;
      case 10:
        return this.starved(pe);
      case 11:
        return this.stalled(pe);
      case 12: {
        const why = this.names[this.nameIndex()];
        const color = this.input.number();
        this.waits.push({ pe, on: this.pe(), color, why });
        return;
      }
      default:
        throw new TraceError(`a record with tag ${tag}`);
    }
  }

  private name(): void {
    const length = this.input.number();
    if (length > LONGEST_NAME || this.names.length >= MOST_NAMES) {
      throw new TraceError("a table of names that is too large");
    }
    this.names.push(this.input.text(length));
  }

  private pe(): number {
    const pe = this.input.number();
    if (pe >= this.width * this.height) throw new TraceError(`an event of PE ${pe}, which there is not`);
    return pe;
  }

  private nameIndex(): number {
    const index = this.input.number();
    if (index >= this.names.length) throw new TraceError(`name ${index} before it is given`);
    return index;
  }

  private router(pe: number): void {
    const color = this.input.number() & 31;
    const flags = this.input.number();
    this.input.number(); // the side it lands from
    const departing = this.input.number() & 31;
    this.input.word(); // the payload
    const number = this.input.word();
    const source = this.input.word() >>> 8;
    const key = pe * 32 + color;
    const waiting = this.landed.get(key);
    if (departing === 0) {
      if (waiting) waiting.push(this.now);
      else this.landed.set(key, [this.now]);
      return;
    }
    if ((flags & 2) === 0 && waiting && waiting.length > 0) {
      this.queued.push(waiting.shift() as number, this.now, pe, color);
    }
    for (let side = 0; side < 5; side++) {
      if ((departing >> side) & 1) {
        this.hop.push(this.now, pe, side, color, flags & 1, source, number);
      }
    }
  }

  private write(pe: number): void {
    this.input.number(); // the queue
    const color = this.input.number();
    const key = pe * 32 + color;
    const waiting = this.written.get(key);
    const vector = this.vectors.get(key) ?? 0;
    if (waiting) waiting.push(vector);
    else this.written.set(key, [vector]);
  }

  private went(pe: number): void {
    const queue = this.input.number();
    const color = this.input.number();
    const number = this.input.word();
    this.input.word(); // its own PE and color
    const vector = this.written.get(pe * 32 + color)?.shift() ?? 0;
    this.send.push(this.now, pe, color, queue, number, vector);
  }

  private issued(pe: number): void {
    const pc = this.input.number();
    const thread = this.input.number();
    const opcode = this.nameIndex();
    const operands = this.nameIndex();
    const place = this.nameIndex();
    this.issue.push(this.now, pe, thread, opcode, operands, place);
    this.operations.set(pe * 512 + thread, `${pc} ${this.names[opcode]}`);
    const sends = /Dest:C(\d+),OUT_Q/.exec(this.names[operands]);
    if (sends) {
      const key = pe * 32 + Number(sends[1]);
      this.vectors.set(key, (this.vectors.get(key) ?? 0) + 1);
    }
  }

  private executed(pe: number): void {
    const pc = this.input.number();
    const thread = this.input.number();
    const name = this.nameIndex();
    const running = this.operations.get(pe * 512 + thread);
    const operation = thread % 2 === 1 || running === `${pc} ${this.names[name]}`;
    const doing = operation ? Doing.Operation : Doing.Code;
    this.state.push(this.now, pe, doing, thread, name, 255);
  }

  private starved(pe: number): void {
    this.input.number(); // which operand
    const color = this.input.number();
    for (let n = 0; n < 4; n++) this.input.number(); // its queue, and what is there of what is needed
    this.wait(pe, Doing.NoInput, 0xffffffff, color);
  }

  private stalled(pe: number): void {
    const reason = this.nameIndex();
    const text = this.names[reason];
    const doing = text.startsWith("OUT_Q") ? Doing.NoRoom : text === "FIFO" ? Doing.Fifo : Doing.Blocked;
    this.wait(pe, doing, reason, 255);
  }

  /** The first reason counts; others of the same cycle are beside it. */
  private wait(pe: number, doing: Doing, name: number, color: number): void {
    if (this.idle.given) return;
    if (this.idle.pe >= 0) this.idle.given = true;
    this.state.push(this.now, pe, doing, 0xffffffff, name, color);
  }

  private endIdle(): void {
    const { pe, cycle, given } = this.idle;
    if (pe >= 0 && !given) this.state.push(cycle, pe, Doing.Idle, 0xffffffff, 0xffffffff, 255);
    this.idle = { pe: -1, cycle: -1, given: false };
  }
}

/** Reads a whole trace. Raises TraceError for one that is damaged. */
export function readTrace(data: Uint8Array): Trace {
  return new Reader(data).read();
}
