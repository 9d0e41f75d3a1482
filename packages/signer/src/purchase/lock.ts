// A lock for each name, such as a wallet, across all processes that share the journal.
import { randomUUID } from 'node:crypto'
import { link, mkdir, open, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Refused } from '../refused.ts'

/** A lock this old is stale: no purchase takes that long, so its process is gone and the process id may be reused. */
const OLDEST_MS = 10 * 60_000
const LOOK_EVERY_MS = 50

interface Holder {
  id: string
  pid: number
  /** Identifies the machine or container: process ids are only unique within one. */
  host: string
}

export async function withLock<T>(
  stateDir: string,
  name: string,
  waitMs: number,
  work: (requireHeld: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const folder = join(stateDir, 'locks')
  const path = join(folder, `${name}.lock`)
  const own: Holder = { id: randomUUID(), pid: process.pid, host: hostname() }
  const draft = `${path}.${own.id}`
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await writeFile(draft, JSON.stringify(own), { mode: 0o600 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new Refused(`nothing can be written in ${folder} (${code}): set SIGNER_STATE_DIR; nothing was paid`)
  }
  try {
    const deadline = Date.now() + waitMs
    while (!(await isTaken(draft, path))) {
      if (Date.now() > deadline) {
        throw taken(path)
      }
      await dismissGone(path)
      await sleep(LOOK_EVERY_MS)
    }
  } finally {
    await rm(draft, { force: true })
  }
  try {
    return await work(async () => {
      if ((await readHolder(path))?.id !== own.id) throw taken(path)
    })
  } finally {
    if ((await readHolder(path))?.id === own.id) await rm(path, { force: true })
  }
}

const taken = (path: string) =>
  new Refused(
    `another call of this signer is under way with the same wallet; try again shortly (if none is running, remove ${path}); nothing was paid`,
  )

/** Creating a hard link is atomic: it appears with its content, or fails because the lock exists. */
const isTaken = (draft: string, path: string): Promise<boolean> =>
  link(draft, path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return false
      throw error
    },
  )

/** Removes the lock of a dead process. Only one process may do so at a time: otherwise a slower one could remove the new lock of a faster one. */
async function dismissGone(path: string): Promise<void> {
  const holder = await readHolder(path)
  if (!holder || !(await isGone(path, holder))) return
  const permit = `${path}.gone-${holder.id}`
  const file = await open(permit, 'wx', 0o600).catch(() => undefined)
  if (!file) return
  try {
    if ((await readHolder(path))?.id === holder.id) await rm(path, { force: true })
  } finally {
    await file.close()
    await rm(permit, { force: true })
  }
}

async function isGone(path: string, { pid, host }: Holder): Promise<boolean> {
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }))
  if (Date.now() - mtimeMs > OLDEST_MS) return true
  if (host !== hostname()) return false
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Holder
  } catch {
    return undefined
  }
}
