// A run as a trace for Perfetto: a process for each PE, a track for each thread, a slice for each
// stretch, and a flow for the way of the first wavelet of every vector. A cycle is a nanosecond.
//
// Field numbers are those of perfetto_trace.proto: Trace.packet 1; TracePacket.timestamp 8,
// track_event 11, trusted_packet_sequence_id 10, sequence_flags 13, track_descriptor 60;
// TrackDescriptor.uuid 1, name 2, process 3, thread 4, parent_uuid 5; ProcessDescriptor.pid 1,
// process_name 6; ThreadDescriptor.pid 1, tid 2, thread_name 5; TrackEvent.type 9, track_uuid 11,
// name 23, categories 22, flow_ids 47 (fixed64).

import type { Loaded } from "../loaded.ts";
import { DOING_NAMES } from "../palette.ts";
import { threadName, type Stretch } from "../run.ts";
import { Doing, RAMP } from "../trace.ts";

const BEGIN = 1;
const END = 2;
const SEQUENCE = 1;
const STARTED = 1; // SEQ_INCREMENTAL_STATE_CLEARED
const WAITING = 0xffff;

/** Writes protocol buffers. */
export class Message {
  private bytes = new Uint8Array(256);
  private length = 0;

  varint(field: number, value: number): this {
    this.number(field * 8);
    this.number(value);
    return this;
  }

  fixed64(field: number, value: number): this {
    this.number(field * 8 + 1);
    const low = value >>> 0;
    const high = Math.floor(value / 2 ** 32);
    for (const word of [low, high]) for (let n = 0; n < 4; n++) this.byte((word >>> (8 * n)) & 255);
    return this;
  }

  text(field: number, value: string): this {
    return this.block(field, new TextEncoder().encode(value));
  }

  message(field: number, value: Message): this {
    return this.block(field, value.done());
  }

  done(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  private block(field: number, value: Uint8Array): this {
    this.number(field * 8 + 2);
    this.number(value.length);
    this.room(value.length);
    this.bytes.set(value, this.length);
    this.length += value.length;
    return this;
  }

  private number(value: number): void {
    while (value > 127) {
      this.byte((value % 128) + 128);
      value = Math.floor(value / 128);
    }
    this.byte(value);
  }

  private byte(value: number): void {
    this.room(1);
    this.bytes[this.length++] = value;
  }

  private room(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.length + more));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }
}

class Writer {
  private readonly trace = new Message();
  private first = true;

  packet(body: (packet: Message) => void): void {
    const packet = new Message();
    body(packet);
    packet.varint(10, SEQUENCE);
    if (this.first) packet.varint(13, STARTED);
    this.first = false;
    this.trace.message(1, packet);
  }

  event(at: number, type: number, track: number, name: string, category: string, flows: number[]): void {
    const event = new Message().varint(9, type).varint(11, track);
    if (name) event.text(23, name);
    if (category) event.text(22, category);
    for (const flow of flows) event.fixed64(47, flow);
    this.packet((packet) => packet.varint(8, at).message(11, event));
  }

  done(): Uint8Array {
    return this.trace.done();
  }
}

/** The file's bytes. */
export function perfettoTrace(loaded: Loaded): Uint8Array {
  const run = loaded.run;
  if (!run) throw new Error("this program was not run");
  const writer = new Writer();
  const { sends, receives } = flowsOf(loaded);
  for (let pe = 0; pe < run.pes; pe++) {
    const process = (pe + 1) * 0x10000;
    const known = new Set<number>();
    const name = loaded.pe(pe);
    writer.packet((packet) =>
      packet.message(60, new Message().varint(1, process).text(2, name).message(3, new Message().varint(1, pe + 1).text(6, name))),
    );
    for (const one of run.stretches(pe)) {
      if (one.doing === Doing.Idle) continue;
      const thread = one.thread === 0xffffffff ? WAITING : one.thread;
      if (!known.has(thread)) track(writer, process, pe, thread);
      known.add(thread);
      const flows = [...(sends.get(pe) ?? []), ...(receives.get(pe) ?? [])].filter(({ at }) => at >= one.from && at < one.to);
      const ids = [...new Set(flows.map(({ id }) => id))];
      writer.event(one.from, BEGIN, process + thread + 1, stretchName(one, run.trace.names), DOING_NAMES[one.doing], ids);
      writer.event(one.to, END, process + thread + 1, "", "", []);
    }
  }
  return writer.done();
}

function track(writer: Writer, process: number, pe: number, thread: number): void {
  const name = thread === WAITING ? "waits" : threadName(thread);
  const described = new Message().varint(1, pe + 1).varint(2, (pe + 1) * 1024 + (thread % 1024)).text(5, name);
  const descriptor = new Message().varint(1, process + thread + 1).text(2, name).varint(5, process).message(4, described);
  writer.packet((packet) => packet.message(60, descriptor));
}

function stretchName(one: Stretch, names: string[]): string {
  if (one.doing === Doing.NoInput) return `no input on color ${one.color}`;
  return one.name === 0xffffffff ? DOING_NAMES[one.doing] : names[one.name];
}

interface Flow {
  at: number;
  id: number;
}

/** From where a vector's first wavelet is sent to where it comes down a ramp first. */
function flowsOf(loaded: Loaded): { sends: Map<number, Flow[]>; receives: Map<number, Flow[]> } {
  const { trace } = loaded.run!;
  const sends = new Map<number, Flow[]>();
  const receives = new Map<number, Flow[]>();
  const firsts = new Map<number, number>();
  const seen = new Set<string>();
  const add = (to: Map<number, Flow[]>, pe: number, flow: Flow) => {
    const list = to.get(pe);
    if (list) list.push(flow);
    else to.set(pe, [flow]);
  };
  const key = (pe: number, color: number, number: number) => (pe * 32 + color) * 2 ** 24 + (number % 2 ** 24);
  const { send, hop } = trace;
  for (let n = 0; n < send.pe.length; n++) {
    const vector = `${send.pe[n]} ${send.color[n]} ${send.vector[n]}`;
    if (seen.has(vector)) continue;
    seen.add(vector);
    const id = firsts.size + 1;
    firsts.set(key(send.pe[n], send.color[n], send.number[n]), id);
    // the instruction that wrote it came before its way up the ramp
    add(sends, send.pe[n], { at: Math.max(0, send.cycle[n] - 1), id });
  }
  for (let n = 0; n < hop.pe.length; n++) {
    if (hop.side[n] !== RAMP) continue;
    const id = firsts.get(key(hop.source[n], hop.color[n], hop.number[n]));
    if (id !== undefined) add(receives, hop.pe[n], { at: hop.cycle[n], id });
  }
  return { sends, receives };
}
