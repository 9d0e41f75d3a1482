import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

// Below the ports that systems give to connections, and above those of the sandboxes that tests start: nobody takes one before its user does.
const FIRST = 31_800
const END = 32_700

const given = new Set<number>()

/** A port on which nobody listens, for a server that starts later, or stops and starts again; each is given once. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, END)
    if (given.has(port)) continue
    given.add(port)
    const server = createServer().listen(port)
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
