import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PostgresServer, startPostgres } from './embedded.ts'
import { messageOf } from './errors.ts'

/** Where the workers of a test run ask for the URL of its server. */
export const ASK_VARIABLE = 'REFERRER_TEST_SERVER'

/** Vitest's global setup: a server for the whole run, started when the first test asks for it. */
export default async function setup(): Promise<() => Promise<void>> {
  const directory = join(tmpdir(), `referrer-test-${process.pid}-${randomBytes(4).toString('hex')}`)
  const asking = `${directory}.sock`
  let started: Promise<PostgresServer> | undefined
  const door = createServer((socket) => {
    socket.on('error', () => {})
    started ??= startPostgres({
      directory,
      settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' },
    })
    started.then(
      ({ url }) => socket.end(JSON.stringify({ url })),
      (error) => socket.end(JSON.stringify({ error: messageOf(error) })),
    )
  })
  await new Promise<void>((resolve, reject) => {
    door.on('error', reject)
    door.listen(asking, resolve)
  })
  process.env[ASK_VARIABLE] = asking
  return async () => {
    door.close()
    const server = await started?.catch(() => undefined)
    await server?.stop()
    await rm(directory, { recursive: true, force: true })
  }
}
