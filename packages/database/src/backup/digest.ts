import { hash } from 'node:crypto'

/** What a table holds: as many rows, and the same ones. */
export interface Sum {
  rows: number
  bytes: number
  checksum: string
}

const NEWLINE = 0x0a
const WORDS = 8

/**
 * Counts the rows of a copied table and adds up their SHA-256 hashes, word by word. The order of the rows does not matter: Postgres may
 * give those of a restored table in another one. A line break inside of a value is escaped, so each one ends a row.
 */
export class Digest {
  #rows = 0
  #bytes = 0
  readonly #sum = new Uint32Array(WORDS)
  /** The beginning of a row whose end has not come yet. */
  #begun: Buffer[] = []

  update(chunk: Buffer): void {
    this.#bytes += chunk.length
    let from = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      this.#add(chunk.subarray(from, end + 1))
      from = end + 1
    }
    if (from < chunk.length) this.#begun.push(chunk.subarray(from))
  }

  get sum(): Sum {
    // Never of a table that Postgres sent; a file whose last row was cut must not look like one without it.
    const rest = this.#begun.length === 0 ? '' : '+'
    const checksum = Buffer.from(this.#sum.buffer).toString('hex') + rest
    return { rows: this.#rows, bytes: this.#bytes, checksum }
  }

  #add(end: Buffer): void {
    const row = this.#begun.length === 0 ? end : Buffer.concat([...this.#begun, end])
    this.#begun = []
    const digest = hash('sha256', row, 'buffer')
    for (let word = 0; word < WORDS; word += 1) {
      this.#sum[word] = (this.#sum[word] as number) + digest.readUInt32LE(word * 4)
    }
    this.#rows += 1
  }
}

/** The rows that end in a piece of a copied table. */
export function countRows(piece: Buffer): number {
  let rows = 0
  for (let at = piece.indexOf(NEWLINE); at !== -1; at = piece.indexOf(NEWLINE, at + 1)) rows += 1
  return rows
}

export const isSame = (a: Sum, b: Sum) =>
  a.rows === b.rows && a.bytes === b.bytes && a.checksum === b.checksum
