import { randomBytes } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PostgresServer, startPostgres } from './embedded.ts'
import { messageOf } from './errors.ts'
import { openHome } from './home.ts'
import { shutDown } from './postmaster.ts'

/** Where the workers of a test run ask for the URL of its server. */
export const DOOR_VARIABLE = 'REFERRER_TEST_DOOR'

const PREFIX = 'referrer-test-'

/** Vitest's global setup: one server for the whole run, started when the first test asks for it. */
export default async function setup(): Promise<() => Promise<void>> {
  const directory = join(tmpdir(), `${PREFIX}${process.pid}-${randomBytes(4).toString('hex')}`)
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

async function start(directory: string): Promise<PostgresServer> {
  await removeLeftovers()
  return startPostgres({
    directory,
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' },
  })
}

/** Servers of test runs that were killed before they could stop them. */
async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-[0-9a-f]{8}(\\.door)?$`).exec(name)?.[1]
    if (pid === undefined || isAlive(Number(pid))) continue
    // What another user left behind is not ours to remove.
    await removeLeftover(join(tmpdir(), name)).catch(() => {})
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
