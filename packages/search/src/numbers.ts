export type Typed =
  | Float64Array
  | Float32Array
  | Int32Array
  | Uint32Array
  | Uint16Array
  | Uint8Array
  | Int8Array

/** Copies the numbers into a larger array. */
export function grown<Numbers extends Typed>(numbers: Numbers, larger: Numbers): Numbers {
  larger.set(numbers)
  return larger
}

/** A list of numbers that is filled again and again without allocating anew. */
export class Numbers {
  array = new Uint32Array(256)
  length = 0

  push(number: number): void {
    if (this.length === this.array.length) this.array = grown(this.array, new Uint32Array(2 * this.length))
    this.array[this.length] = number
    this.length += 1
  }

  /** A view, valid until the next push. */
  view(): Uint32Array {
    return this.array.subarray(0, this.length)
  }
}
