// The binary format of COPY: a header, then the rows, each as the number of its fields and the fields with their lengths.

const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1')
/** The signature, the flags and the length of an extension, which is always empty. */
const HEADER = SIGNATURE.length + 8
/** Stands where a row begins, after the last one. */
const END = -1

/** A row: its fields are read from the bytes that came, and no object is made for each. Valid only while `onRow` runs. */
export class BinaryRow {
  #data: Buffer = Buffer.alloc(0)
  #count = 0
  /** Where each field begins, and where it ends. */
  readonly #starts: number[] = []
  readonly #ends: number[] = []

  /** Finds the fields of the row that begins at this place. Returns where it ends; undefined if it has not come as a whole. */
  static find(row: BinaryRow, data: Buffer, begin: number): number | undefined {
    const count = data.readInt16BE(begin)
    let at = begin + 2
    for (let place = 0; place < count; place += 1) {
      if (at + 4 > data.length) return undefined
      const end = at + 4 + data.readInt32BE(at)
      if (end > data.length) return undefined
      row.#starts[place] = at + 4
      row.#ends[place] = end
      at = end
    }
    row.#data = data
    row.#count = count
    return at
  }

  /** The number of its fields. */
  get length(): number {
    return this.#count
  }

  /** A part of a buffer that is not kept: what stays has to be copied. */
  bytes(place: number): Buffer {
    return this.#data.subarray(this.#start(place), this.#ends[place])
  }
  text(place: number): string {
    return this.#data.toString('utf8', this.#start(place), this.#ends[place])
  }
  hex(place: number): string {
    return this.#data.toString('hex', this.#start(place), this.#ends[place])
  }
  bigint(place: number): bigint {
    return this.#data.readBigInt64BE(this.#start(place))
  }
  float(place: number): number {
    return this.#data.readDoubleBE(this.#start(place))
  }
  boolean(place: number): boolean {
    return this.#data[this.#start(place)] === 1
  }

  #start(place: number): number {
    if (place >= this.#count) throw new RangeError(`a row has ${this.#count} fields, not ${place + 1}`)
    return this.#starts[place] as number
  }
}

/** Calls `onRow` with each row. Fields must not be null. */
export async function readRows(
  chunks: AsyncIterable<Buffer>,
  onRow: (row: BinaryRow) => void,
): Promise<void> {
  const reader = new RowReader()
  for await (const chunk of chunks) reader.take(chunk, onRow)
}

/** The same, chunk by chunk. */
export class RowReader {
  readonly #row = new BinaryRow()
  #rest: Buffer = Buffer.alloc(0)
  #toSkip = HEADER

  /** Calls `onRow` with each row that this chunk completes. */
  take(chunk: Buffer, onRow: (row: BinaryRow) => void): void {
    const data = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk
    let at = Math.min(this.#toSkip, data.length)
    this.#toSkip -= at
    if (this.#toSkip === 0) at = readWhole(data, at, this.#row, onRow)
    this.#rest = data.subarray(at)
  }
}

/** Reads the rows that have come as a whole. Returns where the next one begins. */
function readWhole(data: Buffer, from: number, row: BinaryRow, onRow: (row: BinaryRow) => void): number {
  let begin = from
  while (begin + 2 <= data.length) {
    if (data.readInt16BE(begin) === END) return data.length
    const end = BinaryRow.find(row, data, begin)
    if (end === undefined) break
    onRow(row)
    begin = end
  }
  return begin
}

/** Makes of rows what COPY takes. The fields are copied. */
export async function* binaryRows(rows: AsyncIterable<readonly Uint8Array[]>): AsyncGenerator<Buffer> {
  yield Buffer.concat([SIGNATURE, Buffer.alloc(HEADER - SIGNATURE.length)])
  for await (const fields of rows) {
    const count = Buffer.alloc(2)
    count.writeInt16BE(fields.length)
    const withLengths = fields.flatMap((field) => {
      const length = Buffer.alloc(4)
      length.writeInt32BE(field.length)
      return [length, field]
    })
    yield Buffer.concat([count, ...withLengths])
  }
  const end = Buffer.alloc(2)
  end.writeInt16BE(END)
  yield end
}
