// Writes traces for tests, record by record, as docs/fabsim.md describes them.

export class Bytes {
  private readonly bytes: number[] = [];

  magic(version: number): this {
    this.bytes.push(...new TextEncoder().encode("FABTRACE"), version);
    return this;
  }

  head(width: number, height: number): this {
    return this.magic(2).numbers(width, height);
  }

  names(...names: string[]): this {
    for (const name of names) {
      const text = new TextEncoder().encode(name);
      this.bytes.push(1);
      this.numbers(text.length);
      this.bytes.push(...text);
    }
    return this;
  }

  time(cycles: number): this {
    return this.record(0, cycles);
  }

  record(tag: number, ...fields: number[]): this {
    this.bytes.push(tag);
    return this.numbers(...fields);
  }

  send(pe: number, queue: number, color: number, number: number): this {
    return this.record(4, pe, queue, color).words(number, (pe << 8) | color);
  }

  router(pe: number, color: number, flags: number, side: number, departing: number, number: number, source: number): this {
    return this.record(2, pe, color, flags, side, departing).words(0, number, (source << 8) | color);
  }

  done(): Uint8Array {
    return Uint8Array.from(this.bytes);
  }

  private numbers(...values: number[]): this {
    for (let value of values) {
      for (; value > 127; value = Math.floor(value / 128)) this.bytes.push((value % 128) + 128);
      this.bytes.push(value);
    }
    return this;
  }

  private words(...values: number[]): this {
    for (const value of values) for (let n = 0; n < 4; n++) this.bytes.push((value >>> (8 * n)) & 255);
    return this;
  }
}
