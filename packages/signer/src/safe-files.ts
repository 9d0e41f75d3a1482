// The files of the journal: written so that they survive a crash, and readable by their owner only.
import { open, readdir, readFile, rename } from 'node:fs/promises'
import { Refused } from './refused.ts'

/** The names in a folder; none when it does not exist. */
export const namesIn = (folder: string): Promise<string[]> =>
  readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw unreadable(folder, error)
  })

/** Undefined when there is no such file. */
export const readText = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw unreadable(path, error)
  })

const unreadable = (path: string, { code }: NodeJS.ErrnoException) =>
  new Refused(`the journal cannot be read (${code}): make ${path} readable; nothing was paid`)

/** An atomic write: the file is complete or absent after a crash or power failure. */
export async function writeSafely(folder: string, path: string, text: string): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`
  const file = await open(temporary, 'w', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(temporary, path)
  await sync(folder)
}

/** Syncs the directory, so that its entries survive a power failure. */
export async function sync(folder: string): Promise<void> {
  // Windows cannot sync a directory.
  if (process.platform === 'win32') return
  const directory = await open(folder)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
