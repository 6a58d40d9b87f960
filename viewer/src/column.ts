// Columns of numbers that grow: a trace has millions of entries, and objects for each would not fit.

type Numbers = Uint8Array | Uint32Array;

export class Column<T extends Numbers> {
  private values: T;
  length = 0;

  private constructor(private readonly make: (size: number) => T) {
    this.values = make(1024);
  }

  static bytes(): Column<Uint8Array> {
    return new Column((size) => new Uint8Array(size));
  }

  static words(): Column<Uint32Array> {
    return new Column((size) => new Uint32Array(size));
  }

  push(value: number): void {
    if (this.length === this.values.length) {
      const grown = this.make(this.length * 2);
      grown.set(this.values);
      this.values = grown;
    }
    this.values[this.length++] = value;
  }

  /** The values so far; a view, not a copy. */
  done(): T {
    return this.values.subarray(0, this.length) as T;
  }
}
