import { expect, it } from 'vitest'
import { binaryRows, readRows } from './binary-rows.ts'

const number = (value: number, bytes: 2 | 4) => {
  const buffer = Buffer.alloc(bytes)
  buffer.writeIntBE(value, 0, bytes)
  return buffer
}
const row = (...fields: string[]) =>
  Buffer.concat([
    number(fields.length, 2),
    ...fields.flatMap((field) => [number(field.length, 4), Buffer.from(field)]),
  ])
const ROWS = [['one', ''], ['a longer one', 'x'.repeat(300)], ['']]
const SENT = Buffer.concat([
  Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'),
  number(0, 4),
  number(0, 4),
  ...ROWS.map((fields) => row(...fields)),
  number(-1, 2),
])

async function* inPieces(size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < SENT.length; at += size) yield SENT.subarray(at, at + size)
}

it.each([1, 2, 3, 7, 19, 20, 64, 1_000])('reads rows that come in pieces of %i bytes', async (size) => {
  const read: string[][] = []
  await readRows(inPieces(size), (row) =>
    read.push(Array.from({ length: row.length }, (_, place) => row.text(place))),
  )
  expect(read).toEqual(ROWS)
})

it('writes rows as Postgres sends them', async () => {
  async function* rows() {
    for (const fields of ROWS) yield fields.map((field) => Buffer.from(field))
  }
  const written: Buffer[] = []
  for await (const piece of binaryRows(rows())) written.push(piece)
  expect(Buffer.concat(written)).toEqual(SENT)
})
