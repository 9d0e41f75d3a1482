import { randomBytes } from 'node:crypto'
import { readdir, rm, statfs } from 'node:fs/promises'
import { createServer } from 'node:net'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PostgresServer, startPostgres } from './embedded.ts'
import { messageOf } from './errors.ts'
import { openHome } from './home.ts'
import { shutDown } from './postmaster.ts'

/** Where the workers of a test run ask for the URL of its server. */
export const DOOR_VARIABLE = 'REFERRER_TEST_DOOR'

const PREFIX = 'referrer-test-'
/** Creating and dropping a database makes and removes a thousand files, which takes least in memory. */
const MEMORY = '/dev/shm'
const ROOM_BYTES = 6 * 1024 ** 3

/** Vitest's global setup: one server for the whole run, started when the first test asks for it. */
export default async function setup(): Promise<() => Promise<void>> {
  const directory = join(await placeForData(), `${PREFIX}${process.pid}-${randomBytes(4).toString('hex')}`)
  let started: Promise<PostgresServer> | undefined
  const door = createServer((socket) => {
    socket.on('error', () => {})
    started ??= start(directory)
    started.then(
      ({ url }) => socket.end(JSON.stringify({ url })),
      (error) => socket.end(JSON.stringify({ error: messageOf(error) })),
    )
  })
  await new Promise<void>((resolve, reject) => {
    door.on('error', reject)
    door.listen(`${directory}.door`, resolve)
  })
  process.env[DOOR_VARIABLE] = `${directory}.door`
  return async () => {
    door.close()
    const server = await started?.catch(() => undefined)
    await server?.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

/** A file system in memory with room to spare, where there is one: containers often have a tiny one. */
async function placeForData(): Promise<string> {
  const { bavail = 0, bsize = 0 } = await statfs(MEMORY).catch(
    () => ({}) as { bavail?: number; bsize?: number },
  )
  return bavail * bsize > ROOM_BYTES && freemem() > ROOM_BYTES ? MEMORY : tmpdir()
}

async function start(directory: string): Promise<PostgresServer> {
  await removeLeftovers()
  return startPostgres({
    directory,
    settings: {
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      wal_level: 'minimal',
      max_wal_senders: '0',
      max_connections: '300',
    },
  })
}

/** Servers of test runs that were killed before they could stop them. */
async function removeLeftovers(): Promise<void> {
  for (const place of [MEMORY, tmpdir()]) await removeLeftoversIn(place)
}

async function removeLeftoversIn(place: string): Promise<void> {
  for (const name of await readdir(place).catch(() => [])) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-[0-9a-f]{8}(\\.door)?$`).exec(name)?.[1]
    if (pid === undefined || isAlive(Number(pid))) continue
    // What another user left behind is not ours to remove.
    await removeLeftover(join(place, name)).catch(() => {})
  }
}

async function removeLeftover(path: string): Promise<void> {
  if (!path.endsWith('.door')) await shutDown(await openHome(path))
  await rm(path, { recursive: true, force: true })
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH')
  }
}
