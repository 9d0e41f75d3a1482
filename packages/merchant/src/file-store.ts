import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import type { PaymentStore } from './payment-store.ts'

type Line = [key: string, text: string | null, until: number]

interface Opened {
  fd: number
  /** How long the file is, as far as this process has written it. */
  size: number
  /** From this size on, what is over is left out. */
  tooLong: number
  entries: Map<string, Line>
}

/** Emptied when it is opened; afterwards each write goes to its end. */
const EMPTIED = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_APPEND
const MIN_TOO_LONG = 16 * 1_024 * 1_024

/**
 * Keeps the records of payments in a file, for a shop of one process: what was paid is served also after a crash. Each change is a line
 * that is on the disk before the next step is taken.
 *
 * @example
 * ```ts
 * import { createPaymentMemory, type PaymentMemory } from '@referrer/merchant'
 * import { fileStore } from '@referrer/merchant/node'
 *
 * export const payments: PaymentMemory = createPaymentMemory({ store: fileStore('payments.log') })
 * ```
 */
export function fileStore(path: string): PaymentStore {
  let opened: Opened | undefined
  // At the first use: a build that only imports the shop must not touch the file of one that sells.
  const open = () => {
    opened ??= rewrite(path)
    return opened
  }
  const textAt = (key: string) => open().entries.get(key)?.[1] ?? undefined

  return {
    read: async (key) => textAt(key),
    async replace(key, before, next, until) {
      if (textAt(key) !== before) return false
      const file = open()
      append(path, file, [key, next ?? null, until])
      if (file.size > file.tooLong) {
        try {
          opened = rewrite(path)
          closeSync(file.fd)
        } catch {
          // There is no room for a second file: what is recorded stays in the first.
          file.tooLong *= 2
        }
      }
      return true
    },
  }
}

/** Writes what still counts into a new file, which takes the place of the old one when it is complete. */
function rewrite(path: string): Opened {
  const entries = new Map<string, Line>()
  for (const line of linesOf(path)) entries.set(line[0], line)
  for (const [key, [, text, until]] of entries) {
    if (text === null || until * 1_000 < Date.now()) entries.delete(key)
  }
  const text = [...entries.values()].map(written).join('')
  let fd: number | undefined
  try {
    fd = openSync(`${path}.new`, EMPTIED, 0o600)
    writeFileSync(fd, text)
    fdatasyncSync(fd)
    renameSync(`${path}.new`, path)
  } catch (error) {
    if (fd !== undefined) closeSync(fd)
    rmSync(`${path}.new`, { force: true })
    throw error
  }
  const size = Buffer.byteLength(text)
  return { fd, size, tooLong: Math.max(2 * size, MIN_TOO_LONG), entries }
}

function linesOf(path: string): Line[] {
  let text = ''
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as Line]
    } catch {
      // A crash cut it off, so nobody has relied on it.
      return []
    }
  })
}

/** Throws where another process writes the file: each would forget what the other has served. */
function append(path: string, opened: Opened, line: Line): void {
  const { fd, size, entries } = opened
  const [ours, there] = [fstatSync(fd), statSync(path)]
  if (there.ino !== ours.ino || there.size !== size) {
    throw new Error(`${path} is written by another process: give processes that sell together a shared store`)
  }
  try {
    const text = written(line)
    // All of it or an error: a single write takes as much as a full disk has room for.
    writeFileSync(fd, text)
    fdatasyncSync(fd)
    opened.size += Buffer.byteLength(text)
  } catch (error) {
    ftruncateSync(fd, size)
    throw error
  }
  entries.set(line[0], line)
}

/** It begins with a new line, so that one that a crash cut off spoils no other. */
const written = (line: Line) => `\n${JSON.stringify(line)}`
