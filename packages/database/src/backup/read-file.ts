import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { createZstdDecompress } from 'node:zlib'
import { codeOf, DatabaseError } from '../errors.ts'
import { Digest, isSame } from './digest.ts'
import {
  FORMAT,
  firstLine,
  type Header,
  LETTERS,
  LONGEST,
  type Manifest,
  SEAL,
  SEAL_LENGTH,
  type Section,
} from './sections.ts'

const FIRST_LINE = /^referrer backup (\d+)\n/
const LENGTH_OF_LINE = Buffer.byteLength(firstLine(FORMAT))
const KINDS = new Map(Object.entries(LETTERS).map(([kind, letter]) => [letter as string, kind]))

/** The sections of a backup file, one after the other. Fails at the end at the latest when a byte of the file is not as it was written. */
export async function* readSections(path: string): AsyncGenerator<Section> {
  const { line, seal, end } = await readEnds(path)
  requireFormat(path, line)
  const hash = createHash(SEAL).update(line)
  try {
    const file = createReadStream(path, { start: line.length, end })
    const packed = async function* () {
      for await (const bytes of file as AsyncIterable<Buffer>) {
        hash.update(bytes)
        yield bytes
      }
    }
    // An error of either reaches whoever reads.
    yield* split(pipeline(packed, createZstdDecompress(), () => {}))
  } catch (error) {
    throw damaged(path, error)
  }
  if (!hash.digest().equals(seal)) throw damaged(path, 'its hash is another')
}

/** What stands around the stream, and where that ends. */
async function readEnds(path: string): Promise<{ line: string; seal: Buffer; end: number }> {
  try {
    const file = await open(path)
    const read = async (length: number, position: number) => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
      return buffer.subarray(0, bytesRead)
    }
    try {
      const { size } = await file.stat()
      const line = (await read(LENGTH_OF_LINE, 0)).toString('latin1')
      const at = Math.max(LENGTH_OF_LINE + 1, size - SEAL_LENGTH)
      return { line, seal: await read(SEAL_LENGTH, at), end: at - 1 }
    } finally {
      await file.close()
    }
  } catch (error) {
    throw new DatabaseError(
      `The backup ${path} cannot be read (${codeOf(error)}): name a file that is there and may be read.`,
    )
  }
}

function requireFormat(path: string, line: string): void {
  const [, format] = FIRST_LINE.exec(line) ?? []
  if (Number(format) === FORMAT) return
  throw new DatabaseError(
    format === undefined
      ? `${path} is not a backup of Referrer: name a file that \`referrer backup\` wrote.`
      : `${path} has format ${format}, and this version of the program reads ${FORMAT}: use the version that wrote it.`,
  )
}

async function* split(chunks: AsyncIterable<Buffer>): AsyncGenerator<Section> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    for (let length = lengthOf(rest); length !== undefined; length = lengthOf(rest)) {
      yield sectionOf(rest.toString('latin1', 0, 1), rest.subarray(5, 5 + length))
      rest = rest.subarray(5 + length)
    }
  }
  if (rest.length > 0) throw new Error('it ends within a section')
}

/** Of the section at the beginning, once all of it is there. */
function lengthOf(bytes: Buffer): number | undefined {
  if (bytes.length < 5) return undefined
  const length = bytes.readUInt32BE(1)
  if (length > LONGEST) throw new Error('a section is too long')
  return bytes.length < 5 + length ? undefined : length
}

function sectionOf(letter: string, body: Buffer): Section {
  const kind = KINDS.get(letter)
  if (kind === 'rows') return { kind, rows: body }
  if (kind === undefined) throw new Error('a section of no known kind')
  return { kind, [kind === 'table' ? 'columns' : kind]: JSON.parse(body.toString()) } as Section
}

const damaged = (path: string, cause: unknown) =>
  new DatabaseError(`The backup ${path} is damaged or was cut: use another one. Nothing was written.`, {
    cause,
  })

export interface Contents {
  header: Header
  manifest: Manifest
}

/** Reads all of a backup file, and says what is in it once every table is as its manifest says. */
export async function checkFile(path: string): Promise<Contents> {
  let header: Header | undefined
  let manifest: Manifest | undefined
  const digests = new Map<string, Digest>()
  let current: Digest | undefined
  for await (const section of readSections(path)) {
    if (manifest || (section.kind === 'header') !== (header === undefined))
      throw damaged(path, 'the sections are out of order')
    if (section.kind === 'header') header = section.header
    else if (section.kind === 'manifest') manifest = section.manifest
    else if (section.kind === 'table') {
      current = new Digest()
      digests.set(section.columns.table, current)
    } else if (current) current.update(section.rows)
    else throw damaged(path, 'rows of no table')
  }
  if (!header || !manifest) throw damaged(path, 'its end is missing')
  const isComplete =
    manifest.tables.length === digests.size &&
    manifest.tables.every((told) => {
      const found = digests.get(told.table)
      return found && isSame(found.sum, told)
    })
  if (!isComplete) throw damaged(path, 'its tables differ from its manifest')
  return { header, manifest }
}
