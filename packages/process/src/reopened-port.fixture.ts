import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * A free port for a server that a test closes and opens again. It is below those that the system gives to connections and to servers
 * that do not choose, so nobody takes it by chance meanwhile.
 */
export async function reopenedPort(): Promise<number> {
  for (;;) {
    const port = randomInt(22_000, 32_000)
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
}
