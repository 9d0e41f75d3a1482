import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream, type WriteStream } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress } from 'node:zlib'
import { codeOf, DatabaseError } from '../errors.ts'
import { FORMAT, firstLine, LETTERS, SEAL, type Section } from './sections.ts'

export interface BackupWriter {
  write(section: Section): Promise<void>
}

/**
 * Has `fill` write a backup file and `check` look at it under a name that no finished backup has; only then gives it its name. A file that could
 * not be finished is removed.
 */
export async function writeFile(
  path: string,
  fill: (file: BackupWriter) => Promise<void>,
  check: (draft: string) => Promise<void>,
): Promise<void> {
  const target = resolve(path)
  const draft = `${target}.partial`
  await refuseExisting(target)
  const out = createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true })
  await once(out, 'open').catch((error: unknown) => {
    throw explain(error, target)
  })
  try {
    await fillFile(out, fill)
    await check(draft)
    await refuseExisting(target)
    await rename(draft, target)
    await syncDirectory(dirname(target))
  } catch (error) {
    await rm(draft, { force: true })
    throw explain(error, target)
  }
}

/** Ends when the file is closed and on the disk. */
async function fillFile(out: WriteStream, fill: (file: BackupWriter) => Promise<void>): Promise<void> {
  const packed = createZstdCompress()
  const ended = pipeline(packed, sealed, out)
  ended.catch(() => {})
  const write = async (bytes: Buffer) => {
    // A stream that was destroyed never has room again.
    if (packed.destroyed) await ended
    if (!packed.write(bytes)) await Promise.race([once(packed, 'drain'), ended])
  }
  try {
    await fill({
      write: async (section) => {
        const body = bodyOf(section)
        const head = Buffer.alloc(5)
        head.write(LETTERS[section.kind], 'latin1')
        head.writeUInt32BE(body.length, 1)
        await write(head)
        await write(body)
      },
    })
    packed.end()
    await ended
  } catch (error) {
    packed.destroy(error as Error)
    throw await ended.then(
      () => error,
      () => out.errored ?? error,
    )
  }
}

/** The first line, the stream, and the hash of both. */
async function* sealed(packed: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const seal = createHash(SEAL)
  const line = Buffer.from(firstLine(FORMAT))
  seal.update(line)
  yield line
  for await (const bytes of packed) {
    seal.update(bytes)
    yield bytes
  }
  yield seal.digest()
}

function bodyOf(section: Section): Buffer {
  if (section.kind === 'rows') return section.rows
  const { kind: _, ...rest } = section
  return Buffer.from(JSON.stringify(Object.values(rest)[0]))
}

async function refuseExisting(target: string): Promise<void> {
  const found = await stat(target).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined
    throw explain(error, target)
  })
  if (found) throw new DatabaseError(`${target} is there already: choose another name for the backup.`)
}

/** A file is there for sure once its directory is written too. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  await handle.sync().finally(() => handle.close())
}

function explain(error: unknown, target: string): unknown {
  const say = (text: string) => new DatabaseError(text, { cause: error })
  switch (codeOf(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG':
      return say(`There is no room for ${target}: free some, or write the backup to another disk.`)
    case 'EEXIST':
      return say(
        `${target}.partial is there already: wait for the backup that writes it, or remove it when none is running.`,
      )
    case 'ENOENT':
    case 'ENOTDIR':
      return say(`The directory of ${target} does not exist: create it, or choose another.`)
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return say(`${target} cannot be written: choose a directory that this user may write to.`)
    default:
      return error
  }
}
